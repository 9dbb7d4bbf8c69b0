// Expressions of C++ as text that knows when it needs parentheses and what it depends on.
#pragma once
#include "mlir/IR/Value.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tw::emit {

/// How tightly the outermost operator binds.
enum class Precedence { conditional, either, both, bitOr, bitXor, bitAnd, equality, relation, shift, sum, product, unary, primary };

/// The next tighter one: what an operand must have where the operator itself would be misread.
inline Precedence tighterThan(Precedence precedence) { return Precedence(int(precedence) + 1); }

struct Expression {
  std::string text;
  Precedence precedence = Precedence::primary;
  /// Registers and variables of loops whose present contents the text means.
  llvm::SmallVector<mlir::Value, 2> reads = {};

  /// The text, in parentheses where it binds less tightly than `least`.
  std::string as(Precedence least) const { return precedence < least ? "(" + text + ")" : text; }
  bool readsRegisters() const;
};

/// `float`, `int`, `i64` or `bool`: what a scalar of the type is held in; null where device code holds none. 16-bit floats are held
/// rounded in a float, bytes in an int.
const char *scalarType(mlir::Type type);
/// The type of an element in memory: `unsigned short` for 16-bit floats.
const char *memoryType(mlir::Type type);
/// A number of this type, which may be f32 (the shortest text that reads back the same), i64, i32, i8 or i1.
Expression literal(const llvm::APFloat &number);
Expression literal(const llvm::APInt &number, mlir::Type type);
/// `pack_bf16` or `pack_f16`.
const char *packFunction(mlir::Type element);
/// A scalar read from memory, as it is held: `value` has the memory's type `from`; `to` is f32 or an integer.
std::string widened(const std::string &value, mlir::Type from, mlir::Type to);

} // namespace tw::emit
