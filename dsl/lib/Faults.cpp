#include "Faults.h"
#include "tilewright/dsl/Tensor.h"

namespace tw::detail {

std::uint32_t Faults::readOutside(const Node &load, unsigned dimension, std::int64_t index, std::int64_t length) {
  auto [entry, isNew] = numbers.emplace(std::tuple{&load, dimension, index}, std::uint32_t(diagnostics.size() + 1));
  if (isNew) {
    const std::string tensor = load.tensor->name, d = std::to_string(dimension);
    diagnostics.push_back({load.where, "read outside of tensor '" + tensor + "': index " + std::to_string(index) + " of dimension " + d + ", which is " +
                                           std::to_string(length) + " long; give a longer tensor, or guard the read: where(i < " + tensor + ".dimension(" + d + "), …, 0)",
                           {{load.tensor->where, "the tensor is declared here"}}});
  }
  return entry->second;
}

std::uint32_t Faults::divisionByZero(const Node &division) {
  auto [entry, isNew] = numbers.emplace(std::tuple{&division, 0u, std::int64_t(0)}, std::uint32_t(diagnostics.size() + 1));
  if (isNew)
    diagnostics.push_back({division.where, std::string(name(division.op)) + " by zero; guard it: where(n != 0, x / max(n, 1), 0)"});
  return entry->second;
}

std::uint32_t Faults::shiftOutside(const Node &shift, std::int64_t places) {
  auto [entry, isNew] = numbers.emplace(std::tuple{&shift, 0u, places}, std::uint32_t(diagnostics.size() + 1));
  if (isNew)
    diagnostics.push_back({shift.where, std::string(name(shift.op)) + " of an " + name(shift.type) + " by " + std::to_string(places) + " places; shift by 0 to " +
                                            std::to_string(bytes(shift.type) * 8 - 1) + ": clamp() the places, or take them modulo " + std::to_string(bytes(shift.type) * 8)});
  return entry->second;
}

} // namespace tw::detail
