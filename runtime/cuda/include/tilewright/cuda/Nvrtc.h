// NVIDIA's run-time compiler: CUDA text to machine code, with no GPU.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tw::cuda {

struct NvrtcVersion {
  int major = 0, minor = 0;
  std::string library;   // the file, or the name that the loader resolved
};

/// Why no kernel can be made for a GPU here, and the cure; empty where one can. Opens the library at the first call: the file that
/// $TILEWRIGHT_NVRTC names; libnvrtc.so.13 and .12 where the loader finds them; in the usual folders of CUDA; in the folder
/// where `./bootstrap` puts it, $XDG_CACHE_HOME/tilewright/nvrtc or ~/.cache/tilewright/nvrtc.
[[nodiscard]] const std::string &nvrtcAbsence();
/// Throws RuntimeError with nvrtcAbsence().
[[nodiscard]] const NvrtcVersion &nvrtcVersion();

struct AssemblyOptions {
  std::string arch = "sm90a";   // a Target's
  bool lineInfo = false;        // lets profilers and debuggers point to the text
  bool plainArrivals = false;   // off Hopper threads wait for what they have copied before they say so: slower, and what racecheck understands
};
/// The options as NVRTC takes them. With the version and the text they decide the machine code.
[[nodiscard]] std::vector<std::string> nvrtcOptions(const AssemblyOptions &options);

/// What became of one text.
struct Assembly {
  std::string cubin;
  std::string ptx;
  std::string log;   // warnings, and what the assembler says of registers, spills and shared memory
};

/// Compiles. `name` stands for the text in messages. Throws RuntimeError with the log and the lines it points to where NVRTC
/// refuses. Any number of threads may compile at once.
[[nodiscard]] Assembly assemble(const std::string &text, const std::string &name, const AssemblyOptions &options = {});

} // namespace tw::cuda
