// From the program of one thread block to CUDA C++ text and the facts needed to launch it.
#pragma once
#include "tilewright/artifact/Artifact.h"
#include <string>
#include <vector>

namespace llvm {
template <typename T> class FailureOr;
} // namespace llvm

namespace tw {
namespace device {
class KernelOp;
} // namespace device

/// One kernel as text.
struct CudaText {
  std::string entry;                       // the kernel's symbol: its name, as C++ allows it
  std::string source;                      // without the templates
  LaunchFacts launch;
  std::vector<std::string> instructions;   // specialised ones that the text needs, sorted: `wgmma_ss BF16 128 1` (name, type, N, B transposed)
};

/// Prints `kernel`. Decides nothing: every operation has one text, and equal kernels print alike, byte for byte. Offsets in shared
/// memory must be set (device-lay-out-memory). What has no text is an error at its place.
llvm::FailureOr<CudaText> emitCuda(device::KernelOp kernel);

/// What the assembler gets: the templates, the instructions in use, the artifact's source.
[[nodiscard]] std::string assembledText(const Artifact &artifact);

} // namespace tw
