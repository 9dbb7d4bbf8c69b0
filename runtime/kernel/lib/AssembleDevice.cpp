#include "AssembleDevice.h"
#include "tilewright/cuda/Resources.h"
#include "tilewright/schedule/Target.h"
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace tw {

cuda::AssemblyOptions assemblyOptions(const std::string &arch) {
  const char *plain = std::getenv("TILEWRIGHT_PLAIN_ARRIVALS");
  return {.arch = arch, .plainArrivals = plain && std::string_view(plain) == "1"};
}

std::string assemblerText(const std::string &arch) {
  const cuda::NvrtcVersion &version = cuda::nvrtcVersion();
  return fmt::format("nvrtc {}.{} {}", version.major, version.minor, fmt::join(cuda::nvrtcOptions(assemblyOptions(arch)), " "));
}

void assembleDevice(Artifact &artifact, const std::string &text, const std::function<void(const Stage &)> &onStage) {
  auto stage = [&](const char *name, const char *extension, const std::string &what) {
    if (onStage)
      onStage({name, extension, what});
  };
  stage("cuda", ".cu", text);
  cuda::Assembly assembly = cuda::assemble(text, artifact.program, assemblyOptions(findTarget(artifact.target).arch));
  stage("ptx", ".ptx", assembly.ptx);
  stage("cubin", ".cubin", assembly.cubin);
  artifact.resources = cuda::resourcesOf(assembly.log, assembly.cubin, artifact.entry);
  stage("resources", ".txt",
        fmt::format("{} registers a thread, {} bytes spilled, {} bytes of stack, {} bytes of static and {} of dynamic shared memory, {} threads a block\n\n{}", artifact.resources.registers,
                    artifact.resources.spillBytes, artifact.resources.stackBytes, artifact.resources.staticSharedBytes, artifact.launch.sharedBytes, artifact.launch.threads, assembly.log));
  cuda::checkResources(artifact.resources, {.spillBytes = spillBytesAllowed}, artifact.program, artifact.schedule);
  artifact.code = std::move(assembly.cubin);
}

} // namespace tw
