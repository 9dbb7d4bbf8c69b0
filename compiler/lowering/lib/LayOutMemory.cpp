// Places in shared memory: tiles first (1024 bytes, for the swizzle), then vectors (128), barriers (8) and mailboxes (16).
#include "mlir/IR/Builders.h"
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_LAYOUTMEMORY
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

struct LayOutMemory : impl::LayOutMemoryBase<LayOutMemory> {
  using LayOutMemoryBase::LayOutMemoryBase;
  static constexpr int64_t tileAlignment = 1024, vectorAlignment = 128, barrierBytes = 8, mailboxAlignment = 16;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>())
      if (failed(layOut(kernel)))
        return signalPassFailure();
  }

  LogicalResult layOut(device::KernelOp kernel) {
    Builder b(&getContext());
    int64_t at = 0;
    auto place = [&](auto op, int64_t bytes, int64_t alignment) {
      at = (at + alignment - 1) / alignment * alignment;
      op.setOffsetAttr(b.getI64IntegerAttr(at));
      at += bytes;
    };
    for (bool vectors : {false, true})
      for (auto ring : kernel.getBody().getOps<device::RingOp>())
        if (ring.getType().isVector() == vectors)
          place(ring, ring.getType().getSlots() * ring.getType().slotBytes(), vectors && ring.getType().slotBytes() % tileAlignment ? vectorAlignment : tileAlignment);   // an outbox is permuted as tiles are
    for (auto barriers : kernel.getBody().getOps<device::BarriersOp>())
      place(barriers, 2 * barriers.getType().getSlots() * barrierBytes, barrierBytes);
    for (auto mailbox : kernel.getBody().getOps<device::MailboxOp>())
      place(mailbox, device::bytesOf(mailbox), mailboxAlignment);
    const int64_t slack = tileAlignment;   // the memory that a block gets need not start at a multiple of it
    if (limit && at + slack > limit)
      return kernel.emitError() << "needs " << at + slack << " bytes of shared memory, a block has " << int64_t(limit) << "; make the schedule's tiles smaller or its stages fewer";
    kernel.setSharedBytesAttr(b.getI64IntegerAttr(at));
    return success();
  }
};

} // namespace
} // namespace tw
