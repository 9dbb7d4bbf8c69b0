// Values as core · factor + offset, and the arithmetic of such forms.
#pragma once
#include "Expressions.h"

namespace tw {

/// core · factor + offset, of floats. A missing factor is 1, a missing offset 0. Factor and offset run
/// along at most one axis each, so that they cost nothing per element; an offset is rather a row (block axis)
/// than a column, for reductions along the other axes let rows pass.
struct Form {
  mlir::Value core, factor, offset;
  bool plain() const { return !factor && !offset; }
};

/// Rewrites of forms. They may change rounding, never whether a finite result stays finite: what moves across a
/// constant ±infinity, or across a 0 that hides whatever was there, is known to be positive or finite.
class Forms {
public:
  /// `foldExponents`: e^(core · a + b) becomes 2^(core · a log2 e + b log2 e), one multiply-add for each element. That
  /// overflows where b is beyond the largest number / log2 e, as the row of a bias of -3e38 makes it, and is off by what b
  /// is rounded by, which matters where b is beyond 1e8. Otherwise a difference of elements and a row is taken first, in
  /// their common unit if they have one, and then scaled: exactly 0 where the two are equal.
  Forms(Expressions &make, bool foldExponents) : make(make), foldExponents(foldExponents) {}

  /// The value itself, made if it is not there.
  mlir::Value value(const Form &form);
  /// Number of axes of the value.
  size_t rank(const Form &form) const { return make.joinedRank({form.core, form.factor, form.offset}); }

  Form add(Form a, Form b);
  Form subtract(Form a, Form b);
  Form multiply(Form a, Form b);
  Form divide(Form a, Form b);
  Form negate(const Form &a);
  /// 2^(a · log2 e)
  Form exponential(const Form &a);
  Form logarithm(const Form &a);
  Form absolute(const Form &a);

  /// The parts in which two values differ, if they are core · u + v with the same u (positive, if `ordered`) and v.
  /// A constant 0 or ±infinity is its own multiple, so it shares any u for which u · constant = constant.
  struct Shared { mlir::Value a, b, factor, offset; };
  std::optional<Shared> shared(const Form &a, const Form &b, bool ordered) const;
  /// The form to use where some elements are replaced by `constant`: factor and offset stay outside the
  /// replacement if constant · factor + offset = constant.
  Form around(const Form &a, double constant);

  /// Neither infinite nor NaN, or spoiling every element of the item if it is: a scalar read from memory
  /// where an item has a row of values, or a run-time scalar.
  bool finite(mlir::Value value) const;

private:
  bool isBlock(mlir::Value value) const;
  mlir::Value product(mlir::Value a, mlir::Value b) { return !a ? b : !b ? a : make.multiply(a, b); }
  mlir::Value sum(mlir::Value a, mlir::Value b) { return !a ? b : !b ? a : make.add(a, b); }
  /// a · y as a form with a's core, if factor and offset allow it.
  std::optional<Form> times(const Form &a, mlir::Value y);
  bool bothScaled(const Form &a, const Form &b);
  Form addElements(const Form &a, const Form &b);

  Expressions &make;
  bool foldExponents;
};

} // namespace tw
