// Variants of the gallery that change scores.
#include "Captures.h"
#include "GalleryEntries.h"
#include <cmath>

namespace tw::detail {
namespace {

using Tensors = VariantFacts::Tensors;
using Bound = VariantFacts::ScoreBound;

/// A score and the largest entry of a table.
auto plus(const char *table) {
  return [=](const VariantShape &, const Tensors &t) { return Bound{1, largest(t.at(table))}; };
}

std::string t5Numbers(const Numbers &n) {
  const bool isWhole = n[0] == std::floor(n[0]) && n[1] == std::floor(n[1]);
  return isWhole && n[0] >= 4 && n[0] <= 1024 && n[1] > std::floor(n[0] / 2) / 2 && n[1] <= 1e6 ? "" : "(buckets,farthest) needs whole numbers: 4 to 1024 buckets, and a farthest distance beyond a quarter of them, at most 1000000";
}

std::string radius(const Numbers &n) { return n[0] >= 0 && n[0] <= 1e6 && n[0] == std::floor(n[0]) ? "" : "(radius) needs a whole number from 0 to 1000000"; }

/// Sums of logarithms of gates near 1: no two places have the same.
double logarithmsUpTo(std::int64_t row, std::int64_t place) { return -0.02 * double(row % 3 + 1) * (double(place) + std::sin(double(place) + double(row))); }

} // namespace

std::vector<Entry> scoreEntries() {
  return {
      {.variant = {"temperature", "a learned temperature for each head", "s = s / τ[h]", "Vision Transformer for Small-Size Datasets, 2021"},
       .apply = [](Making &m, const Numbers &) { m.attention.score(temperature(m.capture("temperatures", m.exact, 1))); },
       .captures = [](const Numbers &, Types of) {
         return std::vector{each("temperatures", of.exact, {"H"}, "a temperature for each head", [](Random &r) { return uniform(r, 0.5, 2); })};
       },
       .scoreBound = [](const VariantShape &, const Tensors &t) { return Bound{1 / std::max(smallest(t.at("temperatures")), 0.01), 0}; }},
      {.variant = {"qknorm", "cosines of queries and keys, with a learned scale for each head", "s = g[h] · q·k / (|q| · |k|)", "Query-Key Normalization for Transformers, 2020"},
       .apply =
           [](Making &m, const Numbers &) {
             const Tensor scales = m.capture("scales", m.exact, 1);
             const Axis d = m.attention.d;
             auto norm = [&](const Tile &vector) { return rsqrt(max(sum(cast(vector, m.exact) * cast(vector, m.exact), over(d)), 1e-20)); };
             const Tile q = norm(m.attention.queryTile()), k = norm(m.attention.keyTile());
             m.attention.score(headScale(scales)).score([=](Tile s, const At &) { return s * q * k; });
           },
       .captures = [](const Numbers &, Types of) {
         return std::vector{each("scales", of.exact, {"H"}, "a scale for each head", [](Random &r) { return uniform(r, 4, 12); })};
       },
       .scoreBound = [](const VariantShape &, const Tensors &t) { return Bound{0, largest(t.at("scales"))}; }},
      {.variant = {"t5", "a learned bias for each head and bucket of distances; t5(buckets,farthest) for others than (32,128)", "s = s + table[bucket(k − q)][h]",
                   "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2019"},
       .defaults = {32, 128}, .refuse = t5Numbers,
       .apply = [](Making &m, const Numbers &n) { m.attention.score(t5Bias(m.capture("buckets", m.exact, 2), int(n[0]), int(n[1]), true)); },
       .captures = [](const Numbers &n, Types of) {
         return std::vector{each("buckets", of.exact, {std::to_string(int(n[0])), "H"}, "a bias for each bucket and head", normal)};
       },
       .scoreBound = plus("buckets")},
      {.variant = {"relative", "a learned bias for each head and distance up to 64 either way; relative(radius) for others", "s = s + table[h][min(max(k − q, −64), 64) + 64]",
                   "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows, 2021"},
       .defaults = {64}, .refuse = radius,
       .apply = [](Making &m, const Numbers &n) { m.attention.score(relativeBias(m.capture("distances", m.exact, 2), int(n[0]))); },
       .captures = [](const Numbers &n, Types of) {
         return std::vector{each("distances", of.exact, {"H", std::to_string(2 * int(n[0]) + 1)}, "a bias for each head and distance", normal)};
       },
       .scoreBound = plus("distances")},
      {.variant = {"bias", "a bias for each score", "s = s + bias[b][h][q][k]", "Highly accurate protein structure prediction with AlphaFold, 2021"},
       .apply = [](Making &m, const Numbers &) { m.attention.score(denseBias(m.capture("bias", m.type, 4))); },
       .captures = [](const Numbers &, Types of) { return std::vector{each("bias", of.type, {"B", "H", "Sq", "Skv"}, "a bias for each score", normal)}; },
       .scoreBound = plus("bias")},
      {.variant = {"graphormer", "a bias for each head by the distance of two nodes in a graph, up to 7", "s = s + table[h][hops[q][k]]",
                   "Do Transformers Really Perform Bad for Graph Representation?, 2021"},
       .apply =
           [](Making &m, const Numbers &) {
             const Tensor hops = m.capture("hops", Type::i32, 2), table = m.capture("hop_bias", m.exact, 2);
             m.attention.score([=](Tile s, const At &at) { return s + cast(table(at.head, hops(at.query, at.key)), s.type()); });
           },
       .captures = [](const Numbers &, Types of) {
         return std::vector{each("hops", Type::i32, {"Sq", "Skv"}, "hops between two nodes, up to 7", [](Random &r) { return double(whole(r, 0, 7)); }),
                            each("hop_bias", of.exact, {"H", "8"}, "a bias for each head and number of hops", normal)};
       },
       .scoreBound = plus("hop_bias")},
      {.variant = {"kerple", "a bias that grows with the logarithm of the distance", "s = s − r1[h] · log(1 + r2[h] · |q − k|)",
                   "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation, 2022"},
       .apply = [](Making &m, const Numbers &) { m.attention.score(kerple(m.capture("strengths", m.exact, 1), m.capture("rates", m.exact, 1))); },
       .captures = [](const Numbers &, Types of) {
         return std::vector{each("strengths", of.exact, {"H"}, "a factor for each head", [](Random &r) { return uniform(r, 0.1, 1); }),
                            each("rates", of.exact, {"H"}, "a rate for each head", [](Random &r) { return uniform(r, 0.01, 1); })};
       },
       .scoreBound = [](const VariantShape &s, const Tensors &t) {
         return Bound{1, largest(t.at("strengths")) * std::log1p(largest(t.at("rates")) * double(s.sq + s.skv))};
       }},
      {.variant = {"forgetting", "what lies between query and key is forgotten by gates", "s = s + c[b][h][q] − c[b][h][k], c = Σ log f",
                   "Forgetting Transformer: Softmax Attention with a Forget Gate, 2025"},
       .apply = [](Making &m, const Numbers &) { m.attention.score(forgetting(m.capture("query_gates", m.exact, 3), m.capture("key_gates", m.exact, 3))); },
       .captures = [](const Numbers &, Types of) {
         return std::vector{byPlace("query_gates", of.exact, {"B", "H", "Sq"}, "sums of logarithms of gates up to a query", logarithmsUpTo),
                            byPlace("key_gates", of.exact, {"B", "H", "Skv"}, "sums of logarithms of gates up to a key", logarithmsUpTo)};
       },
       .scoreBound = [](const VariantShape &, const Tensors &t) { return Bound{1, largest(t.at("query_gates")) + largest(t.at("key_gates"))}; }}};
}

} // namespace tw::detail
