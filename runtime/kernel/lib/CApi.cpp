// The C functions of one kernel.
#include "CArguments.h"
#include "tilewright/dsl/Gallery.h"

/// A kernel, and its description so that a pointer to it can be given out.
struct tilewright_kernel {
  explicit tilewright_kernel(tw::Kernel built) : kernel(std::move(built)), description(kernel.describe()) {}
  tw::Kernel kernel;
  std::string description;
};

using namespace tw;
using namespace tw::capi;

namespace {

const Kernel::State &kernelOf(const tilewright_kernel *kernel) {
  needPointer(kernel, "kernel");
  return stateOf(kernel->kernel);
}

} // namespace


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

const char *tilewright_error(void) { return lastError().c_str(); }

const char *tilewright_version(void) { return TILEWRIGHT_VERSION; }
