// device-list-ahead: a warp of its own draws items and lists their tiles, while the producer copies for an item before.
//
//   producer { while { acquire; list, post; advance } do { copies; the next number } retire }
//   =>
//   lister   { acquire; while { list, post; advance } do { acquire; the next number } retire }
//   producer { while { await; read } do { copies; release; advance } release; advance }
//
// The producer then is told of items as the consumers are, by the same words, and a slot is free when it has given it back too. The next number is drawn when
// there is a slot for it: drawn earlier, a long item would wait behind another one while other blocks run dry.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilewright/ir/Device.h"
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_LISTAHEAD
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

bool draws(Operation &op) {
  return op.walk([](device::DrawOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

scf::WhileOp drawingLoop(Block &role) {
  for (auto items : role.getOps<scf::WhileOp>())
    if (!items.getBeforeBody()->getOps<device::ListTilesOp>().empty())
      return items;
  return {};
}

/// Leaves a role's loop the drawing, behind the wait for a slot: what does nothing for the next number, and the cursors of what is no longer copied, go.
void leaveDrawing(Block &role, scf::WhileOp items) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*items.getAfterBody())))
    if (op.use_empty() && !draws(op) && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
  for (auto cursor : llvm::make_early_inc_range(role.getOps<device::CursorOp>()))
    if (cursor.use_empty())
      cursor.erase();
  device::AcquireOp acquire = *items.getBeforeBody()->getOps<device::AcquireOp>().begin();
  OpBuilder(items).clone(*acquire);
  acquire->moveBefore(&items.getAfterBody()->front());
}

/// What a value of the drawing comes to for somebody who is told the words of a post.
class Told {
public:
  Told(scf::WhileOp items, device::PostOp post) : items(items), post(post) {}

  /// Is the value among the words, the same for all items, or computed from such values alone?
  bool knows(Value value) {
    if (isFromOutside(value) || llvm::is_contained(post.getValues(), value))
      return true;
    Operation *op = value.getDefiningOp();
    return op && op->getNumRegions() == 0 && isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return knows(operand); });
  }

  Value make(OpBuilder &b, Value value, ValueRange words, IRMapping &made) {
    if (isFromOutside(value))
      return value;
    if (Value there = made.lookupOrNull(value))
      return there;
    auto word = llvm::find(post.getValues(), value);
    if (word != post.getValues().end())
      return words[std::size_t(word - post.getValues().begin())];
    for (Value operand : value.getDefiningOp()->getOperands())
      if (!isFromOutside(operand))
        made.map(operand, make(b, operand, words, made));
    b.clone(*value.getDefiningOp(), made);
    return made.lookup(value);
  }

private:
  scf::WhileOp items;
  device::PostOp post;

  bool isFromOutside(Value value) const { return !items->isAncestor(value.getParentBlock()->getParentOp()); }
};

class Apart {
public:
  Apart(device::ProducerOp producer, scf::WhileOp items)
      : producer(producer), items(items), post(*items.getBeforeBody()->getOps<device::PostOp>().begin()), told(items, post) {}

  /// Is the producer told all that its copies need?
  bool isPossible() {
    if (!told.knows(items.getConditionOp().getCondition()))
      return false;
    for (auto [argument, passed] : llvm::zip_equal(items.getAfterArguments(), items.getConditionOp().getArgs()))
      for (Operation *user : argument.getUsers())
        if (!told.knows(passed) && isOfCopies(*items.getAfterBody()->findAncestorOpInBlock(*user)))
          return false;
    return true;
  }

  void run() {
    OpBuilder b(producer->getContext());
    b.setInsertionPointAfter(producer);
    auto lister = device::ListerOp::create(b, producer.getLoc());
    IRMapping mapping;
    producer.getBody().cloneInto(&lister.getBody(), mapping);
    Block &role = lister.getBody().front();
    leaveDrawing(role, drawingLoop(role));
    follow();
  }

private:
  device::ProducerOp producer;
  scf::WhileOp items;
  device::PostOp post;
  Told told;

  static bool isOfCopies(Operation &op) { return !draws(op) && !op.hasTrait<OpTrait::IsTerminator>(); }

  void follow() {
    Location loc = items.getLoc();
    auto drawing = post.getCursor().getDefiningOp<device::CursorOp>();
    auto barriers = drawing.getBarriers().getDefiningOp<device::BarriersOp>();
    barriers.setReleases(barriers.getReleases() + 1);
    OpBuilder b(items);
    Value place = device::CursorOp::create(b, loc, drawing.getType(), drawing.getNameAttr(), barriers, b.getI64IntegerAttr(0), UnitAttr());
    SmallVector<Type> words(post.getValues().size(), b.getI32Type());
    auto whole = scf::WhileOp::create(b, loc, words, ValueRange{});
    auto giveBack = [&] {
      device::ReleaseOp::create(b, loc, place, Value());
      device::AdvanceOp::create(b, loc, place);
    };
    b.createBlock(&whole.getBefore());
    device::AwaitOp::create(b, loc, place);
    ValueRange read = device::ReadPostOp::create(b, loc, words, post.getMailbox(), place).getWords();
    IRMapping before;
    Value more = told.make(b, items.getConditionOp().getCondition(), read, before);
    scf::ConditionOp::create(b, loc, more, read);

    Block *body = b.createBlock(&whole.getAfter(), {}, words, SmallVector<Location>(words.size(), loc));
    Block *copies = items.getAfterBody();
    copies->getTerminator()->erase();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*copies)))
      if (draws(op))
        op.erase();
    IRMapping inside;
    for (auto [argument, passed] : llvm::zip_equal(items.getAfterArguments(), items.getConditionOp().getArgs()))
      if (!argument.use_empty())
        argument.replaceAllUsesWith(told.make(b, passed, body->getArguments(), inside));
    body->getOperations().splice(body->end(), copies->getOperations());
    b.setInsertionPointToEnd(body);
    giveBack();
    scf::YieldOp::create(b, loc);
    b.setInsertionPointAfter(whole);
    giveBack();
    items.erase();
    drawing.erase();
    for (auto retire : llvm::make_early_inc_range(producer.getBody().getOps<device::RetireOp>()))
      retire.erase();
  }
};

struct ListAhead : impl::ListAheadBase<ListAhead> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>()) {
      device::ProducerOp producer = device::isHopper(kernel) ? device::producerOf(kernel) : device::ProducerOp();
      scf::WhileOp items = producer ? drawingLoop(producer.getBody().front()) : scf::WhileOp();
      if (!items)
        continue;
      if (Apart apart(producer, items); apart.isPossible())
        apart.run();
    }
  }
};

}   // namespace
}   // namespace tw
