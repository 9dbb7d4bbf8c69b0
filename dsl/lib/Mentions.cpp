// What a program mentions: axes, tensors, scalars, folds; and whether the mentions agree.
#include "Fail.h"
#include "Walk.h"
#include <map>

namespace tw {
namespace {

using detail::fail;
using detail::Walk;

/// Calls `f(tensor, where)` for every load, measure and store, in order.
template <class F> void eachTensorUse(const Program &program, F f) {
  Walk walk;
  walk.node = [&](const Tile &tile) {
    if (tile.node().tensor)
      f(tile.node().tensor, tile.where());
  };
  walk.over(program);
  for (const Store &store : program.stores)
    f(store.tensor.info, store.where);
}

template <class F> void eachAxisUse(const Program &program, F f) {
  Walk walk;
  walk.node = [&](const Tile &tile) {
    for (const Axes *axes : {&tile.node().axes, &tile.node().consumed})
      for (const Axis &axis : *axes)
        f(axis);
  };
  walk.fold = [&](const std::shared_ptr<const Fold> &fold) { f(fold->axis); };
  walk.over(program);
  for (const Store &store : program.stores)
    for (const Axis &axis : store.index)
      f(axis);
}

template <class F> void eachScalar(const Program &program, F f) {
  Walk walk;
  walk.node = [&](const Tile &tile) {
    if (tile.node().op == Op::scalar)
      f(tile);
  };
  walk.over(program);
}

std::string describe(const TensorInfo &info) { return std::string(name(info.type)) + "[" + std::to_string(info.rank) + "]"; }

std::string describe(const Node &scalar) { return std::string(scalar.positive ? "positive " : "") + name(scalar.type); }

void verifyTensors(const Program &program) {
  std::map<std::string, std::shared_ptr<const TensorInfo>> byName;
  eachTensorUse(program, [&](const std::shared_ptr<const TensorInfo> &info, Location where) {
    const TensorInfo &first = *byName.emplace(info->name, info).first->second;
    if (first.type != info->type || first.rank != info->rank)
      fail(where, "'" + info->name + "' is used as " + describe(*info) + " here and as " + describe(first) + " elsewhere; give the two tensors different names",
           {{info->where, "declared here as " + describe(*info)}, {first.where, "declared here as " + describe(first)}});
    if (&first != info.get())
      fail(info->where, "two tensors of program '" + program.name + "' are named '" + info->name + "'; use one Tensor object, or two names", {{first.where, "the other is declared here"}});
  });

  std::map<std::string, Location> loads, stores;
  Walk walk;
  walk.node = [&](const Tile &tile) {
    if (tile.node().op == Op::load || tile.node().op == Op::contains)
      loads.emplace(tile.node().tensor->name, tile.where());
  };
  walk.over(program);
  for (const Store &store : program.stores) {
    const std::string &tensor = store.tensor.name();
    if (auto [first, isNew] = stores.emplace(tensor, store.where); !isNew)
      fail(store.where, "'" + tensor + "' is stored twice; store each tensor once", {{first->second, "the first store is here"}});
    if (auto load = loads.find(tensor); load != loads.end())
      fail(store.where, "'" + tensor + "' is both loaded and stored; store to another tensor, since tiles run in any order", {{load->second, "it is loaded here"}});
  }
}

void verifyAxes(const Program &program) {
  std::map<std::string, Axis> byName;
  eachAxisUse(program, [&](const Axis &axis) {
    const Axis &first = byName.emplace(axis.name(), axis).first->second;
    if (!same(first, axis))
      fail(axis.where(), "two axes of program '" + program.name + "' are named '" + axis.name() + "'; use one Axis object, or two names", {{first.where(), "the other is declared here"}});
  });
}

void verifyScalars(const Program &program) {
  std::map<std::string, Tile> byName;
  eachScalar(program, [&](const Tile &scalar) {
    const Node &node = scalar.node(), &first = byName.emplace(node.label, scalar).first->second.node();
    if (first.type != node.type || first.positive != node.positive)
      fail(node.where, "scalar '" + node.label + "' is " + describe(node) + " here and " + describe(first) + " elsewhere; make both alike, or give them different names",
           {{first.where, "it is " + describe(first) + " here"}});
  });
}

} // namespace

void verify(const Program &program) {
  if (program.stores.empty())
    fail({}, "program '" + program.name + "' stores nothing; add a store(tensor, {axes}, value)");
  verifyTensors(program);
  verifyAxes(program);
  verifyScalars(program);
}

Axes axesOf(const Program &program) {
  Axes axes;
  eachAxisUse(program, [&](const Axis &axis) {
    if (!contains(axes, axis))
      axes.push_back(axis);
  });
  return axes;
}

std::vector<std::shared_ptr<const TensorInfo>> tensorsOf(const Program &program) {
  std::vector<std::shared_ptr<const TensorInfo>> tensors;
  std::set<std::string> seen;
  eachTensorUse(program, [&](const std::shared_ptr<const TensorInfo> &info, Location) {
    if (seen.insert(info->name).second)
      tensors.push_back(info);
  });
  return tensors;
}

std::vector<Tile> scalarsOf(const Program &program) {
  std::vector<Tile> scalars;
  std::set<std::string> seen;
  eachScalar(program, [&](const Tile &scalar) {
    if (seen.insert(scalar.node().label).second)
      scalars.push_back(scalar);
  });
  return scalars;
}

std::vector<std::shared_ptr<const Fold>> foldsOf(const Program &program) {
  std::vector<std::shared_ptr<const Fold>> folds;
  Walk walk;
  walk.fold = [&](const std::shared_ptr<const Fold> &fold) { folds.push_back(fold); };
  walk.over(program);
  return folds;
}

} // namespace tw
