// Where a value stands, over which axes, in which type; loads, reductions and dots.
#include "ImportValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <algorithm>
#include <optional>

using namespace mlir;

namespace tw {

int widthOf(const Roles &roles, const Schedule &schedule, const Axis &axis) {
  if (!roles.isTiled(axis))
    return 1;
  auto found = schedule.widths.find(axis.name());
  if (found == schedule.widths.end() || found->second < 1)
    throw ProgramError({axis.where(), "the schedule gives no width of at least 1 for axis '" + axis.name() + "'; give one: " + axis.name() + "=64", {{roles.fold->where, "in the kernel of this fold"}}});
  return found->second;
}

mlir::Type elementType(Builder &b, Type type) {
  switch (type) {
  case Type::boolean: return b.getI1Type();
  case Type::i32: return b.getI32Type();
  case Type::i64: return b.getI64Type();
  case Type::f16: return b.getF16Type();
  case Type::bf16: return b.getBF16Type();
  case Type::f32: return b.getF32Type();
  case Type::f64: return b.getF64Type();
  }
  llvm_unreachable("a type");
}

mlir::Type memoryType(Builder &b, Type type) { return type == Type::boolean ? b.getI8Type() : elementType(b, type); }

mlir::Location ImportValues::location(Builder &b, tw::Location where, StringRef name) {
  mlir::Location place = where.line ? mlir::Location(FileLineColLoc::get(b.getStringAttr(where.file), where.line, 1)) : b.getUnknownLoc();
  return name.empty() ? place : NameLoc::get(b.getStringAttr(name), place);
}

mlir::Location ImportValues::locationOf(const Tile &tile) {
  auto given = names.find(&tile.node());
  return given == names.end() ? location(b, tile.where(), "") : location(b, given->second.second, given->second.first);
}

//===--- axes ------------------------------------------------------------------------------------===//

Axes ImportValues::inTileOrder(const Axes &axes) const {
  Axes tiled;
  for (Role role : {Role::block, Role::fold, Role::inner})
    for (const Axis &axis : axes)
      if (roles.of(axis) == role)
        tiled.push_back(axis);
  return tiled;
}

std::int64_t ImportValues::dimensionOf(const Axes &tiled, const Axis &axis) {
  for (std::size_t i = 0; i < tiled.size(); ++i)
    if (same(tiled[i], axis))
      return std::int64_t(i);
  return -1;
}

mlir::Type ImportValues::typeOver(Type type, const Axes &axes) {
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> axisNames;
  for (const Axis &axis : inTileOrder(axes)) {
    shape.push_back(widthOf(roles, schedule, axis));
    axisNames.push_back(b.getStringAttr(axis.name()));
  }
  return tile::tileType(elementType(b, type), shape, axisNames);
}

bool ImportValues::uniform(const Tile &tile) const {
  return std::none_of(tile.axes().begin(), tile.axes().end(), [&](const Axis &axis) { return roles.isTiled(axis); });
}

Value ImportValues::integer(std::int64_t value, mlir::Location where) { return arith::ConstantIntOp::create(b, where, value, 32); }

Value ImportValues::startOf(const Axis &axis, mlir::Location where) {
  if (roles.of(axis) == Role::inner)
    return integer(0, where);
  return arguments.starts.at(axis.name());
}

Value ImportValues::constant(double value, mlir::Type type, mlir::Location where) {
  mlir::Type element = tile::elementOf(type);
  TypedAttr scalar;
  if (auto floating = dyn_cast<FloatType>(element))
    scalar = b.getFloatAttr(floating, value);
  else
    scalar = b.getIntegerAttr(element, std::int64_t(value));
  if (auto tile = dyn_cast<RankedTensorType>(type))
    scalar = SplatElementsAttr::get(tile, scalar);
  return arith::ConstantOp::create(b, where, scalar);
}

//===--- where a value stands --------------------------------------------------------------------===//

void ImportValues::enter(const Fold &fold, scf::ForOp op) {
  loops.push_back({fold, op});
  for (std::size_t i = 0; i < fold.arguments.size(); ++i)
    values[&fold.arguments[i].node()] = op.getRegionIterArg(unsigned(i));
  arguments.starts[fold.axis.name()] = op.getInductionVar();
  b.setInsertionPointToStart(op.getBody());
}

void ImportValues::leave(ValueRange yields) {
  auto [fold, op] = loops.back();
  loops.pop_back();
  b.setInsertionPointToEnd(op.getBody());
  if (!op.getResults().empty())       // else it ends by itself
    scf::YieldOp::create(b, op.getLoc(), yields);
  arguments.starts.erase(fold.axis.name());
  b.setInsertionPointAfter(op);
  if (loops.empty())
    results.assign(op.getResults().begin(), op.getResults().end());
}

std::size_t ImportValues::depthOf(const Tile &tile) {
  const Node &node = tile.node();
  if (auto known = depths.find(&node); known != depths.end())
    return known->second;
  std::vector<const Fold *> nest;
  for (const auto &around : roles.around)
    nest.push_back(around.get());
  nest.push_back(roles.fold.get());
  std::size_t depth = 0;
  for (std::size_t i = 0; i < nest.size(); ++i) {
    bool inside = contains(node.axes, nest[i]->axis);
    for (const Tile &argument : nest[i]->arguments)
      inside |= &argument.node() == &node;
    if (node.op != Op::foldResult && node.op != Op::extent)
      inside |= contains(node.consumed, nest[i]->axis);
    if (inside)
      depth = i + 1;
  }
  for (const Tile &operand : node.operands)
    depth = std::max(depth, depthOf(operand));
  return depths[&node] = depth;
}

Value ImportValues::get(const Tile &tile) {
  const Node &node = tile.node();
  if (auto known = values.find(&node); known != values.end())
    return known->second;
  const std::size_t depth = depthOf(tile);
  if (loops.empty() && depth > 0 && !results.empty())
    throw ProgramError({tile.where(), "value " + text(tile) + " runs along the folded axis '" + (depth > roles.around.size() ? *roles.fold : *roles.around[depth - 1]).axis.name() +
                                          "' outside of its fold; carry what is needed of it through the fold",
                        {{roles.fold->where, "the fold is here"}}});
  OpBuilder::InsertionGuard guard(b);
  if (depth < loops.size())
    b.setInsertionPoint(loops[depth].op);
  Value value = compute(tile);
  values[&node] = value;
  return value;
}

Value ImportValues::get(const Tile &tile, Type type, const Axes &axes) {
  const Node &node = tile.node();
  mlir::Location where = locationOf(tile);
  mlir::Type wanted = typeOver(type, axes);
  if (node.op == Op::constant)      // made where it is needed, as it is needed
    return constant(node.literal, wanted, where);
  OpBuilder::InsertionGuard guard(b);
  Value value = get(tile);
  if (const std::size_t depth = depthOf(tile); depth < loops.size())
    b.setInsertionPoint(loops[depth].op);      // what follows depends on the folds as little as the value does
  value = convert(value, node.type, type, where);
  return value.getType() == wanted ? value : tile::BroadcastOp::create(b, where, wanted, value).getResult();
}

Value ImportValues::atAxes(const Tile &tile, Type type, const Axes &axes) {
  return get(tile, type, axes);
}

//===--- operations ------------------------------------------------------------------------------===//

Value ImportValues::compute(const Tile &tile) {
  const Node &node = tile.node();
  mlir::Location where = locationOf(tile);
  switch (node.op) {
  case Op::constant:
    return constant(node.literal, typeOver(node.type, node.axes), where);
  case Op::index: {
    const Axis &axis = node.consumed.front();
    Value start = startOf(axis, where);
    if (!roles.isTiled(axis))
      return start;
    auto positions = tile::PositionsOp::create(b, where, typeOver(Type::i32, {axis}), start);
    if (roles.of(axis) == Role::fold)
      positions->setAttr(tile::alignedAttrName, b.getUnitAttr());
    return positions;
  }
  case Op::extent:
    return extent(node.consumed.front());
  case Op::dimension: {
    Value length = memref::DimOp::create(b, where, tensor(node.tensor->name), std::int64_t(node.slot));
    return arith::IndexCastOp::create(b, where, b.getI32Type(), length);
  }
  case Op::scalar:
    return arguments.scalars.at(node.label);
  case Op::load:
    return load(tile);
  case Op::contains:
    return search(tile);
  case Op::reduceMax: case Op::reduceMin: case Op::reduceSum:
    return reduce(tile);
  case Op::dot:
    return dot(tile);
  case Op::foldArgument:
    throw ProgramError({node.where, "a carried value is used outside of its fold; use what the fold returns", {{roles.fold->where, "the fold is here"}}});
  case Op::foldResult:
    return results[node.slot];
  case Op::named:
    names.try_emplace(&node.operands.back().node(), node.label, node.where);
    return get(node.operands.back());
  case Op::stabiliser:
    names.try_emplace(&node.operands.front().node(), names.count(&node) ? names[&node] : std::pair{std::string(), node.where});
    return tile::StabiliserOp::create(b, where, get(node.operands.front()));
  default:
    return elementwise(tile);
  }
}

namespace {
/// An index that is one coordinate plus something that the whole tile shares.
struct ShiftedAxis {
  std::optional<Axis> axis;
  std::vector<std::pair<Tile, int>> shifts;   // with their signs
};

/// Strips names and sums; false if the index is anything else than `axis ± uniform …`.
bool split(const Tile &index, int sign, const Roles &roles, ShiftedAxis &out) {
  const Node &node = index.node();
  bool varies = std::any_of(index.axes().begin(), index.axes().end(), [&](const Axis &axis) { return roles.isTiled(axis); });
  if (!varies) {
    out.shifts.push_back({index, sign});
    return true;
  }
  if (node.op == Op::named)
    return split(node.operands.back(), sign, roles, out);
  if (node.op == Op::index && sign > 0 && !out.axis) {
    out.axis = node.consumed.front();
    return true;
  }
  if (node.op != Op::add && node.op != Op::sub)
    return false;
  return split(node.operands[0], sign, roles, out) && split(node.operands[1], node.op == Op::add ? sign : -sign, roles, out);
}
} // namespace

Value ImportValues::load(const Tile &tile) {
  const Node &node = tile.node();
  mlir::Location where = locationOf(tile);
  Value memory = tensor(node.tensor->name);
  Axes tiled = inTileOrder(node.axes);
  std::vector<ShiftedAxis> split(node.operands.size());
  bool rectangle = true;
  Axes used;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    rectangle &= node.operands[i].type() == Type::i32 && tw::split(node.operands[i], 1, roles, split[i]);
    if (rectangle && split[i].axis) {
      rectangle &= !contains(used, *split[i].axis);
      used.push_back(*split[i].axis);
    }
  }
  Type memoryElement = node.type;
  mlir::Type result = tile::withElement(typeOver(memoryElement, node.axes), memoryType(b, memoryElement));
  Value loaded;
  if (rectangle) {
    SmallVector<Value> offsets;
    SmallVector<int64_t> dims;
    for (const ShiftedAxis &index : split) {
      Value offset = index.axis ? startOf(*index.axis, where) : integer(0, where);
      bool isZero = !index.axis || roles.of(*index.axis) == Role::inner;
      for (const auto &[shift, sign] : index.shifts) {
        Value amount = get(shift);
        if (isZero && sign > 0)
          offset = amount;
        else if (sign > 0)
          offset = arith::AddIOp::create(b, where, offset, amount);
        else
          offset = arith::SubIOp::create(b, where, offset, amount);
        isZero = false;
      }
      offsets.push_back(offset);
      dims.push_back(index.axis ? dimensionOf(tiled, *index.axis) : -1);
    }
    auto load = tile::LoadOp::create(b, where, result, memory, offsets, dims);
    if (!split.empty() && split.back().axis && split.back().shifts.empty() && roles.of(*split.back().axis) == Role::fold)
      load->setAttr(tile::alignedAttrName, b.getUnitAttr());
    loaded = load;
  } else {
    SmallVector<Value> indices;
    for (const Tile &index : node.operands)
      indices.push_back(get(index));
    loaded = tile::GatherOp::create(b, where, result, memory, indices);
  }
  if (memoryElement != Type::boolean)
    return loaded;
  return arith::CmpIOp::create(b, where, arith::CmpIPredicate::ne, loaded, constant(0, loaded.getType(), where));
}

Value ImportValues::search(const Tile &tile) {
  const Node &node = tile.node();
  SmallVector<Value> indices;
  for (const Tile &operand : node.operands)
    indices.push_back(get(operand));
  auto found = tile::GatherOp::create(b, locationOf(tile), typeOver(Type::boolean, node.axes), tensor(node.tensor->name), indices);
  found.setAmong(true);
  return found;
}

Value ImportValues::reduce(const Tile &tile) {
  const Node &node = tile.node();
  mlir::Location where = locationOf(tile);
  const Tile &source = node.operands.front();
  tile::Combine kind = node.op == Op::reduceMax ? tile::Combine::Max : node.op == Op::reduceMin ? tile::Combine::Min : tile::Combine::Sum;
  Value value = get(source, node.type, source.axes());
  if (roles.of(node.consumed.front()) == Role::point)   // a tile of one point is its own sum and maximum
    return value;
  return tile::ReduceOp::create(b, where, typeOver(node.type, node.axes), kind, value, b.getStringAttr(node.consumed.front().name()));
}

/// A dot's result runs along the first operand's other axis, then the second's: the operand that comes
/// first in tile order goes first, so that results are in tile order.
Value ImportValues::dot(const Tile &tile) {
  const Node &node = tile.node();
  mlir::Location where = locationOf(tile);
  Tile first = node.operands[0], second = node.operands[1];
  const Axis &over = node.consumed.front();
  for (const Tile &operand : {first, second})
    if (inTileOrder(operand.axes()).size() != 2)
      throw ProgramError({operand.where(), "dot operand " + text(operand) + " must run along '" + over.name() + "' and one other axis of a tile; here it runs along " + text(inTileOrder(operand.axes())) + " of the tile",
                          {{node.where, "the dot is here"}}});
  Axes kept = inTileOrder(without(unite(first.axes(), second.axes()), over));
  if (kept.size() != 2)
    throw ProgramError({node.where, "both operands of this dot run along '" + (kept.empty() ? over.name() : kept.front().name()) + "'; a dot contracts one axis and keeps one other of each operand", {}});
  if (!contains(first.axes(), kept.front()))
    std::swap(first, second);
  auto asFloat = [&](const Tile &operand) { return get(operand, isFloat(operand.type()) ? operand.type() : node.type, operand.axes()); };
  return tile::DotOp::create(b, where, typeOver(node.type, node.axes), asFloat(first), asFloat(second), b.getStringAttr(over.name()), IntegerAttr());
}

} // namespace tw
