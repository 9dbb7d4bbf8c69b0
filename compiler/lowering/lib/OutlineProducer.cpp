// tile-to-device: the producer, which keeps scalars, loops, and the loads of shared tiles as copies into rings.
#include "KeptTiles.h"
#include "NestedFolds.h"
#include "Outline.h"
#include "Parameters.h"
#include "Registers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <map>

using namespace mlir;
namespace tw::outline {

void Outline::copyTiles(Role &role, Block &block, bool ofFold, llvm::function_ref<bool(const SharedTile &)> which, ArrayRef<Value> places) {
  OpBuilder &b = role.builder;
  // Group by group, in the order of first use: where one has one slot, the next may wait for a slot that the consumers give back only once they have seen
  // this one full.
  std::map<std::pair<Moment, unsigned>, SmallVector<tile::LoadOp>> loads;
  for (auto load : block.getOps<tile::LoadOp>())
    if (auto found = ringOf.find(load); found != ringOf.end())
      if (const Ring &ring = rings[found->second]; ring.tile->ofFold == ofFold && which(*ring.tile))
        loads[{groups[ring.group].first, ring.group}].push_back(load);
  for (auto &[key, ofGroup] : loads) {
    const unsigned group = key.second;
    Value cursor = role.cursors[group];
    device::AcquireOp::create(b, ofGroup.front().getLoc(), cursor, b.getI64IntegerAttr(groups[group].bytes));
    for (tile::LoadOp load : ofGroup)
      copyTile(role, load, cursor, places);
    device::AdvanceOp::create(b, function.getLoc(), cursor);
  }
}

void Outline::copyTile(Role &role, tile::LoadOp load, Value cursor, ArrayRef<Value> places) {
  OpBuilder &b = role.builder;
  const Ring &ring = rings[ringOf[load]];
  auto offset = [&](int64_t m) {
    const auto *place = llvm::find(varying, std::pair(ringOf[load], unsigned(m)));
    return places.empty() || place == varying.end() ? role.mapping.lookup(load.getOffsets()[unsigned(m)]) : places[std::size_t(place - varying.begin())];
  };
  auto map = ring.map.getDefiningOp<device::TensorMapOp>();
  int64_t copies = ring.tile->isVector() || ring.tile->columnLength ? 1 : cast<device::RingType>(ring.ring.getType()).chunks();
  for (int64_t chunk = 0; chunk < copies; ++chunk) {
    SmallVector<Value> coordinates;
    for (auto [dimension, size] : llvm::zip(map.getDimensions(), map.getChunks()))
      coordinates.push_back(size ? arith::ConstantOp::create(b, load.getLoc(), b.getI32IntegerAttr(0)).getResult() : offset(dimension));
    if (chunk)
      coordinates[0] = arith::AddIOp::create(b, load.getLoc(), coordinates[0], arith::ConstantOp::create(b, load.getLoc(), b.getI32IntegerAttr(int32_t(chunk * chunkColumns))));
    device::CopyOp::create(b, load.getLoc(), ring.map, coordinates, ring.ring, cursor, b.getI64IntegerAttr(chunk * chunkColumns), b.getI64IntegerAttr(ring.tile->divisor));
  }
}

LogicalResult Outline::copyScalars(Role &role, Block &step) {
  for (Operation &op : step.without_terminator())
    if (isScalar(op) && !ringOf.contains(&op) && failed(copyScalar(role, op)))
      return failure();
  return success();
}

LogicalResult Outline::produceNested(Role &role, Block &step) {
  OpBuilder &b = role.builder;
  for (scf::ForOp loop : nestedFolds(step)) {
    auto copy = scf::ForOp::create(b, loop.getLoc(), role.mapping.lookup(loop.getLowerBound()), role.mapping.lookup(loop.getUpperBound()), role.mapping.lookup(loop.getStep()));
    copy->setAttr(nestedAxisAttr, loop->getAttr(nestedAxisAttr));
    copy.getInductionVar().setLoc(loop.getInductionVar().getLoc());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(copy.getBody());
    role.mapping.map(loop.getInductionVar(), copy.getInductionVar());
    if (failed(copyScalars(role, *loop.getBody())))
      return failure();
    copyTiles(role, *loop.getBody(), true, [](const SharedTile &) { return true; });
  }
  return success();
}

bool comesLate(const SharedTile &tile) { return tile.first == Moment::dots1; }

tile::LoadOp Outline::loadIn(Block &step, unsigned ring) {
  for (auto load : step.getOps<tile::LoadOp>())
    if (auto found = ringOf.find(load); found != ringOf.end() && found->second == ring)
      return load;
  return {};
}

/// Steps visit tiles in an order that is their loops' own, so what was visited before is remembered, not computed.
void Outline::findVarying(Block &first) {
  for (auto [ring, declared] : llvm::enumerate(rings)) {
    tile::LoadOp load = declared.tile->ofFold && comesLate(*declared.tile) ? loadIn(first, unsigned(ring)) : tile::LoadOp();
    if (!load)
      continue;
    for (unsigned m = 0; m < load.getOffsets().size(); ++m)
      if (llvm::any_of(declared.tile->loads, [&](tile::LoadOp other) { return other.getOffsets()[m] != load.getOffsets()[m]; }))
        varying.push_back({unsigned(ring), m});
  }
}

SmallVector<Value> Outline::placesIn(Role &role, Block &step) {
  SmallVector<Value> places;
  for (auto [ring, m] : varying)
    places.push_back(role.mapping.lookup(loadIn(step, ring).getOffsets()[m]));
  return places;
}

FailureOr<SmallVector<Value>> Outline::produceLoop(Role &role, scf::ForOp loop, bool late, ArrayRef<Value> before) {
  OpBuilder &b = role.builder;
  auto copy = scf::ForOp::create(b, loop.getLoc(), role.mapping.lookup(loop.getLowerBound()), role.mapping.lookup(loop.getUpperBound()), role.mapping.lookup(loop.getStep()), before);
  copy->setAttr(foldAxisAttr, loop->getAttr(foldAxisAttr));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(copy.getBody());
  role.mapping.map(loop.getInductionVar(), copy.getInductionVar());
  if (failed(copyScalars(role, *loop.getBody())))
    return failure();
  if (failed(produceNested(role, *loop.getBody())))
    return failure();
  copyTiles(role, *loop.getBody(), true, [&](const SharedTile &tile) { return !late || !comesLate(tile); });
  if (late) {
    copyTiles(role, *loop.getBody(), true, comesLate, SmallVector<Value>(copy.getRegionIterArgs()));
    if (!before.empty())
      scf::YieldOp::create(b, loop.getLoc(), placesIn(role, *loop.getBody()));
  }
  return SmallVector<Value>(copy.getResults());
}

LogicalResult Outline::produce(Role &role, Block &block, Block &own, bool holdsStep) {
  OpBuilder &b = role.builder;
  SmallVector<Value> places;
  bool copied = false;
  for (Operation &op : block.without_terminator()) {
    bool isFold = op.hasAttr(foldAxisAttr);
    if (isFold && !copied && !isa<scf::IfOp>(op)) {      // what the item's steps need comes before them
      copied = true;
      copyTiles(role, own, false, [](const SharedTile &) { return true; });
      if (holdsStep && failed(produceNested(role, block)))
        return failure();
      if (holdsStep)
        copyTiles(role, block, true, [&](const SharedTile &tile) { return !follows || !comesLate(tile); });
      if (holdsStep && follows)
        places = placesIn(role, block);
    }
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && isFold) {
      auto last = produceLoop(role, loop, holdsStep && follows, places);
      if (failed(last))
        return failure();
      places = std::move(*last);
    } else if (auto ways = dyn_cast<scf::IfOp>(op); ways && op.hasAttr(tile::carefulAttrName)) {
      auto copy = scf::IfOp::create(b, op.getLoc(), role.mapping.lookup(ways.getCondition()), true);
      copy->setAttr(tile::carefulAttrName, op.getAttr(tile::carefulAttrName));
      for (auto [from, to] : llvm::zip(ways->getRegions(), copy->getRegions())) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(&to.front());
        if (failed(produce(role, from.front(), own, false)))
          return failure();
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && isFold) {
      // Block tiles are copied for items that have steps.
      auto copy = scf::IfOp::create(b, op.getLoc(), role.mapping.lookup(branch.getCondition()), false);
      copy->setAttr(foldAxisAttr, op.getAttr(foldAxisAttr));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(copy.thenBlock());
      if (failed(produce(role, *branch.thenBlock(), own, true)))
        return failure();
    } else if (auto around = dyn_cast<scf::ForOp>(op); around && !op.hasAttr(nestedAxisAttr)) {
      if (!copied)
        copyTiles(role, own, false, [](const SharedTile &) { return true; });
      copied = true;
      auto copy = scf::ForOp::create(b, op.getLoc(), role.mapping.lookup(around.getLowerBound()), role.mapping.lookup(around.getUpperBound()), role.mapping.lookup(around.getStep()));
      role.mapping.map(around.getInductionVar(), copy.getInductionVar());
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(copy.getBody());
      if (failed(produce(role, *around.getBody(), *around.getBody(), false)))
        return failure();
    } else if (auto kept = dyn_cast<tile::KeptOp>(op)) {
      Parameters parameters(kernel);
      if (failed(makeList(b, kept, parameters, role.mapping, [&](Operation &inner) { return copyScalar(role, inner); })))
        return failure();
    } else if (isScalar(op) && !ringOf.contains(&op)) {
      if (failed(copyScalar(role, op)))
        return failure();
    }
  }
  if (holdsStep && follows)      // those of the step that is visited last
    copyTiles(role, block, true, comesLate, places);
  return success();
}

LogicalResult Outline::makeProducer() {
  OpBuilder b = OpBuilder::atBlockEnd(&kernel.getBody().front());
  auto producer = device::ProducerOp::create(b, function.getLoc(), b.getI64IntegerAttr(device::isHopper(kernel) ? Registers::shared(warpgroups, options.blocksPerSM).producer : 0));
  b.createBlock(&producer.getBody());
  Role role{b, {}, {}};
  makeCursors(role, 1);
  ItemCoordinates item = makeItemLoop(role.builder, kernel, kernelAttr, function.getLoc(), tile::growsWithBlock(function));
  mapArguments(role, item);
  return produce(role, function.getBody().front(), function.getBody().front(), false);
}

} // namespace tw::outline
