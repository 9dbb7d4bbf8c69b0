// Variants of the gallery that make weights otherwise, or change weights and outputs.
#include "Captures.h"
#include "GalleryEntries.h"
#include "Numbers.h"
#include <cmath>

namespace tw::detail {
namespace {

using Tensors = VariantFacts::Tensors;
using Bound = VariantFacts::ScoreBound;

/// o / Skv
void byKeys(Making &m) {
  m.attention.output([](Tile output, const AtOutput &at) { return output / cast(max(at.keys, 1), output.type()); });
}

} // namespace

std::vector<Entry> weightEntries() {
  return {
      {.variant = {"sink", "softmax with one more score for each head, learned, that has no value", "w = e^s / (e^sink[h] + Σ e^s)", "gpt-oss-120b & gpt-oss-20b Model Card, 2025"},
       .apply = [](Making &m, const Numbers &) { m.normalise("sink", Sink(m.capture("sinks", m.exact, 1))); },
       .captures = [](const Numbers &, Types of) { return std::vector{each("sinks", of.exact, {"H"}, "a score for each head", normal)}; },
       .isSoftmax = false},
      {.variant = {"offbyone", "softmax whose weights may add up to less than 1", "w = e^s / (1 + Σ e^s)", "Attention Is Off By One, 2023"},
       .apply = [](Making &m, const Numbers &) { m.normalise("offbyone", SoftmaxOffByOne()); },
       .isSoftmax = false},
      {.variant = {"sigmoid", "a weight for each key alone", "w = 1 / (1 + e^−(s − log Skv))", "Theory, Analysis, and Best Practices for Sigmoid Self-Attention, 2024"},
       .apply =
           [](Making &m, const Numbers &) {
             m.attention.score([](Tile s, const At &at) { return s - log(cast(max(at.keys, 1), s.type())); });
             m.normalise("sigmoid", Sigmoid());
           },
       .isMean = false, .isSoftmax = false, .hasLse = false,
       .scoreBound = [](const VariantShape &s, const Tensors &) { return Bound{1, std::log(double(std::max<std::int64_t>(s.skv, 1)))}; }},
      {.variant = {"relu2", "squares of positive scores", "w = max(s, 0)² / Skv", "Replacing softmax with ReLU in Vision Transformers, 2023"},
       .apply =
           [](Making &m, const Numbers &) {
             m.normalise("relu2", ReluSquared());
             byKeys(m);
           },
       .isMean = false, .isSoftmax = false, .hasLse = false, .slope = [](const Tensors &, const VariantShape &, double size) { return 2 * size; }},
      {.variant = {"linear", "scores as weights: linear attention without its state", "w = s / Skv", "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention, 2020"},
       .apply =
           [](Making &m, const Numbers &) {
             m.normalise("linear", Unnormalized());
             byKeys(m);
           },
       .isMean = false, .isSoftmax = false, .hasLse = false, .slope = [](const Tensors &, const VariantShape &, double) { return 1.0; }},
      {.variant = {"retention", "scores as weights, which decay with the distance", "w = s · γ[h]^(q′ − k), k ≤ q′", "Retentive Network: A Successor to Transformer for Large Language Models, 2023"},
       .apply =
           [](Making &m, const Numbers &) {
             m.attention.score(retention(m.capture("decays", m.exact, 1)));
             m.normalise("retention", Unnormalized());
           },
       .captures = [](const Numbers &, Types of) {
         return std::vector{Capture{"decays", of.exact, {"H"}, "a decay for each head", [](const VariantShape &s, Random &) {
           Array array{{s.h}, {}};
           for (std::int64_t h = 0; h < s.h; ++h)
             array.data.push_back(1 - std::exp2(-5.0 - double(h % 8)));
           return array;
         }}};
       },
       .isMean = false, .isSoftmax = false, .hasLse = false,
       // A decay is computed to within the rounding of a logarithm times the distance; where that is large the weight is not.
       .scoreBound = [](const VariantShape &, const Tensors &) { return Bound{1, 16}; },
       .slope = [](const Tensors &t, const VariantShape &s, double) { return std::min(1 / std::max(1 - largest(t.at("decays")), 1e-9), double(s.skv)); }},
      {.variant = {"dropout", "a tenth of the weights are dropped, by a seed; dropout(p) for another part", "w = w · (random(seed, b, h, q, k) ≥ p) / (1 − p)",
                   "Dropout: A Simple Way to Prevent Neural Networks from Overfitting, 2014"},
       .defaults = {0.1}, .refuse = [](const Numbers &n) { return n[0] >= 0 && n[0] < 1 ? "" : "(p) needs a probability from 0, less than 1"; },
       .apply = [](Making &m, const Numbers &n) { m.claimSeed(); m.attention.weights(dropout(m.capture("seed", Type::i64, 1)(0), n[0])); },
       .captures = [](const Numbers &, Types) {
         return std::vector{each("seed", Type::i64, {"1"}, "of the weights that are dropped", [](Random &r) { return double(whole(r, 0, std::int64_t(1) << 52)); })};
       },
       .scale = [](const Numbers &n, const Tensors &) { return 1 / (1 - n[0]); }},
      {.variant = {"gated", "an output times a gate for each of its elements", "o = o · sigmoid(gate[b][h][q][e])",
                   "Gated Attention for Large Language Models: Non-linearity, Sparsity, and Attention-Sink-Free, 2025"},
       .apply = [](Making &m, const Numbers &) { m.attention.output(gated(m.capture("gates", m.type, 4))); },
       .captures = [](const Numbers &, Types of) { return std::vector{each("gates", of.type, {"B", "H", "Sq", "Dv"}, "a gate for each output", normal)}; }},
      {.variant = {"tanhgated", "an output times a learned gate for each head, which starts at 0", "o = o · tanh(gate[h])", "Flamingo: a Visual Language Model for Few-Shot Learning, 2022"},
       .apply = [](Making &m, const Numbers &) { m.attention.output(tanhGated(m.capture("head_gates", m.exact, 1))); },
       .captures = [](const Numbers &, Types of) { return std::vector{each("head_gates", of.exact, {"H"}, "a gate for each head", normal)}; }},
      {.variant = {"differential", "the difference of two softmaxes over the same values", "o = (softmax(q·k / √D) − λ[h] · softmax(q2·k2 / √D)) · v", "Differential Transformer, 2024"},
       .apply =
           [](Making &m, const Numbers &) {
             const Tensor factors = m.capture("lambdas", m.exact, 1);
             m.attention.branch(m.capture("Q2", m.type, 4), m.capture("K2", m.type, 4), [=](const AtOutput &at) { return -factors(at.head); });
           },
       .captures = [](const Numbers &, Types of) {
         return std::vector{each("Q2", of.type, {"B", "H", "Sq", "D"}, "the other queries", normal), each("K2", of.type, {"B", "Hkv", "Skv", "D"}, "the other keys", normal),
                            each("lambdas", of.exact, {"H"}, "a factor for each head", [](Random &r) { return uniform(r, 0.2, 0.8); })};
       },
       // Both softmaxes are off by as much as scores of the larger kind: Q2 and K2 are as large as Q and K.
       .scoreBound = [](const VariantShape &, const Tensors &) { return Bound{1.5, 0}; },
       .scale = [](const Numbers &, const Tensors &t) { return 1 + largest(t.at("lambdas")); }}};
}

} // namespace tw::detail
