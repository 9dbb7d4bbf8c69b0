// Device code as text: what every emitted kernel stands on.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// What a kernel's text may use: what every GPU since sm_80 has, or the copy engine and the wgmma of sm_90a.
enum class Instructions { sm80, sm90 };

/// The text of a file of templates/ by its path there, such as "sm90/mbarrier.cuh"; std::out_of_range names one that is not there.
[[nodiscard]] std::string_view templateText(std::string_view file);

/// The files that a kernel for a GPU needs, in the order in which they are compiled. They include nothing, for NVRTC.
[[nodiscard]] const std::vector<std::string_view> &templateFiles(Instructions instructions);

/// Their texts, one after the other. The kernel follows, after a definition of every wgmma shape in use; see deviceSource.
[[nodiscard]] const std::string &deviceTemplates(Instructions instructions);

/// The same primitives for the host's compiler: what the simulator compiles before a kernel.
[[nodiscard]] const std::string &hostTemplates();

/// One shape of wgmma, m64 n k16: `wgmma_rs<element, n, transposeB>` or `wgmma_ss<element, n, transposeA, transposeB>`.
struct WgmmaShape {
  bool registersA = false;        // a in registers; then transposeA is false
  std::string element = "BF16";   // BF16 or F16
  int n = 8;                      // a multiple of 8 up to 256
  bool transposeA = false;        // contiguous along M
  bool transposeB = false;        // contiguous along N
  auto operator<=>(const WgmmaShape &) const = default;
};

/// The definition of that one instruction; std::invalid_argument where there is no such instruction.
[[nodiscard]] std::string wgmmaWrapper(const WgmmaShape &shape);

/// The shapes that a kernel's text names, sorted, each once. Template arguments must be literals there.
[[nodiscard]] std::vector<WgmmaShape> wgmmaShapes(std::string_view kernel);

/// The whole text for NVRTC: templates (extremes and searches only where they are used), the wgmma shapes in use, the kernel. Lines of the kernel count from 1 as `file`.
[[nodiscard]] std::string deviceSource(Instructions instructions, std::string_view kernel, std::string_view file = "kernel.cu");

/// SHA-256 of all files of templates/, in hexadecimal: part of the key under which compiled kernels are kept.
[[nodiscard]] std::string_view templatesDigest();

}   // namespace tw
