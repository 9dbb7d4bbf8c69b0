// Warpgroups issue the dots of a step one after the other: while one waits and works on elements, another multiplies.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_TAKETURNS
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

struct TakeTurns : impl::TakeTurnsBase<TakeTurns> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>())
      take(device::consumersOf(kernel));
  }

  void take(device::ConsumersOp consumers) {
    if (consumers.getWarpgroups() < 2)
      return;
    bool any = false;
    consumers.walk([&](scf::ForOp loop) {
      if (!loop->hasAttr("tile.fold"))
        return;
      auto fences = loop.getBody()->getOps<device::FenceOp>();
      auto waits = loop.getBody()->getOps<device::WaitOp>();
      if (fences.empty() || waits.empty())
        return;
      OpBuilder before(*fences.begin()), after(*waits.begin());
      device::TurnOp::create(before, loop.getLoc(), UnitAttr(), UnitAttr());
      device::TurnOp::create(after, loop.getLoc(), UnitAttr(), after.getUnitAttr());
      any = true;
    });
    if (!any)
      return;
    OpBuilder start = OpBuilder::atBlockBegin(&consumers.getBody().front());
    device::TurnOp::create(start, consumers.getLoc(), start.getUnitAttr(), UnitAttr());
  }
};

} // namespace
} // namespace tw
