// Attention as a thin library over folds: output(normalise(modifiers(Q·K)) · V).
#pragma once
#include "tilewright/dsl/Modifiers.h"
#include "tilewright/dsl/Normalizers.h"
#include "tilewright/dsl/Program.h"
#include <optional>

namespace tw {

/// Q [B,H,Sq,D], K [B,Hkv,Skv,D], V [B,Hkv,Skv,Dv], O [B,H,Sq,Dv]; H a multiple of Hkv. Modifiers apply
/// in the order in which they are written. Without `scaled` the score starts as Q·K / √D.
class Attention {
public:
  Attention(std::string name, Tensor q, Tensor k, Tensor v, Tensor o, Location where = Location::current());
  Attention &score(Modifier modifier);
  Attention &score(ScoreFunction function, Location where = Location::current());
  Attention &mask(Modifier modifier);
  Attention &mask(MaskFunction keep, Location where = Location::current());
  /// How scores become weights; Softmax if not said.
  template <Normalizer N> Attention &normalise(N normalizer, Location where = Location::current()) {
    return normaliseBy(detail::anyNormalizer(std::move(normalizer)), where);
  }
  /// Steps of the weights, which the normaliser has added up before: dropout.
  Attention &weights(Modifier modifier);
  Attention &weights(ScoreFunction function, Location where = Location::current());
  /// Steps of the output, [B,H,Sq,Dv].
  Attention &output(OutputModifier modifier);
  Attention &output(OutputFunction function, Location where = Location::current());
  /// More queries [B,H,Sq,D] and keys [B,Hkv,Skv,D], whose scores take the same steps and the same normaliser: their output on
  /// the same V is added, times a factor a row.
  Attention &branch(Tensor q, Tensor k, RowFunction factor, Location where = Location::current());
  /// Stores the natural-log log-sum-exp of Q and K, [B,H,Sq] f32: −inf for a row without a key.
  Attention &lse(Tensor lse, Location where = Location::current());
  /// Whether the normaliser has one.
  [[nodiscard]] bool hasLogSumExp() const { return bool(normalizer.logSumExp); }
  [[nodiscard]] Program program() const;

  /// What a score is made of, for steps that need more of it than the score: [b,h,q,d] and [b,h,k,d].
  [[nodiscard]] Tile queryTile() const;
  [[nodiscard]] Tile keyTile() const;

  Axis b{"b"}, h{"h"}, q{"q"}, k{"k"}, d{"d"}, e{"e"};

private:
  struct Branch {
    Tensor queries, keys;
    RowFunction factor;   // none of the first
    Location where;
  };
  Attention &normaliseBy(detail::AnyNormalizer normalizer, Location where);
  [[nodiscard]] At at() const;
  [[nodiscard]] Tile keyHead() const;
  [[nodiscard]] Tile scoreOf(const Branch &branch, const Tile &query, const Tile &keyHead) const;
  [[nodiscard]] Tile stepped(Tile value, const std::vector<Modifier> &steps, const char *of) const;
  [[nodiscard]] std::vector<Requirement> requirements() const;

  std::string name;
  std::vector<Branch> branches;
  Tensor V, O;
  std::optional<Tensor> logSumExp;
  Location lseWhere, normalizerWhere;
  detail::AnyNormalizer normalizer = detail::anyNormalizer(Softmax());
  std::vector<Modifier> modifiers, weightModifiers;
  std::vector<OutputModifier> outputModifiers;
  Location where;
};

} // namespace tw
