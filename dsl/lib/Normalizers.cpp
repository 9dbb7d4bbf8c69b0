#include "tilewright/dsl/Normalizers.h"

namespace tw {
namespace {

/// The row's maximum and sum, with a score that takes weight and has no value: all relative to the larger of the two.
struct WithSink {
  Tile top, total, shrink;
};

/// Where both are −inf there is nothing to weigh: base is then 0, so that both e^(−inf − base) are 0.
WithSink withSink(const Softmax::State &state, const Tile &sink) {
  const auto &[top, total] = state;
  Tile next = max(top, sink), base = where(-infinity < next, next, 0.0), shrink = exp(top - base);
  return {next, total * shrink + exp(sink - base), shrink};
}

Tile finished(const WithSink &row, const Tile &accumulated) { return where(row.total == 0.0, 0.0, accumulated * row.shrink / row.total); }
Tile logSumExp(const WithSink &row) { return row.top + log(row.total); }

} // namespace

Softmax::State Softmax::start(const Scores &scores) const { return {full(-infinity, scores.rows, scores.type), full(0, scores.rows, scores.type)}; }

/// A row in which no key is left so far has top −inf; base is then 0, so that −inf − base stays −inf and
/// every weight is exactly 0. A NaN score makes top NaN, and with it the row.
Weighted<Tile, Tile> Softmax::step(const Scores &scores, State state, Tile score) const {
  const auto &[top, total] = state;
  Tile next = named("top", stabiliser(max(top, max(score, over(scores.axis)))));
  Tile base = named("base", where(-infinity < next, next, 0.0));
  Tile weights = named("weights", exp(score - base));
  Tile shrink = named("shrink", exp(top - base));
  return {{next, named("total", total * shrink + sum(weights, over(scores.axis)))}, weights, shrink};
}

/// Asks whether the total is zero and not whether it is positive: a NaN total spoils its row.
Tile Softmax::finish(const Scores &, State state, Tile accumulated) const {
  const Tile &total = std::get<1>(state);
  return where(total == 0.0, 0.0, accumulated / total);
}

Tile Softmax::logSumExp(const Scores &, State state) const { return std::get<0>(state) + log(std::get<1>(state)); }

Tile Sink::finish(const Scores &scores, State state, Tile accumulated) const {
  return finished(withSink(state, cast(sinks(scores.at.head), scores.type)), accumulated);
}
Tile Sink::logSumExp(const Scores &scores, State state) const { return tw::logSumExp(withSink(state, cast(sinks(scores.at.head), scores.type))); }

Tile SoftmaxOffByOne::finish(const Scores &scores, State state, Tile accumulated) const { return finished(withSink(state, constant(0, scores.type)), accumulated); }
Tile SoftmaxOffByOne::logSumExp(const Scores &scores, State state) const { return tw::logSumExp(withSink(state, constant(0, scores.type))); }

Weighted<> Sigmoid::step(const Scores &, std::tuple<>, Tile score) const { return {{}, named("weights", sigmoid(score)), {}}; }

/// Asks for what is not positive, so that a NaN score makes a NaN weight.
Weighted<> ReluSquared::step(const Scores &, std::tuple<>, Tile score) const { return {{}, named("weights", where(score <= 0.0, 0.0, score * score)), {}}; }

Weighted<> Unnormalized::step(const Scores &, std::tuple<>, Tile score) const {
  return {{}, named("weights", where(score == -infinity, 0.0, score)), {}};
}

} // namespace tw
