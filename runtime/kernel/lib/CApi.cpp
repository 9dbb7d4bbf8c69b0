// The C functions: texts and arrays in, exceptions out as a status and a text.
#include "Given.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/kernel/C.h"
#include "tilewright/kernel/Kernel.h"
#include "tilewright/kernel/Nearest.h"
#include "tilewright/schedule/SharedLimit.h"
#include <charconv>
#include <fmt/format.h>
#include <new>

/// A kernel, and its description so that a pointer to it can be given out.
struct tilewright_kernel {
  explicit tilewright_kernel(tw::Kernel built) : kernel(std::move(built)), description(kernel.describe()) {}
  tw::Kernel kernel;
  std::string description;
};

namespace tw {
namespace {

thread_local std::string lastError;

tilewright_status failed(tilewright_status status, std::string_view message) {
  try {
    lastError = message;
  } catch (const std::bad_alloc &) {
    lastError.clear();
  }
  return status;
}

/// Runs `work`; no exception leaves it.
template <class F> tilewright_status guarded(F work) {
  try {
    work();
    return TILEWRIGHT_OK;
  } catch (const ProgramError &error) {
    return failed(TILEWRIGHT_BAD_PROGRAM, render(error.diagnostic));
  } catch (const ArgumentError &error) {
    return failed(TILEWRIGHT_BAD_ARGUMENTS, error.what());
  } catch (const std::invalid_argument &error) {
    return failed(TILEWRIGHT_BAD_OPTIONS, error.what());
  } catch (const CompileError &error) {
    return failed(TILEWRIGHT_COMPILER, error.what());
  } catch (const RuntimeError &error) {
    return failed(TILEWRIGHT_MACHINE, error.what());
  } catch (const std::bad_alloc &) {
    return failed(TILEWRIGHT_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return failed(TILEWRIGHT_UNEXPECTED, error.what());
  }
}

std::string_view given(const char *text, const char *what) {
  if (!text)
    throw std::invalid_argument(fmt::format("{} is NULL", what));
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

/// The parts of `text` between separators, blanks at their ends and empty ones left out.
std::vector<std::string_view> partsOf(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.size(), text.find_first_of(separators));
    if (auto part = trimmed(text.substr(0, end)); !part.empty())
      parts.push_back(part);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return parts;
}

/// `name=value`, split at the first '='.
std::pair<std::string, std::string> pairOf(std::string_view entry, const char *what, const char *form) {
  const std::size_t at = entry.find('=');
  if (at == std::string_view::npos || at == 0)
    throw std::invalid_argument(fmt::format("{}: '{}' is not of the form {}", what, entry, form));
  return {std::string(trimmed(entry.substr(0, at))), std::string(trimmed(entry.substr(at + 1)))};
}

bool onOrOff(const std::string &name, const std::string &value) {
  if (value != "on" && value != "off")
    throw std::invalid_argument(fmt::format("options: {}={}, expected on or off", name, value));
  return value == "on";
}

Type typeOf(const char *text, const char *what) {
  const std::string_view wanted = given(text, what);
  if (auto type = typeNamed(wanted))
    return *type;
  throw std::invalid_argument(fmt::format("{} is '{}', expected f16, bf16, f32, f64, i32, i64 or bool{}", what, wanted, suggestion(wanted, {"f16", "bf16", "f32", "f64", "i32", "i64", "bool"})));
}

/// Options of a build; `lse` is null where it makes no sense.
BuildOptions parseOptions(const char *target, const char *text, bool *lse) {
  BuildOptions options;
  if (target)
    options.target = target;
  std::vector<std::string> known = {"cache", "schedule", "shared-limit"};
  if (lse)
    known.push_back("lse");
  for (std::string_view entry : partsOf(text ? text : "", ";")) {
    const auto [name, value] = pairOf(entry, "options", "name=value");
    if (name == "cache")
      options.useCache = onOrOff(name, value);
    else if (name == "schedule")
      options.schedule = parseSchedule(value);
    else if (name == "shared-limit")
      options.sharedLimit = parseBytes("options: shared-limit", value);
    else if (lse && name == "lse")
      *lse = onOrOff(name, value);
    else
      throw std::invalid_argument(fmt::format("options: '{}' is none{}; they are {}", name, suggestion(name, known), fmt::join(known, ", ")));
  }
  return options;
}

std::map<std::string, std::int64_t> parseExtents(std::string_view text) {
  std::map<std::string, std::int64_t> extents;
  for (std::string_view entry : partsOf(text, " ,\t\n")) {
    const auto [name, value] = pairOf(entry, "extents", "axis=length");
    std::int64_t length = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (error != std::errc() || end != value.data() + value.size())
      throw std::invalid_argument(fmt::format("extents: {}={}, expected a whole number", name, value));
    extents[name] = length;
  }
  return extents;
}

template <class T> void needPointer(const T *pointer, const char *what) {
  if (!pointer)
    throw ArgumentError(fmt::format("{} is NULL", what));
}

GivenTensor givenOf(const tilewright_tensor &tensor) {
  needPointer(tensor.name, "the name of a tensor");
  needPointer(tensor.type, "the type of a tensor");
  const auto type = typeNamed(tensor.type);
  if (!type)
    throw ArgumentError(fmt::format("tensor '{}' has type '{}', expected f16, bf16, f32, f64, i32, i64 or bool", tensor.name, tensor.type));
  if (tensor.rank < 0)
    throw ArgumentError(fmt::format("tensor '{}' has {} dimensions", tensor.name, tensor.rank));
  GivenTensor out{tensor.name, tensor.data, *type, {}, {}};
  if (tensor.rank > 0) {
    needPointer(tensor.shape, "the shape of a tensor");
    out.shape = {tensor.shape, static_cast<std::size_t>(tensor.rank)};
    if (tensor.strides)
      out.strides = {tensor.strides, static_cast<std::size_t>(tensor.rank)};
  }
  return out;
}

/// Of one call at a time, so that a launch allocates nothing.
Given givenOf(const tilewright_arguments *arguments) {
  thread_local std::vector<GivenTensor> tensors;
  thread_local std::vector<GivenScalar> scalars;
  needPointer(arguments, "arguments");
  if (arguments->tensor_count)
    needPointer(arguments->tensors, "arguments.tensors");
  if (arguments->scalar_count)
    needPointer(arguments->scalars, "arguments.scalars");
  tensors.clear();
  scalars.clear();
  for (std::size_t i = 0; i < arguments->tensor_count; ++i)
    tensors.push_back(givenOf(arguments->tensors[i]));
  for (std::size_t i = 0; i < arguments->scalar_count; ++i) {
    needPointer(arguments->scalars[i].name, "the name of a scalar");
    scalars.push_back({arguments->scalars[i].name, arguments->scalars[i].value});
  }
  return {tensors, scalars};
}

const Kernel::State &kernelOf(const tilewright_kernel *kernel) {
  needPointer(kernel, "kernel");
  return stateOf(kernel->kernel);
}

} // namespace
} // namespace tw

using namespace tw;

tilewright_status tilewright_build(const char *variant, const char *type, int64_t head_dim, int64_t head_dim_v, const char *target, const char *options, tilewright_kernel **kernel) {
  return guarded([&] {
    if (!kernel)
      throw std::invalid_argument("kernel is NULL: it takes what is built");
    *kernel = nullptr;
    VariantOptions choice;
    choice.type = typeOf(type, "type");
    BuildOptions build = parseOptions(target, options, &choice.lse);
    build.extents = {{"d", head_dim}, {"e", head_dim_v}};
    *kernel = new tilewright_kernel(tw::build(makeVariant(given(variant, "variant"), choice), build));
  });
}

tilewright_status tilewright_build_program(const char *program, const char *extents, const char *target, const char *options, tilewright_kernel **kernel) {
  return guarded([&] {
    if (!kernel)
      throw std::invalid_argument("kernel is NULL: it takes what is built");
    *kernel = nullptr;
    BuildOptions build = parseOptions(target, options, nullptr);
    build.extents = parseExtents(extents ? extents : "");
    *kernel = new tilewright_kernel(tw::build(parseProgram(given(program, "program")), build));
  });
}

tilewright_status tilewright_workspace_bytes(const tilewright_kernel *kernel, const tilewright_arguments *arguments, size_t *bytes) {
  return guarded([&] {
    needPointer(bytes, "bytes");
    *bytes = workspaceBytes(kernelOf(kernel), givenOf(arguments));
  });
}

tilewright_status tilewright_launch(const tilewright_kernel *kernel, void *stream, const tilewright_arguments *arguments, void *workspace, size_t workspace_bytes) {
  return guarded([&] { launch(kernelOf(kernel), {stream}, givenOf(arguments), {workspace, workspace_bytes}); });
}

tilewright_status tilewright_launch_zeroed(const tilewright_kernel *kernel, void *stream, const tilewright_arguments *arguments, void *workspace, size_t workspace_bytes) {
  return guarded([&] { launch(kernelOf(kernel), {stream}, givenOf(arguments), {workspace, workspace_bytes, true}); });
}

tilewright_status tilewright_run(const tilewright_kernel *kernel, const tilewright_arguments *arguments) {
  return guarded([&] { launchAndWait(kernelOf(kernel), givenOf(arguments)); });
}

const char *tilewright_describe(const tilewright_kernel *kernel) { return kernel ? kernel->description.c_str() : ""; }

void tilewright_release(tilewright_kernel *kernel) { delete kernel; }

const char *tilewright_error(void) { return lastError.c_str(); }

const char *tilewright_version(void) { return TILEWRIGHT_VERSION; }
