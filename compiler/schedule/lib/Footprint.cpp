// Which tiles a program's items hold, and how many bytes and registers they take under a schedule.
#include "Footprint.h"
#include "Meant.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <algorithm>
#include <functional>

namespace tw {
namespace {

class Collector {
public:
  Collector(const Roles &roles) : roles(roles) {}

  void visit(const Tile &tile, bool added) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return;
    if (node.op == Op::dot) {
      for (const Tile &operand : node.operands)
        if (const Node &source = meant(operand).node(); source.op == Op::load && loads.insert(&source).second)
          add(contains(source.axes, roles.fold->axis) ? TileUse::Kind::foldOperand : TileUse::Kind::blockOperand, source.axes, bytes(source.type));
      if (!added)
        add(TileUse::Kind::product, node.axes, bytes(node.type));
    }
    if (isVector(node))
      uses.push_back({TileUse::Kind::vector, {roles.fold->axis}, bytes(node.type)});
    if (isColumn(node) || isGathered(node))
      uses.push_back({TileUse::Kind::column, {roles.fold->axis}, bytes(node.type)});
    for (const Tile &operand : node.operands)
      visit(operand, node.op == Op::named && added);
  }

  /// A load along the fold axis alone: a ring of its own in shared memory.
  bool isVector(const Node &node) const {
    const Axes tiled = tiledOf(node.axes);
    return node.op == Op::load && tiled.size() == 1 && contains(tiled, roles.fold->axis);
  }

  /// A coordinate of the fold axis that becomes a number, or a vector along that axis.
  bool isColumn(const Node &node) const {
    if (!isFloat(node.type))
      return false;
    if (node.op == Op::load)
      return isVector(node);
    return std::any_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return !isFloat(operand.type()) && operand.type() != Type::boolean && contains(operand.axes(), roles.fold->axis); });
  }

  /// A number of its own for each element, out of global memory: many are on their way at once.
  bool isGathered(const Node &node) const { return node.op == Op::load && isFloat(node.type) && contains(node.axes, roles.fold->axis) && contains(node.axes, roles.block()); }

  /// A sum over one point is what it sums.
  const Tile &summed(const Tile &tile) const {
    const Node &node = meant(tile).node();
    return node.op == Op::reduceSum && roles.of(node.consumed.front()) == Role::point ? summed(node.operands.front()) : meant(tile);
  }

  /// `arg · factor + dot`, or more dots: they need no place of their own.
  void visitYield(const Tile &yield) {
    visitSum(meant(yield));
    visit(yield, false);
  }

  void visitSum(const Tile &sum) {
    if (sum.node().op != Op::add)
      return;
    for (const Tile &operand : sum.node().operands)
      if (const Tile &part = summed(operand); part.node().op == Op::dot)
        visit(part, true);
      else
        visitSum(part);
  }

  Axes tiledOf(const Axes &axes) const {
    Axes tiled;
    for (const Axis &axis : axes)
      if (roles.isTiled(axis))
        tiled.push_back(axis);
    return tiled;
  }

  void add(TileUse::Kind kind, const Axes &axes, int elementBytes) {
    if (const Axes tiled = tiledOf(axes); tiled.size() == 2)
      uses.push_back({kind, tiled, elementBytes});
  }

  std::vector<TileUse> uses;

private:
  const Roles &roles;
  std::set<const Node *> seen, loads;
};

} // namespace

std::vector<TileUse> tileUses(const Program &program, const Roles &roles) {
  Collector collector(roles);
  for (const Tile &argument : roles.fold->arguments)
    collector.add(TileUse::Kind::accumulator, argument.axes(), bytes(argument.type()));
  for (const Tile &yield : roles.fold->yields)
    collector.visitYield(yield);
  for (const Store &store : program.stores)
    if (const Tile *part = addedBySteps(roles, store)) {
      for (const Tile &operand : part->node().operands)      // the sum takes the place of what is computed for it
        collector.visit(operand, false);
      collector.uses.push_back({TileUse::Kind::exchange, {roles.fold->axis, roles.block()}, 2});
      for (const Axis &columns : collector.tiledOf(part->axes()))
        if (!same(columns, roles.fold->axis))
          collector.uses.push_back({TileUse::Kind::outbox, {roles.fold->axis, columns}, bytes(part->type())});
    } else {
      collector.visit(store.value, false);
    }
  return collector.uses;
}

namespace {

/// The chunks of the axis, if the schedule walks it in chunks.
const Chunks *chunksOf(const Axis &axis, const Schedule &schedule) {
  const auto found = schedule.nested.find(axis.name());
  return found == schedule.nested.end() ? nullptr : &found->second;
}

int width(const Axis &axis, const Schedule &schedule) {
  const Chunks *chunks = chunksOf(axis, schedule);
  return chunks ? chunks->width : schedule.widths.at(axis.name());
}

std::int64_t elements(const TileUse &use, const Schedule &schedule) {
  std::int64_t n = 1;
  for (const Axis &axis : use.axes)
    n *= width(axis, schedule);
  return n;
}

/// Slots of the ring that an operand comes through: chunks of an axis that is contracted, not computed in passes, have one of their own.
int slots(const TileUse &use, const std::vector<TileUse> &uses, const Schedule &schedule) {
  auto isResult = [&](const Axis &axis) {
    return std::any_of(uses.begin(), uses.end(), [&](const TileUse &other) { return (other.kind == TileUse::Kind::accumulator || other.kind == TileUse::Kind::product) && contains(other.axes, axis); });
  };
  for (const Axis &axis : use.axes)
    if (const Chunks *chunks = chunksOf(axis, schedule); chunks && !isResult(axis))
      return chunks->stages;
  return use.kind == TileUse::Kind::blockOperand ? schedule.blockBuffers : schedule.stages;
}

/// On the CPU every tile is a buffer of the type in which it computes, with one copy of each operand.
Footprint onHost(const std::vector<TileUse> &uses, const Schedule &schedule) {
  Footprint f;
  for (const TileUse &use : uses)
    if (use.kind != TileUse::Kind::vector && use.kind != TileUse::Kind::exchange && use.kind != TileUse::Kind::outbox)
      f.sharedBytes += elements(use, schedule) * std::max(use.elementBytes, 4);
  return f;
}

/// Bytes of an operand in shared memory, or of what leaves from there. Its rows lie there in pieces of 128 bytes, so that the innermost axis is padded to those.
std::int64_t sharedBytes(const TileUse &use, const Schedule &schedule) {
  const std::int64_t bytes = elements(use, schedule) * use.elementBytes;
  const std::int64_t row = width(use.axes.back(), schedule) * use.elementBytes;
  return bytes / row * ((row + 127) / 128 * 128);
}

/// On a GPU operands lie in shared memory (those of steps in a ring), everything else in registers; a
/// product is packed to 16 bit beside itself when it becomes an operand, or in its own place where nothing else runs meanwhile. Dots that
/// follow each other one by one hold the operands of all accumulations but the last while there is still work on products.
Footprint onGpu(const std::vector<TileUse> &uses, const Schedule &schedule, const Target &target) {
  const int addressing = target.isHopper() ? 32 : 40;     // registers for rows, addresses, loop state; and words of operands
  constexpr int columnRegisters = 24;                     // what the assembler keeps of one beside its elements
  const std::int64_t barriers = 2048;                     // and what alignment costs
  const bool oneByOne = target.isHopper() && !schedule.overlap && schedule.nested.empty();
  Footprint f;
  f.sharedBytes = barriers;
  std::int64_t held = 0, accumulations = 0, widest = 0;
  int columns = 0;
  for (const TileUse &use : uses) {
    std::int64_t n = elements(use, schedule);
    switch (use.kind) {
    case TileUse::Kind::blockOperand:
    case TileUse::Kind::foldOperand:
    case TileUse::Kind::vector: f.sharedBytes += sharedBytes(use, schedule) * slots(use, uses, schedule); break;
    case TileUse::Kind::exchange: f.sharedBytes += n * use.elementBytes * schedule.exchangeBuffers; break;
    case TileUse::Kind::outbox: f.sharedBytes += sharedBytes(use, schedule) * schedule.outboxBuffers; break;
    case TileUse::Kind::accumulator: held += n; ++accumulations; break;
    case TileUse::Kind::column: columns += oneByOne ? 0 : columnRegisters; break;
    case TileUse::Kind::product:
      held += schedule.producer && !oneByOne ? n + n / 2 : n;
      widest = std::max(widest, n);
      break;
    }
  }
  if (oneByOne && accumulations)
    held += (accumulations - 1) * widest / 2;
  // Where steps exchange, the assembler has fit so much beside the tiles without a spill (D 64, steps of 128).
  const bool exchanges = std::any_of(uses.begin(), uses.end(), [](const TileUse &use) { return use.kind == TileUse::Kind::exchange; });
  f.registersPerThread = int(held / (128 * schedule.warpgroups)) + (oneByOne ? exchanges ? 8 : 24 : addressing) + columns;
  return f;
}

} // namespace

Footprint footprint(const std::vector<TileUse> &uses, const Schedule &schedule, const Target &target) {
  return target.isHost() ? onHost(uses, schedule) : onGpu(uses, schedule, target);
}

Footprint footprint(const Program &program, const Schedule &schedule, const Target &target) {
  return footprint(tileUses(program, rolesOf(program, schedule.block)), schedule, target);
}

} // namespace tw
