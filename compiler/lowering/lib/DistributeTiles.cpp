// device-distribute-tiles: control flow, carried values, and which registers hold what.
#include "Distribution.h"
#include "NestedFolds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/lowering/Passes.h"
#include <climits>

namespace tw {
#define GEN_PASS_DEF_DISTRIBUTETILES
#include "tilewright/lowering/Passes.h.inc"
} // namespace tw

using namespace mlir;
namespace tw::distribution {

Distributor::Distributor(device::KernelOp kernel, bool interleave, Buffers buffers) : kernel(kernel), interleave(interleave), buffers(buffers), before(device::consumersOf(kernel)), b(kernel.getContext()), parameters(kernel) {}

LogicalResult Distributor::run() {
  dropUnrepeatable();
  findCursorUses();
  b.setInsertionPoint(before);
  auto after = device::ConsumersOp::create(b, before.getLoc(), before.getWarpgroups(), before.getRegisters(), before.getRows());
  body = b.createBlock(&after.getBody());
  if (failed(writeBlock(before.getBody().front())))
    return failure();
  before.erase();
  parameters.sort();
  return success();
}

//===--- blocks ------------------------------------------------------------------------------------===//

LogicalResult Distributor::writeBlock(Block &block) {
  auto planned = plan(block);
  if (failed(planned))
    return failure();
  frames.push_back({&block, std::move(*planned)});
  // Column vectors are waited for with the first dots and given back with the last ones; a step without those does it itself.
  auto has = [&](Event::Kind kind) { return llvm::any_of(frames.back().plan.events, [&](const Event &event) { return event.kind == kind; }); };
  const bool isStep = block.getParentOp()->hasAttr("tile.fold");
  const auto nested = nestedFolds(block);
  auto awaitVectors = [&] {
    if (isStep && !has(Event::Kind::dots0))
      await(Moment::work);
  };
  if (nested.empty())
    awaitVectors();
  bool accumulates = has(Event::Kind::dots1);
  for (auto attempt : block.getOps<tile::AttemptOp>())
    accumulates |= !attempt.getExact().getOps<tile::DotOp>().empty();
  bool mustRelease = isStep && !accumulates;
  auto releaseVectors = [&] {
    if (mustRelease)
      release(Moment::work);
    mustRelease = false;
  };
  for (int i = 0; i < int(frames.back().plan.events.size()); ++i) {
    frames.back().now = i;
    Event event = frames.back().plan.events[std::size_t(i)];
    const bool isNested = event.kind == Event::Kind::control && event.ops.front()->hasAttr(nestedAxisAttr);
    if (event.kind == Event::Kind::control && !isNested)
      releaseVectors();
    if (failed(writeEvent(event)))
      return failure();
    if (isNested && event.ops.front() == nested.back())      // the chunks come first
      awaitVectors();
  }
  releaseVectors();
  releaseExchanges();
  frames.back().now = INT_MAX;
  return success();
}

LogicalResult Distributor::writeEvent(const Event &event) {
  switch (event.kind) {
  case Event::Kind::scalar:
    b.clone(*event.ops.front(), scalars);
    return success();
  case Event::Kind::rows:
    return writeRows(event);
  case Event::Kind::elements:
    return writeElements(event);
  case Event::Kind::tiles:
    return writeTileReductions(event);
  case Event::Kind::dots0:
    return writeDots(event, Moment::dots0);
  case Event::Kind::dots1:
    return writeDots(event, Moment::dots1);
  case Event::Kind::publish:
    return writePublish(cast<tile::DotOp>(event.ops.front()));
  case Event::Kind::exchanged:
    return writeExchanged(cast<tile::DotOp>(event.ops.front()));
  case Event::Kind::add:
    return writeAdd(cast<tile::AccumulateOp>(event.ops.front()));
  case Event::Kind::wait:
    writeWait(event);
    return success();
  case Event::Kind::control:
    return writeControl(event.ops.front());
  case Event::Kind::attempt:
    return writeAttempt(cast<tile::AttemptOp>(event.ops.front()));
  case Event::Kind::load:
    return writeLoad(cast<tile::LoadOp>(event.ops.front()));
  case Event::Kind::store:
    return writeStore(cast<tile::StoreOp>(event.ops.front()));
  }
  llvm_unreachable("every kind is listed");
}

LogicalResult Distributor::writeControl(Operation *op) {
  if (op->hasAttr(nestedAxisAttr))
    return writeNested(cast<scf::ForOp>(op));
  if (failed(makeCarriers(op)))
    return failure();
  if (op->hasAttr(tile::carefulAttrName))
    return writeWays(cast<scf::IfOp>(op));
  bool outermost = op->hasAttr("tile.fold") && !op->getParentOp()->hasAttr("tile.fold");
  auto blockTiles = [&](auto act, Operation *around = nullptr) {
    for (const CursorUse &use : cursorUses)
      if (!use.ofFold && use.around == around)
        act(scalars.lookupOrDefault(use.cursor));
  };
  auto follows = [](Operation *loop) {     // a loop that carries on from this one, in the same block
    return llvm::any_of(loop->getUsers(), [&](Operation *user) { return user->hasAttr("tile.fold") && user->getBlock() == loop->getBlock(); });
  };
  auto awaitTile = [&](Value cursor) {
    device::AwaitOp::create(b, op->getLoc(), cursor);
    scanForSums(cursor, op->getLoc());
  };
  auto giveBack = [&](Value cursor) {
    device::ReleaseOp::create(b, op->getLoc(), cursor, Value());
    device::AdvanceOp::create(b, op->getLoc(), cursor);
  };
  auto loop = dyn_cast<scf::ForOp>(op);
  if (outermost)
    startVotes(op);
  blockTiles(awaitTile, op);
  bool isFirst = loop && outermost && llvm::none_of(loop.getInitArgs(), [](Value value) { return isa_and_present<scf::ForOp>(value.getDefiningOp()); });
  if (isFirst)
    blockTiles(awaitTile);
  if (failed(loop ? writeFor(op) : writeIf(op)))
    return failure();
  blockTiles(giveBack, op);
  if (loop && outermost && !follows(op))
    blockTiles(giveBack);
  if (outermost && !follows(op)) {
    joinSums(op);
    sendBackSpoiled(op);
  }
  return success();
}

LogicalResult Distributor::writeFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  auto bound = [&](Value value) { return scalars.lookupOrDefault(value); };
  for (auto [argument, init, result] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults())) {
    Value carrier = carriers.lookup(result);
    registers[result] = carrier;
    registers[argument] = carrier;
    if (failed(assign(carrier, init, op->getLoc())))
      return failure();
  }
  auto copy = scf::ForOp::create(b, op->getLoc(), bound(loop.getLowerBound()), bound(loop.getUpperBound()), bound(loop.getStep()));
  for (StringRef name : {"tile.fold", "tile.pass", "tile.range", "device.items"})
    if (auto attribute = op->getAttr(name))
      copy->setAttr(name, attribute);
  scalars.map(loop.getInductionVar(), copy.getInductionVar());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(copy.getBody());
  if (failed(writeBlock(*loop.getBody())))
    return failure();
  for (auto [yielded, result] : llvm::zip(loop.getYieldedValues(), loop.getResults()))
    if (failed(assign(carriers.lookup(result), yielded, op->getLoc())))
      return failure();
  frames.pop_back();
  return success();
}

LogicalResult Distributor::writeIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  if (op->getNumResults() && branch.getElseRegion().empty())
    return op->emitError() << "has results and no else";
  for (auto [result, otherwise] : llvm::zip(op->getResults(), branch.elseYield().getOperands())) {
    registers[result] = carriers.lookup(result);
    if (failed(assign(registers[result], otherwise, op->getLoc())))
      return failure();
  }
  auto copy = scf::IfOp::create(b, op->getLoc(), scalars.lookupOrDefault(branch.getCondition()), false);
  if (auto attribute = op->getAttr("tile.fold"))
    copy->setAttr("tile.fold", attribute);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(copy.thenBlock());
  for (const CursorUse &use : cursorUses)
    if (!use.ofFold && !use.around)
      device::AwaitOp::create(b, op->getLoc(), scalars.lookupOrDefault(use.cursor));
  if (failed(writeBlock(*branch.thenBlock())))
    return failure();
  for (auto [result, yielded] : llvm::zip(op->getResults(), branch.thenYield().getOperands()))
    if (failed(assign(carriers.lookup(result), yielded, op->getLoc())))
      return failure();
  frames.pop_back();
  for (const CursorUse &use : cursorUses)
    if (!use.ofFold && !use.around) {
      device::ReleaseOp::create(b, op->getLoc(), scalars.lookupOrDefault(use.cursor), Value());
      device::AdvanceOp::create(b, op->getLoc(), scalars.lookupOrDefault(use.cursor));
    }
  return success();
}

LogicalResult Distributor::writeWays(scf::IfOp ways) {
  for (Value result : ways.getResults())
    registers[result] = carriers.lookup(result);
  auto copy = scf::IfOp::create(b, ways.getLoc(), scalars.lookupOrDefault(ways.getCondition()), true);
  copy->setAttr(tile::carefulAttrName, ways->getAttr(tile::carefulAttrName));
  for (auto [from, to] : llvm::zip(ways->getRegions(), copy->getRegions())) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&to.front());
    const auto lookedAt = spoiledTiles;      // what one way finds is not the other one's
    way = &from == &ways.getThenRegion() ? Way::careful : Way::usual;
    if (failed(writeBlock(from.front())))
      return failure();
    way = Way::only;
    spoiledTiles = lookedAt;
    for (auto [result, yielded] : llvm::zip(ways.getResults(), from.front().getTerminator()->getOperands()))
      if (failed(assign(carriers.lookup(result), yielded, ways.getLoc())))
        return failure();
    frames.pop_back();
  }
  return success();
}

//===--- carried values ----------------------------------------------------------------------------===//

void Distributor::setCarrier(Value value, Value target) {
  if (carriers.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  bool control = isa_and_present<scf::ForOp, scf::IfOp, tile::AttemptOp>(op);
  if (!control && !(op && (accumulatedDot(value) || isa<tile::ReduceOp, arith::AddFOp, math::FmaOp>(op))))
    return;
  carriers[value] = target;
  if (!control) {
    if (auto sum = dyn_cast<arith::AddFOp>(op))      // what the dots before have left
      for (Value operand : sum.getOperands())
        if (tile::DotOp dot = accumulatedDot(operand); dot && dot != accumulatedDot(value))
          setCarrier(operand, target);
    return;
  }
  unsigned i = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    setCarrier(loop.getInitArgs()[i], target);
    setCarrier(loop.getYieldedValues()[i], target);
  } else if (auto attempt = dyn_cast<tile::AttemptOp>(op)) {
    setCarrier(cast<tile::ProposeOp>(attempt.getQuick().front().getTerminator()).getValues()[i], target);
    setCarrier(cast<tile::YieldOp>(attempt.getExact().front().getTerminator()).getValues()[i], target);
  } else {
    setCarrier(cast<scf::IfOp>(op).thenYield().getOperand(i), target);
    if (op->hasAttr(tile::carefulAttrName))
      setCarrier(cast<scf::IfOp>(op).elseYield().getOperand(i), target);
  }
}

/// The kind of a carried value, from a loop that carries it.
static StringRef kindOf(Value value) {
  Operation *op = value.getDefiningOp();
  unsigned i = cast<OpResult>(value).getResultNumber();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Value yielded = branch.thenYield().getOperand(i);
    return isa_and_present<scf::ForOp>(yielded.getDefiningOp()) ? kindOf(yielded) : "value";
  }
  auto kinds = op->getAttrOfType<ArrayAttr>("tile.carried");
  return kinds ? cast<StringAttr>(kinds[i]).getValue() : "value";
}

LogicalResult Distributor::makeCarriers(Operation *op) {
  for (Value result : op->getResults()) {
    if (carriers.contains(result))
      continue;
    Space space = spaceOf(result);
    if (space != Space::row && space != Space::element)
      return op->emitError() << "carries " << result.getType() << "; on a GPU a fold carries values over the block axis \"" << kernel.getBlock() << "\", or over it and one inner axis";
    StringRef kind = kindOf(result);
    if (space == Space::element && kind != "accumulator")
      return op->emitError() << "the fold carries the tile " << result.getType() << " in another form than argument · row + dot; on a GPU a carried tile is such a sum, from 0 on: apply everything else to the fold's result";
    Type element = tile::elementOf(result.getType());
    Type type = space == Space::row ? Type(device::RowsType::get(b.getContext(), scalarType(element))) : Type(device::FragmentType::get(b.getContext(), widthOf(result), scalarType(element)));
    Value target = declare(type, result, space == Space::row ? "carried" : "accumulator");
    if (kind == "sum")
      sums.insert(target);
    if (kind == "accumulator")
      accumulators.insert(target);
    // Loops of one fold share it: the last one is asked first where they stand side by side.
    Operation *last = op;
    Value end = result;
    while (true) {
      Operation *next = nullptr;
      for (OpOperand &use : end.getUses())
        if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()); loop && loop->hasAttr("tile.fold") && loop->getBlock() == last->getBlock()) {
          next = loop;
          end = loop.getResult(use.getOperandNumber() - loop.getNumControlOperands());
          break;
        }
      if (!next)
        break;
      last = next;
    }
    setCarrier(end, target);
  }
  return success();
}

/// Makes the registers hold the value: nothing to do where it was made in them.
LogicalResult Distributor::assign(Value target, Value value, Location loc) {
  if (registers.lookup(value) == target)
    return success();
  if (accumulators.contains(target) && accumulatedDot(value))
    return success();
  Attribute splat;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      splat = dense.getSplatValue<Attribute>();
  if (splat) {
    device::FillOp::create(b, loc, target, constant(splat, loc));
    return success();
  }
  if (!isa<device::RowsType>(target.getType()))
    return emitError(loc) << "a carried tile starts as another value; on a GPU it starts as a constant: add that value to the fold's result";
  auto rows = device::EachRowOp::create(b, loc);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&rows.getBody());
  local.clear();
  auto resolved = resolve(value);
  if (failed(resolved))
    return failure();
  device::SetOp::create(b, loc, *resolved, target);
  local.clear();
  return success();
}

void Distributor::joinSums(Operation *op) {
  for (Value result : op->getResults())
    if (Value target = carriers.lookup(result); sums.contains(target))
      device::JoinOp::create(b, op->getLoc(), device::Combine::Sum, target);
}

//===--- registers ---------------------------------------------------------------------------------===//

Value Distributor::declare(Type type, Value value, StringRef otherwise) {
  OpBuilder top = OpBuilder::atBlockBegin(body);
  std::string name(otherwise);
  if (auto loc = dyn_cast<NameLoc>(value ? value.getLoc() : Location(UnknownLoc::get(b.getContext()))))
    name = loc.getName().str();
  return device::RegistersOp::create(top, kernel.getLoc(), type, name);
}

int Distributor::lastUse(Value value, const Frame &frame) const {
  int last = -1;
  forEachUser(value, [&](Operation *user) {
    Operation *here = frame.block->findAncestorOpInBlock(*user);
    if (!here)
      return;
    if (here->hasTrait<OpTrait::IsTerminator>()) {
      last = INT_MAX;
      return;
    }
    auto event = frame.plan.eventOf.find(here);
    if (event != frame.plan.eventOf.end())
      last = std::max(last, event->second);
    else     // columns, and sums that dots accumulate: as late as what uses them
      for (Value result : here->getResults())
        last = std::max(last, lastUse(result, frame));
  });
  return last;
}

bool Distributor::isLive(Value occupant) const {
  for (const Frame &frame : frames)
    if (occupant.getParentBlock() == frame.block) {
      int last = lastUse(occupant, frame);
      bool innermost = &frame == &frames.back();
      if (!innermost && last == frame.now && frame.plan.events[std::size_t(frame.now)].kind == Event::Kind::attempt) {
        if (onQuickWay)
          return false;                                       // the exact way computes it anew
        const Frame &way = frames.back();
        bool loop = way.now < int(way.plan.events.size()) && way.plan.events[std::size_t(way.now)].kind == Event::Kind::elements;
        return lastUse(occupant, way) >= way.now + (loop ? 1 : 0);
      }
      bool loop = innermost && frame.now < int(frame.plan.events.size()) && frame.plan.events[std::size_t(frame.now)].kind == Event::Kind::elements;
      return loop ? last > frame.now : last >= frame.now;     // a loop reads an element before it overwrites it
    }
  return false;                                               // of a block that is done
}

Value Distributor::fragmentFor(Value value, int64_t width) {
  auto type = device::FragmentType::get(b.getContext(), width, scalarType(tile::elementOf(value.getType())));
  for (Pooled &entry : pool)
    if (entry.registers.getType() == type && !isLive(entry.occupant)) {
      entry.occupant = value;
      return registers[value] = entry.registers;
    }
  Value made = declare(type, value, "t");
  pool.push_back({made, value});
  return registers[value] = made;
}

/// Is the value used anywhere but in the event that makes it?
bool Distributor::needsRegisters(Value value) const {
  const Frame &frame = frames.back();
  int made = frame.plan.eventOf.lookup(value.getDefiningOp());
  bool needed = false;
  forEachUser(value, [&](Operation *user) {
    auto event = frame.plan.eventOf.find(user);
    if (event != frame.plan.eventOf.end() && user->getBlock() == frame.block) {
      needed |= event->second != made || isa<tile::StoreOp, tile::DotOp>(user);
      return;
    }
    if (user->getBlock() == frame.block && user->getNumResults() == 1 && spaceOf(user->getResult(0)) == Space::column) {
      needed |= needsRegisters(user->getResult(0));
      return;
    }
    needed = true;
  });
  return needed;
}

} // namespace tw::distribution

namespace tw {
namespace {
struct DistributeTiles : impl::DistributeTilesBase<DistributeTiles> {
  using DistributeTilesBase::DistributeTilesBase;
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>())
      if (failed(distribution::Distributor(kernel, interleave, {exchangeBuffers, outboxBuffers}).run()))
        return signalPassFailure();
  }
};
} // namespace
} // namespace tw
