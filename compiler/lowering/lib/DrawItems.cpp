// Blocks draw their items from a counter: who is done early takes the next one.
#include "Parameters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_DRAWITEMS
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

scf::ForOp itemLoop(Block &role) {
  for (auto loop : role.getOps<scf::ForOp>())
    if (loop->hasAttr("device.items"))
      return loop;
  return {};
}

struct DrawItems : impl::DrawItemsBase<DrawItems> {
  static constexpr int64_t slots = 2, warpsOfWarpgroup = 4, counters = 2;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>()) {
      device::ProducerOp producer = device::producerOf(kernel);
      device::ConsumersOp consumers = device::consumersOf(kernel);
      scf::ForOp produced = producer ? itemLoop(producer.getBody().front()) : scf::ForOp(), consumed = itemLoop(consumers.getBody().front());
      if (produced && consumed)
        draw(kernel, consumers, produced, consumed);
    }
  }

  void draw(device::KernelOp kernel, device::ConsumersOp consumers, scf::ForOp produced, scf::ForOp consumed) {
    Parameters parameters(kernel);
    Value counter = parameters.counters(counters);
    OpBuilder b(device::producerOf(kernel));
    Location loc = kernel.getLoc();
    auto *context = b.getContext();
    Value mailbox = device::MailboxOp::create(b, loc, device::MailboxType::get(context, slots), b.getStringAttr("work"), IntegerAttr());
    Value barriers = device::BarriersOp::create(b, loc, device::BarriersType::get(context, slots), b.getStringAttr("work"),
                                                b.getI64IntegerAttr(warpsOfWarpgroup * int64_t(consumers.getWarpgroups())), IntegerAttr());
    produce(produced, counter, mailbox, barriers);
    consume(consumed, mailbox, barriers);
    parameters.sort();
  }

  static Value cursor(OpBuilder &b, Location loc, Value barriers, int64_t phase) {
    return device::CursorOp::create(b, loc, device::CursorType::get(b.getContext()), b.getStringAttr("work"), barriers, b.getI64IntegerAttr(phase), UnitAttr());
  }

  /// Moves the loop's body into the second region of the while, whose argument is the item.
  static void takeBody(scf::WhileOp whole, scf::ForOp loop) {
    Block &after = whole.getAfter().front();
    loop.getInductionVar().replaceAllUsesWith(after.getArgument(0));
    auto &ops = loop.getBody()->getOperations();
    after.getOperations().splice(after.begin(), ops, ops.begin(), std::prev(ops.end()));
  }

  void produce(scf::ForOp loop, Value counter, Value mailbox, Value barriers) {
    Location loc = loop.getLoc();
    OpBuilder b(loop);
    Value place = cursor(b, loc, barriers, 1);
    Type i32 = b.getI32Type();
    auto whole = scf::WhileOp::create(
        b, loc, TypeRange{i32}, ValueRange{loop.getLowerBound()},
        [&](OpBuilder &b, Location loc, ValueRange arguments) {
          device::AcquireOp::create(b, loc, place, b.getI64IntegerAttr(0));
          device::PostOp::create(b, loc, arguments[0], mailbox, place);
          device::AdvanceOp::create(b, loc, place);
          Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, arguments[0], loop.getUpperBound());
          scf::ConditionOp::create(b, loc, more, arguments);
        },
        [&](OpBuilder &b, Location loc, ValueRange) { scf::YieldOp::create(b, loc, ValueRange{device::DrawOp::create(b, loc, i32, counter)}); });
    device::RetireOp::create(b, loc, counter);
    takeBody(whole, loop);
    loop.erase();
  }

  void consume(scf::ForOp loop, Value mailbox, Value barriers) {
    Location loc = loop.getLoc();
    OpBuilder b(loop);
    Value place = cursor(b, loc, barriers, 0);
    Type i32 = b.getI32Type();
    auto whole = scf::WhileOp::create(
        b, loc, TypeRange{i32}, ValueRange{},
        [&](OpBuilder &b, Location loc, ValueRange) {
          device::AwaitOp::create(b, loc, place);
          Value item = device::ReadPostOp::create(b, loc, i32, mailbox, place);
          device::ReleaseOp::create(b, loc, place, Value());
          device::AdvanceOp::create(b, loc, place);
          Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, item, loop.getUpperBound());
          scf::ConditionOp::create(b, loc, more, ValueRange{item});
        },
        [&](OpBuilder &b, Location loc, ValueRange) { scf::YieldOp::create(b, loc); });
    takeBody(whole, loop);
    loop.erase();
  }
};

} // namespace
} // namespace tw
