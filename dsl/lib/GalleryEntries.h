// What the gallery knows of each variant.
#pragma once
#include "tilewright/dsl/Gallery.h"

namespace tw::detail {

using Numbers = std::vector<double>;

/// Of Q, K, V and O, and of what is kept in f32 beside 16-bit floats.
struct Types {
  explicit Types(Type type) : type(type), exact(type == Type::f64 ? Type::f64 : Type::f32) {}
  Type type, exact;
};

/// A variant while it is made, from its parts in turn.
class Making : public Types {
public:
  Making(Attention attention, Type type) : Types(type), attention(std::move(attention)) {}
  /// The tensor of that name: one, however many parts ask for it.
  Tensor capture(const std::string &name, Type type, unsigned rank);
  /// Refuses a second normaliser.
  template <Normalizer N> void normalise(const std::string &part, N normalizer) {
    claimNormalizer(part);
    attention.normalise(std::move(normalizer));
  }
  /// For what draws random numbers by the variant's seed: a second time they would be the same ones.
  void claimSeed();

  Attention attention;

private:
  void claimNormalizer(const std::string &part);
  std::string normalisedBy;        // a part's name
  bool isDropped = false;
  std::map<std::string, Tensor> captures;
};

struct Entry {
  Variant variant;
  Numbers defaults = {};                                                // of the numbers in parentheses
  std::function<std::string(const Numbers &)> refuse = nullptr;         // why numbers do not do, or nothing
  std::function<void(Making &, const Numbers &)> apply = nullptr;
  std::function<std::vector<Capture>(const Numbers &, Types)> captures = nullptr;   // none: no tensors
  // ---- of VariantFacts
  bool isMean = true, isSoftmax = true, hasLse = true;
  std::function<VariantFacts::ScoreBound(const VariantShape &, const VariantFacts::Tensors &)> scoreBound = nullptr;   // none: the size
  std::function<double(const Numbers &, const VariantFacts::Tensors &)> scale = nullptr;                               // none: 1
  std::function<double(const VariantFacts::Tensors &, const VariantShape &, double size)> slope = nullptr;             // none: 0
};

[[nodiscard]] const std::vector<Entry> &galleryEntries();
// The parts of that list, by what they change of a score.
[[nodiscard]] std::vector<Entry> plainEntries();
[[nodiscard]] std::vector<Entry> scoreEntries();
[[nodiscard]] std::vector<Entry> maskEntries();
[[nodiscard]] std::vector<Entry> tableEntries();
[[nodiscard]] std::vector<Entry> weightEntries();

/// Whole numbers from 1.
[[nodiscard]] std::string needsCounts(const std::string &names, const Numbers &numbers);

} // namespace tw::detail
