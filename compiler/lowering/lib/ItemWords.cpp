// What an item's number means, as words that the producer works out for everybody.
#include "ItemWords.h"
#include "tilewright/ir/Device.h"
using namespace mlir;

namespace tw {

Decoding decodingOf(Value item, Block &body) {
  llvm::SetVector<Operation *> reached;      // from the item, by arithmetic at the top of the block
  for (Operation &op : body) {
    if (op.getNumRegions() || op.getNumResults() != 1 || !isa<arith::ArithDialect>(op.getDialect()) || !op.getResult(0).getType().isInteger(32))   // as a word holds
      continue;
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return operand == item || reached.contains(operand.getDefiningOp()); }))
      reached.insert(&op);
  }
  DenseSet<Operation *> needed;
  for (Operation *op : llvm::reverse(reached)) {
    if (!isa<arith::DivSIOp>(op) && !needed.contains(op))
      continue;
    needed.insert(op);
    for (Value operand : op->getOperands())
      if (reached.contains(operand.getDefiningOp()))
        needed.insert(operand.getDefiningOp());
  }
  Decoding decoding;
  for (Operation *op : reached) {
    if (!needed.contains(op))
      continue;
    decoding.operations.insert(op);
    if (llvm::any_of(op->getUsers(), [&](Operation *user) { return !needed.contains(user); }))
      decoding.results.push_back(op->getResult(0));
  }
  return decoding;
}

Value sameFrom(Value value, Value otherItem, Value item, Block &block, OpBuilder &builder) {
  if (value == otherItem)
    return item;
  Operation *op = value.getDefiningOp();
  if (isa<device::KernelOp>(op->getParentOp()))
    return value;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, sameFrom(operand, otherItem, item, block, builder));
  for (Operation &there : block)
    if (there.getName() == op->getName() && there.getAttrDictionary() == op->getAttrDictionary() && there.getResultTypes() == op->getResultTypes() &&
        llvm::equal(there.getOperands(), llvm::map_range(op->getOperands(), [&](Value operand) { return mapping.lookup(operand); })))
      return there.getResult(0);
  return builder.clone(*op, mapping)->getResult(0);
}

} // namespace tw
