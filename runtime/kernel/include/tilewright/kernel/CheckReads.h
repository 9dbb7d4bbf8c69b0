// What a kernel built with BuildOptions::checked looks at before a launch, where inputs are numbers.
#pragma once
#include "tilewright/dsl/Evaluate.h"

namespace tw {

/// Throws ArgumentError for the first index that depends on what tensors hold, or that a condition guards, and leaves its tensor where that matters: with the
/// tensor, the index, the coordinates and the line, as a checked launch does. `inputs` has every tensor that is loaded, and the lengths of all axes.
void checkReads(const Program &program, const Evaluation &inputs);

}   // namespace tw
