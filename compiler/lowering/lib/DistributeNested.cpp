// device-distribute-tiles: a fold inside a step, whose dots add up chunk by chunk in one fragment.
//
//   await; z = x . w; release          the first chunk, which starts the sum
//   for the other chunks
//     await; z += x . w; release
#include "Distribution.h"
#include "NestedFolds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
namespace tw::distribution {

LogicalResult Distributor::writeNested(scf::ForOp loop) {
  Location loc = loop.getLoc();
  struct Product {
    Value sum, left, leftCursor, right, rightCursor;
    int64_t depth;
    bool transposed;
  };
  SmallVector<Product> products;
  SmallVector<Value> sums;
  for (auto [result, argument, yielded] : llvm::zip(loop.getResults(), loop.getRegionIterArgs(), loop.getYieldedValues())) {
    auto add = yielded.getDefiningOp<arith::AddFOp>();
    auto dot = add && add.getLhs() == argument ? add.getRhs().getDefiningOp<tile::DotOp>() : tile::DotOp();
    if (!dot)
      return loop.emitError() << "carries something else than the sum of a dot from chunk to chunk";
    auto operands = operandsOf(dot);
    if (failed(operands))
      return failure();
    if (!operands->leftTile)
      return dot.emitError() << "multiplies a computed operand along axis \"" << dot.getAxis()
                             << "\", which the schedule walks in chunks; on a GPU both operands of such a dot are loaded from tensors";
    auto here = [&](Value value) { return scalars.lookupOrDefault(value); };
    sums.push_back(fragmentFor(result));
    products.push_back({sums.back(), here(operands->leftTile.getRing()), here(operands->leftTile.getCursor()), here(operands->rightTile.getRing()),
                        here(operands->rightTile.getCursor()), operands->depth(), operands->transposed});
  }
  const StringRef axis = nestedAxis(loop);
  auto forCursors = [&](auto act) {
    for (const CursorUse &use : cursorUses)
      if (use.nested == axis)
        act(scalars.lookupOrDefault(use.cursor));
  };
  auto chunk = [&](bool accumulate) {
    forCursors([&](Value cursor) { device::AwaitOp::create(b, loc, cursor); });
    device::FenceOp::create(b, loc, sums);
    for (const Product &product : products)
      device::MultiplyOp::create(b, loc, product.sum, product.left, product.leftCursor, product.right, product.rightCursor,
                                 b.getI64IntegerAttr(product.depth), product.transposed ? b.getUnitAttr() : UnitAttr(),
                                 accumulate ? b.getUnitAttr() : UnitAttr(), UnitAttr());
    device::CommitOp::create(b, loc);
    device::WaitOp::create(b, loc, b.getI64IntegerAttr(0), sums);
    forCursors([&](Value cursor) {
      device::ReleaseOp::create(b, loc, cursor, Value());
      device::AdvanceOp::create(b, loc, cursor);
    });
  };
  chunk(false);
  auto bound = [&](Value value) { return scalars.lookupOrDefault(value); };
  Value second = arith::AddIOp::create(b, loc, bound(loop.getLowerBound()), bound(loop.getStep()));
  auto rest = scf::ForOp::create(b, loc, second, bound(loop.getUpperBound()), bound(loop.getStep()));
  rest->setAttr(nestedAxisAttr, loop->getAttr(nestedAxisAttr));
  rest.getInductionVar().setLoc(loop.getInductionVar().getLoc());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rest.getBody());
    chunk(true);
  }
  return success();
}

}   // namespace tw::distribution
