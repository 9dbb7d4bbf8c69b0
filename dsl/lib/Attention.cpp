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
Tile isHeadDim(const Tile &length) { return (length % 8 == 0) & (length >= 8) & (length <= 1024); }

} // namespace

Attention::Attention(std::string name, Tensor q, Tensor k, Tensor v, Tensor o, Location where)
    : name(std::move(name)), branches{{std::move(q), std::move(k), nullptr, where}}, V(std::move(v)), O(std::move(o)), where(where) {
  needsRank(branches[0].queries, 4, "[B, H, Sq, D]", where);
  needsRank(branches[0].keys, 4, "[B, Hkv, Skv, D]", where);
  needsRank(V, 4, "[B, Hkv, Skv, Dv]", where);
  needsRank(O, 4, "[B, H, Sq, Dv]", where);
  for (const Tensor *tensor : {&branches[0].queries, &branches[0].keys, &V, &O})
    needsFloat(*tensor, where);
}

Attention &Attention::score(Modifier modifier) {
  modifiers.push_back(std::move(modifier));
  return *this;
}
Attention &Attention::score(ScoreFunction function, Location where) { return score(Modifier{"score", std::move(function), where}); }
Attention &Attention::mask(Modifier modifier) { return score(std::move(modifier)); }
Attention &Attention::mask(MaskFunction keep, Location where) { return score(masked("mask", std::move(keep), where)); }

Attention &Attention::weights(Modifier modifier) {
  weightModifiers.push_back(std::move(modifier));
  return *this;
}
Attention &Attention::weights(ScoreFunction function, Location where) { return weights(Modifier{"weights", std::move(function), where}); }

Attention &Attention::output(OutputModifier modifier) {
  outputModifiers.push_back(std::move(modifier));
  return *this;
}
Attention &Attention::output(OutputFunction function, Location where) { return output(OutputModifier{"output", std::move(function), where}); }

Attention &Attention::branch(Tensor q, Tensor k, RowFunction factor, Location where) {
  needsRank(q, 4, "[B, H, Sq, D]", where);
  needsRank(k, 4, "[B, Hkv, Skv, D]", where);
  for (const Tensor *tensor : {&q, &k})
    needsFloat(*tensor, where);
  branches.push_back({std::move(q), std::move(k), std::move(factor), where});
  return *this;
}

Attention &Attention::normaliseBy(detail::AnyNormalizer by, Location where) {
  normalizer = std::move(by);
  normalizerWhere = where;
  return *this;
}

Attention &Attention::lse(Tensor lse, Location where) {
  needsRank(lse, 3, "[B, H, Sq]", where);
  needsFloat(lse, where);
  logSumExp = std::move(lse);
  lseWhere = where;
  return *this;
}

At Attention::at() const { return {tw::index(b), tw::index(h), tw::index(q), tw::index(k), extent(q), extent(k)}; }
Tile Attention::keyHead() const { return h / named("group", extent(h) / branches[0].keys.dimension(1)); }      // [h]
Tile Attention::queryTile() const { return branches[0].queries.at({b, h, q, d}, where); }
Tile Attention::keyTile() const { return branches[0].keys.at({b, keyHead(), k, d}, where); }

/// Applies the steps in turn; each keeps type and axes.
Tile Attention::stepped(Tile value, const std::vector<Modifier> &steps, const char *of) const {
  const At at = this->at();
  for (const Modifier &modifier : steps) {
    Tile next = modifier.apply(value, at);
    if (next.type() != value.type() || !same(next.axes(), value.axes()))
      detail::fail(modifier.where, "the step '" + modifier.label + "' makes " + text(next) + " of the " + of + " " + text(value) +
                                       "; a step returns a " + of + " of the same type and axes", {detail::madeHere(next, "its result")});
    value = named(modifier.label, next, {value}, modifier.where);
  }
  return value;
}

Tile Attention::scoreOf(const Branch &branch, const Tile &query, const Tile &keyHead) const {
  Tile s = dot(query, branch.keys.at({b, keyHead, k, d}, branch.where), over(d));   // [b, h, q, k]
  if (std::none_of(modifiers.begin(), modifiers.end(), [](const Modifier &m) { return m.setsScale; })) {
    Tile scale = named("scale", 1.0 / tw::sqrt(cast(extent(d), s.type())));
    s = named("scaled", s * scale, {s}, where);
  }
  return stepped(s, modifiers, "score");
}

std::vector<Requirement> Attention::requirements() const {
  const Tile heads = extent(h), keyHeads = branches[0].keys.dimension(1);
  const std::string K = "'" + branches[0].keys.name() + "'", Q = "'" + branches[0].queries.name() + "'", V = "'" + this->V.name() + "'";
  std::vector<Requirement> list = {
      require((keyHeads > 0) & (heads % max(keyHeads, 1) == 0),
              "the heads of " + Q + " (dimension 1) must be a multiple of the heads of " + K + ", which has at least one; repeat heads of " + K + " or drop some of " + Q, where),
      require(this->V.dimension(1) == keyHeads, V + " must have as many heads (dimension 1) as " + K + "; give each key head its values", where),
      require(isHeadDim(extent(d)), "the head dimension of " + Q + " and " + K + " (dimension 3) must be a multiple of 8 from 8 to 1024; any other length is padded in both with zeros, and the scale stated", where),
      require(isHeadDim(extent(e)), "the head dimension of " + V + " (dimension 3) must be a multiple of 8 from 8 to 1024; any other length is padded with zeros", where)};
  for (std::size_t i = 1; i < branches.size(); ++i) {
    const Tensor &keys = branches[i].keys;
    list.push_back(require(keys.dimension(1) == keyHeads, "'" + keys.name() + "' must have as many heads (dimension 1) as " + K + "; a branch shares the values of " + V, branches[i].where));
  }
  return list;
}

Program Attention::program() const {
  if (logSumExp && !normalizer.logSumExp)
    detail::fail(lseWhere, "the normaliser has no log-sum-exp; leave lse() out, or give the normaliser a function logSumExp",
                 {{normalizerWhere, "the normaliser is chosen here"}});
  auto isWide = [](const Tensor &tensor) { return tensor.type() == Type::f64; };
  const bool wide = isWide(V) || std::any_of(branches.begin(), branches.end(), [&](const Branch &branch) { return isWide(branch.queries) || isWide(branch.keys); });
  const Scores scores{k, {b, h, q}, wide ? Type::f64 : Type::f32, at()};

  // Of each branch the normaliser's state, then what it has accumulated.
  std::vector<Tile> starts;
  const std::vector<Tile> state = normalizer.start(scores);
  for (std::size_t i = 0; i < branches.size(); ++i) {
    starts.insert(starts.end(), state.begin(), state.end());
    starts.push_back(full(0, {b, h, q, e}, scores.type));
  }
  auto stateOf = [&](const std::vector<Tile> &carried, std::size_t branch) {
    auto first = carried.begin() + std::ptrdiff_t(branch * (state.size() + 1));
    return std::vector<Tile>(first, first + std::ptrdiff_t(state.size()));
  };
  auto sumOf = [&](const std::vector<Tile> &carried, std::size_t branch) { return carried[branch * (state.size() + 1) + state.size()]; };

  const Tile keyHead = this->keyHead();
  std::vector<Tile> queries;
  for (const Branch &branch : branches)
    queries.push_back(branch.queries.at({b, h, q, d}, branch.where));           // [b, h, q, d]
  const std::vector<Tile> results = fold(k, starts, [&](const std::vector<Tile> &carried) {
    std::vector<Tile> next;
    for (std::size_t i = 0; i < branches.size(); ++i) {
      auto step = normalizer.step(scores, stateOf(carried, i), cast(scoreOf(branches[i], queries[i], keyHead), scores.type));
      Tile weights = stepped(step.weights, weightModifiers, "weight"), before = sumOf(carried, i);
      Tile sum = (step.shrink ? before * *step.shrink : before) + dot(weights, V.at({b, keyHead, k, e}, where), over(k));   // [b, h, q, e]
      next.insert(next.end(), step.state.begin(), step.state.end());
      next.push_back(named("acc", sum));
    }
    return next;
  }, where);

  const AtOutput at{tw::index(b), tw::index(h), tw::index(q), tw::index(e), extent(q), extent(k)};
  Tile output = normalizer.finish(scores, stateOf(results, 0), sumOf(results, 0));
  for (std::size_t i = 1; i < branches.size(); ++i)
    output = output + cast(branches[i].factor(at), scores.type) * normalizer.finish(scores, stateOf(results, i), sumOf(results, i));
  for (const OutputModifier &modifier : outputModifiers) {
    Tile next = modifier.apply(output, at);
    if (next.type() != output.type() || !same(next.axes(), output.axes()))
      detail::fail(modifier.where, "the step '" + modifier.label + "' makes " + text(next) + " of the output " + text(output) +
                                       "; a step returns an output of the same type and axes", {detail::madeHere(next, "its result")});
    output = named(modifier.label, next, {output}, modifier.where);
  }

  Program program{name, {store(O, {b, h, q, e}, output, where)}};
  if (logSumExp)
    program.stores.push_back(store(*logSumExp, {b, h, q}, normalizer.logSumExp(scores, stateOf(results, 0)), where));
  program.requirements = requirements();
  verify(program);
  return program;
}

} // namespace tw
