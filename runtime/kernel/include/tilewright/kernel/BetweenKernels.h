// What lies between the kernels of a gradient, for those who run its programs one by one.
#pragma once
#include "tilewright/dsl/Gradient.h"
#include "tilewright/kernel/Kernel.h"

namespace tw {

/// The tensors that one program writes and later ones read, from `data` on: each begins at a multiple of 256 bytes, and rows at one of
/// 16 bytes, as GPUs copy them, whatever the lengths.
struct BetweenKernels {
  std::map<std::string, TensorView> tensors;
  std::size_t bytes = 0;
};
/// Throws ArgumentError where a tensor that tells a length is missing, or the bytes cannot be counted.
[[nodiscard]] BetweenKernels layOut(const Gradient &gradient, const Arguments &arguments, void *data);

/// The gradient in as few programs as have schedules on the target: where two tiles are too much for a kernel's registers, each carries one.
[[nodiscard]] Gradient gradientFor(const Program &program, const BuildOptions &options, GradientOptions gradient);

/// The options for one of a gradient's programs: of the extents those of its own inner axes.
[[nodiscard]] BuildOptions optionsFor(const Program &program, BuildOptions options);

} // namespace tw
