// Narrow operations: placed once, as far out as their operands allow.
#include "Expressions.h"
#include "AffineForms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
using namespace mlir;

namespace tw {
namespace {
/// Block axis, fold axis, inner axes; among those of one role as the kernel lists them.
unsigned orderOf(tile::KernelAttr kernel, StringAttr name) {
  static constexpr unsigned byRole[] = {3, 0, 1, 2};   // free, block, fold, inner
  for (auto [i, axis] : llvm::enumerate(kernel.getAxes()))
    if (axis.getName() == name)
      return byRole[unsigned(axis.getRole())] * kernel.getAxes().size() + i;
  return ~0u;
}
} // namespace

std::optional<double> constantOf(Value value) {
  if (auto constant = value ? value.getDefiningOp<arith::ConstantOp>() : nullptr)
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      return number.getValueAsDouble();
  return {};
}

//===--- places ----------------------------------------------------------------------------------===//

unsigned Expressions::SameOperation::getHashValue(const Operation *op) {
  return OperationEquivalence::computeHash(const_cast<Operation *>(op), OperationEquivalence::directHashValue,
                                           OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
}

bool Expressions::SameOperation::isEqual(const Operation *a, const Operation *b) {
  if (a == b || a == getEmptyKey() || b == getEmptyKey() || a == getTombstoneKey() || b == getTombstoneKey())
    return a == b;
  return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(a), const_cast<Operation *>(b), OperationEquivalence::IgnoreLocations);
}

Expressions::Expressions(func::FuncOp function, Block *block)
    : where(function.getLoc()), function(function), kernel(tile::kernelOf(function)) {
  scopes.push_back({block});
}

void Expressions::enter(Block *block) {
  scopes.back().before = block->getParentOp();
  scopes.push_back({block});
}

void Expressions::leave() {
  scopes.pop_back();
  scopes.back().before = nullptr;
}

size_t Expressions::depthOf(Value value) const {
  for (size_t depth = scopes.size(); depth-- > 0;)
    if (scopes[depth].block == value.getParentBlock())
      return depth;
  llvm_unreachable("the value is not visible here");
}

bool Expressions::outside(Value value) const { return depthOf(value) + 1 < scopes.size(); }

Operation *Expressions::placed(Operation *op) {
  bool shared = isMemoryEffectFree(op) && !op->getNumRegions();
  if (shared)
    for (Scope &scope : scopes)
      if (auto known = scope.known.find(op); known != scope.known.end()) {
        if (isa<NameLoc>(op->getLoc()) && !isa<NameLoc>((*known)->getLoc()))
          (*known)->setLoc(op->getLoc());
        op->destroy();
        return *known;
      }
  size_t depth = scopes.size() - 1;
  bool narrow = llvm::all_of(op->getResults(), [](Value result) { return rankOf(result) < 2; });
  if (isPure(op) && !op->getNumRegions() && (narrow || op->hasTrait<OpTrait::ConstantLike>())) {
    depth = 0;
    for (Value operand : op->getOperands())
      depth = std::max(depth, depthOf(operand));
  }
  Scope &scope = scopes[depth];
  scope.block->getOperations().insert(scope.before ? Block::iterator(scope.before) : scope.block->end(), op);
  if (shared)
    scope.known.insert(op);
  return op;
}

//===--- axes ------------------------------------------------------------------------------------===//

size_t Expressions::joinedRank(ValueRange values) const {
  llvm::SmallDenseSet<StringAttr> axes;
  for (Value value : values)
    if (value)
      axes.insert_range(tile::axesOf(value));
  return axes.size();
}

Type Expressions::joined(ValueRange values, Type element) const {
  SmallVector<std::pair<StringAttr, int64_t>> axes;
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (auto axis : llvm::zip(tile::axesOf(type), type.getShape()))
        if (!llvm::is_contained(axes, std::pair(std::get<0>(axis), std::get<1>(axis))))
          axes.emplace_back(std::get<0>(axis), std::get<1>(axis));
  for (Value value : values)   // no reordering where one has all axes
    if (rankOf(value) == axes.size())
      return tile::withElement(value.getType(), element);
  llvm::stable_sort(axes, [&](auto &a, auto &b) { return orderOf(kernel, a.first) < orderOf(kernel, b.first); });
  return tile::tileType(element, llvm::to_vector(llvm::make_second_range(axes)), llvm::to_vector(llvm::make_first_range(axes)));
}

SmallVector<Value> Expressions::widened(ValueRange operands) {
  return llvm::map_to_vector(operands, [&](Value operand) {
    return broadcast(operand, joined(operands, tile::elementOf(operand.getType())));
  });
}

Value Expressions::broadcast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  OpBuilder b(value.getContext());
  if (auto constant = value.getDefiningOp<arith::ConstantOp>(); constant && isa<FloatAttr, IntegerAttr>(constant.getValue()))
    return placed(arith::ConstantOp::create(b, where, SplatElementsAttr::get(cast<ShapedType>(type), constant.getValue())))->getResult(0);
  return placed(tile::BroadcastOp::create(b, where, type, value))->getResult(0);
}

Value Expressions::copy(Operation *op, ValueRange operands) {
  Operation *made = op->cloneWithoutRegions();
  made->setOperands(widened(operands));
  made->getResult(0).setType(joined(operands, tile::elementOf(op->getResult(0).getType())));
  return placed(made)->getResult(0);
}

//===--- float arithmetic ------------------------------------------------------------------------===//

Value Expressions::constant(double number, Type element) {
  OpBuilder b(element.getContext());
  return placed(arith::ConstantOp::create(b, where, b.getFloatAttr(tile::elementOf(element), number)))->getResult(0);
}

Value Expressions::ramp(StringAttr axis, int64_t width, Type element) {
  OpBuilder b(element.getContext());
  Value start = placed(arith::ConstantOp::create(b, where, b.getI32IntegerAttr(0)))->getResult(0);
  Value places = placed(tile::PositionsOp::create(b, where, tile::tileType(b.getI32Type(), width, axis), start))->getResult(0);
  return placed(arith::SIToFPOp::create(b, where, tile::tileType(element, width, axis), places))->getResult(0);
}

Value Expressions::add(Value a, Value b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y)
    return constant(*x + *y, a.getType());
  if (x == 0.0)
    return b;
  return y == 0.0 ? a : make<arith::AddFOp>({a, b});
}

Value Expressions::subtract(Value a, Value b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y)
    return constant(*x - *y, a.getType());
  if (x == 0.0)
    return negate(b);
  return y == 0.0 ? a : make<arith::SubFOp>({a, b});
}

std::optional<std::pair<Value, Value>> Expressions::scaled(Value a) {
  auto product = a.getDefiningOp<arith::MulFOp>();
  if (!product)
    return {};
  Value factor = withoutBroadcasts(product.getRhs());
  SplatElementsAttr splat;
  if (matchPattern(factor, m_Constant(&splat)))
    factor = constant(splat.getSplatValue<APFloat>().convertToDouble(), a.getType());
  if (rankOf(factor))
    return {};
  return std::pair(product.getLhs(), factor);
}

Value Expressions::multiply(Value a, Value b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y)
    return constant(*x * *y, a.getType());
  if (x == 1.0)
    return b;
  if (y == 1.0)
    return a;
  if (x || (rankOf(b) && !rankOf(a)))
    std::swap(a, b);
  if (!rankOf(b))
    if (auto product = scaled(a))
      return multiply(product->first, multiply(product->second, b));
  return make<arith::MulFOp>({a, b});
}

Value Expressions::negate(Value a) {
  if (auto x = constantOf(a))
    return constant(-*x, a.getType());
  if (auto product = scaled(a))
    return multiply(product->first, negate(product->second));
  return make<arith::NegFOp>({a});
}

Value Expressions::divide(Value a, Value b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y)
    return constant(*x / *y, a.getType());
  return y == 1.0 ? a : make<arith::DivFOp>({a, b});
}

Value Expressions::reciprocal(Value a) { return divide(constant(1, a.getType()), a); }

Value Expressions::fma(Value a, Value b, Value c) {
  if (constantOf(b) == 1.0)
    return add(a, c);
  if (constantOf(c) == 0.0)
    return multiply(a, b);
  return make<math::FmaOp>({a, b, c});
}

} // namespace tw
