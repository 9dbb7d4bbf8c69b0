// The named variants.
#pragma once
#include "tilewright/dsl/Attention.h"

namespace tw {

struct Variant {
  std::string name;          // "gemma2"
  std::string summary;       // one line
  std::string formula;       // one line
};
/// The variants of the gallery, in the order in which `tilewright list` shows them.
[[nodiscard]] const std::vector<Variant> &gallery();

struct VariantOptions {
  Type type = Type::bf16;    // of Q, K, V and O
  bool lse = true;           // store lse too
};
/// Makes a variant by name; names combine by `+` (`causal+alibi`), in the order written. Throws
/// std::invalid_argument naming the unknown part, the known names and the nearest one.
[[nodiscard]] Program makeVariant(std::string_view name, const VariantOptions &options = {});

} // namespace tw
