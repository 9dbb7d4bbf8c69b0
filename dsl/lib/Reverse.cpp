#include "Reverse.h"
#include "Fail.h"
#include <algorithm>
#include <utility>

namespace tw::detail {
namespace {

bool sameLiteral(const std::pair<Tile, bool> &a, const std::pair<Tile, bool> &b) { return &a.first.node() == &b.first.node() && a.second == b.second; }

bool holds(const Guard &guard, const std::pair<Tile, bool> &literal) {
  return std::any_of(guard.begin(), guard.end(), [&](const auto &other) { return sameLiteral(literal, other); });
}

Guard common(const std::vector<Contribution> &parts) {
  Guard out;
  for (const auto &literal : parts.front().guard)
    if (std::all_of(parts.begin(), parts.end(), [&](const Contribution &part) { return holds(part.guard, literal); }))
      out.push_back(literal);
  return out;
}

/// Whether a function is constant between its jumps: its derivative is 0 where it has one.
bool isStep(Op op) { return op == Op::floor || op == Op::ceil || op == Op::round || op == Op::trunc; }

Guard without(const Guard &guard, const Guard &less) {
  Guard out;
  for (const auto &literal : guard)
    if (!holds(less, literal))
      out.push_back(literal);
  return out;
}

} // namespace

Tile guarded(Algebra &algebra, const Tile &value, const Guard &guard) {
  // where(g, where(m, x, 0), 0) is one choice.
  if (const Node &node = meant(value).node(); !guard.empty() && node.op == Op::select && meant(node.operands[2]).node().op == Op::constant && meant(node.operands[2]).node().literal == 0) {
    Guard all{{node.operands[0], true}};
    for (const auto &literal : guard)
      if (!holds(all, literal))
        all.push_back(literal);
    return guarded(algebra, node.operands[1], all);
  }
  std::optional<Tile> condition;
  for (const auto &[truth, wanted] : guard) {
    Tile literal = wanted ? truth : algebra.logic(Op::logicalNot, {truth}, value.where());
    condition = condition ? algebra.logic(Op::logicalAnd, {*condition, literal}, value.where()) : literal;
  }
  return condition ? algebra.choose(*condition, value, algebra.number(0, value.type()), value.where()) : value;
}

void Reverse::seed(const Tile &node, const Tile &adjoint) { seeds.push_back({node, adjoint}); }

bool Reverse::isActive(const Tile &tile) {
  if (auto found = active.find(&tile.node()); found != active.end())
    return found->second;
  bool answer = isFloat(tile.type()) && rules.isWanted(tile);
  if (!answer && isFloat(tile.type()))
    for (const Tile &operand : carriers(tile))
      answer = isActive(operand) || answer;
  return active[&tile.node()] = answer;
}

/// The operands through which a value depends on others in a way that has a derivative.
std::vector<Tile> Reverse::carriers(const Tile &tile) const {
  const Node &node = tile.node();
  if (node.op == Op::load || isStep(node.op))
    return {};
  if (node.op == Op::select)
    return {node.operands[1], node.operands[2]};
  if (node.op == Op::named)
    return {node.operands.back()};
  return node.operands;
}

void Reverse::reach(const Tile &tile) {
  auto [entry, isNew] = states.emplace(&tile.node(), State{{tile, {}}, 0});
  if (!isNew || rules.stopsAt(tile))
    return;
  for (const Tile &operand : carriers(tile))
    if (isActive(operand)) {
      reach(operand);
      ++states.at(&operand.node()).users;
    }
}

bool Reverse::hasLater(const Arrival &arrival) const {
  return std::any_of(arrival.parts.begin(), arrival.parts.end(), [&](const Contribution &part) { return rules.isLater(arrival.node, part); });
}

/// Has sums made of parts that need them, be their nodes complete or not; `complete` gets the nodes that now are. Whether there were any.
bool Reverse::sumRound(std::vector<Tile> &complete) {
  std::vector<State *> waiting;
  for (auto &[node, state] : states)
    if (hasLater(state.arrival))
      waiting.push_back(&state);
  std::sort(waiting.begin(), waiting.end(), [](const State *a, const State *b) { return a->arrival.node.node().age > b->arrival.node.node().age; });
  std::vector<Arrival> later;
  for (const State *state : waiting) {
    later.push_back({state->arrival.node, {}});
    for (const Contribution &part : state->arrival.parts)
      if (rules.isLater(state->arrival.node, part))
        later.back().parts.push_back(part);
  }
  if (later.empty())
    return false;
  const std::vector<std::optional<Tile>> sums = rules.sumLater(later);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    Arrival &arrival = waiting[i]->arrival;
    if (!sums[i])
      continue;
    std::erase_if(arrival.parts, [&](const Contribution &part) { return rules.isLater(arrival.node, part); });
    arrival.parts.push_back({*sums[i], {}, {}});
    if (waiting[i]->users == 0)
      complete.push_back(arrival.node);
  }
  return true;
}

std::vector<Arrival> Reverse::run() {
  for (const auto &[node, adjoint] : seeds)
    if (isActive(node)) {
      reach(node);
      states.at(&node.node()).arrival.parts.push_back({adjoint, {}, {}});
    }
  // Nodes without users left, the latest made first: the order is the same in every run.
  auto later = [](const Tile &a, const Tile &b) { return a.node().age > b.node().age; };
  std::set<Tile, decltype(later)> ready(later);
  for (auto &[node, state] : states)
    if (state.users == 0)
      ready.insert(state.arrival.node);
  std::vector<Arrival> arrived;
  auto finish = [&](const Tile &tile, const Arrival &arrival) {
    if (!arrival.parts.empty()) {
      const Contribution sum = combined(arrival);
      rules.settled(tile, sum.a, sum.guard);
      propagate(tile, sum.a, sum.guard);
    }
    for (const Tile &operand : carriers(tile))
      if (isActive(operand) && --states.at(&operand.node()).users == 0)
        ready.insert(operand);
  };
  while (true) {
    while (!ready.empty()) {
      const Tile tile = *ready.begin();
      ready.erase(ready.begin());
      const Arrival &arrival = states.at(&tile.node()).arrival;
      if (hasLater(arrival))
        continue;   // sumRound() tells of it again
      if (!rules.stopsAt(tile))
        finish(tile, arrival);
      else if (!arrival.parts.empty())
        arrived.push_back(arrival);
    }
    std::vector<Tile> complete;
    if (!sumRound(complete))
      return arrived;
    ready.insert(complete.begin(), complete.end());
  }
}

Tile Reverse::product(const Contribution &part, const Axes &axes) {
  const Location where = part.a.where();
  std::optional<Axis> contracted;
  if (part.b)
    for (const Axis &axis : part.a.axes())
      if (!contains(axes, axis) && rules.isInner(axis) && contains(part.b->axes(), axis) && !contracted)
        contracted = axis;
  // Factors that lack what is contracted scale the dot: its operands stay as they were read.
  std::optional<Tile> factor;
  auto operand = [&](const Tile &value) {
    const auto [tile, scale] = algebra.factors(value, [&](const Axis &axis) { return same(axis, *contracted); }, type);
    if (scale)
      factor = factor ? algebra.binary(Op::mul, *factor, *scale, type, where) : *scale;
    return algebra.factor(tile, type);
  };
  Tile out = !part.b      ? part.a
             : contracted ? algebra.make({.op = Op::dot, .type = type, .axes = {}, .where = where, .operands = {operand(part.a), operand(*part.b)}, .consumed = {*contracted}})
                          : algebra.binary(Op::mul, part.a, *part.b, type, where);
  if (factor)
    out = algebra.binary(Op::mul, out, *factor, type, where);
  for (const Axis &axis : Axes(out.axes()))
    if (!contains(axes, axis) && rules.isInner(axis))
      out = algebra.make({.op = Op::reduceSum, .type = type, .axes = {}, .where = where, .operands = {algebra.converted(out, type, where)}, .consumed = {axis}});
  return out;
}

Contribution Reverse::combined(const Arrival &arrival) {
  const Guard guard = common(arrival.parts);
  std::optional<Tile> sum;
  for (const Contribution &part : arrival.parts) {
    // Before it is summed over an axis, a value must be 0 where it does not matter.
    const Axes &axes = arrival.node.axes();
    const Axes all = part.axes();
    const bool sums = std::any_of(all.begin(), all.end(), [&](const Axis &axis) { return !contains(axes, axis) && rules.isInner(axis); });
    Contribution own = part;
    if (sums)
      own.a = guarded(algebra, part.a, part.guard);
    Tile value = product(own, axes);
    if (!sums)
      value = guarded(algebra, value, without(part.guard, guard));
    sum = sum ? algebra.binary(Op::add, *sum, value, type, value.where()) : algebra.converted(value, type, value.where());
  }
  return {*sum, {}, guard};
}

void Reverse::give(const Tile &operand, Contribution part) {
  if (!isActive(operand))
    return;
  // A sum's adjoint is the same for all that was summed: where the operand was repeated along that axis, it counts each time.
  for (const Axis &axis : giver->axes)
    if (!contains(operand.axes(), axis) && !contains(part.axes(), axis))
      part.a = algebra.binary(Op::add, part.a, algebra.make({.op = Op::constant, .type = type, .axes = {axis}, .where = giver->where}), type, giver->where);
  Guard open;
  for (const auto &literal : part.guard) {
    Tile truth = rules.value(literal.first);
    if (const Node &node = meant(truth).node(); node.op == Op::constant) {
      if ((node.literal != 0) != literal.second)
        return;   // never taken
      continue;
    }
    if (!holds(open, {truth, literal.second}))
      open.push_back({truth, literal.second});
  }
  part.guard = std::move(open);
  states.at(&operand.node()).arrival.parts.push_back(std::move(part));
}

void Reverse::propagate(const Tile &tile, const Tile &adjoint, const Guard &guard) {
  const Node &node = tile.node();
  const auto &x = node.operands;
  giver = &node;
  if (x.empty())
    return;
  switch (node.op) {
  case Op::named: case Op::cast:
    return give(x.back(), {adjoint, {}, guard});
  case Op::reduceSum:
    return give(x[0], {adjoint, {}, guard});
  case Op::reduceMax: case Op::reduceMin:
    if (!rules.isInner(node.consumed[0]))
      fail(node.where, std::string(name(node.op)) + " over '" + node.consumed[0].name() + "' sees one tile at a time, and has no derivative here; carry it through the fold as a stabiliser(...)");
    return give(x[0], {adjoint, {}, [&] {
                         Guard own = guard;
                         own.push_back({algebra.logic(Op::eq, {x[0], tile}, node.where), true});
                         return own;
                       }()});
  case Op::dot:
    give(x[0], {adjoint, rules.value(x[1]), guard});
    return give(x[1], {adjoint, rules.value(x[0]), guard});
  case Op::select: {
    for (std::size_t branch : {1, 2}) {
      Guard own = guard;
      own.push_back({x[0], branch == 1});
      give(x[branch], {adjoint, {}, std::move(own)});
    }
    return;
  }
  default:
    return elementwise(tile, adjoint, guard);
  }
}

void Reverse::elementwise(const Tile &tile, const Tile &adjoint, const Guard &guard) {
  const Node &node = tile.node();
  const auto &x = node.operands;
  const Location where = node.where;
  auto value = [&](const Tile &t) { return rules.value(t); };
  auto number = [&](double v) { return algebra.number(v, type); };
  auto mul = [&](const Tile &a, const Tile &b) { return algebra.binary(Op::mul, a, b, type, where); };
  auto div = [&](const Tile &a, const Tile &b) { return algebra.binary(Op::div, a, b, type, where); };
  auto sub = [&](const Tile &a, const Tile &b) { return algebra.binary(Op::sub, a, b, type, where); };
  auto neg = [&](const Tile &a) { return algebra.unary(Op::neg, a, type, where); };
  auto to = [&](std::size_t i, const Tile &part) { give(x[i], {part, {}, guard}); };
  auto when = [&](std::size_t i, const Tile &condition, bool truth) {
    Guard own = guard;
    own.push_back({condition, truth});
    give(x[i], {adjoint, {}, std::move(own)});
  };
  switch (node.op) {
  case Op::neg: return to(0, neg(adjoint));
  case Op::add: to(0, adjoint); return to(1, adjoint);
  case Op::sub: to(0, adjoint); return to(1, neg(adjoint));
  case Op::mul: {
    if (isActive(x[0]))
      to(0, mul(adjoint, value(x[1])));
    if (isActive(x[1]))
      to(1, mul(adjoint, value(x[0])));
    return;
  }
  case Op::div: {
    const Tile part = div(adjoint, value(x[1]));
    to(0, part);
    if (isActive(x[1]))
      to(1, neg(mul(part, value(tile))));
    return;
  }
  case Op::exp: return to(0, mul(adjoint, value(tile)));
  case Op::exp2: return to(0, mul(mul(adjoint, value(tile)), number(0.6931471805599453)));
  case Op::expm1: return to(0, mul(adjoint, algebra.binary(Op::add, value(tile), number(1), type, where)));
  case Op::log: return to(0, div(adjoint, value(x[0])));
  case Op::log2: return to(0, div(mul(adjoint, number(1.4426950408889634)), value(x[0])));
  case Op::log1p: return to(0, div(adjoint, algebra.binary(Op::add, value(x[0]), number(1), type, where)));
  case Op::tanh: case Op::tanhApproximate: return to(0, mul(adjoint, sub(number(1), mul(value(tile), value(tile)))));
  case Op::sigmoid: return to(0, mul(adjoint, mul(value(tile), sub(number(1), value(tile)))));
  case Op::sqrt: return to(0, div(mul(adjoint, number(0.5)), value(tile)));
  case Op::rsqrt: return to(0, div(mul(mul(adjoint, number(-0.5)), value(tile)), value(x[0])));
  case Op::sin: return to(0, mul(adjoint, algebra.unary(Op::cos, value(x[0]), type, where)));
  case Op::cos: return to(0, neg(mul(adjoint, algebra.unary(Op::sin, value(x[0]), type, where))));
  case Op::erf: return to(0, mul(adjoint, mul(number(1.1283791670955126), algebra.unary(Op::exp, neg(mul(value(x[0]), value(x[0]))), type, where))));
  case Op::pow: {
    if (isActive(x[0]))
      to(0, mul(adjoint, mul(value(x[1]), algebra.binary(Op::pow, value(x[0]), sub(value(x[1]), number(1)), type, where))));
    if (isActive(x[1])) {
      // log(x) is taken where there is one; elsewhere, and so at 0, the exponent's derivative is 0.
      Guard own = guard;
      own.push_back({algebra.logic(Op::lt, {algebra.number(0, x[0].type()), x[0]}, where), true});
      give(x[1], {mul(adjoint, mul(value(tile), algebra.unary(Op::log, value(x[0]), type, where))), {}, std::move(own)});
    }
    return;
  }
  case Op::abs: {
    const Tile a = value(x[0]), zero = algebra.number(0, a.type());
    const Tile below = algebra.logic(Op::lt, {a, zero}, where), above = algebra.logic(Op::lt, {zero, a}, where);
    return to(0, algebra.choose(below, neg(adjoint), algebra.choose(above, adjoint, number(0), where), where));
  }
  case Op::max: case Op::min: {
    // Of two equal ones the first is taken.
    const Tile first = algebra.logic(node.op == Op::max ? Op::ge : Op::le, {x[0], x[1]}, where);
    when(0, first, true);
    return when(1, first, false);
  }
  default:
    fail(where, std::string("gradient() has no derivative of ") + name(node.op) + "; ask for the gradients of other inputs only, or write the value with other operations");
  }
}

} // namespace tw::detail
