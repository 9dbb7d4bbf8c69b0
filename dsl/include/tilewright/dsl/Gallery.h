// The named variants.
#pragma once
#include "tilewright/dsl/Attention.h"
#include "tilewright/dsl/Evaluate.h"
#include <random>

namespace tw {

/// The lengths of a problem on which a variant is tried.
struct VariantShape {
  std::int64_t b = 0, h = 0, hkv = 0, sq = 0, skv = 0, d = 0, dv = 0;
};

/// A tensor that a variant reads besides Q, K and V, and how to make one to try it with.
struct Capture {
  std::string name;                  // "slopes"
  Type type;
  std::vector<std::string> shape;    // one text a dimension: B, H, Hkv, Sq, Skv, D, Dv, or what it is made of: "Skv / 32"
  std::string meaning;               // "a slope for each head"
  /// Numbers that mean something, of every row and table entry that the shape needs, not rounded to the type.
  std::function<Array(const VariantShape &shape, std::mt19937_64 &random)> make;
};

struct Variant {
  std::string name;          // "gemma2"
  std::string summary;       // one line
  std::string formula;       // one line
  std::string paper = {};    // title, year
  std::vector<Capture> captures = {};
};
/// The variants of the gallery, in the order in which `tilewright list` shows them.
[[nodiscard]] const std::vector<Variant> &gallery();

struct VariantOptions {
  Type type = Type::bf16;    // of Q, K, V and O
  bool lse = true;           // store lse too, where the variant's normaliser has one
  bool magnitudes = false;   // weights and output as absolute values: with V's, what the terms of a sum add up to
};
/// Makes a variant by name; names combine by `+` (`causal+alibi`), in the order written. Throws
/// std::invalid_argument naming the unknown part, the known names and the nearest one.
[[nodiscard]] Program makeVariant(std::string_view name, const VariantOptions &options = {});

/// What is known of a variant, or of several by +, besides its program: what it reads, and what its results may be off by.
struct VariantFacts {
  std::vector<Capture> captures;     // each once
  bool isMean = true;                // an output is a weighted mean of V, but for `scale`: weights are not negative and add up to 1 at most
  bool isSoftmax = true;             // lse is that of the scores alone
  bool hasLse = true;
  using Tensors = std::map<std::string, Array>;
  /// The largest score, where |q·k| / √D is at most `size`, is at most factor · size + bias; none of a variant that is not the gallery's.
  struct ScoreBound {
    double factor = 1, bias = 0;
  };
  std::function<ScoreBound(const VariantShape &shape, const Tensors &captures)> scoreBound;
  [[nodiscard]] bool isBounded() const { return bool(scoreBound); }
  /// A factor of a mean of V.
  std::function<double(const Tensors &captures)> scale;
  /// No mean: what all weights of a row change by together where each score changes by 1, at most.
  std::function<double(const VariantShape &shape, const Tensors &captures, double size)> slope;
};
[[nodiscard]] VariantFacts factsOf(std::string_view name, Type type = Type::bf16);

} // namespace tw
