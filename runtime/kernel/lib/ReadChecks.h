// What a checked kernel looks at before each launch: the tables of the launch themselves.
#pragma once
#include "Checked.h"
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/dsl/Reads.h"
#include <vector>

namespace tw {

class ReadChecks {
public:
  explicit ReadChecks(const Program &program);

  /// Looks at inputs that are numbers already. `program` is what refusals call the program.
  void operator()(const std::string &program, const Evaluation &inputs) const;
  /// Waits for `stream`, copies the tables that indices are made of from where they are, and throws ArgumentError for the first index that leaves its tensor.
  void operator()(const Artifact &artifact, const Checked &checked, bool mayBeOnGpu, void *stream) const;

private:
  struct Check {
    ComputedRead read;
    Program probe;                     // stores `outside`, and the index where it is outside
    std::vector<std::string> tables;   // that it reads
  };
  static void look(const Check &check, const std::string &program, const Evaluation &given, const std::vector<std::int64_t> &tableShape);
  std::vector<Check> checks;
};

}   // namespace tw
