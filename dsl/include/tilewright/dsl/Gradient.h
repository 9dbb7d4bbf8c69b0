// Backward programs, derived from a forward one.
#pragma once
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/dsl/Program.h"
#include <functional>

namespace tw {

struct GradientOptions {
  /// The stored tensors on which the loss depends; empty: all of float type.
  std::vector<std::string> outputs = {};
  /// The tensors and scalars of which gradients are wanted; empty: all of float type.
  std::vector<std::string> inputs = {};
  /// How many tiles a backward program carries at most: with fewer there are more programs, each of which computes again what it needs, and takes
  /// fewer registers.
  int tilesPerProgram = 2;
  /// Whether sums over the fold's axis are made by the program that sums over the block axis, which has what they stand on at hand: its steps add to a
  /// tensor between programs (`addedBySteps`), in no fixed order, and a program of its own rounds it. Else, and where there is no one such program, they have a program of their own.
  bool accumulates = false;
};

/// A tensor that one program writes and later ones read; the caller makes it, and what it holds before means nothing.
struct Intermediate {
  /// A length is that of a dimension of a tensor that the caller knows, or 1 where none is named.
  struct Length {
    std::string tensor;
    unsigned dimension = 0;
  };
  Tensor tensor;
  std::vector<Length> shape;
};

/// Programs to be run one after the other: `forward`, then `backward` in order. A loss's derivatives by the output O are read
/// from the tensor dO, of O's shape and type. The gradient of the input K is stored to dK, of K's shape and type; that of a
/// scalar to a tensor of one element.
struct Gradient {
  Program forward;                              // the program, and stores of what the others read
  std::vector<Program> backward;
  std::map<std::string, std::string> upstream;  // by output: the tensor with the loss's derivatives
  std::map<std::string, std::string> gradients; // by input: the tensor that its gradient is stored to
  std::vector<Intermediate> intermediates;
};

/// Differentiates a program of one fold whose carried values are stabilisers and, these held, sums over tiles: see
/// docs/gradients.md. Throws ProgramError, at the user's line, for one that is not.
[[nodiscard]] Gradient gradient(const Program &program, const GradientOptions &options = {});

/// Runs all programs in float64; `inputs` holds the derivatives of the loss too. Returns what they stored, by name. With
/// `stored`, each number passes through it on its way into a tensor, as kernels round there.
[[nodiscard]] std::map<std::string, Array> evaluateGradient(const Gradient &gradient, const Evaluation &inputs, const std::function<double(double, Type)> &stored = {});

} // namespace tw
