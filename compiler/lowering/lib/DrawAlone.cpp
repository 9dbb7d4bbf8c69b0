// How consumers that have no producer draw their items.
//
//   for item = first to items step grid { body }
//   =>
//   while item < items { acquire a slot of the mailbox; draw; body; post what was drawn; await, read, give back: the next item }
//
// What is drawn is not needed before the item's end, so that nobody waits for the counter. The warps meet there, as they do at the next item's
// tiles of the block. Where there is a careful way, the body is done again, that way, if an accumulator of any warp is not finite at its end.
#include "DrawAlone.h"
#include "Looks.h"
#include "Parameters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
using namespace mlir;

namespace tw {

void drawByConsumers(device::KernelOp kernel, scf::ForOp items) {
  constexpr int64_t warpsOfWarpgroup = 4, counters = 2, slots = 2;
  Location loc = items.getLoc();
  std::optional<Looks> looks = Looks::of(items);
  if (looks && hasWays(items))
    looks->spare();
  else
    looks.reset();
  Parameters parameters(kernel);
  Value counter = parameters.counters(counters);
  device::ConsumersOp consumers = device::consumersOf(kernel);
  OpBuilder shared(consumers), b(items);
  Value mailbox = device::MailboxOp::create(shared, loc, device::MailboxType::get(b.getContext(), slots, 1), b.getStringAttr("work"), IntegerAttr(), IntegerAttr());
  Value barriers = device::BarriersOp::create(shared, loc, device::BarriersType::get(b.getContext(), slots), b.getStringAttr("work"),
                                              b.getI64IntegerAttr(warpsOfWarpgroup * int64_t(consumers.getWarpgroups())), IntegerAttr(), IntegerAttr());
  auto cursor = [&](StringRef name, int64_t phase) -> Value {
    return device::CursorOp::create(b, loc, device::CursorType::get(b.getContext()), b.getStringAttr(name), barriers, b.getI64IntegerAttr(phase), UnitAttr());
  };
  Value read = cursor("work", 0), filled = cursor("work_next", 1);
  Type i32 = b.getI32Type();
  auto whole = scf::WhileOp::create(b, loc, TypeRange{i32}, ValueRange{items.getLowerBound()});
  Block *before = b.createBlock(&whole.getBefore(), {}, {i32}, {loc});
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, before->getArgument(0), items.getUpperBound());
  scf::ConditionOp::create(b, loc, more, before->getArguments());

  Block *after = b.createBlock(&whole.getAfter(), {}, {i32}, {loc});
  device::AcquireOp::create(b, loc, filled, b.getI64IntegerAttr(0));
  Value drawn = device::DrawOp::create(b, loc, i32, counter);
  items.getInductionVar().replaceAllUsesWith(after->getArgument(0));
  auto takeBody = [&](Block *block) {
    auto &ops = items.getBody()->getOperations();
    block->getOperations().splice(block->end(), ops, ops.begin(), std::prev(ops.end()));
  };
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false)), yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  if (looks) {
    Type i1 = b.getI1Type();
    auto ways = scf::WhileOp::create(b, loc, TypeRange{}, ValueRange{no});
    Block *once = b.createBlock(&ways.getBefore(), {}, {i1}, {loc});
    takeBody(once);
    Value careful = once->getArgument(0);
    settle(ways, careful);
    SmallVector<Value> found;
    for (auto [fold, accumulator] : looks->accumulators) {
      b.setInsertionPointAfter(fold);
      found.push_back(device::SpoiledOp::create(b, loc, i1, accumulator, b.getUnitAttr()));
    }
    b.setInsertionPointToEnd(once);
    Value spoiled;
    for (Value other : found)
      spoiled = spoiled ? arith::OrIOp::create(b, loc, spoiled, other).getResult() : other;
    scf::ConditionOp::create(b, loc, arith::AndIOp::create(b, loc, spoiled, arith::XOrIOp::create(b, loc, careful, yes)), ValueRange{});
    b.createBlock(&ways.getAfter());
    scf::YieldOp::create(b, loc, ValueRange{yes});
  } else {
    takeBody(after);
    settle(whole, no);
  }
  b.setInsertionPointToEnd(after);
  device::PostOp::create(b, loc, ValueRange{drawn}, mailbox, filled);
  device::AdvanceOp::create(b, loc, filled);
  device::AwaitOp::create(b, loc, read);
  Value next = device::ReadPostOp::create(b, loc, TypeRange{i32}, mailbox, read).getWords().front();
  device::ReleaseOp::create(b, loc, read, Value());
  device::AdvanceOp::create(b, loc, read);
  scf::YieldOp::create(b, loc, ValueRange{next});
  b.setInsertionPointAfter(whole);
  device::RetireOp::create(b, loc, counter);
  parameters.sort();
  items.erase();
}

} // namespace tw
