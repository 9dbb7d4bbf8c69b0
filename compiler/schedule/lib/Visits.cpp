// Interval arithmetic over the tiles of a fold, and a bisection of its axis that looks closer where a mask changes.
#include "Visits.h"
#include "Intervals.h"
#include "tilewright/dsl/Fold.h"
#include <algorithm>
#include <cmath>

namespace tw {

Visits::Visits(const Program &, const Roles &roles, const std::map<std::string, std::int64_t> &lengths, const LaunchShape &shape) : roles(roles), lengths(lengths) {
  for (const Tile &yield : roles.fold->yields)
    (void)add(yield, shape);
  foldLength = lengths.at(roles.fold->axis.name());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Node &node = *steps[i].node;
    const bool overFold = !node.consumed.empty() && same(node.consumed.front(), roles.fold->axis);
    if (overFold && (node.op == Op::dot || node.op == Op::reduceSum))
      sums.push_back(i);
    if (overFold && node.op == Op::reduceMax)
      maxima.push_back(i);
    if (overFold && node.op == Op::reduceMin)
      minima.push_back(i);
    if (node.op == Op::select && contains(node.operands[0].axes(), roles.fold->axis)) {
      conditions.push_back(steps[i].operands[0]);
      itemsDiffer |= contains(node.operands[0].axes(), roles.block());
      isOpaque |= steps[steps[i].operands[0]].isOpaque;
    }
  }
  findPoints();
}

/// A mask that reads a point's coordinate, such as whether it belongs to the item, is decided for each point: tries all, beside those of the free axes.
void Visits::findPoints() {
  std::vector<std::size_t> chosen;   // steps: coordinates of points, and of free axes
  bool hasPoints = false;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (const Node &node = *steps[i].node; node.op == Op::index) {
      const Role role = roles.of(node.consumed.front());
      hasPoints |= role == Role::point;
      if (role == Role::point || role == Role::free)
        chosen.push_back(i);
    }
  double combinations = 1;
  for (std::size_t i : chosen)
    combinations *= values[i].high + 1;
  constexpr double mostTried = 1 << 14;
  if (!hasPoints || foldLength < 1 || lengths.at(roles.block().name()) < 1 || combinations > mostTried)
    return;
  for (std::size_t i : chosen)
    steps[i].isPoint = true;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t operand : steps[i].operands)
      steps[i].varies |= steps[operand].varies || steps[operand].isPoint;
  std::vector<double> kept, at(chosen.size(), 0);
  double left = 0;
  for (double n = 0; n < combinations; ++n) {
    double rest = n;
    for (std::size_t c = 0; c < chosen.size(); ++c) {
      const double length = double(lengths.at(steps[chosen[c]].node->consumed.front().name()));
      at[c] = std::fmod(rest, length);
      rest = std::floor(rest / length);
      values[chosen[c]] = {at[c], at[c]};
    }
    if (classify(0, lengths.at(roles.block().name()), 0, foldLength) == Kind::empty)
      continue;
    if (kept.empty())
      kept = at;
    ++left;
  }
  pointShare = left / combinations;
  for (std::size_t c = 0; c < chosen.size(); ++c)   // what follows looks at one that is left
    values[chosen[c]] = {kept.empty() ? 0 : kept[c], kept.empty() ? 0 : kept[c]};
}

std::size_t Visits::add(const Tile &tile, const LaunchShape &shape) {
  const Node &node = tile.node();
  if (auto known = places.find(&node); known != places.end())
    return known->second;
  const bool isOpaque = node.op == Op::load || node.op == Op::contains || node.op == Op::random;
  Step step{&node, {}, false, isOpaque};
  if (!isOpaque)   // their operands say where, not what
    for (const Tile &operand : node.operands)
      step.operands.push_back(add(operand, shape));
  step.varies = node.op == Op::index && (same(node.consumed.front(), roles.block()) || same(node.consumed.front(), roles.fold->axis));
  for (std::size_t operand : step.operands)
    step.varies |= steps[operand].varies, step.isOpaque |= steps[operand].isOpaque;
  Interval start = node.type == Type::boolean ? Interval{0, 1} : Interval{};
  if (node.op == Op::constant)
    start = {node.literal, node.literal};
  else if (node.op == Op::index)
    start = {0, double(std::max<std::int64_t>(lengths.at(node.consumed.front().name()), 1) - 1)};
  else if (node.op == Op::extent)
    start = {double(lengths.at(node.consumed.front().name())), double(lengths.at(node.consumed.front().name()))};
  else if (auto given = shape.scalars.find(node.label); node.op == Op::scalar && given != shape.scalars.end())
    start = {given->second, given->second};
  else if (auto tensor = node.tensor ? shape.tensors.find(node.tensor->name) : shape.tensors.end(); node.op == Op::dimension && tensor != shape.tensors.end() && node.slot < tensor->second.size())
    start = {double(tensor->second[node.slot]), double(tensor->second[node.slot])};
  steps.push_back(std::move(step));
  values.push_back(start);
  if (!steps.back().operands.empty())
    values.back() = value(steps.back(), values);
  return places[&node] = steps.size() - 1;
}

Interval Visits::value(const Step &step, const std::vector<Interval> &known) const {
  std::vector<Interval> operands;
  for (std::size_t operand : step.operands)
    operands.push_back(known[operand]);
  return intervalOf(*step.node, operands);
}

Visits::Kind Visits::classify(std::int64_t begin, std::int64_t end, std::int64_t foldBegin, std::int64_t foldEnd) const {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].varies)
      continue;
    const Node &node = *steps[i].node;
    if (node.op != Op::index)
      values[i] = value(steps[i], values);
    else if (same(node.consumed.front(), roles.block()))
      values[i] = {double(begin), double(end - 1)};
    else
      values[i] = {double(foldBegin), double(foldEnd - 1)};
  }
  auto all = [&](const std::vector<std::size_t> &list, double neutral) { return std::all_of(list.begin(), list.end(), [&](std::size_t i) { return values[i].is(neutral); }); };
  const double infinite = std::numeric_limits<double>::infinity();
  if (!sums.empty() && all(sums, 0) && all(maxima, -infinite) && all(minima, infinite))
    return Kind::empty;
  return std::all_of(conditions.begin(), conditions.end(), [&](std::size_t i) { return values[i].low == values[i].high; }) ? Kind::full : Kind::partial;
}

void Visits::count(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last, std::int64_t width, std::int64_t finest, Visit &visit) const {
  const std::int64_t tiles = last - first;
  const Kind kind = classify(begin, end, first * width, std::min(last * width, foldLength));
  if (kind == Kind::empty)
    return;
  if (kind == Kind::full || tiles <= finest) {
    visit.all += double(tiles);
    visit.partial += kind == Kind::full ? 0 : double(tiles);
    return;
  }
  const std::int64_t middle = first + tiles / 2;
  count(begin, end, first, middle, width, finest, visit);
  count(begin, end, middle, last, width, finest, visit);
}

Visit Visits::of(std::int64_t begin, std::int64_t end, std::int64_t width) const {
  Visit visit;
  const std::int64_t tiles = (foldLength + width - 1) / width;
  if (tiles == 0)
    return visit;
  // What depends on elements of tensors is unknown in every tile: bisecting does not end by itself.
  constexpr std::int64_t mostPieces = 256;
  if (conditions.empty())
    visit.all = double(tiles);
  else
    count(begin, end, 0, tiles, width, isOpaque ? std::max<std::int64_t>(1, tiles / mostPieces) : 1, visit);
  if (foldLength % width && visit.all > visit.partial)
    visit.partial += 1;
  return visit;
}

} // namespace tw
