// The declarations of a device kernel.
#include "Parameters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
namespace tw {

template <class Op, class Same, class Make> Value Parameters::get(Same isSame, Make make) {
  for (Op op : kernel.getBody().getOps<Op>())
    if (isSame(op))
      return op->getResult(0);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Op made = make(builder, kernel.getLoc());
  sort();
  return made->getResult(0);
}

Value Parameters::extent(StringRef axis) {
  return get<device::ExtentOp>([&](auto op) { return op.getAxis() == axis; },
                               [&](OpBuilder &b, Location loc) { return device::ExtentOp::create(b, loc, b.getI32Type(), b.getStringAttr(axis)); });
}

Value Parameters::length(StringRef tensor, int64_t dimension) {
  return get<device::DimensionOp>([&](auto op) { return op.getTensor() == tensor && int64_t(op.getDimension()) == dimension; },
                                  [&](OpBuilder &b, Location loc) {
                                    return device::DimensionOp::create(b, loc, b.getI32Type(), b.getStringAttr(tensor), b.getI64IntegerAttr(dimension));
                                  });
}

Value Parameters::stride(StringRef tensor, int64_t dimension) {
  return get<device::StrideOp>([&](auto op) { return op.getTensor() == tensor && int64_t(op.getDimension()) == dimension; },
                               [&](OpBuilder &b, Location loc) {
                                 return device::StrideOp::create(b, loc, b.getI64Type(), b.getStringAttr(tensor), b.getI64IntegerAttr(dimension));
                               });
}

Value Parameters::pointer(StringRef tensor, Type element) {
  return get<device::TensorOp>([&](auto op) { return op.getTensor() == tensor; },
                               [&](OpBuilder &b, Location loc) {
                                 return device::TensorOp::create(b, loc, device::PointerType::get(b.getContext(), element), b.getStringAttr(tensor));
                               });
}

Value Parameters::scalar(StringRef name, Type type) {
  return get<device::ScalarOp>([&](auto op) { return op.getName() == name; },
                               [&](OpBuilder &b, Location loc) { return device::ScalarOp::create(b, loc, type, b.getStringAttr(name)); });
}

Value Parameters::count(device::Count what) {
  return get<device::CountOp>([&](auto op) { return op.getWhat() == what; },
                              [&](OpBuilder &b, Location loc) { return device::CountOp::create(b, loc, b.getI32Type(), what); });
}

Value Parameters::counters(int64_t number) {
  return get<device::CountersOp>([&](auto op) { return int64_t(op.getNumber()) == number; },
                                 [&](OpBuilder &b, Location loc) {
                                   return device::CountersOp::create(b, loc, device::PointerType::get(b.getContext(), b.getI32Type()), b.getI64IntegerAttr(number));
                                 });
}

Value Parameters::lists(StringRef axis, int64_t width) {
  return get<device::ListsOp>([&](auto op) { return op.getAxis() == axis && int64_t(op.getWidth()) == width; },
                              [&](OpBuilder &b, Location loc) {
                                return device::ListsOp::create(b, loc, device::PointerType::get(b.getContext(), b.getI32Type()), b.getStringAttr(axis), b.getI64IntegerAttr(width), IntegerAttr());
                              });
}

namespace {
int rankOf(Operation &op) {
  if (isa<device::TensorMapOp>(op))
    return 0;
  if (isa<device::TensorOp, device::CountersOp, device::ListsOp>(op))
    return 1;
  if (isa<device::StrideOp>(op))
    return 2;
  if (isa<device::ExtentOp, device::DimensionOp, device::ScalarOp, device::CountOp>(op))
    return 3;
  return isa<device::RingOp, device::BarriersOp, device::MailboxOp>(op) ? 4 : 5;
}
} // namespace

namespace {
Value wide(OpBuilder &b, Location loc, Value integer) {
  return integer.getType().isInteger(64) ? integer : arith::ExtSIOp::create(b, loc, b.getI64Type(), integer).getResult();
}
} // namespace

std::pair<Value, Value> Parameters::place(OpBuilder &b, Location loc, StringRef tensor, ArrayRef<Value> indices) {
  Value offset = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)), inside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (auto [m, index] : llvm::enumerate(indices)) {
    offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, wide(b, loc, index), stride(tensor, int64_t(m))));
    Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(index.getType(), 0)), end = length(tensor, int64_t(m));
    Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index, zero);
    Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, index.getType().isInteger(64) ? wide(b, loc, end) : end);
    inside = arith::AndIOp::create(b, loc, inside, arith::AndIOp::create(b, loc, low, high));
  }
  return {offset, inside};
}

Value Parameters::load(OpBuilder &b, Location loc, StringRef tensor, Type element, ArrayRef<Value> indices, Type loaded) {
  auto [offset, inside] = place(b, loc, tensor, indices);
  Value address = pointer(tensor, element);
  return device::LoadOp::create(b, loc, loaded, address, offset, inside);
}

device::AmongOp Parameters::search(OpBuilder &b, Location loc, StringRef tensor, Type element, ArrayRef<Value> list, Value low, Value high, Value few, Value many) {
  auto [offset, inside] = place(b, loc, tensor, list);
  const auto last = int64_t(list.size());
  Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)), end = arith::SelectOp::create(b, loc, inside, wide(b, loc, length(tensor, last)), zero);
  Value some = arith::MinSIOp::create(b, loc, many, end), all = few == many ? some : arith::MinSIOp::create(b, loc, few, end).getResult();
  return device::AmongOp::create(b, loc, b.getI1Type(), b.getI1Type(), pointer(tensor, element), offset, stride(tensor, last), all, some, low, high);
}

Value Parameters::isAmong(OpBuilder &b, Location loc, StringRef tensor, Type element, ArrayRef<Value> indices) {
  Value sought = wide(b, loc, indices.drop_back().back()), count = wide(b, loc, indices.back());
  return search(b, loc, tensor, element, indices.drop_back(2), sought, sought, count, count).getSome();
}

void Parameters::sort() {
  SmallVector<Operation *> declarations;
  for (Operation &op : kernel.getBody().front())
    if (rankOf(op) < 5)
      declarations.push_back(&op);
  llvm::stable_sort(declarations, [](Operation *a, Operation *b) { return rankOf(*a) < rankOf(*b); });
  Block *body = &kernel.getBody().front();
  for (Operation *op : llvm::reverse(declarations))
    op->moveBefore(body, body->begin());
}

} // namespace tw
