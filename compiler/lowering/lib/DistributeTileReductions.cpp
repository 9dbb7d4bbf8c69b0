// device-distribute-tiles: reductions of tiles in shared memory along their rows.
//
// Such a tile lacks the block axis: its rows are the columns of fragments. Were each thread to reduce the rows of its own columns, every row would be reduced
// by hundreds of them. So the threads of a warpgroup share the rows out, and meet at a vector in shared memory, from which each reads what it needs.
#include "Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
namespace tw::distribution {
namespace {

/// The tiles that a value is made of, element by element; failure where it is made of anything else that differs from element to element.
LogicalResult leavesOf(Value value, llvm::SetVector<Value> &leaves) {
  if (!isa<RankedTensorType>(value.getType()))
    return success();
  Operation *op = value.getDefiningOp();
  if (isa_and_present<device::TileOp>(op)) {
    leaves.insert(value);
    return success();
  }
  if (isa_and_present<arith::ConstantOp>(op))
    return success();
  if (auto broadcast = dyn_cast_if_present<tile::BroadcastOp>(op))
    return success(!isa<RankedTensorType>(broadcast.getSource().getType()));
  if (!op || !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return failure();
  return success(llvm::all_of(op->getOperands(), [&](Value operand) { return succeeded(leavesOf(operand, leaves)); }));
}

}   // namespace

LogicalResult Distributor::writeTileReductions(const Event &event) {
  const int64_t warpgroups = int64_t(before.getWarpgroups());
  for (auto [n, op] : llvm::enumerate(event.ops)) {
    auto reduce = cast<tile::ReduceOp>(op);
    Location loc = reduce.getLoc();
    llvm::SetVector<Value> leaves;
    const bool isPlain =
        succeeded(leavesOf(reduce.getSource(), leaves)) && leaves.size() == 1 && tile::elementOf(reduce.getResult().getType()).isF32();
    auto tile = isPlain ? leaves.front().getDefiningOp<device::TileOp>() : device::TileOp();
    if (!tile || tile.getColumns() != reduce.getAxis())
      return reduce.emitError() << "reduces " << reduce.getSource().getType() << " over \"" << reduce.getAxis()
                                << "\"; on a GPU a tile without the block axis \"" << kernel.getBlock()
                                << "\" is reduced along the last dimension of its tensor, in f32, and made of that tensor, scalars and constants "
                                   "alone: compute it so, or run on the CPU (target host)";
    auto shape = cast<RankedTensorType>(tile.getType()).getShape();
    auto axes = tile::axesOf(tile.getResult());
    const int64_t columns = shape[axes[1].getValue() == reduce.getAxis() ? 1 : 0];
    auto type = device::RingType::get(b.getContext(), warpgroups, {cast<device::RingType>(tile.getRing().getType()).rows()}, b.getF32Type());
    // Steps of one fold share a vector, as its reductions come in the same order in each.
    while (vectorPool.size() <= n || vectorPool[n].getType() != type) {
      if (vectorPool.size() > n)
        return reduce.emitError() << "reduces a tile of other rows than the steps before it do; give all tiles of the fold one width";
      OpBuilder top = OpBuilder::atBlockBegin(&kernel.getBody().front());
      vectorPool.push_back(
          device::RingOp::create(top, loc, type, tile.getRing().getDefiningOp<device::RingOp>().getName().str() + "_reduced", IntegerAttr()));
    }
    auto made = device::ReduceTileOp::create(b, loc, device::Combine(reduce.getKind()), scalars.lookupOrDefault(tile.getRing()),
                                             scalars.lookupOrDefault(tile.getCursor()), uint64_t(columns), vectorPool[n]);
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&made.getBody(), {}, b.getF32Type(), loc);
    local.clear();
    local[tile.getResult()] = body->getArgument(0);
    auto element = resolve(reduce.getSource());
    if (failed(element))
      return failure();
    device::YieldOp::create(b, loc, *element);
    local.clear();
    vectors[reduce.getResult()] = vectorPool[n];
  }
  return success();
}

}   // namespace tw::distribution
