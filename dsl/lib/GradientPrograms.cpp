#include "GradientPrograms.h"
#include "Fail.h"
#include "Walk.h"
#include <algorithm>

namespace tw::detail {

Axes lacking(const Axes &axes, const Axes &others) {
  Axes out;
  for (const Axis &axis : axes)
    if (!contains(others, axis))
      out.push_back(axis);
  return out;
}

bool covers(const Axes &axes, const Axes &others) { return lacking(others, axes).empty(); }

bool isLeaf(const Tile &tile) { return tile.node().op == Op::load || tile.node().op == Op::scalar; }

GradientPrograms::GradientPrograms(Algebra &algebra, const Program &program, const Roles &roles, Type type, const GradientOptions &options, Gradient &result)
    : algebra(algebra), program(program), roles(roles), type(type), tilesPerProgram(options.tilesPerProgram), accumulates(options.accumulates), result(result), block(roles.block()), foldAxis(roles.fold->axis) {
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

Tensor GradientPrograms::intermediate(const std::string &name, const Axes &axes, Type of) {
  Tensor tensor(unique(name), of, unsigned(axes.size()), program.stores[0].where);
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

Axes GradientPrograms::ordered(Axes axes) const {
  axes = sorted(std::move(axes));
  std::stable_sort(axes.begin(), axes.end(), [&](const Axis &a, const Axis &b) { return nearness(a) < nearness(b); });
  return axes;
}

/// How near in memory elements along an axis should be: those of one tile side by side.
int GradientPrograms::nearness(const Axis &axis) const { return isInner(axis) ? 2 : roles.of(axis) == Role::free ? 0 : 1; }

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

void GradientPrograms::begin(std::string suffix) {
  open = {program.name + suffix, {}, {}};
  ofRows = false;
}

void GradientPrograms::beginRows(std::string suffix) {
  begin(std::move(suffix));
  ofRows = true;
}

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
  if (node.op == Op::scalar) {
    if (!only) {
      std::string name = "only";
      for (int n = 2; !axisNames.insert(name).second; ++n)
        name = "only_" + std::to_string(n);
      only = {algebra.number(0, Type::i32), Axis(name, node.where)};
      lengths.emplace(only->second.order(), Intermediate::Length{});
    }
    target = {{only->second}, {*only}};
    return target;
  }
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
  const std::string name = nameOf(leaf);
  const bool isScalar = node.op == Op::scalar;
  const std::vector<Axis> &index = targetOf(leaf).index;
  auto [first, isNew] = stored.emplace(name, node.where);
  const std::string own = isNew ? unique(derivativeName(name)) : result.gradients.at(name);
  Store store = tw::store(Tensor(own, node.type, isScalar ? 1 : node.tensor->rank, node.where), index, Operand(adjoint, node.where), node.where);
  if (!isNew && !addToEarlier(name, own, store))
    fail(node.where, "'" + name + "' is read in two ways whose gradients one program makes along different axes; read it in one, or give it under two names", {{first->second, "the other is here"}});
  result.gradients[name] = own;
  putRows(std::move(store));
}

/// A tensor that is read in two ways gets its gradient from two programs: the first stores its part between them, and the later one adds it to
/// its own. Within one program both are added at once, where they run along the same axes.
bool GradientPrograms::addToEarlier(const std::string &name, const std::string &gradient, Store &store) {
  auto isIt = [&](const Store &each) { return each.tensor.name() == gradient; };
  auto add = [&](const Tile &part) { store.value = algebra.binary(Op::add, store.value, algebra.converted(part, type, store.where), type, store.where); };
  auto here = [&](std::vector<Store> &stores) {
    auto found = std::find_if(stores.begin(), stores.end(), isIt);
    if (found == stores.end() || !std::equal(found->index.begin(), found->index.end(), store.index.begin(), store.index.end(), [](const Axis &a, const Axis &b) { return same(a, b); }))
      return false;
    add(found->value);
    stores.erase(found);
    return true;
  };
  if (std::any_of(open.stores.begin(), open.stores.end(), isIt))
    return here(open.stores);
  for (Program &program : result.backward) {
    auto found = std::find_if(program.stores.begin(), program.stores.end(), isIt);
    if (found == program.stores.end())
      continue;
    Tensor part(unique(gradient + "_part"), type, found->tensor.rank(), found->where);
    Intermediate made{part, {}};
    const auto tensors = tensorsOf(this->program);
    const bool isTensor = std::any_of(tensors.begin(), tensors.end(), [&](const auto &tensor) { return tensor->name == name; });
    for (unsigned d = 0; d < part.rank(); ++d)
      made.shape.push_back({isTensor ? name : "", d});
    result.intermediates.push_back(std::move(made));
    *found = tw::store(part, found->index, Operand(found->value, found->where), found->where);
    std::vector<Operand> at;
    for (const Axis &axis : store.index)
      at.push_back(Operand(axis, store.where));
    add(algebra.make(part.at(at, store.where).node()));
    return true;
  }
  return false;
}

/// A value of rows along an inner axis is one of their tiles.
void GradientPrograms::putRows(Store store) {
  const bool isTile = ofRows && contains(store.index, block) && std::any_of(store.index.begin(), store.index.end(), [&](const Axis &axis) { return isInner(axis); });
  isTile ? putTile(std::move(store)) : put(std::move(store));
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

/// Stores a value between programs, whose node a later one takes further.
void GradientPrograms::leave(const Tile &node, const Tile &value, const Axes &axes, const char *suffix) {
  Tensor partial = intermediate(derivativeName(nameOf(node)) + suffix, axes);
  putRows(tw::store(partial, axes, Operand(value, node.where()), node.where()));
  std::vector<Operand> indices;
  for (const Axis &axis : axes)
    indices.push_back(Operand(axis, node.where()));
  stages.push_back({node, partial.at(indices, node.where())});
}

/// The adjoint of a leaf, or of a node that lacks some of its axes.
void GradientPrograms::end(const Tile &node, const Tile &adjoint) {
  if (isLeaf(node)) {
    const Target &target = targetOf(node);
    const bool applied = std::all_of(target.conditions.begin(), target.conditions.end(), [&](const auto &condition) { return contains(adjoint.axes(), condition.second); });
    if (applied && covers(target.axes(), adjoint.axes()))
      return storeLeaf(node, adjoint);
  }
  leave(node, adjoint, ordered(adjoint.axes()), "_rows");
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

} // namespace tw::detail
