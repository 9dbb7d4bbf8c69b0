// Bugs to plant in the text of an emitted kernel.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace tw::tests {

/// Replaces what a regular expression (ECMAScript) finds.
struct Mutation {
  std::string name;   // what somebody would have done wrong
  std::string pattern, replacement;
  int occurrence = 0;   // from 0; everyOccurrence
};
inline constexpr int everyOccurrence = -1;

/// Bugs of many kinds, in kernels with rings, masks and products.
[[nodiscard]] const std::vector<Mutation> &mutations();

/// Leaves out each call of a primitive that synchronises, one at a time.
[[nodiscard]] std::vector<Mutation> deletions(const std::string &text);

/// The text with the bug; nothing where it has no place for it.
[[nodiscard]] std::optional<std::string> plant(const Mutation &mutation, const std::string &text);

}   // namespace tw::tests
