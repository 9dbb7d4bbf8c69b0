// What a checked kernel looks at before each launch: the tables of the launch themselves.
#pragma once
#include "Checked.h"
#include "tilewright/dsl/Reads.h"
#include <vector>

namespace tw {

class ReadChecks {
public:
  explicit ReadChecks(const Program &program);

  /// Waits for `stream`, copies the tables that indices are made of from where they are, and throws ArgumentError for the first index that leaves its tensor.
  void operator()(const Artifact &artifact, const Checked &checked, bool mayBeOnGpu, void *stream) const;

private:
  struct Check {
    ComputedRead read;
    Program probe;                     // stores `outside`, and the index where it is outside
    std::vector<std::string> tables;   // that it reads
  };
  std::vector<Check> checks;
};

}   // namespace tw
