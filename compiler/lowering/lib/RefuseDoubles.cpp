// What a GPU's kernel does not compute in.
#include "RefuseDoubles.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tilewright/ir/Tile.h"
using namespace mlir;

namespace tw {

LogicalResult refuseDoubles(func::FuncOp function) {
  auto isDouble = [](Type type) { return tile::elementOf(type).isF64(); };
  auto hasLine = [](Operation *op) {
    bool found = false;
    op->getLoc()->walk([&](Location inner) {
      found |= isa<FileLineColLoc>(inner);
      return WalkResult::advance();
    });
    return found;
  };
  Operation *refused = nullptr;      // the first one that the user wrote, if there is one: constants that folding makes have no line
  function.walk([&](Operation *op) {
    const bool isOne = !isa<memref::DimOp>(op) && (llvm::any_of(op->getOperandTypes(), isDouble) || llvm::any_of(op->getResultTypes(), isDouble));
    if (isOne && (!refused || (!hasLine(refused) && hasLine(op))))
      refused = op;
  });
  if (!refused)
    return success();
  return refused->emitError() << "is f64, in which a GPU's kernel does not compute; make tensors, scalars and constants f32 (a number written bare takes the type of what it meets), or run on the CPU "
                                 "(target host)";
}

} // namespace tw
