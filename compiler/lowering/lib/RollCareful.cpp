// In the careful way, which few items take, what an element's place alone decides at length is made in a loop over columns that is not unrolled.
//
//   each_element 128 {                                       for j in 0 … 31 { each_row { c = 8 * (j / 2) + j % 2; set bits | (holds of c) << j in bits } }
//     x = select (holds of c), …                   =>        each_element 128 { x = select bits >> (j of c) & 1, …; … }
//   }
//
// The assembler unrolls loops over elements, since those are registers: 64 times what draws a random number takes it seconds. The usual ways stay as they are.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "tilewright/ir/Device.h"
#include "tilewright/ir/Tile.h"
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_ROLLCAREFUL
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

constexpr size_t leastOperations = 24;   // of a condition; fewer are soon unrolled
constexpr int64_t mostColumns = 128;     // of which a thread has 32: a word of bits

class Loop {
public:
  explicit Loop(device::EachElementOp loop) : loop(loop) {}

  void roll(Block &registers) {
    if (int64_t(loop.getWidth()) > mostColumns)
      return;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(loop.getBody().front()))) {
      if (op.use_empty() && (isa<device::LoadOp>(op) || isMemoryEffectFree(&op))) {   // of what was rolled before
        op.erase();
        continue;
      }
      if (op.getNumResults() != 1 || !op.getResult(0).getType().isInteger(1) || !isOfPlace(op.getResult(0)))
        continue;
      DenseSet<Operation *> counted;
      count(&op, counted);
      if (counted.size() < leastOperations)
        continue;
      replace(op.getResult(0), registers);
      op.erase();
    }
  }

private:
  device::EachElementOp loop;
  DenseMap<Value, bool> known;

  bool isInside(Operation *op) { return op && op->getParentOp() == loop.getOperation(); }

  bool isWritten(Value rows) {
    return llvm::any_of(rows.getUsers(), [&](Operation *user) { return !isa<device::GetOp>(user) && isInside(user); });
  }

  /// Is it made of the row, the column and what is the same for all elements?
  bool isOfPlace(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isInside(op))
      return true;
    if (auto found = known.find(value); found != known.end())
      return found->second;
    bool is = isa<device::RowOp, device::RowOffsetOp, device::ColumnOp, device::ColumnOffsetOp>(op);
    if (auto get = dyn_cast<device::GetOp>(op))
      is = isa<device::RowsType>(get.getRegisters().getType()) && !isWritten(get.getRegisters());
    else if (isa<device::LoadOp>(op) || isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      is = llvm::all_of(op->getOperands(), [&](Value operand) { return isOfPlace(operand); });
    known[value] = is;
    return is;
  }

  void count(Operation *op, DenseSet<Operation *> &counted) {
    if (isInside(op) && counted.insert(op).second)
      for (Value operand : op->getOperands())
        count(operand.getDefiningOp(), counted);
  }

  void copy(Operation *op, OpBuilder &b, IRMapping &made) {
    if (!isInside(op) || made.contains(op->getResult(0)))
      return;
    for (Value operand : op->getOperands())
      copy(operand.getDefiningOp(), b, made);
    b.clone(*op, made);
  }

  void replace(Value holds, Block &registers) {
    Location loc = holds.getLoc();
    OpBuilder b = OpBuilder::atBlockBegin(&registers);
    auto number = [&](int n) -> Value { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(n)); };
    Value bits = device::RegistersOp::create(b, loc, device::RowsType::get(b.getContext(), b.getI32Type()), "bits");
    b.setInsertionPoint(loop);
    device::FillOp::create(b, loc, bits, number(0));
    auto columns = scf::ForOp::create(b, loc, number(0), number(int(loop.getWidth() / 4)), number(1));
    b.setInsertionPointToStart(columns.getBody());
    Value j = columns.getInductionVar();
    Value column = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, arith::ShRUIOp::create(b, loc, j, number(1)), number(8)),
                                         arith::AndIOp::create(b, loc, j, number(1)));
    auto rows = device::EachRowOp::create(b, loc);
    b.createBlock(&rows.getBody());
    IRMapping made;
    for (device::ColumnOp each : loop.getBody().front().getOps<device::ColumnOp>())
      made.map(each.getResult(), column);
    copy(holds.getDefiningOp(), b, made);
    Value bit = arith::SelectOp::create(b, loc, made.lookup(holds), arith::ShLIOp::create(b, loc, number(1), j), number(0));
    device::SetOp::create(b, loc, arith::OrIOp::create(b, loc, device::GetOp::create(b, loc, b.getI32Type(), bits), bit), bits);

    b.setInsertionPointAfter(holds.getDefiningOp());
    Value own = device::ColumnOp::create(b, loc, b.getI32Type());
    Value place = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, arith::ShRUIOp::create(b, loc, own, number(3)), number(2)),
                                        arith::AndIOp::create(b, loc, own, number(1)));
    Value shifted = arith::ShRUIOp::create(b, loc, device::GetOp::create(b, loc, b.getI32Type(), bits), place);
    Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, shifted, number(1)), number(0));
    holds.replaceAllUsesWith(is);
    known.clear();
  }
};

struct RollCareful : impl::RollCarefulBase<RollCareful> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>()) {
      device::ConsumersOp consumers = device::consumersOf(kernel);
      SmallVector<device::EachElementOp> loops;
      consumers.walk([&](scf::IfOp ways) {
        if (ways->hasAttr(tile::carefulAttrName))
          ways.getThenRegion().walk([&](device::EachElementOp loop) {
            if (!loop->getParentOfType<device::EachRowOp>())
              loops.push_back(loop);
          });
      });
      for (device::EachElementOp loop : loops)
        Loop(loop).roll(consumers.getBody().front());
    }
  }
};

}   // namespace
}   // namespace tw
