// Sums over tiles, sorted into programs of one fold each.
#include "GradientPrograms.h"
#include "Walk.h"
#include <algorithm>
#include <utility>

namespace tw::detail {
namespace {

bool sameConditions(const std::vector<std::pair<Tile, Axis>> &a, const std::vector<std::pair<Tile, Axis>> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) { return &x.first.node() == &y.first.node() && same(x.second, y.second); });
}

} // namespace

/// Which fold sums an arrival's parts up, and along which axes the sum still runs.
void GradientPrograms::place(const Arrival &arrival) {
  Axes all;
  for (const Contribution &part : arrival.parts)
    all = unite(all, part.axes());
  Group group;
  Axes own = arrival.node.axes(), slot;
  std::vector<std::pair<Tile, Axis>> conditions;
  if (isLeaf(arrival.node)) {
    own = targetOf(arrival.node).axes();
    conditions = targetOf(arrival.node).conditions;
  }
  for (const auto &[index, axis] : conditions)
    all = unite(all, index.axes());
  const bool alongBlock = contains(own, block), alongFold = contains(own, foldAxis);
  if (!(alongBlock && alongFold))
    group.fold = alongFold ? block : foldAxis;
  if (!group.fold) {
    // Over what else it lacks, and by which indices, is summed by a later program.
    for (const auto &[index, axis] : conditions)
      own = without(own, axis);
    slot = sorted(unite(own, freeAxes(all)));
  } else if (isLeaf(arrival.node) && (alongBlock || alongFold)) {
    group.outer = lacking(freeAxes(all), own);
    group.conditions = conditions;
    slot = own;
  } else {
    // Sums over the axis that thread blocks share out are for a later program.
    for (const auto &condition : conditions)
      if (contains(condition.first.axes(), *group.fold))
        group.conditions.push_back(condition);
    for (const Axis &axis : all)
      if (!same(axis, *group.fold) && (!isInner(axis) || contains(own, axis)))
        slot.push_back(axis);
    for (const auto &[index, axis] : group.conditions)
      slot.push_back(axis);
    slot = sorted(slot);
  }
  auto fits = [&](const Group &other) {
    return group.fold.has_value() == other.fold.has_value() && (!group.fold || same(*group.fold, *other.fold)) && same(group.outer, other.outer) &&
           sameConditions(group.conditions, other.conditions);
  };
  // An axis of one's own for each index: tensors read at equal ones share it.
  for (Group &other : groups) {
    if (group.conditions.size() != other.conditions.size())
      continue;
    for (std::size_t i = 0; i < group.conditions.size(); ++i) {
      if (&group.conditions[i].first.node() != &other.conditions[i].first.node() || same(group.conditions[i].second, other.conditions[i].second))
        continue;
      const Axis mine = group.conditions[i].second, theirs = other.conditions[i].second;
      if (contains(slot, theirs))
        continue;
      auto exchange = [&](std::vector<Axis> &axes) { std::replace_if(axes.begin(), axes.end(), [&](const Axis &axis) { return same(axis, mine); }, theirs); };
      exchange(slot);
      exchange(targetOf(arrival.node).index);
      for (auto &condition : targetOf(arrival.node).conditions)
        if (same(condition.second, mine))
          condition.second = theirs;
      group.conditions[i].second = theirs;
      slot = sorted(slot);
    }
  }
  auto isTile = [&](const Axes &axes) { return std::any_of(axes.begin(), axes.end(), [&](const Axis &axis) { return isInner(axis); }); };
  auto isFull = [&](const Group &other) { return isTile(slot) && std::count_if(other.axes.begin(), other.axes.end(), isTile) >= tilesPerProgram; };
  auto known = std::find_if(groups.begin(), groups.end(), [&](const Group &other) { return fits(other) && !isFull(other); });
  if (known == groups.end())
    known = groups.insert(groups.end(), group);
  known->arrivals.push_back(arrival);
  known->axes.push_back(slot);
}

Tile GradientPrograms::piece(const Arrival &arrival, const Group &group, const Axes &axes, Rewriter &rewrite) {
  struct Product {
    Tile a, b;
    Axis contracted;
  };
  std::optional<Tile> alone, sum;
  std::vector<Product> products;
  auto add = [&](std::optional<Tile> &to, const Tile &value) {
    Tile own = algebra.converted(value, type, value.where());
    to = to ? makeTile({.op = Op::add, .type = type, .axes = unite(to->axes(), own.axes()), .where = own.where(), .operands = {*to, own}}) : own;
  };
  auto summed = [&](Tile value) {
    Axes order;
    for (const Axis &axis : value.axes())
      if (!contains(axes, axis))
        order.push_back(axis);
    // Over the tile first, over the points around it last.
    std::stable_sort(order.begin(), order.end(), [&](const Axis &a, const Axis &b) { return roles.of(a) != Role::free && roles.of(b) == Role::free; });
    for (const Axis &axis : order)
      value = total(value, axis);
    return value;
  };
  for (const Contribution &part : arrival.parts) {
    Guard guard;
    for (const auto &[condition, truth] : part.guard)
      guard.push_back({rewrite(condition), truth});
    for (const auto &[index, axis] : group.conditions)
      guard.push_back({isAt(index, axis), true});
    Tile a = rewrite(part.a);
    std::optional<Tile> b;
    if (part.b)
      b = rewrite(*part.b);
    if (b && !isPair(a.axes()) && isPair(b->axes()))
      std::swap(a, *b);
    if (b) {   // a factor of rows goes to the pairs, so that the tile is multiplied as it was read
      const auto [tile, factor] = algebra.factors(*b, [&](const Axis &axis) { return isInner(axis); }, type);
      if (factor && isPair(a.axes()) && covers(a.axes(), factor->axes())) {
        a = algebra.binary(Op::mul, a, *factor, type, a.where());
        b = tile;
      }
    }
    a = guarded(algebra, a, guard);
    if (!b) {
      add(alone, a);
      continue;
    }
    std::optional<Axis> contracted;
    for (const Axis &axis : a.axes())
      if (contains(b->axes(), axis) && !contains(axes, axis) && (!contracted || (group.fold && same(axis, *group.fold))) && roles.of(axis) != Role::free)
        contracted = axis;
    if (!contracted) {
      add(alone, algebra.binary(Op::mul, a, *b, type, a.where()));
      continue;
    }
    // x · b + y · b = (x + y) · b
    const auto shared = std::find_if(products.begin(), products.end(), [&](const Product &other) { return &other.b.node() == &b->node() && same(other.contracted, *contracted) && same(other.a.axes(), a.axes()); });
    if (shared == products.end())
      products.push_back({a, *b, *contracted});
    else
      shared->a = algebra.binary(Op::add, shared->a, a, type, a.where());
  }
  for (const auto &[a, b, contracted] : products)
    add(sum, summed(makeTile({.op = Op::dot, .type = type, .axes = without(unite(a.axes(), b.axes()), contracted), .where = a.where(), .operands = {algebra.factor(a, type), algebra.factor(b, type)}, .consumed = {contracted}})));
  if (alone)
    add(sum, summed(*alone));
  return named(derivativeName(nameOf(arrival.node)), Operand(*sum, arrival.node.where()));
}

/// Whether the program owns tiles of rows and can store them.
bool GradientPrograms::isOfRows(const Group &group) const { return group.fold && same(*group.fold, foldAxis) && group.outer.empty() && group.conditions.empty(); }

/// Values of every pair, which no fold over one of its axes makes: dots are folds over what they contract, as many as one fold does, and sums of products the others. An item then
/// owns a tile along one axis of the pairs at one point of the other.
std::vector<Tile> GradientPrograms::pairByPair(std::vector<Tile> values, Location where) {
  std::vector<Tile> dots;
  Walk walk;
  walk.node = [&](const Tile &tile) {
    if (tile.node().op == Op::dot && isInner(tile.node().consumed[0]))
      dots.push_back(tile);
  };
  for (const Tile &value : values)
    walk.over(value);
  if (dots.empty())
    return values;
  const Axis over = dots.back().node().consumed[0];
  auto product = [&](const Tile &dot) { return total(algebra.binary(Op::mul, dot.node().operands[0], dot.node().operands[1], type, dot.where()), dot.node().consumed[0]); };
  std::vector<Tile> carried;
  std::vector<Axes> axes;
  Rewriter rewrite(algebra);
  for (const Tile &dot : dots)
    if (same(dot.node().consumed[0], over)) {
      carried.push_back(dot);
      axes.push_back(dot.axes());
    } else
      rewrite.replace(dot, product(dot));
  const std::vector<Tile> made = sums({}, over, axes, [&] {
    std::vector<Tile> all;
    for (const Tile &dot : carried)
      all.push_back(product(dot));
    return all;
  }, where);
  for (std::size_t i = 0; i < carried.size(); ++i)
    rewrite.replace(carried[i], made[i]);
  for (Tile &value : values)
    value = rewrite(value);
  return values;
}

/// Sums over the fold's axis that the one program which sums over the block axis makes on its way: the tiles of its steps, added up in memory.
void GradientPrograms::moveRowSums() {
  auto isTile = [&](const Axes &axes) { return std::any_of(axes.begin(), axes.end(), [&](const Axis &axis) { return isInner(axis); }); };
  auto overBlock = [&](const Group &group) { return group.fold && same(*group.fold, block); };
  const auto rows = std::find_if(groups.begin(), groups.end(), [&](const Group &group) { return isOfRows(group) && std::all_of(group.axes.begin(), group.axes.end(), isTile); });
  const auto host = std::find_if(groups.begin(), groups.end(), overBlock);
  if (rows == groups.end() || std::count_if(groups.begin(), groups.end(), overBlock) != 1 || !std::any_of(host->axes.begin(), host->axes.end(), isTile))
    return;
  for (std::size_t i = 0; i < rows->arrivals.size(); ++i)
    host->added.push_back({rows->arrivals[i], rows->axes[i]});
  groups.erase(rows);
}

void GradientPrograms::build(Group &group, bool makesTiles) {
  std::string suffix;
  for (const Arrival &arrival : group.arrivals)
    suffix += '_' + derivativeName(nameOf(arrival.node));
  for (const auto &[arrival, axes] : group.added)
    suffix += '_' + derivativeName(nameOf(arrival.node));
  begin(suffix);
  Rewriter rewrite(algebra);
  for (const auto &[index, axis] : group.conditions)
    if (freeAxes(index.axes()).size() == index.axes().size())
      rewrite.replace(index, algebra.make(tw::index(axis, index.where()).node()));
  for (const TileStore &tile : tileStores)
    if (tile.made && makesTiles)
      rewrite.replace(*tile.made, algebra.converted(tile.store.value, tile.made->type(), tile.store.where));
  auto pieces = [&] {
    std::vector<Tile> all;
    for (std::size_t i = 0; i < group.arrivals.size(); ++i)
      all.push_back(piece(group.arrivals[i], group, group.axes[i], rewrite));
    return all;
  };
  std::vector<Tile> results;
  const Location where = roles.fold->where;
  if (group.fold)
    results = sums(group.outer, *group.fold, group.axes, pieces, where);
  else
    results = pairByPair(pieces(), where);
  std::vector<std::pair<Tile, Tile>> adjoints;
  for (std::size_t i = 0; i < results.size(); ++i)
    adjoints.push_back({group.arrivals[i].node, results[i]});
  settle(std::move(adjoints));
  for (const auto &[arrival, axes] : group.added)
    leave(arrival.node, piece(arrival, group, axes, rewrite), ordered(axes), "_sum");
  if (isOfRows(group))
    for (const TileStore &tile : std::exchange(tileStores, {}))
      put(tile.store);
  finish();
}

/// Tiles of rows of which each element is computed by itself, by programs of their own: what dots read then lies in memory. Those along the same axes together.
void GradientPrograms::storeTiles() {
  while (true) {
    begin("_tiles");
    Axes axes;
    std::erase_if(tileStores, [&](const TileStore &tile) {
      const bool goes = isElementwise(tile.store.value) && (axes.empty() || same(axes, sorted(tile.store.index)));
      if (goes) {
        axes = sorted(tile.store.index);
        put(tile.store);
      }
      return goes;
    });
    if (axes.empty())
      return;
    finish();
  }
}

void GradientPrograms::sumOverTiles(const std::vector<Arrival> &arrivals) {
  for (const Arrival &arrival : arrivals)
    place(arrival);
  // Tiles of rows that no program of their own stores are stored by the first one that owns them, which comes first, since others read them. Where none
  // does, each makes what it needs itself, and gradients are made by a program without a fold.
  storeTiles();
  std::stable_partition(groups.begin(), groups.end(), [&](const Group &group) { return isOfRows(group); });
  if (accumulates && tileStores.empty())
    moveRowSums();
  const bool isStored = !groups.empty() && isOfRows(groups[0]);
  if (!isStored) {
    begin("_tiles");
    for (const TileStore &tile : tileStores)
      if (tile.made)
        std::erase_if(result.intermediates, [&](const Intermediate &between) { return between.tensor.name() == tile.store.tensor.name(); });
      else
        put(tile.store);
    finish();
  }
  for (Group &group : groups)
    build(group, !isStored || (isOfRows(group) && !tileStores.empty()));
  groups.clear();
  tileStores.clear();
}

} // namespace tw::detail
