// By what an integer is known to be divisible.
#pragma once
#include "mlir/IR/Value.h"

namespace tw {

/// A number that divides `value` whatever happens at run time, up to 2^30; 0 for what is always 0. Looks through sums, products, choices and loops.
int64_t divisorOf(mlir::Value value);

}   // namespace tw
