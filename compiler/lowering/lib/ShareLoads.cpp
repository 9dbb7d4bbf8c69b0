// What a run of a row's elements reads from one place, or looks for in one list, is loaded once for each row, before the loop over elements.
//
//   each_element 128 {                                       each_row { set load blocks[r, k0 / 64] in found }
//     x = load blocks[r, k0 / 64 + (o + c) / 64]       =>    each_row { set load blocks[r, k0 / 64 + 1] in found2 }
//     …                                                      each_element 128 { x = c < 64 ? get found : get found2; … }
//   }
//
// A thread's columns are o + c, where o is 0 to 7 and c one of 0, 1, 8, 9, …: (o + c) / n = c / n for multiples n of 8.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/ir/Device.h"
#include "tilewright/lowering/Passes.h"
#include <numeric>

namespace tw {
#define GEN_PASS_DEF_SHARELOADS
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

constexpr int64_t lanesColumns = 8;   // that the four lanes of a row hold side by side
constexpr int64_t mostRuns = 4;

/// The n of `(column_offset + column) / n`, if each run of n columns is of one value; else 0.
int64_t runOf(Operation *op) {
  APInt divisor;
  auto quotient = dyn_cast<arith::FloorDivSIOp>(op);
  if (!quotient || !matchPattern(quotient.getRhs(), m_ConstantInt(&divisor)) || !divisor.isStrictlyPositive() ||
      divisor.getSExtValue() % lanesColumns)
    return 0;
  auto place = quotient.getLhs().getDefiningOp<arith::AddIOp>();
  if (!place)
    return 0;
  Operation *x = place.getLhs().getDefiningOp(), *y = place.getRhs().getDefiningOp();
  const bool isPlace =
      x && y && ((isa<device::ColumnOffsetOp>(x) && isa<device::ColumnOp>(y)) || (isa<device::ColumnOp>(x) && isa<device::ColumnOffsetOp>(y)));
  return isPlace ? divisor.getSExtValue() : 0;
}

/// What the elements of a loop load by their row and by runs of columns.
class Loop {
public:
  explicit Loop(device::EachElementOp loop) : loop(loop) {}

  void share(Block &registers) {
    for (Operation &op : llvm::make_early_inc_range(loop.getBody().front())) {
      if (!isa<device::LoadOp, device::AmongOp>(op) || op.use_empty())
        continue;
      run = 0;
      if (!isShared(op.getResult(0)))
        continue;
      if (!run && isa<device::AmongOp>(op))   // a search is long, and all columns have one answer
        run = int64_t(loop.getWidth());
      if (run && loop.getWidth() % run == 0 && loop.getWidth() / run <= uint64_t(mostRuns))
        for (Value result : op.getResults())
          if (!result.use_empty())
            replace(result, registers);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(loop.getBody().front())))
      if (op.use_empty() && (isa<device::LoadOp, device::AmongOp>(op) || isMemoryEffectFree(&op)))
        op.erase();
  }

private:
  device::EachElementOp loop;
  int64_t run = 0;   // of columns that share a value; 0: it asks for none

  bool isWritten(Value rows) {
    return llvm::any_of(rows.getUsers(), [&](Operation *user) { return !isa<device::GetOp>(user) && user->getParentOp() == loop.getOperation(); });
  }

  bool isShared(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getParentOp() != loop.getOperation())
      return true;
    if (const int64_t n = runOf(op)) {
      run = std::gcd(run, n);
      return true;
    }
    if (auto get = dyn_cast<device::GetOp>(op))
      return isa<device::RowsType>(get.getRegisters().getType()) && !isWritten(get.getRegisters());
    if (isa<device::RowOp, device::RowOffsetOp>(op))
      return true;
    return (isa<device::LoadOp, device::AmongOp>(op) || isa<arith::ArithDialect>(op->getDialect())) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isShared(operand); });
  }

  /// The value in the run of columns that begins at `first`, built where `b` stands.
  Value at(Value value, int64_t first, OpBuilder &b, IRMapping &made) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getParentOp() != loop.getOperation())
      return value;
    if (Value known = made.lookupOrNull(value))
      return known;
    if (const int64_t n = runOf(op)) {
      made.map(value, arith::ConstantOp::create(b, op->getLoc(), b.getI32IntegerAttr(int32_t(first / n))));
    } else {
      for (Value operand : op->getOperands())
        if (!made.contains(operand))
          made.map(operand, at(operand, first, b, made));
      b.clone(*op, made);
    }
    return made.lookup(value);
  }

  void replace(Value loaded, Block &registers) {
    Location loc = loaded.getLoc();
    Type type = loaded.getType();
    SmallVector<Value> found;
    for (int64_t first = 0; first < int64_t(loop.getWidth()); first += run) {
      OpBuilder b = OpBuilder::atBlockBegin(&registers);
      found.push_back(device::RegistersOp::create(b, loc, device::RowsType::get(b.getContext(), type), "found"));
      b.setInsertionPoint(loop);
      auto rows = device::EachRowOp::create(b, loc);
      b.createBlock(&rows.getBody());
      IRMapping made;
      Value value = at(loaded, first, b, made);
      device::SetOp::create(b, loc, value, found.back());
    }
    OpBuilder b(loaded.getDefiningOp());
    Value chosen = device::GetOp::create(b, loc, type, found.back());
    for (size_t i = found.size() - 1; i-- > 0;) {
      Value end = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t((int64_t(i) + 1) * run)));
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, device::ColumnOp::create(b, loc, b.getI32Type()), end);
      chosen = arith::SelectOp::create(b, loc, inside, device::GetOp::create(b, loc, type, found[i]), chosen);
    }
    loaded.replaceAllUsesWith(chosen);
  }
};

struct ShareLoads : impl::ShareLoadsBase<ShareLoads> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>()) {
      device::ConsumersOp consumers = device::consumersOf(kernel);
      SmallVector<device::EachElementOp> loops;
      consumers.walk([&](device::EachElementOp loop) {
        if (!loop->getParentOfType<device::EachRowOp>())
          loops.push_back(loop);
      });
      for (device::EachElementOp loop : loops)
        Loop(loop).share(consumers.getBody().front());
    }
  }
};

}   // namespace
}   // namespace tw
