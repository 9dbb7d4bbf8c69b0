// The functions that issue a dot, one for each shape in use.
#pragma once
#include "Text.h"
#include "tilewright/ir/Device.h"
#include "llvm/ADT/MapVector.h"
#include <set>
#include <string>
#include <vector>

namespace tw::emit {

class DotFunctions {
public:
  /// The name of the function for this dot, written at its first use.
  std::string nameOf(device::MultiplyOp op);
  /// The same for one warp's rows.
  std::string nameOf(device::RepeatOp op);

  /// The functions, in the order of their first use.
  std::string str() const { return text.str(); }
  /// `wgmma_ss BF16 128 1`, sorted: see CudaText.
  std::vector<std::string> instructions() const { return {used.begin(), used.end()}; }

private:
  std::string nameOfWarps(device::MultiplyOp op);
  /// Writes the function, whose text without its name is `body`, unless there is one, and gives its name.
  template <class Describe> std::string named(const std::string &body, const char *stem, int &count, Describe describe);

  Text text;
  std::vector<std::pair<std::string, std::string>> known;   // a function's text without its name, and its name
  std::set<std::string> used;
  int multiplies = 0, repeats = 0;
};

} // namespace tw::emit
