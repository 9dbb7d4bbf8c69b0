// How scores become weights: structs of functions on values. Attention::normalise takes these, and any of one's own that has
// start, step and finish.
#pragma once
#include "tilewright/dsl/Modifiers.h"
#include <concepts>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

namespace tw {

/// What a normaliser may stand on.
struct Scores {
  Axis axis;     // a score runs along the rows and this one, over which is normalised
  Axes rows;     // what is carried runs along these
  Type type;     // of scores and of all that is carried
  At at;
};

/// What a step makes of one tile of scores.
template <class... T> struct Weighted {
  std::tuple<T...> state;        // carried to the next tile
  Tile weights;                  // of this tile's values
  std::optional<Tile> shrink;    // over the rows: a factor for what was summed before
};

/// start(scores) → state, a std::tuple of Tiles over the rows, empty for none;
/// step(scores, state, score) → Weighted, where a masked score is −inf and its weight must be exactly 0;
/// finish(scores, state, accumulated) → the output, with `accumulated` the weighted sum of the values;
/// and, where there is one, logSumExp(scores, state) → over the rows.
template <class N>
concept Normalizer = requires(const N n, const Scores &scores, Tile tile) {
  { n.finish(scores, n.start(scores), tile) } -> std::same_as<Tile>;
  { n.step(scores, n.start(scores), tile).weights } -> std::convertible_to<Tile>;
};

/// e^score / Σ e^score. A row with no key left gives zeros and log-sum-exp −inf.
struct Softmax {
  using State = std::tuple<Tile, Tile>;     // the running maximum and sum
  [[nodiscard]] State start(const Scores &scores) const;
  [[nodiscard]] Weighted<Tile, Tile> step(const Scores &scores, State state, Tile score) const;
  [[nodiscard]] Tile finish(const Scores &scores, State state, Tile accumulated) const;
  [[nodiscard]] Tile logSumExp(const Scores &scores, State state) const;
};

/// Softmax with one more score a head, learned, that takes weight and has no value: e^score / (e^sink[head] + Σ e^score); sinks [H].
struct Sink : Softmax {
  explicit Sink(Tensor sinks) : sinks(std::move(sinks)) {}
  [[nodiscard]] Tile finish(const Scores &scores, State state, Tile accumulated) const;
  [[nodiscard]] Tile logSumExp(const Scores &scores, State state) const;
  Tensor sinks;
};

/// e^score / (1 + Σ e^score): a head may attend to nothing.
struct SoftmaxOffByOne : Softmax {
  [[nodiscard]] Tile finish(const Scores &scores, State state, Tile accumulated) const;
  [[nodiscard]] Tile logSumExp(const Scores &scores, State state) const;
};

/// 1 / (1 + e^−score): each key for itself.
struct Sigmoid {
  [[nodiscard]] std::tuple<> start(const Scores &) const { return {}; }
  [[nodiscard]] Weighted<> step(const Scores &scores, std::tuple<> state, Tile score) const;
  [[nodiscard]] Tile finish(const Scores &, std::tuple<>, Tile accumulated) const { return accumulated; }
};

/// max(score, 0)²
struct ReluSquared {
  [[nodiscard]] std::tuple<> start(const Scores &) const { return {}; }
  [[nodiscard]] Weighted<> step(const Scores &scores, std::tuple<> state, Tile score) const;
  [[nodiscard]] Tile finish(const Scores &, std::tuple<>, Tile accumulated) const { return accumulated; }
};

/// The score itself: linear attention, without a state.
struct Unnormalized {
  [[nodiscard]] std::tuple<> start(const Scores &) const { return {}; }
  [[nodiscard]] Weighted<> step(const Scores &scores, std::tuple<> state, Tile score) const;
  [[nodiscard]] Tile finish(const Scores &, std::tuple<>, Tile accumulated) const { return accumulated; }
};

namespace detail {

/// A normaliser whose state is a list: what Attention holds.
struct AnyNormalizer {
  struct Step {
    std::vector<Tile> state;
    Tile weights;
    std::optional<Tile> shrink;
  };
  std::function<std::vector<Tile>(const Scores &)> start;
  std::function<Step(const Scores &, const std::vector<Tile> &state, Tile score)> step;
  std::function<Tile(const Scores &, const std::vector<Tile> &state, Tile accumulated)> finish;
  std::function<Tile(const Scores &, const std::vector<Tile> &state)> logSumExp;   // none where the normaliser has none
};

template <Normalizer N> AnyNormalizer anyNormalizer(N normalizer) {
  using State = decltype(normalizer.start(std::declval<const Scores &>()));
  constexpr auto places = std::make_index_sequence<std::tuple_size_v<State>>();
  auto list = [](const State &state) { return std::apply([](auto &...each) { return std::vector<Tile>{each...}; }, state); };
  auto tuple = [=](const std::vector<Tile> &state) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return State{state[I]...}; }(places);
  };
  AnyNormalizer any;
  any.start = [=](const Scores &scores) { return list(normalizer.start(scores)); };
  any.step = [=](const Scores &scores, const std::vector<Tile> &state, Tile score) {
    auto step = normalizer.step(scores, tuple(state), std::move(score));
    return AnyNormalizer::Step{list(step.state), step.weights, step.shrink};
  };
  any.finish = [=](const Scores &scores, const std::vector<Tile> &state, Tile accumulated) { return normalizer.finish(scores, tuple(state), std::move(accumulated)); };
  if constexpr (requires(const Scores &scores, State state) { normalizer.logSumExp(scores, state); })
    any.logSumExp = [=](const Scores &scores, const std::vector<Tile> &state) { return normalizer.logSumExp(scores, tuple(state)); };
  return any;
}

} // namespace detail
} // namespace tw
