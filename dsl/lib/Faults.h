// What went wrong in a value that may yet be discarded by where().
#pragma once
#include "tilewright/dsl/Tile.h"
#include <cstdint>
#include <map>
#include <tuple>

namespace tw::detail {

/// Faults by number, from 1; the same fault has one number. A read outside of a tensor, a division by
/// zero or a shift by too many places fails the program only if its value reaches a store.
class Faults {
public:
  std::uint32_t readOutside(const Node &load, unsigned dimension, std::int64_t index, std::int64_t length);
  std::uint32_t divisionByZero(const Node &division);
  std::uint32_t shiftOutside(const Node &shift, std::int64_t places);
  [[nodiscard]] Diagnostic diagnostic(std::uint32_t fault) const { return diagnostics[fault - 1]; }

private:
  std::vector<Diagnostic> diagnostics;
  std::map<std::tuple<const Node *, unsigned, std::int64_t>, std::uint32_t> numbers;
};

} // namespace tw::detail
