// Fold programs of several kinds, none of which the compiler knows by name: tests of the language, of the
// passes and of the kernels run them.
#pragma once
#include "tilewright/dsl/Dsl.h"

namespace programs {
using namespace tw;

/// Variants of the gallery that read Q, K, V and numbers a head: what every target compiles.
inline constexpr const char *plainVariants[] = {"plain", "causal", "window", "softcap", "alibi", "gemma2"};

/// Y[t, e] = Σ_v X[t, v] · W[v, e]: the folded axis is contracted, and there is no elementwise part.
inline Program gemm(Type type = Type::bf16) {
  Axis t("t"), v("v"), e("e");
  Tensor X("X", type, 2), W("W", type, 2), Y("Y", type, 2);
  Type sums = type == Type::f64 ? Type::f64 : Type::f32;
  auto [acc] = fold(v, std::tuple{full(0, {t, e}, sums)}, [&](Tile acc) {
    return std::tuple{named("acc", acc + dot(X(t, v), W(v, e), over(v)))};
  });
  return {"gemm", {store(Y, {t, e}, acc)}};
}

/// R[t] = Σ_v |X[t, :] · W[v, :]|
inline Program rowSumsOfAbs(Type type = Type::bf16) {
  Axis t("t"), v("v"), d("d");
  Tensor X("X", type, 2), W("W", type, 2), R("R", type == Type::f64 ? type : Type::f32, 1);
  Tile x = X(t, d);
  auto [r] = fold(v, std::tuple{full(0, {t}, R.type())}, [&](Tile r) {
    return std::tuple{named("r", r + sum(abs(dot(x, W(v, d), over(d))), over(v)))};
  });
  return {"row_sums_of_abs", {store(R, {t}, r)}};
}

/// Log-sum-exp and maximum of a linear layer over a vocabulary: nothing of size tokens × vocabulary exists.
inline Program linearLogSumExp(Type type = Type::bf16) {
  Axis t("t"), v("v"), d("d");
  Type sums = type == Type::f64 ? Type::f64 : Type::f32;
  Tensor X("X", type, 2), W("W", type, 2), Lse("lse", sums, 1), Best("best", sums, 1);
  Tile x = X(t, d);
  auto [top, total] = fold(v, std::tuple{full(-infinity, {t}, sums), full(0, {t}, sums)}, [&](Tile top, Tile total) {
    Tile z = named("z", dot(x, W(v, d), over(d)));
    Tile next = named("top", max(top, max(z, over(v))));
    return std::tuple{next, named("total", total * exp(top - next) + sum(exp(z - next), over(v)))};
  });
  return {"linear_log_sum_exp", {store(Lse, {t}, top + log(total)), store(Best, {t}, top)}};
}

/// The same in parts of the vocabulary, each an item's own: maximum and sum of each part.
inline Program linearLogSumExpParts(Type type = Type::bf16) {
  Axis c("c"), t("t"), v("v"), d("d");
  Type sums = type == Type::f64 ? Type::f64 : Type::f32;
  Tensor X("X", type, 2), W("W", type, 2), Top("top", sums, 2), Total("total", sums, 2);
  Tile x = X(t, d), part = named("part", floorDiv(extent(v) + extent(c) - 1, extent(c))), first = c * part;
  auto [top, total] = fold(v, std::tuple{full(-infinity, {c, t}, sums), full(0, {c, t}, sums)}, [&](Tile top, Tile total) {
    Tile z = where((first <= v) & (v < first + part), named("z", dot(x, W(v, d), over(d))), -infinity);
    Tile next = named("top", max(top, max(z, over(v)))), base = where(-infinity < next, next, 0.0);
    return std::tuple{next, named("total", total * exp(top - base) + sum(exp(z - base), over(v)))};
  });
  return {"linear_log_sum_exp_parts", {store(Top, {c, t}, top), store(Total, {c, t}, total)}};
}

/// What is left to do with the parts.
inline Program logSumExpOfParts(Type sums = Type::f32) {
  Axis t("t"), c("c");
  Tensor Top("top", sums, 2), Total("total", sums, 2), Lse("lse", sums, 1);
  auto [top, total] = fold(c, std::tuple{full(-infinity, {t}, sums), full(0, {t}, sums)}, [&](Tile top, Tile total) {
    Tile ofPart = Top(c, t), next = max(top, max(ofPart, over(c))), base = where(-infinity < next, next, 0.0);
    return std::tuple{next, total * exp(top - base) + sum(exp(ofPart - base) * Total(c, t), over(c))};
  });
  return {"log_sum_exp_of_parts", {store(Lse, {t}, top + log(total))}};
}

/// Three reductions of one product under different masks. No masked tile may be skipped: 1 is not neutral
/// for a sum, and each mask leaves the other sums alone.
inline Program sumsUnderMasks(Type type = Type::bf16) {
  Axis t("t"), v("v"), d("d");
  Type sums = type == Type::f64 ? Type::f64 : Type::f32;
  Tensor X("X", type, 2), W("W", type, 2), A("A", sums, 1), B("B", sums, 1), C("C", sums, 1);
  Tile x = X(t, d);
  auto [a, b, c] = fold(v, std::tuple{full(0, {t}, sums), full(0, {t}, sums), full(-infinity, {t}, sums)}, [&](Tile a, Tile b, Tile c) {
    Tile z = named("z", dot(x, W(v, d), over(d)));
    return std::tuple{named("a", a + sum(where(v <= t, z, 1.0), over(v))),
                      named("b", b + sum(abs(where(index(t) - v < 90, z, 0.0)), over(v))),
                      named("c", max(c, max(z, over(v))))};
  });
  return {"sums_under_masks", {store(A, {t}, a), store(B, {t}, b), store(C, {t}, c)}};
}

/// Weights 1/(1 + e^(3 − scale·q·k)) in place of normalised ones: no maximum, no total. [B,H,S,D] as the
/// gallery; `scale` is a launch scalar.
inline Program sigmoidWeights(Type type = Type::bf16, bool bottomRight = true) {
  Axis b("b"), h("h"), q("q"), k("k"), d("d"), e("e");
  Tensor Q("Q", type, 4), K("K", type, 4), V("V", type, 4), O("O", type, 4);
  Type sums = type == Type::f64 ? Type::f64 : Type::f32;
  Tile query = Q(b, h, q, d), scale = scalar("scale", sums, Sign::positive);
  Tile keyHead = h / (extent(h) / K.dimension(1));
  auto [acc] = fold(k, std::tuple{full(0, {b, h, q, e}, sums)}, [&](Tile acc) {
    Tile s = named("s", dot(query, K(b, keyHead, k, d), over(d))) * scale - 3.0;
    Tile w = named("w", 1.0 / (1.0 + exp(-s)));
    if (bottomRight)
      w = where(k <= q + (extent(k) - extent(q)), w, 0.0);
    return std::tuple{named("acc", acc + dot(w, V(b, keyHead, k, e), over(k)))};
  });
  return {"sigmoid_weights", {store(O, {b, h, q, e}, acc)}};
}

} // namespace programs
