#include "InFlight.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
namespace tw {

SmallVector<SmallVector<Value>> inFlightBefore(Operation *end) {
  SmallVector<SmallVector<Value>> groups;
  SmallVector<Value> issued;
  for (Operation &op : *end->getBlock()) {
    if (&op == end)
      break;
    if (auto dot = dyn_cast<device::MultiplyOp>(op)) {
      issued.push_back(dot.getAccumulator());
      if (isa<device::OperandType>(dot.getLeft().getType()))
        issued.push_back(dot.getLeft());
    } else if (isa<device::CommitOp>(op)) {
      groups.push_back(std::exchange(issued, {}));
    } else if (auto wait = dyn_cast<device::WaitOp>(op); wait && groups.size() > wait.getPending()) {
      groups.erase(groups.begin(), groups.end() - std::ptrdiff_t(wait.getPending()));
    }
  }
  return groups;
}

SmallVector<Value> freedOf(ArrayRef<SmallVector<Value>> groups, std::size_t pending) {
  DenseSet<Value> kept;
  for (const auto &group : groups.take_back(std::min(pending, groups.size())))
    kept.insert(group.begin(), group.end());
  llvm::SetVector<Value> freed;
  for (const auto &group : groups.drop_back(std::min(pending, groups.size())))
    for (Value registers : group)
      if (!kept.contains(registers))
        freed.insert(registers);
  return freed.takeVector();
}

} // namespace tw
