// A launch given by names: for tools and tests, where a search by name costs nothing that counts.
#pragma once
#include "tilewright/device/Plan.h"
#include <map>
#include <string>
#include <vector>

namespace tw::device {

struct NamedTensor {
  std::uint64_t address = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides = {};   // in elements; empty: row-major
};

/// What a launch is given, by the names in the kernel's facts. What is there beyond them is ignored.
struct NamedProblem {
  std::map<std::string, NamedTensor> tensors;
  std::map<std::string, std::int64_t> lengths;
  std::map<std::string, ScalarArgument> scalars;
  std::uint64_t workspace = 0;   // may be set later, by Plan::setWorkspace
};

/// A launch ready to go.
struct Launch {
  std::vector<ParameterLine> parameters;   // at least parameterBytes()
  std::size_t parameterBytes = 0;
  int items = 0;
  std::size_t workspaceBytes = 0;
  int blocks = 0;                 // 0: nothing to launch, and no parameters
};

/// Throws std::invalid_argument for a name that is not given, a rank that does not fit its strides, and too many items.
[[nodiscard]] Launch prepare(const Plan &plan, const NamedProblem &problem, const Machine &machine, const EncodeMap &encode);

} // namespace tw::device
