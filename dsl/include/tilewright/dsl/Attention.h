// Attention as a thin library over folds: normalise(modifiers(Q·K)) · V.
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
  /// Stores the natural-log log-sum-exp, [B,H,Sq] f32: −inf for a row without a key.
  Attention &lse(Tensor lse);
  [[nodiscard]] Program program() const;

  Axis b{"b"}, h{"h"}, q{"q"}, k{"k"}, d{"d"}, e{"e"};

private:
  std::string name;
  Tensor Q, K, V, O;
  std::optional<Tensor> logSumExp;
  std::vector<Modifier> modifiers;
  Location where;
};

} // namespace tw
