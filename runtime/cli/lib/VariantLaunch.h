// What the cost model needs to know of a variant's launch.
#pragma once
#include "Options.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/schedule/LaunchShape.h"

namespace tw::cli {

/// The shapes of Q, K, V, O, lse and of what else the variant reads. A table whose length the shape does not tell is left out.
[[nodiscard]] LaunchShape launchShape(const std::string &variant, Type type, const Shape &shape);

/// A program of the variant's forward or backward pass, with its launch.
struct VariantProgram {
  Program program;
  LaunchShape shape;
};
/// One program, or those of `gradient()`, the forward one first, which stores what the others read.
[[nodiscard]] std::vector<VariantProgram> variantPrograms(const std::string &variant, Type type, const Shape &shape, bool lse, bool backward);

} // namespace tw::cli
