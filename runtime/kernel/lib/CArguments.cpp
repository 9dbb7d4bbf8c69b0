#include "CArguments.h"
#include "tilewright/kernel/Nearest.h"
#include "tilewright/schedule/SharedLimit.h"
#include <charconv>

namespace tw::capi {
namespace {

thread_local std::string error;

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

Tune parseTune(const std::string &value) {
  if (value == "never")
    return Tune::never;
  if (value == "cached")
    return Tune::cached;
  if (value == "model")
    return Tune::model;
  if (value == "measure")
    return Tune::measure;
  throw std::invalid_argument(fmt::format("options: tune={}, expected never, cached, model or measure{}", value, suggestion(value, {"never", "cached", "model", "measure"})));
}

/// `Q=4x32x4096x128 K=4x8x4096x128`
std::map<std::string, std::vector<std::int64_t>> parseShapes(const std::string &text) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (std::string_view entry : partsOf(text, " ,\t\n")) {
    const auto [name, value] = pairOf(entry, "options: shapes", "tensor=4x32x4096x128");
    for (std::string_view length : partsOf(value, "x")) {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), number);
      if (error != std::errc() || end != length.data() + length.size() || number < 0)
        throw std::invalid_argument(fmt::format("options: shapes: '{}' of tensor '{}' is no length; lengths are whole numbers from 0", length, name));
      shapes[name].push_back(number);
    }
  }
  return shapes;
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

} // namespace

tilewright_status failed(tilewright_status status, std::string_view message) {
  try {
    error = message;
  } catch (const std::bad_alloc &) {
    error.clear();
  }
  return status;
}

const std::string &lastError() { return error; }

std::string_view given(const char *text, const char *what) {
  if (!text)
    throw std::invalid_argument(fmt::format("{} is NULL", what));
  return text;
}

Type typeOf(const char *text, const char *what) {
  const std::string_view wanted = given(text, what);
  if (auto type = typeNamed(wanted))
    return *type;
  throw std::invalid_argument(fmt::format("{} is '{}', expected f16, bf16, f32, f64, i32, i64 or bool{}", what, wanted, suggestion(wanted, {"f16", "bf16", "f32", "f64", "i32", "i64", "bool"})));
}

BuildOptions parseOptions(const char *target, const char *text, bool *lse, bool *accumulates) {
  BuildOptions options;
  if (target)
    options.target = target;
  std::vector<std::string> known = {"cache", "checked", "deterministic", "schedule", "shapes", "shared-limit", "tune"};
  if (lse)
    known.push_back("lse");
  if (accumulates)
    known.push_back("accumulates");
  for (std::string_view entry : partsOf(text ? text : "", ";")) {
    const auto [name, value] = pairOf(entry, "options", "name=value");
    if (name == "cache")
      options.useCache = onOrOff(name, value);
    else if (name == "checked")
      options.checked = onOrOff(name, value);
    else if (name == "deterministic")
      options.deterministic = onOrOff(name, value);
    else if (name == "schedule")
      options.schedule = parseSchedule(value);
    else if (name == "shared-limit")
      options.sharedLimit = parseBytes("options: shared-limit", value);
    else if (name == "shapes")
      options.shapes = parseShapes(value);
    else if (name == "tune")
      options.tune = parseTune(value);
    else if (lse && name == "lse")
      *lse = onOrOff(name, value);
    else if (accumulates && name == "accumulates")
      *accumulates = onOrOff(name, value);
    else
      throw std::invalid_argument(fmt::format("options: '{}' is none{}; they are {}", name, suggestion(name, known), fmt::join(known, ", ")));
  }
  if (accumulates && *accumulates && options.deterministic)
    throw std::invalid_argument("options: accumulates=on adds in no fixed order, and deterministic=on asks for one; leave one of them out");
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
    if (!extents.emplace(name, length).second)
      throw std::invalid_argument(fmt::format("extents: '{}' is given twice; give it once", name));
  }
  return extents;
}

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

} // namespace tw::capi
