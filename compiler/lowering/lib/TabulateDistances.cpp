// A warp makes what its elements ask of the distance between row and column once for each distance, and keeps it in shared memory for them.
#include "Distances.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "tilewright/lowering/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tw {
#define GEN_PASS_DEF_TABULATEDISTANCES
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

/// Of an operation, in additions of f32 that take as long; a read of a table and what it is shared by take two.
int64_t costOf(Operation *op) {
  return TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::ConstantOp>([](auto) { return 0; })
      .Case<device::LoadOp>([](auto) { return 8; })                     // its lanes ask for several lines
      .Case<arith::SIToFPOp, arith::FPToSIOp>([](auto) { return 4; })   // at the rate of the special functions
      .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::RemSIOp, arith::DivFOp>([](auto) { return 4; })
      .Case<math::ExpOp, math::Exp2Op, math::SqrtOp, math::RsqrtOp>([](auto) { return 4; })
      .Default([](Operation *other) {
        return isa<math::MathDialect>(other->getDialect()) && !isa<math::FmaOp>(other) ? 8 : other->getResult(0).getType().isInteger(64) ? 2 : 1;
      });
}
constexpr int64_t leastCost = 7;   // with two for the read it pays even where half of a table is never read

/// What a root is made of inside the loop, and by nothing else there.
struct Root {
  device::EachElementOp loop;
  Operation *op;
};

struct TabulateDistances : impl::TabulateDistancesBase<TabulateDistances> {
  using TabulateDistancesBase::TabulateDistancesBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>())
      tabulate(kernel, device::consumersOf(kernel));
  }

  void tabulate(device::KernelOp kernel, device::ConsumersOp consumers) {
    lowering::Distances distances(consumers);
    std::vector<std::vector<Root>> loops;
    int64_t widest = 0;
    size_t tables = 0;
    consumers.walk([&](device::EachElementOp loop) {
      if (loop->getParentOfType<device::EachRowOp>())
        return;
      std::vector<Root> roots = rootsOf(loop, distances);
      if (roots.empty())
        return;
      widest = std::max(widest, int64_t(loop.getWidth()));
      tables = std::max(tables, roots.size());
      loops.push_back(std::move(roots));
    });
    if (loops.empty())
      return;
    constexpr int64_t warpsOfWarpgroup = 4;
    auto type = device::RingType::get(&getContext(), warpsOfWarpgroup * int64_t(consumers.getWarpgroups()),
                                      {int64_t(consumers.getRows()) + widest - 1}, IntegerType::get(&getContext(), 32));
    const int64_t left = room(kernel);
    if (const int64_t wanted = int64_t(tables) * type.getSlots() * type.slotBytes(); wanted > left) {
      loops.front().front().op->emitRemark()
          << "is computed for every element, though it depends on the distance between row and column alone: a table of the distances takes "
          << wanted << " bytes of shared memory, and " << std::max<int64_t>(left, 0) << " are left";
      return;
    }
    OpBuilder top = OpBuilder::atBlockBegin(&kernel.getBody().front());
    SmallVector<Value> rings;
    for (size_t n = 0; n < tables; ++n)
      rings.push_back(
          device::RingOp::create(top, kernel.getLoc(), type, n ? "distances" + std::to_string(n + 1) : std::string("distances"), IntegerAttr()));
    for (const std::vector<Root> &roots : loops) {
      for (size_t n = roots.size(); n-- > 0;)   // what a root is made of may be one that stands before it
        write(roots[n], rings[n], distances);
      sweep(roots.front().loop);
    }
  }

  /// Bytes of shared memory that the kernel's rings leave.
  int64_t room(device::KernelOp kernel) {
    if (!limit)
      return std::numeric_limits<int64_t>::max();
    constexpr int64_t besides = 4096;   // what alignment, barriers and mailboxes cost at most
    int64_t left = limit - besides;
    for (auto ring : kernel.getBody().getOps<device::RingOp>())
      left -= ring.getType().getSlots() * ring.getType().slotBytes();
    return left;
  }

  /// Results in the loop that depend on the distance alone, that something reads which depends on more, and that are worth a table.
  static std::vector<Root> rootsOf(device::EachElementOp loop, lowering::Distances &distances) {
    std::vector<Root> roots;
    for (Operation &op : loop.getBody().front()) {
      if (op.getNumResults() != 1 || !distances.isOfDistance(op.getResult(0), loop))
        continue;
      const Type type = op.getResult(0).getType();
      const bool isRead = llvm::any_of(
          op.getUsers(), [&](Operation *user) { return user->getNumResults() != 1 || !distances.isOfDistance(user->getResult(0), loop); });
      llvm::DenseSet<Operation *> counted;
      if ((type.isF32() || type.isInteger(1) || type.isInteger(32)) && isRead && cost(&op, loop, distances, counted) >= leastCost)
        roots.push_back({loop, &op});
    }
    return roots;
  }

  static int64_t cost(Operation *op, device::EachElementOp loop, lowering::Distances &distances, llvm::DenseSet<Operation *> &counted) {
    if (!op || op->getParentOp() != loop.getOperation() || !distances.isOfDistance(op->getResult(0), loop) || !counted.insert(op).second)
      return 0;
    int64_t sum = costOf(op);
    for (Value operand : op->getOperands())
      sum += cost(operand.getDefiningOp(), loop, distances, counted);
    return sum;
  }

  static void write(Root root, Value ring, lowering::Distances &distances) {
    OpBuilder b(root.loop);
    Location loc = root.op->getLoc();
    auto table = device::TabulateOp::create(b, loc, ring, root.loop.getWidth());
    Block *body = b.createBlock(&table.getBody(), {}, b.getI32Type(), loc);
    IRMapping made;
    Value value = distances.at(root.op->getResult(0), body->getArgument(0), root.loop, b, made);
    device::YieldOp::create(b, loc, value);
    b.setInsertionPoint(root.op);
    root.op->getResult(0).replaceAllUsesWith(device::LookUpOp::create(b, loc, value.getType(), ring));
  }

  /// Erases what nothing reads any more.
  static void sweep(device::EachElementOp loop) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(loop.getBody().front())))
      if (op.use_empty() && op.getNumResults() == 1 &&
          (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
           isa<device::LoadOp, device::GetOp, device::RowOp, device::RowOffsetOp, device::ColumnOp, device::ColumnOffsetOp>(op)))
        op.erase();
  }
};

} // namespace
} // namespace tw
