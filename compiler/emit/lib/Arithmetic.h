// Scalar arithmetic as expressions of C++.
#pragma once
#include "Values.h"
#include <optional>

namespace tw::emit {

/// What an operation of arith or math computes.
struct Computed {
  Expression expression;
  const char *stem;   // of a name for it
};

/// The expression of an operation of arith or math on i1, i32, i64 and f32; none where it has no text. `ofElement`: it runs once for
/// every element of a fragment, so a quotient is the approximate one, __fdividef.
std::optional<Computed> arithmetic(mlir::Operation *op, Values &values, bool ofElement);

} // namespace tw::emit
