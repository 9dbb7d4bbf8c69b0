#include "tilewright/transforms/Passes.h"
namespace tw {
#define GEN_PASS_DEF_FORMMASKS
#include "tilewright/transforms/Passes.h.inc"
namespace {
struct FormMasks : impl::FormMasksBase<FormMasks> {
  void runOnOperation() override {}
};
} // namespace
} // namespace tw
