// The slow obvious interpreter in float64: the oracle of every test.
#pragma once
#include "tilewright/dsl/Program.h"
#include <cstdint>
#include <functional>
#include <map>

namespace tw {

/// A dense row-major array of doubles. Half-precision inputs are given as the doubles they stand for.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<double> data;
};

struct Evaluation {
  std::map<std::string, Array> tensors;    // by tensor name: the inputs
  std::map<std::string, double> scalars;   // by scalar name
  std::map<std::string, std::int64_t> extents = {};   // by axis name, only for axes that no tensor's shape tells
  std::int64_t foldTile = 0;               // width of fold tiles; 0: the whole axis as one tile
  /// Changes what an operation of float type has computed that rounds where machines do (a sum, a product, a function), to see what rounding does. Is called by several threads.
  std::function<void(std::vector<double> &values, Type type)> computed = {};
};

/// Runs the program in float64, on all cores, and returns the stored tensors by name. Nothing is rounded to
/// the tensors' types: rounding is the kernels' business and the test's tolerance. A stored tensor among the
/// inputs tells lengths by its shape, its data is not read.
///
/// A fault (a read outside of a tensor, an integer division by zero) counts only if its value reaches a
/// store: where() discards that of the branch it does not take, `&` and `|` that of a side that does not
/// matter. In a dot, an exact 0 in an operand that where() has a say in (a masked weight) contributes
/// nothing, whatever the other operand holds, NaN and faults included; any other 0 multiplies as in IEEE
/// arithmetic. e^x of a finite x is never 0, so that a weight that underflows is not taken for a masked one.
///
/// Throws ProgramError for a missing tensor, a wrong rank, lengths that disagree, a requirement that
/// does not hold, and a read outside a tensor (naming tensor, dimension, index).
[[nodiscard]] std::map<std::string, Array> evaluate(const Program &program, const Evaluation &inputs);

} // namespace tw
