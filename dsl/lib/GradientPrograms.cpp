#include "GradientPrograms.h"
#include "Fail.h"
#include "Walk.h"
#include <algorithm>

namespace tw::detail {
namespace {

Axes lacking(const Axes &axes, const Axes &others) {
  Axes out;
  for (const Axis &axis : axes)
    if (!contains(others, axis))
      out.push_back(axis);
  return out;
}

bool covers(const Axes &axes, const Axes &others) { return lacking(others, axes).empty(); }

bool isLeaf(const Tile &tile) { return tile.node().op == Op::load || tile.node().op == Op::scalar; }

bool sameConditions(const std::vector<std::pair<Tile, Axis>> &a, const std::vector<std::pair<Tile, Axis>> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) { return &x.first.node() == &y.first.node() && same(x.second, y.second); });
}

} // namespace

GradientPrograms::GradientPrograms(Algebra &algebra, const Program &program, const Roles &roles, Type type, Gradient &result)
    : algebra(algebra), program(program), roles(roles), type(type), result(result), block(roles.block()), foldAxis(roles.fold->axis) {
  for (const auto &tensor : tensorsOf(program))
    names.insert(tensor->name);
  for (const Axis &axis : roles.axes)
    axisNames.insert(axis.name());
  auto tell = [&](const Axis &axis, const std::string &tensor, std::size_t dimension) { lengths.emplace(axis.order(), Intermediate::Length{tensor, unsigned(dimension)}); };
  Walk walk;
  walk.node = [&](const Tile &tile) {
    const Node &node = tile.node();
    for (std::size_t i = 0; node.op == Op::load && i < node.operands.size(); ++i)
      if (const Node &index = meant(node.operands[i]).node(); index.op == Op::index)
        tell(index.consumed[0], node.tensor->name, i);
  };
  walk.over(program);
  for (const Store &store : program.stores)
    for (std::size_t i = 0; i < store.index.size(); ++i)
      tell(store.index[i], store.tensor.name(), i);
}

bool GradientPrograms::isWanted(const Tile &leaf) const {
  const Node &node = leaf.node();
  if (!isFloat(node.type))
    return false;
  return (node.op == Op::load && wanted.count(node.tensor->name)) || (node.op == Op::scalar && wanted.count(node.label));
}

std::string GradientPrograms::unique(std::string name) {
  const std::string stem = name;
  for (int i = 2; !names.insert(name).second; ++i)
    name = stem + std::to_string(i);
  return name;
}

Tensor GradientPrograms::intermediate(const std::string &name, const Axes &axes) {
  Tensor tensor(unique(name), type, unsigned(axes.size()), program.stores[0].where);
  Intermediate made{tensor, {}};
  for (const Axis &axis : axes) {
    auto length = lengths.find(axis.order());
    if (length == lengths.end())
      fail(axis.where(), "no tensor tells the length of axis '" + axis.name() + "', which gradient() needs for what it stores between programs; index a tensor with the axis itself");
    made.shape.push_back(length->second);
  }
  result.intermediates.push_back(std::move(made));
  return tensor;
}

std::string GradientPrograms::nameOf(const Tile &node) const {
  const Node &n = node.node();
  return n.op == Op::load ? n.tensor->name : n.op == Op::named || n.op == Op::scalar ? n.label : "value";
}

Axes GradientPrograms::freeAxes(const Axes &axes) const {
  Axes out;
  for (const Axis &axis : axes)
    if (roles.of(axis) == Role::free)
      out.push_back(axis);
  return out;
}

//===--- programs ----------------------------------------------------------------------------------===//

void GradientPrograms::begin(std::string suffix) { open = {program.name + suffix, {}, {}}; }

/// The forward program's requirements hold here too; those that speak of something else are left to it.
void GradientPrograms::finish() {
  if (open.stores.empty())
    return;
  std::set<std::string> here;
  for (const auto &tensor : tensorsOf(open))
    here.insert(tensor->name);
  for (const Tile &scalar : scalarsOf(open))
    here.insert(scalar.node().label);
  const Axes axes = axesOf(open);
  for (const Requirement &requirement : program.requirements) {
    bool applies = true;
    Walk walk;
    walk.node = [&](const Tile &tile) {
      const Node &node = tile.node();
      applies = applies && (!node.tensor || here.count(node.tensor->name)) && (node.op != Op::scalar || here.count(node.label)) && covers(axes, node.consumed);
    };
    walk.over(requirement.condition);
    if (applies)
      open.requirements.push_back(requirement);
  }
  verify(open);
  result.backward.push_back(std::move(open));
  open = {};
}

Tile GradientPrograms::total(const Tile &value, const Axis &axis) {
  return makeTile({.op = Op::reduceSum, .type = type, .axes = without(value.axes(), axis), .where = value.where(), .operands = {algebra.converted(value, type, value.where())}, .consumed = {axis}});
}

std::vector<Tile> GradientPrograms::sums(const Axes &outer, const Axis &axis, const std::vector<Axes> &axes, const std::function<std::vector<Tile>()> &pieces, Location where) {
  std::vector<Tile> carried;
  for (const Axes &each : axes)
    carried.push_back(full(0, each, type, where));
  std::vector<std::shared_ptr<Fold>> nest;
  for (const Axis &around : outer) {
    nest.push_back(openFold(around, Order::unspecified, carried, where));
    carried = nest.back()->arguments;
  }
  nest.push_back(openFold(axis, Order::unspecified, carried, where));
  std::vector<Tile> yields = pieces();
  for (std::size_t i = 0; i < yields.size(); ++i) {
    const Tile &argument = nest.back()->arguments[i], piece = meant(yields[i]);
    Tile sum = makeTile({.op = Op::add, .type = type, .axes = unite(argument.axes(), piece.axes()), .where = piece.where(), .operands = {argument, piece}});
    yields[i] = yields[i].node().op == Op::named ? named(yields[i].node().label, Operand(sum, piece.where())) : sum;
  }
  for (std::size_t i = nest.size(); i-- > 0;) {
    closeFold(*nest[i], yields);
    for (unsigned slot = 0; slot < yields.size(); ++slot)
      yields[slot] = foldResult(nest[i], slot);
  }
  return yields;
}

//===--- targets -----------------------------------------------------------------------------------===//

Target &GradientPrograms::targetOf(const Tile &leaf) {
  const Node &node = leaf.node();
  auto [entry, isNew] = targets.emplace(&node, Target{});
  Target &target = entry->second;
  if (!isNew)
    return target;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Node &index = meant(node.operands[i]).node();
    if (index.op == Op::index && !contains(target.index, index.consumed[0])) {
      target.index.push_back(index.consumed[0]);
      continue;
    }
    const std::string stem = node.tensor->name + '_' + std::to_string(i);
    std::string name = stem;
    for (int n = 2; !axisNames.insert(name).second; ++n)
      name = stem + '_' + std::to_string(n);
    Axis own(name, node.where);
    lengths.emplace(own.order(), Intermediate::Length{node.tensor->name, unsigned(i)});
    target.index.push_back(own);
    target.conditions.push_back({meant(node.operands[i]), own});
  }
  return target;
}

/// Whether an index is at the coordinate along an axis of its own.
Tile GradientPrograms::isAt(const Tile &index, const Axis &axis) {
  const Location where = index.where();
  return Rewriter(algebra)(Operand(index, where) == Operand(axis, where));
}

void GradientPrograms::storeLeaf(const Tile &leaf, const Tile &adjoint) {
  const Node &node = leaf.node();
  const std::string name = nameOf(leaf), gradient = derivativeName(name);
  if (auto [first, isNew] = stored.emplace(name, node.where); !isNew)
    fail(node.where, "'" + name + "' is read in two places whose gradients come from different programs; read it in one, or give it under two names",
         {{first->second, "the other is here"}});
  const bool isScalar = node.op == Op::scalar;
  std::string own = unique(gradient);
  Tensor tensor(own, node.type, isScalar ? 1 : node.tensor->rank, node.where);
  std::vector<Axis> index = isScalar ? std::vector{Axis(name + "_only", node.where)} : targetOf(leaf).index;
  result.gradients[name] = own;
  put(tw::store(tensor, index, Operand(adjoint, node.where), node.where));
}

void GradientPrograms::settle(std::vector<std::pair<Tile, Tile>> adjoints) {
  std::vector<std::pair<Tile, Tile>> ends;   // leaves, and nodes that lack an axis of their adjoint
  auto isWhole = [&](const Tile &node, const Tile &adjoint) { return !isLeaf(node) && covers(node.axes(), adjoint.axes()); };
  while (!adjoints.empty()) {
    // Nodes along the same axes go down together, so that what both stand on gets one sum.
    const auto [first, firstAdjoint] = adjoints.front();
    if (!isWhole(first, firstAdjoint)) {
      ends.push_back(adjoints.front());
      adjoints.erase(adjoints.begin());
      continue;
    }
    Axes whole;
    for (const Axis &axis : first.axes())
      if (!isInner(axis))
        whole.push_back(axis);
    Reverse::Rules rules;
    rules.value = [](const Tile &tile) { return tile; };
    rules.isWanted = [this](const Tile &tile) { return isWanted(tile); };
    rules.isInner = [this](const Axis &axis) { return isInner(axis); };
    rules.stopsAt = [this, whole](const Tile &tile) { return isWanted(tile) || !covers(tile.axes(), whole); };
    Reverse reverse(algebra, type, rules);
    std::vector<std::pair<Tile, Tile>> others;
    for (const auto &[node, adjoint] : adjoints)
      if (isWhole(node, adjoint) && same(node.axes(), first.axes()))
        reverse.seed(node, adjoint);
      else
        others.push_back({node, adjoint});
    adjoints = std::move(others);
    for (const Arrival &arrival : reverse.run()) {
      Contribution sum = reverse.combined(arrival);
      adjoints.push_back({arrival.node, guarded(algebra, sum.a, sum.guard)});
    }
  }
  std::vector<std::pair<Tile, Tile>> sums;
  for (const auto &[node, adjoint] : ends) {
    auto known = std::find_if(sums.begin(), sums.end(), [&, end = &node](const auto &sum) { return &sum.first.node() == &end->node() && same(sum.second.axes(), adjoint.axes()); });
    if (known == sums.end())
      sums.push_back({node, adjoint});
    else
      known->second = algebra.binary(Op::add, known->second, adjoint, type, node.where());
  }
  for (const auto &[node, adjoint] : sums)
    end(node, adjoint);
}

/// The adjoint of a leaf, or of a node that lacks some of its axes.
void GradientPrograms::end(const Tile &node, const Tile &adjoint) {
  if (isLeaf(node)) {
    const Target &target = targetOf(node);
    const bool applied = std::all_of(target.conditions.begin(), target.conditions.end(), [&](const auto &condition) { return contains(adjoint.axes(), condition.second); });
    if (applied && covers(target.axes(), adjoint.axes()))
      return storeLeaf(node, adjoint);
  }
  Axes axes = sorted(adjoint.axes());
  Tensor partial = intermediate(derivativeName(nameOf(node)) + "_rows", axes);
  put(tw::store(partial, axes, Operand(adjoint, node.where()), node.where()));
  std::vector<Operand> indices;
  for (const Axis &axis : axes)
    indices.push_back(Operand(axis, node.where()));
  stages.push_back({node, partial.at(indices, node.where())});
}

/// What is left of a stage: its value where the leaf's indices hold, and the axes that stay.
GradientPrograms::Reduction GradientPrograms::reductionOf(const Stage &stage) {
  Axes own = stage.node.axes();
  Guard guard;
  if (isLeaf(stage.node)) {
    const Target &target = targetOf(stage.node);
    own = target.axes();
    for (const auto &[index, axis] : target.conditions)
      if (!contains(stage.partial.axes(), axis))
        guard.push_back({isAt(index, axis), true});
  }
  Reduction reduction{guarded(algebra, stage.partial, guard), {}, {}};
  for (const Axis &axis : reduction.value.axes())
    (contains(own, axis) ? reduction.kept : reduction.reduced).push_back(axis);
  return reduction;
}

void GradientPrograms::finishStages() {
  while (!stages.empty()) {
    const Reduction first = reductionOf(stages.front());
    std::vector<Stage> together, others;
    std::vector<Reduction> reductions;
    for (const Stage &stage : stages) {
      Reduction reduction = reductionOf(stage);
      const bool fits = same(reduction.reduced, first.reduced) && same(reduction.kept, first.kept);
      (fits ? together : others).push_back(stage);
      if (fits)
        reductions.push_back(std::move(reduction));
    }
    stages = std::move(others);
    std::string suffix;
    std::vector<std::pair<Tile, Tile>> adjoints;
    for (std::size_t i = 0; i < together.size(); ++i) {
      suffix += '_' + derivativeName(nameOf(together[i].node));
      adjoints.push_back({together[i].node, reductions[i].value});
    }
    begin(suffix);
    if (Axes outer = first.reduced; !outer.empty()) {
      auto at = std::find_if(outer.begin(), outer.end(), [&](const Axis &axis) { return same(axis, block) || same(axis, foldAxis); });
      if (at == outer.end())
        at = std::prev(outer.end());
      const Axis inner = *at;
      outer.erase(at);
      auto pieces = [&] {
        std::vector<Tile> all;
        for (const auto &[node, value] : adjoints) {
          Tile sum = total(value, inner);
          for (const Axis &axis : outer)
            sum = total(sum, axis);
          all.push_back(named(derivativeName(nameOf(node)), Operand(sum, node.where())));
        }
        return all;
      };
      std::vector<Tile> results = sums(outer, inner, std::vector<Axes>(adjoints.size(), first.kept), pieces, together[0].node.where());
      for (std::size_t i = 0; i < results.size(); ++i)
        adjoints[i].second = results[i];
    }
    settle(std::move(adjoints));
    finish();
  }
}

//===--- sums over tiles ---------------------------------------------------------------------------===//

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
  if (isLeaf(arrival.node) && (alongBlock || alongFold)) {
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
  auto known = std::find_if(groups.begin(), groups.end(), fits);
  if (known == groups.end())
    known = groups.insert(groups.end(), group);
  known->arrivals.push_back(arrival);
  known->axes.push_back(slot);
}

Tile GradientPrograms::piece(const Arrival &arrival, const Group &group, const Axes &axes, Rewriter &rewrite) {
  std::optional<Tile> alone, sum;
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
    add(sum, summed(makeTile({.op = Op::dot, .type = type, .axes = without(unite(a.axes(), b->axes()), *contracted), .where = a.where(), .operands = {algebra.factor(a, type), algebra.factor(*b, type)}, .consumed = {*contracted}})));
  }
  if (alone)
    add(sum, summed(*alone));
  return named(derivativeName(nameOf(arrival.node)), Operand(*sum, arrival.node.where()));
}

void GradientPrograms::build(Group &group) {
  std::string suffix;
  for (const Arrival &arrival : group.arrivals)
    suffix += '_' + derivativeName(nameOf(arrival.node));
  begin(suffix);
  Rewriter rewrite(algebra);
  for (const auto &[index, axis] : group.conditions)
    if (freeAxes(index.axes()).size() == index.axes().size())
      rewrite.replace(index, algebra.make(tw::index(axis, index.where()).node()));
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
  else if (!group.outer.empty()) {
    Axes around = group.outer;
    around.pop_back();
    results = sums(around, group.outer.back(), group.axes, pieces, where);
  } else
    results = pieces();
  std::vector<std::pair<Tile, Tile>> adjoints;
  for (std::size_t i = 0; i < results.size(); ++i)
    adjoints.push_back({group.arrivals[i].node, results[i]});
  settle(std::move(adjoints));
  finish();
}

void GradientPrograms::sumOverTiles(const std::vector<Arrival> &arrivals) {
  for (const Arrival &arrival : arrivals)
    place(arrival);
  for (Group &group : groups)
    build(group);
  groups.clear();
}

} // namespace tw::detail
