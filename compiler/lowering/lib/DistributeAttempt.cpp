// device-distribute-tiles: a quick way that a vote of the warp may refuse, and the exact way after it.
//
//   if two votes of this item have failed { exact }
//   else {
//     quick way, in the registers of the step
//     if a row of the warp refuses { the step's dots once more, by the warp itself; exact }
//     else { what the quick way carries on }
//   }
//   if exact { the exact way }
//   if exact { rescale, carry on }        apart, so that the accumulators may be in flight before it
//   the accumulating dots of both
#include "Distribution.h"
#include "NestedFolds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
namespace tw::distribution {

FailureOr<Event> Distributor::writeWay(Block &way) {
  auto planned = plan(way);
  if (failed(planned))
    return failure();
  frames.push_back({&way, std::move(*planned)});
  Event dots{Event::Kind::dots1, {}};
  for (int i = 0; i < int(frames.back().plan.events.size()); ++i) {
    frames.back().now = i;
    Event event = frames.back().plan.events[std::size_t(i)];
    if (event.kind == Event::Kind::dots1)
      dots = event;
    else if (failed(writeEvent(event)))
      return failure();
  }
  return dots;
}

/// Where a warp could not repeat a step's dots, it takes the exact way at once.
void Distributor::dropUnrepeatable() {
  SmallVector<tile::AttemptOp> attempts;
  before.walk([&](tile::AttemptOp attempt) {
    if (!nestedFolds(*attempt->getBlock()).empty()) {      // their chunks are gone
      attempts.push_back(attempt);
      return;
    }
    for (auto dot : attempt->getBlock()->getOps<tile::DotOp>()) {
      device::TileOp left = sharedOperand(dot.getLhs()), right = sharedOperand(dot.getRhs());
      if (dot.getStage().value_or(0) == 0 && !(left && right && left.getColumns() == dot.getAxis() && right.getColumns() == dot.getAxis())) {
        attempts.push_back(attempt);
        dot.emitRemark() << "is no dot that a warp can repeat by itself, so the stabiliser of its step is not held: both operands would have to be tiles contracted along their last dimension";
        return;
      }
    }
  });
  for (tile::AttemptOp attempt : attempts)
    attempt.takeExactWay();
}

LogicalResult Distributor::repeatStep(tile::AttemptOp attempt) {
  const Frame &frame = frames.back();
  for (int i = 0; i < frame.now; ++i) {
    Event event = frame.plan.events[std::size_t(i)];
    if (event.kind == Event::Kind::rows || event.kind == Event::Kind::elements) {
      if (failed(writeEvent(event)))
        return failure();
    } else if (event.kind == Event::Kind::dots0) {
      for (Operation *op : event.ops) {
        auto found = repeatable.find(op);
        if (found == repeatable.end())
          return op->emitError() << "cannot be repeated by a warp alone", failure();
        auto [left, leftCursor, right, rightCursor] = found->second;
        auto dot = cast<tile::DotOp>(op);
        int64_t length = 0;
        for (auto [axis, size] : llvm::zip(tile::axesOf(dot.getLhs()), cast<RankedTensorType>(dot.getLhs().getType()).getShape()))
          if (axis.getValue() == dot.getAxis())
            length = size;
        device::RepeatOp::create(b, op->getLoc(), registers.lookup(dot.getResult()), left, leftCursor, right, rightCursor, b.getI64IntegerAttr((length + 15) / 16 * 16));
      }
    }
  }
  return success();
}

void Distributor::startVotes(Operation *fold) {
  if (!fold->walk([](tile::AttemptOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  Location loc = fold->getLoc();
  Type rows = device::RowsType::get(b.getContext(), b.getI1Type());
  OpBuilder top = OpBuilder::atBlockBegin(body);
  Value none = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  for (auto [votes, name] : {std::pair(&warned, "warned"), std::pair(&spent, "spent")}) {
    if (!*votes)
      *votes = device::RegistersOp::create(top, loc, rows, name);
    device::FillOp::create(b, loc, *votes, none);
  }
}

LogicalResult Distributor::writeAttempt(tile::AttemptOp attempt) {
  Location loc = attempt.getLoc();
  Block &quick = attempt.getQuick().front(), &exactWay = attempt.getExact().front();
  auto proposed = cast<tile::ProposeOp>(quick.getTerminator());
  auto yielded = cast<tile::YieldOp>(exactWay.getTerminator());
  const auto poolBefore = pool;
  Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  auto goesExact = scf::IfOp::create(b, loc, b.getI1Type(), device::AnyOp::create(b, loc, spent, b.getUnitAttr()), true);
  OpBuilder::InsertionGuard whole(b);
  b.setInsertionPointToStart(goesExact.thenBlock());
  scf::YieldOp::create(b, loc, yes);
  b.setInsertionPointToStart(goesExact.elseBlock());
  onQuickWay = true;
  auto dots = writeWay(quick);
  onQuickWay = false;
  if (failed(dots))
    return failure();
  // The vote.
  OpBuilder top = OpBuilder::atBlockBegin(body);
  Value refused = device::RegistersOp::create(top, loc, device::RowsType::get(b.getContext(), b.getI1Type()), "refused");
  {
    auto rows = device::EachRowOp::create(b, loc);
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&rows.getBody());
    local.clear();
    auto holds = resolve(proposed.getGuard());
    if (failed(holds))
      return failure();
    device::SetOp::create(b, loc, arith::XOrIOp::create(b, loc, *holds, yes), refused);
    local.clear();
  }
  frames.pop_back();
  Value again = device::AnyOp::create(b, loc, refused, UnitAttr());
  auto branch = scf::IfOp::create(b, loc, again, true);
  scf::YieldOp::create(b, loc, again);
  auto operandsOf = [&](const Event &event) {
    SmallVector<Value> held;
    for (Operation *op : event.ops)
      for (Value operand : op->getOperands())
        if (Value known = registers.lookup(operand); known && isa<device::FragmentType>(known.getType()))
          held.push_back(known);
    return held;
  };
  const SmallVector<Value> quickOperands = operandsOf(*dots);
  for (auto [result, value] : llvm::zip(attempt.getResults(), proposed.getValues())) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    registers[result] = carriers.lookup(result);
    if (failed(assign(registers[result], value, loc)))
      return failure();
  }
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  pool = poolBefore;
  if (failed(repeatStep(attempt)))
    return failure();
  {
    auto rows = device::EachRowOp::create(b, loc);
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&rows.getBody());
    device::SetOp::create(b, loc, device::GetOp::create(b, loc, b.getI1Type(), warned), spent);
    device::SetOp::create(b, loc, yes, warned);
  }
  b.setInsertionPointAfter(goesExact);
  auto exact = scf::IfOp::create(b, loc, goesExact.getResult(0), false);
  b.setInsertionPointToStart(exact.thenBlock());
  auto exactDots = writeWay(exactWay);
  if (failed(exactDots))
    return failure();
  if (operandsOf(*exactDots) != quickOperands)
    return attempt.emitError() << "makes the operands of its accumulating dots in other registers than its quick way; take a schedule with stabilised=no";
  b.setInsertionPointAfter(exact);
  auto rescaled = scf::IfOp::create(b, loc, goesExact.getResult(0), false);
  b.setInsertionPointToStart(rescaled.thenBlock());
  for (Operation *op : exactDots->ops) {
    auto accumulation = accumulationOf(cast<tile::DotOp>(op));
    if (failed(accumulation) || failed(writeRescale(*accumulation)))
      return failure();
  }
  for (auto [result, value] : llvm::zip(attempt.getResults(), yielded.getValues()))
    if (failed(assign(carriers.lookup(result), value, loc)))
      return failure();
  frames.pop_back();
  b.setInsertionPointAfter(rescaled);
  // The tiles of stage 0 are given back only now.
  Operation *last = rescaled;
  release(Moment::dots0);
  for (Operation *op = last->getNextNode(); op && isa<device::ReleaseOp, device::AdvanceOp>(op); op = op->getNextNode())
    op->setAttr("device.stage", b.getI64IntegerAttr(0));
  return dots->ops.empty() ? success() : writeDots(*dots, Moment::dots1);
}

} // namespace tw::distribution
