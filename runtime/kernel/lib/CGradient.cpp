// The C functions of the forward and backward kernels of one program.
#include "CArguments.h"
#include "GradientState.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/kernel/GradientKernels.h"

/// The kernels, and what they are for a reader.
struct tilewright_gradient {
  explicit tilewright_gradient(tw::GradientKernels built) : kernels(std::move(built)) {
    for (const tw::Kernel &kernel : kernels.kernels())
      description += kernel.describe();
    for (const auto &[output, derivative] : kernels.programs().upstream)
      description += fmt::format("reads {} of {}\n", derivative, output);
    for (const auto &[input, gradient] : kernels.programs().gradients)
      description += fmt::format("stores {} of {}\n", gradient, input);
  }
  tw::GradientKernels kernels;
  std::string description;
};

using namespace tw;
using namespace tw::capi;

namespace {

const GradientKernels::State &kernelsOf(const tilewright_gradient *gradient) {
  needPointer(gradient, "gradient");
  return stateOf(gradient->kernels);
}

/// Names joined by blanks or commas.
std::vector<std::string> namesOf(const char *text) {
  std::vector<std::string> names{""};
  for (const char *c = text ? text : ""; *c; ++c)
    if (*c != ' ' && *c != ',')
      names.back() += *c;
    else if (!names.back().empty())
      names.emplace_back();
  if (names.back().empty())
    names.pop_back();
  return names;
}

template <class Make> tilewright_status buildInto(tilewright_gradient **gradient, Make make) {
  return guarded([&] {
    if (!gradient)
      throw std::invalid_argument("gradient is NULL: it takes what is built");
    *gradient = nullptr;
    *gradient = new tilewright_gradient(make());
  });
}

} // namespace

tilewright_status tilewright_build_gradient(const char *variant, const char *type, int64_t head_dim, int64_t head_dim_v, const char *target, const char *options, const char *outputs, const char *inputs,
                                            tilewright_gradient **gradient) {
  return buildInto(gradient, [&] {
    VariantOptions choice;
    choice.type = typeOf(type, "type");
    GradientOptions wanted{namesOf(outputs), namesOf(inputs)};
    BuildOptions build = parseOptions(target, options, &choice.lse, &wanted.accumulates);
    build.extents = {{"d", head_dim}, {"e", head_dim_v}};
    return buildGradient(makeVariant(given(variant, "variant"), choice), build, wanted);
  });
}

tilewright_status tilewright_build_gradient_of_program(const char *program, const char *extents, const char *target, const char *options, const char *outputs, const char *inputs, tilewright_gradient **gradient) {
  return buildInto(gradient, [&] {
    GradientOptions wanted{namesOf(outputs), namesOf(inputs)};
    BuildOptions build = parseOptions(target, options, nullptr, &wanted.accumulates);
    build.extents = parseExtents(extents ? extents : "");
    return buildGradient(parseProgram(given(program, "program")), build, wanted);
  });
}

tilewright_status tilewright_gradient_workspace_bytes(const tilewright_gradient *gradient, const tilewright_arguments *arguments, size_t *bytes) {
  return guarded([&] {
    needPointer(bytes, "bytes");
    *bytes = workspaceBytes(kernelsOf(gradient), givenOf(arguments));
  });
}

tilewright_status tilewright_forward(const tilewright_gradient *gradient, void *stream, const tilewright_arguments *arguments, void *workspace, size_t workspace_bytes) {
  return guarded([&] { forward(kernelsOf(gradient), {stream}, givenOf(arguments), {workspace, workspace_bytes}); });
}

tilewright_status tilewright_backward(const tilewright_gradient *gradient, void *stream, const tilewright_arguments *arguments, void *workspace, size_t workspace_bytes) {
  return guarded([&] { backward(kernelsOf(gradient), {stream}, givenOf(arguments), {workspace, workspace_bytes}); });
}

const char *tilewright_describe_gradient(const tilewright_gradient *gradient) { return gradient ? gradient->description.c_str() : ""; }

void tilewright_release_gradient(tilewright_gradient *gradient) { delete gradient; }
