// What the cost model needs to know of a variant's launch.
#pragma once
#include "Options.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/dsl/Gradient.h"
#include "tilewright/schedule/LaunchShape.h"
#include "tilewright/schedule/Target.h"
#include <optional>

namespace tw::cli {

/// The shapes of Q, K, V, O, lse and of what else the variant reads. A table whose length the shape does not tell is left out.
[[nodiscard]] LaunchShape launchShape(const std::string &variant, Type type, const Shape &shape);

/// The gradients that the command line computes: of all inputs, by a loss that depends on O.
[[nodiscard]] GradientOptions gradientsByO();

/// Throws std::invalid_argument, in a build's words, where the program multiplies tensors of a type that the target does not multiply.
void checkMultiplied(const Program &program, const Target &target);

/// A program of the variant's forward or backward pass, with its launch.
struct VariantProgram {
  Program program;
  LaunchShape shape;
};
[[nodiscard]] VariantProgram forwardProgram(const std::string &variant, Type type, const Shape &shape, bool lse);
/// The forward program, which stores what the others read, and those of its gradient that a build for `target` makes.
[[nodiscard]] std::vector<VariantProgram> backwardPrograms(const std::string &variant, Type type, const Shape &shape, bool lse, const std::string &target, std::optional<std::int64_t> sharedLimit);

} // namespace tw::cli
