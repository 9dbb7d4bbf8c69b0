// Interprets scalar code of a tile module, by the folders of its operations.
#include "Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace mlir;

namespace tw {

Interpreter::Interpreter(func::FuncOp kernel, const Evaluation &inputs, const std::map<std::string, std::int64_t> &item)
    : kernel(kernel), inputs(inputs), builder(kernel.getContext()) {
  for (BlockArgument argument : kernel.getArguments()) {
    auto name = [&](StringRef kind) { return kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kind); };
    if (auto axis = name(tile::extentAttrName))
      bound[argument] = number(double(inputs.extents.at(axis.str())), argument.getType());
    else if (auto axis = name(tile::itemAttrName))
      bound[argument] = number(double(item.at(axis.str())), argument.getType());
    else if (auto scalar = name(tile::scalarAttrName))
      bound[argument] = number(inputs.scalars.at(scalar.str()), argument.getType());
  }
}

void Interpreter::bind(Value value, std::int64_t n) {
  bound[value] = number(double(n), value.getType());
  inner.clear();
}

std::int64_t Interpreter::integer(Value value) { return cast<IntegerAttr>(evaluate(value)).getValue().getSExtValue(); }

Attribute Interpreter::number(double value, mlir::Type type) {
  if (auto floating = dyn_cast<FloatType>(type)) {
    APFloat rounded(value);
    bool lost = false;
    rounded.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    return builder.getFloatAttr(type, rounded);
  }
  return builder.getIntegerAttr(type, std::int64_t(value));
}

const Array &Interpreter::tensor(Value memory) const {
  func::FuncOp function = kernel;
  return inputs.tensors.at(function.getArgAttrOfType<StringAttr>(cast<BlockArgument>(memory).getArgNumber(), tile::tensorAttrName).str());
}

bool Interpreter::isInside(Value memory, ArrayRef<std::int64_t> place) const {
  return llvm::all_of(llvm::zip(place, tensor(memory).shape), [](auto at) { return std::get<0>(at) >= 0 && std::get<0>(at) < std::get<1>(at); });
}

/// 0 outside.
double Interpreter::element(Value memory, ArrayRef<std::int64_t> place) const {
  const Array &array = tensor(memory);
  std::int64_t at = 0;
  for (auto [i, n] : llvm::zip(place, array.shape)) {
    if (i < 0 || i >= n)
      return 0;
    at = at * n + i;
  }
  return array.data[std::size_t(at)];
}

Attribute Interpreter::evaluate(Value value) {
  auto &known = value.getParentBlock() == &kernel.getBody().front() ? outer : inner;
  for (auto *values : {&bound, &known})
    if (auto found = values->find(value); found != values->end())
      return found->second;
  Attribute result = compute(value);
  return known[value] = result;
}

Attribute Interpreter::compute(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  Operation *op = value.getDefiningOp();
  assert(op && "a value of the kernel's item");
  if (auto extremes = dyn_cast<tile::ExtremesOp>(op))
    return extreme(extremes, value == extremes.getLeast());
  if (isa<tile::LoadOp, tile::GatherOp>(op)) {
    SmallVector<std::int64_t> place;
    for (Value index : op->getOperands().drop_front())
      place.push_back(integer(index));
    if (auto gather = dyn_cast<tile::GatherOp>(op); gather && gather.getAmong()) {
      const std::int64_t count = place.pop_back_val(), sought = place.pop_back_val();
      return builder.getBoolAttr(search(op->getOperand(0), place, sought, sought, count, false));
    }
    return number(element(op->getOperand(0), place), value.getType());
  }
  if (auto dimension = dyn_cast<memref::DimOp>(op))
    return builder.getIndexAttr(tensor(dimension.getSource()).shape[std::size_t(*dimension.getConstantIndex())]);
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluate(operand));
  SmallVector<OpFoldResult> results;
  [[maybe_unused]] bool folded = succeeded(op->fold(operands, results)) && results.size() == 1;
  assert(folded && "scalar code folds where its operands are numbers");
  return isa<Attribute>(results[0]) ? cast<Attribute>(results[0]) : evaluate(cast<Value>(results[0]));
}

bool Interpreter::search(Value memory, SmallVector<std::int64_t> list, std::int64_t low, std::int64_t high, std::int64_t count, bool all) const {
  const std::int64_t length = tensor(memory).shape.back();
  std::set<double> met;
  list.push_back(0);
  for (std::int64_t &j = list.back(); j < std::min(count, length); ++j)
    if (const double x = element(memory, list); isInside(memory, list) && double(low) <= x && x <= double(high))
      met.insert(x);
  return all ? high - low < 64 && std::int64_t(met.size()) == high - low + 1 : !met.empty();
}

Attribute Interpreter::extreme(tile::ExtremesOp op, bool least) {
  const Array &array = tensor(op.getMemory());
  if (op.getAmong()) {
    const std::size_t dimensions = array.shape.size() - 1;
    SmallVector<std::int64_t> from, to;
    for (std::size_t d = 0; d < dimensions; ++d) {
      from.push_back(integer(op.getLow()[d]));
      to.push_back(integer(op.getHigh()[d]));
    }
    const std::int64_t low = integer(op.getLow()[dimensions]), high = integer(op.getHigh()[dimensions]), count = integer((least ? op.getLow() : op.getHigh())[dimensions + 1]);
    bool holds = least;
    for (SmallVector<std::int64_t> list(from);;) {
      const bool here = search(op.getMemory(), list, low, high, count, least);
      holds = least ? holds && here : holds || here;
      std::size_t d = dimensions;
      while (d > 0 && ++list[d - 1] > to[d - 1]) {
        list[d - 1] = from[d - 1];
        --d;
      }
      if (d == 0)
        return number(double(holds), op.getLeast().getType());
    }
  }
  SmallVector<std::int64_t> low, high;
  bool inside = true;
  for (auto [from, to, size] : llvm::zip(op.getLow(), op.getHigh(), array.shape)) {
    low.push_back(integer(from));
    high.push_back(integer(to));
    inside &= low.back() >= 0 && high.back() < size;
    low.back() = std::max<std::int64_t>(low.back(), 0);
    high.back() = std::min(high.back(), size - 1);
  }
  double end = inside ? (least ? 1 : -1) * std::numeric_limits<double>::infinity() : 0;
  bool any = llvm::all_of(llvm::zip(low, high), [](auto ends) { return std::get<0>(ends) <= std::get<1>(ends); });
  for (SmallVector<std::int64_t> place(low); any;) {
    double x = element(op.getMemory(), place);
    end = std::isnan(x) || std::isnan(end) ? std::numeric_limits<double>::quiet_NaN() : least ? std::min(end, x) : std::max(end, x);
    std::size_t d = place.size();
    while (d > 0 && ++place[d - 1] > high[d - 1]) {
      place[d - 1] = low[d - 1];
      --d;
    }
    any = d > 0;
  }
  return number(end, op.getLeast().getType());
}

} // namespace tw
