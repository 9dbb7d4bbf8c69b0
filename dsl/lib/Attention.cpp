#include "tilewright/dsl/Attention.h"
#include "Fail.h"
#include <algorithm>

namespace tw {
namespace {

void needsRank(const Tensor &tensor, unsigned rank, const char *shape, Location where) {
  if (tensor.rank() != rank)
    detail::fail(where, "'" + tensor.name() + "' has " + std::to_string(tensor.rank()) + " dimensions, expected " + std::to_string(rank) + ": " + shape,
                 {{tensor.info->where, "declared here"}});
}

void needsFloat(const Tensor &tensor, Location where) {
  if (!isFloat(tensor.type()))
    detail::fail(where, "'" + tensor.name() + "' is of type " + name(tensor.type()) + ", expected a float: f16, bf16, f32 or f64", {{tensor.info->where, "declared here"}});
}

/// Head dimensions: what fits registers and shared memory whole, in pieces the tensor cores take.
Tile isHeadDim(const Tile &length) { return (length % 8 == 0) & (length >= 8) & (length <= 256); }

} // namespace

Attention::Attention(std::string name, Tensor q, Tensor k, Tensor v, Tensor o, Location where)
    : name(std::move(name)), Q(std::move(q)), K(std::move(k)), V(std::move(v)), O(std::move(o)), where(where) {
  needsRank(Q, 4, "[B, H, Sq, D]", where);
  needsRank(K, 4, "[B, Hkv, Skv, D]", where);
  needsRank(V, 4, "[B, Hkv, Skv, Dv]", where);
  needsRank(O, 4, "[B, H, Sq, Dv]", where);
  for (const Tensor *tensor : {&Q, &K, &V, &O})
    needsFloat(*tensor, where);
}

Attention &Attention::score(Modifier modifier) {
  modifiers.push_back(std::move(modifier));
  return *this;
}
Attention &Attention::score(ScoreFunction function, Location where) { return score(Modifier{"score", std::move(function), where}); }
Attention &Attention::mask(Modifier modifier) { return score(std::move(modifier)); }
Attention &Attention::mask(MaskFunction keep, Location where) { return score(masked("mask", std::move(keep), where)); }

Attention &Attention::lse(Tensor lse) {
  needsRank(lse, 3, "[B, H, Sq]", where);
  needsFloat(lse, where);
  logSumExp = std::move(lse);
  return *this;
}

Program Attention::program() const {
  const Tile heads = extent(h), keyHeads = K.dimension(1);
  const Tile keyHead = h / named("group", heads / keyHeads);                 // [h]
  const At at{tw::index(b), tw::index(h), tw::index(q), tw::index(k), extent(q), extent(k)};
  const Tile query = Q.at({b, h, q, d}, where);                              // [b, h, q, d]

  auto scoreTile = [&] {
    Tile s = dot(query, K.at({b, keyHead, k, d}, where), over(d));         // [b, h, q, k]
    if (std::none_of(modifiers.begin(), modifiers.end(), [](const Modifier &m) { return m.setsScale; })) {
      Tile scale = named("scale", 1.0 / tw::sqrt(cast(extent(d), s.type())));
      s = named("scaled", s * scale, {s}, where);
    }
    for (const Modifier &modifier : modifiers) {
      Tile next = modifier.apply(s, at);
      if (next.type() != s.type() || !same(next.axes(), s.axes()))
        detail::fail(modifier.where, "the step '" + modifier.label + "' makes " + text(next) + " of the score " + text(s) +
                                         "; a step returns a score of the same type and axes", {detail::madeHere(next, "its result")});
      s = named(modifier.label, next, {s}, modifier.where);
    }
    return s;
  };

  const Softmax softmax{k};
  const Type type = Q.type() == Type::f64 || K.type() == Type::f64 || V.type() == Type::f64 ? Type::f64 : Type::f32;
  auto [top0, total0] = softmax.start({b, h, q}, type);
  auto [top, total, acc] = fold(k, std::tuple{top0, total0, full(0, {b, h, q, e}, type)}, [&](Tile top, Tile total, Tile acc) {
    auto step = softmax.step(top, total, cast(scoreTile(), type));
    Tile sum = acc * step.shrink + dot(step.weights, V.at({b, keyHead, k, e}, where), over(k));   // [b, h, q, e]
    return std::tuple{step.top, step.total, named("acc", sum)};
  }, where);

  Program program{name, {store(O, {b, h, q, e}, softmax.finish(total, acc), where)}};
  if (logSumExp)
    program.stores.push_back(store(*logSumExp, {b, h, q}, softmax.logSumExp(top, total), where));
  const std::string K = "'" + this->K.name() + "'", Q = "'" + this->Q.name() + "'", V = "'" + this->V.name() + "'";
  program.requirements = {
      require((keyHeads > 0) & (heads % max(keyHeads, 1) == 0),
              "the heads of " + Q + " (dimension 1) must be a multiple of the heads of " + K + ", which has at least one; repeat heads of " + K + " or drop some of " + Q, where),
      require(this->V.dimension(1) == keyHeads, V + " must have as many heads (dimension 1) as " + K + "; give each key head its values", where),
      require(isHeadDim(extent(d)), "the head dimension of " + Q + " and " + K + " (dimension 3) must be a multiple of 8 from 8 to 256; a length below 256 is padded in both with zeros, and the scale stated", where),
      require(isHeadDim(extent(e)), "the head dimension of " + V + " (dimension 3) must be a multiple of 8 from 8 to 256; a length below 256 is padded with zeros", where)};
  verify(program);
  return program;
}

} // namespace tw
