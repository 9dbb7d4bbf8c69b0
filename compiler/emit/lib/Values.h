// What stands for each value in the text: an expression still to be written, or a name.
#pragma once
#include "Expression.h"
#include "Names.h"
#include "Text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tw::emit {

/// A value that is used once, in its own block, is written where it is used, so that the text reads like a person's. One that reads
/// registers or a loop's variable gets a name before these change.
class Values {
public:
  Values(Text &text, Names &names) : text(text), names(names) {}

  /// `value` is this expression wherever it is used: a name, a literal, a parameter.
  void bind(mlir::Value value, Expression expression) { bound[value] = std::move(expression); }
  /// The result of an operation: is written where it is used, or gets a name, after `stem` where it has none.
  void define(mlir::Value value, Expression expression, llvm::StringRef stem);
  /// `const T name = expression;`, always.
  void declare(mlir::Value value, const Expression &expression, llvm::StringRef stem);
  /// `T name;` or `T name = initial;`: a variable. Reading it depends on it.
  std::string declareVariable(mlir::Value value, llvm::StringRef stem, const std::string &initial = "");

  /// The expression of an operand. Each use may be asked for once.
  Expression use(mlir::Value value);
  std::string textOf(mlir::Value value, Precedence least = Precedence::conditional) { return use(value).as(least); }
  /// A use as text that may be repeated.
  Expression repeatable(mlir::Value value);
  /// A use that registers written later do not change.
  Expression lasting(mlir::Value value);

  /// Before `written` changes: what depends on it gets a name.
  void settle(mlir::Value written);
  /// Before a region: what depends on registers gets a name.
  void settleRegisters();

private:
  struct Pending {
    Expression expression;
    unsigned uses;
    std::string stem;
  };
  void settleIf(llvm::function_ref<bool(const Expression &)> mustSettle);

  Text &text;
  Names &names;
  llvm::DenseMap<mlir::Value, Expression> bound;
  llvm::MapVector<mlir::Value, Pending> pending;
};

} // namespace tw::emit
