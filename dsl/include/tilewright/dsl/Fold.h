// The one construct with a body: walks an axis tile by tile and carries values.
#pragma once
#include "tilewright/dsl/Tile.h"
#include <concepts>
#include <tuple>

namespace tw {

/// Whether the tiles of a fold may be visited in any order, or ascending only (a recurrence).
enum class Order { unspecified, ascending };

struct Fold {
  Axis axis;
  Order order;
  std::vector<Tile> starts, arguments, yields;   // one of each a carried value
  Location where;
};

namespace detail {
std::shared_ptr<Fold> openFold(const Axis &axis, Order order, std::vector<Tile> starts, Location where);
/// Checks what the step returned (ProgramError at the user's line) and closes the fold.
void closeFold(Fold &fold, std::vector<Tile> yields);
Tile foldResult(const std::shared_ptr<const Fold> &fold, unsigned slot);

template <class T> inline constexpr bool isTupleOfTiles = false;
template <class... T> inline constexpr bool isTupleOfTiles<std::tuple<T...>> = (std::same_as<T, Tile> && ...);

template <class... T, class Step>
auto runFold(const Axis &axis, Order order, const std::tuple<T...> &starts, Step &step, Location where) {
  static_assert((std::same_as<T, Tile> && ...), "a fold carries Tiles: full(0, {b, h, q}) makes one");
  auto fold = openFold(axis, order, std::apply([](auto &...t) { return std::vector<Tile>{t...}; }, starts), where);
  auto yields = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return step(fold->arguments[I]...);
  }(std::index_sequence_for<T...>{});
  static_assert(isTupleOfTiles<decltype(yields)>, "the step of a fold returns std::tuple{...} of Tiles");
  static_assert(std::tuple_size_v<decltype(yields)> == sizeof...(T), "the step of a fold returns one value for each carried value");
  closeFold(*fold, std::apply([](auto &...t) { return std::vector<Tile>{t...}; }, yields));
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{(void(sizeof(T)), foldResult(fold, I))...};
  }(std::index_sequence_for<T...>{});
}

template <class Step>
std::vector<Tile> runFold(const Axis &axis, Order order, std::vector<Tile> starts, Step &step, Location where) {
  auto fold = openFold(axis, order, std::move(starts), where);
  closeFold(*fold, step(fold->arguments));
  std::vector<Tile> results;
  for (unsigned slot = 0; slot < fold->starts.size(); ++slot)
    results.push_back(foldResult(fold, slot));
  return results;
}
} // namespace detail

/// Walks `axis` tile by tile, in any order, carrying values from one tile to the next:
///   auto [m, l] = fold(k, std::tuple{m0, l0}, [&](Tile m, Tile l) { return std::tuple{...}; });
/// The step is called once, while the program is being described. The result must not depend on how
/// wide the tiles are nor on the order in which they come.
template <class... T, class Step>
[[nodiscard]] auto fold(const Axis &axis, std::tuple<T...> starts, Step step, Location where = Location::current()) {
  return detail::runFold(axis, Order::unspecified, starts, step, where);
}

/// The same with tiles in ascending order: a recurrence.
template <class... T, class Step>
[[nodiscard]] auto orderedFold(const Axis &axis, std::tuple<T...> starts, Step step, Location where = Location::current()) {
  return detail::runFold(axis, Order::ascending, starts, step, where);
}

/// The same with a list of carried values, for a number of them that is not known in C++: the step takes and returns a std::vector<Tile>.
template <class Step>
[[nodiscard]] std::vector<Tile> fold(const Axis &axis, std::vector<Tile> starts, Step step, Location where = Location::current()) {
  return detail::runFold(axis, Order::unspecified, std::move(starts), step, where);
}

} // namespace tw
