// Marks consumers that declare more registers than they have.
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_COUNTREGISTERS
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

struct CountRegisters : impl::CountRegistersBase<CountRegisters> {
  void runOnOperation() override {
    getOperation().walk([](device::ConsumersOp role) {
      constexpr int64_t columnsOfWord = 4, columnsOfFloat = 2;   // of a warp's 16 rows: a lane holds two, of every fourth pair of columns
      int64_t declared = 0;
      for (auto op : role.getBody().front().getOps<device::RegistersOp>()) {
        Type type = op.getResult().getType();
        if (auto fragment = dyn_cast<device::FragmentType>(type))
          declared += int64_t(fragment.getWidth()) / columnsOfFloat;
        else if (auto operand = dyn_cast<device::OperandType>(type))
          declared += int64_t(operand.getWidth()) / columnsOfWord;
      }
      if (role.getRegisters() && declared > int64_t(role.getRegisters()))
        role->setAttr(device::crowdedAttrName, UnitAttr::get(role.getContext()));
    });
  }
};

} // namespace
} // namespace tw
