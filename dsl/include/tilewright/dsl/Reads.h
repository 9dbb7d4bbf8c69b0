// Reads at computed places, and whether they leave their tensors: what ranges alone do not tell.
#pragma once
#include "tilewright/dsl/Program.h"

namespace tw {

/// One index of a load.
struct ComputedRead {
  std::string tensor;
  unsigned dimension = 0;
  Location where;
  Tile index;
  Tile outside;   // bool: whether it lies outside of the tensor where what is read there may matter
};

/// The reads whose index depends on what tensors hold, or that a condition guards; those of an index before those at it. Left out is what depends on results of
/// folds and dots, and a guarded index that is the same everywhere.
[[nodiscard]] std::vector<ComputedRead> computedReads(const Program &program);

}   // namespace tw
