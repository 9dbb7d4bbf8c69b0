// device-draw-items: what looks for NaN and infinities in an item, and what tells that an item must be done again, with care.
#include "Looks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilewright/ir/Tile.h"

namespace tw {
using namespace mlir;
namespace {

/// Whether a NaN that reaches an accumulator is still there at the end of the fold, and nothing else was computed from it before: dots add to it, rows
/// scale it. What hides a NaN (a comparison), starts anew or reads it for something else would not tell.
bool keepsSpoiled(Operation *fold, Value accumulator) {
  auto propagates = [&](device::EachElementOp loop) {
    return !loop.walk([&](Operation *op) {
                  auto set = dyn_cast<device::SetOp>(op);
                  bool known = set ? set.getRegisters() == accumulator : isa<device::EachElementOp, device::GetOp, arith::MulFOp, arith::AddFOp, arith::SubFOp, arith::NegFOp, math::FmaOp>(op);
                  return known ? WalkResult::advance() : WalkResult::interrupt();
                }).wasInterrupted();
  };
  return llvm::all_of(accumulator.getUsers(), [&](Operation *user) {
    if (!fold->isProperAncestor(user) || isa<device::IsolateOp, device::FenceOp, device::WaitOp>(user))
      return true;
    if (auto dot = dyn_cast<device::MultiplyOp>(user))
      return dot.getAccumulator() == accumulator && dot.getAccumulate();
    auto loop = user->getParentOfType<device::EachElementOp>();
    return loop && isa<device::GetOp, device::SetOp>(user) && propagates(loop);
  });
}

/// Does the operation stand in the careful one of two ways?
bool isCareful(Operation *op) {
  for (; Operation *parent = op->getParentOp(); op = parent)
    if (auto ways = dyn_cast<scf::IfOp>(parent); ways && ways->hasAttr(tile::carefulAttrName))
      return op->getParentRegion() == &ways.getThenRegion();
  return false;
}

/// The outermost operation of the fold that `op` is part of.
Operation *foldOf(Operation *op) {
  Operation *fold = op;
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (parent->hasAttr("tile.fold"))
      fold = parent;
  return fold;
}

} // namespace

std::optional<Looks> Looks::of(scf::ForOp items) {
  Looks looks;
  bool tell = true;
  items.walk([&](Operation *op) {
    if (auto scan = dyn_cast<device::ScanOp>(op); scan && llvm::all_of(scan->getUsers(), [](Operation *user) { return isa<device::IsolateOp>(user); }))
      looks.scans.push_back(scan);
    auto isolate = dyn_cast<device::IsolateOp>(op);
    if (!isolate)
      return;
    looks.isolates.push_back(isolate);
    if (isCareful(isolate))
      return;
    // In an item of several passes each one starts its accumulators anew.
    tell &= foldOf(isolate) != isolate && !foldOf(isolate)->getParentOfType<scf::ForOp>()->hasAttr("tile.pass") && keepsSpoiled(foldOf(isolate), isolate.getAccumulator());
    std::pair<Operation *, Value> told(items.getBody()->findAncestorOpInBlock(*isolate), isolate.getAccumulator());
    if (!llvm::is_contained(looks.accumulators, told))
      looks.accumulators.push_back(told);
  });
  return tell && !looks.accumulators.empty() ? std::optional(looks) : std::nullopt;
}

void Looks::spare() {
  for (device::IsolateOp isolate : isolates)
    if (!isCareful(isolate))
      isolate.erase();
  for (device::ScanOp scan : scans)
    if (scan.use_empty())
      scan.erase();
}

bool hasWays(Operation *items) {
  return items->walk([](tile::CarefulOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

void settle(Operation *items, Value careful) {
  items->walk([&](tile::CarefulOp op) {
    op.replaceAllUsesWith(careful);
    op.erase();
  });
}

} // namespace tw
