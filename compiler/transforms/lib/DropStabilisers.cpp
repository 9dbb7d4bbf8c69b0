// tile-drop-stabilisers: lowerings see no promises.
#include "tilewright/transforms/Passes.h"

namespace tw {
#define GEN_PASS_DEF_DROPSTABILISERS
#include "tilewright/transforms/Passes.h.inc"

namespace {
struct DropStabilisers : impl::DropStabilisersBase<DropStabilisers> {
  void runOnOperation() override {
    getOperation().walk([](tile::StabiliserOp op) {
      op.getResult().replaceAllUsesWith(op.getSource());
      op.erase();
    });
  }
};
} // namespace
} // namespace tw
