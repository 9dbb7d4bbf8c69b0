// device-draw-items: the list of an item's tiles.
#include "ItemList.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include <algorithm>
using namespace mlir;

namespace tw {
namespace {

template <class Op> Op only(scf::ForOp items) {
  auto found = items.getBody()->getOps<Op>();
  return found.empty() ? Op() : *found.begin();
}

/// What an operation of a block needs of the operations before it there, in order.
SmallVector<Operation *> needsOf(Operation *op, Block &block) {
  DenseSet<Operation *> needed;
  SmallVector<Operation *> inOrder;
  auto need = [&](Operation *user) {
    user->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *above = operand.getDefiningOp() ? block.findAncestorOpInBlock(*operand.getDefiningOp()) : nullptr; above && above != user)
          needed.insert(above);
    });
  };
  need(op);
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
    if (needed.contains(before)) {
      inOrder.push_back(before);
      need(before);
    }
  std::reverse(inOrder.begin(), inOrder.end());
  return inOrder;
}

} // namespace

ItemList::ItemList(scf::ForOp produced, scf::ForOp consumed) : produced(produced), made(only<device::ListTilesOp>(produced)), count(made ? made->getNumResults() : 0), told(only<device::ListedOp>(consumed)) {}

void ItemList::reserve(std::int64_t slots) {
  if (made)
    made.getLists().getDefiningOp<device::ListsOp>().setSlots(slots);
}

SmallVector<Value> ItemList::make(OpBuilder &b, Value known, Value present, Value cursor) {
  if (!made)
    return {};
  IRMapping mapping;
  mapping.map(produced.getInductionVar(), known);
  for (Operation *op : needsOf(made, *produced.getBody()))
    b.clone(*op, mapping);
  auto own = cast<device::ListTilesOp>(b.clone(*made, mapping));
  OpBuilder before(own);
  own.getEndMutable().assign(arith::SelectOp::create(before, own.getLoc(), present, own.getEnd(), own.getBegin()));
  own.getCursorMutable().assign(cursor);
  return SmallVector<Value>(own->getResults());
}

void ItemList::drop(ValueRange words, const llvm::SetVector<Operation *> &kept) {
  if (!made)
    return;
  made->replaceAllUsesWith(words);
  SmallVector<Operation *> served = needsOf(made, *produced.getBody());
  made.erase();
  made = {};
  for (Operation *op : llvm::reverse(served))
    if (op->use_empty() && !kept.contains(op))
      op->erase();
}

void ItemList::tell(ValueRange words) {
  if (!told)
    return;
  told->replaceAllUsesWith(words);
  told.erase();
}

} // namespace tw
