// What a random program is made of, as data: so that it can be printed, made smaller, and built again.
#pragma once
#include "simulator/Held.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tw::fuzz {

/// An expression. `op` is a leaf or names an operation of the language as the text form spells it.
struct Term {
  std::string op;                 // leaves: score, head, query, key, queries, keys, number, scalar, capture
  Type type = Type::f32;
  std::vector<Term> args = {};
  double number = 0;              // number
  std::string name = {};          // scalar, capture, contains: of its list
  std::string by = {};            // capture: head, query or key; contains: of what there is a list each, or nothing
  int shift = 0;                  // capture by key: reads at key + shift; contains: so many in a row have one list
  friend bool operator==(const Term &, const Term &) = default;
};

/// Numbers that a term may be, whatever the inputs.
struct Range {
  double low = 0, high = 0;
  double error = 0;               // what f32 may be off by
  [[nodiscard]] double most() const { return std::max(std::abs(low), std::abs(high)); }
  [[nodiscard]] bool exact() const { return error == 0; }
};
[[nodiscard]] Range rangeOf(const Term &term);

enum class Kind { softmax, logSumExp, sums, weights, product };
inline constexpr const char *kindNames[] = {"softmax", "log-sum-exp", "sums", "weights", "product"};

struct Recipe {
  Kind kind = Kind::softmax;
  Type type = Type::bf16;                       // of the tensors that dots multiply
  bool rounds = false;                          // tiles of results are stored in that type, not in f32
  std::vector<Term> scores;                     // applied one after the other, each of the one before
  std::vector<Term> masks;                      // bool
  std::int64_t heads = 1, queries = 1, keys = 1, d = 16, e = 16;
  std::uint64_t data = 1;                       // the seed of the inputs
  std::string target = "host", schedule;        // fields that differ from the default
  friend bool operator==(const Recipe &, const Recipe &) = default;
};

/// The program with its inputs, shapes and tolerances.
[[nodiscard]] tests::Held build(const Recipe &recipe);
/// All of it, to be read.
[[nodiscard]] std::string print(const Recipe &recipe);

/// A recipe for `target`; equal seeds, equal recipes.
[[nodiscard]] Recipe draw(std::uint64_t seed, const std::string &target);
/// Every recipe that is a little smaller.
[[nodiscard]] std::vector<Recipe> smaller(const Recipe &recipe);

} // namespace tw::fuzz
