// Turns selects between a value and a constant, under conditions on coordinates, into tile.mask.
//
//   select(c, x, K)    c = p1 and p2 and … and r        =>   mask(x; the half planes p; where r; K)
//   select(c, K, x)    not c = p1 and p2 and … and r    =>   the same with not c
//
// a ≤ b becomes the half plane  a - b ≤ 0,  a < b becomes  a - b + 1 ≤ 0,  a = b is two of them. What is no half plane, a
// disjunction or a table, is the mask's condition r, if it is made of coordinates, scalars and loads alone. What
// depends on the values that are masked is split off: mask(select(other, x, K); planes; K), and so are all conditions
// where x is itself made of coordinates and loads: that is arithmetic on indices or a bias, and hides nothing.
// Nested masks with one constant become one mask.
//
// Half planes are evaluated in i32. That is right while all extents, and all integers that stand in
// them, are at most the function's attribute `tile.limit`, which the pass sets and a launch must check.
#include "AffineForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/transforms/Passes.h"

namespace tw {
#define GEN_PASS_DEF_FORMMASKS
#include "tilewright/transforms/Passes.h.inc"
using namespace mlir;
namespace {

constexpr llvm::StringLiteral limitAttrName = "tile.limit";
/// A half plane that would ask for shorter axes than this stays a select.
constexpr int64_t smallestLimit = int64_t(1) << 20;

/// The number that every element of a value is, or null.
TypedAttr uniformNumber(Value value) {
  Attribute attribute;
  if (!matchPattern(withoutBroadcasts(value), m_Constant(&attribute)))
    return {};
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    attribute = splat.getSplatValue<Attribute>();
  return isa<FloatAttr, IntegerAttr>(attribute) ? cast<TypedAttr>(attribute) : TypedAttr();
}

/// A condition taken apart: it holds where all planes are ≤ 0 and all the others are as they say.
struct Conjunction {
  Operation *at;
  int64_t widest;                                   // width of the kernel's widest tile
  SmallVector<AffineForm> planes;
  SmallVector<std::pair<Value, bool>> others;       // a condition, and whether it must hold
  int64_t limit = std::numeric_limits<int32_t>::max();

  void collect(Value condition, bool holds);

private:
  bool compare(arith::CmpIOp compare, bool holds);
};

void Conjunction::collect(Value condition, bool holds) {
  condition = withoutBroadcasts(condition);
  Operation *op = condition.getDefiningOp();
  if (TypedAttr known = uniformNumber(condition)) {
    if (cast<IntegerAttr>(known).getValue().isZero() == holds)
      planes.push_back({{}, {}, 1});
    return;
  }
  if (auto flip = dyn_cast_or_null<arith::XOrIOp>(op))
    for (int i : {0, 1})
      if (TypedAttr known = uniformNumber(flip->getOperand(i)))
        return collect(flip->getOperand(1 - i), cast<IntegerAttr>(known).getValue().isZero() == holds);
  if (holds ? isa_and_nonnull<arith::AndIOp>(op) : isa_and_nonnull<arith::OrIOp>(op)) {
    collect(op->getOperand(0), holds);
    collect(op->getOperand(1), holds);
    return;
  }
  if (auto comparison = dyn_cast_or_null<arith::CmpIOp>(op); comparison && compare(comparison, holds))
    return;
  others.push_back({condition, holds});
}

/// Adds a comparison as half planes; false if it is none.
bool Conjunction::compare(arith::CmpIOp comparison, bool holds) {
  using P = arith::CmpIPredicate;
  P predicate = holds ? comparison.getPredicate() : arith::invertPredicate(comparison.getPredicate());
  bool both = predicate == P::eq, swap = predicate == P::sge || predicate == P::sgt;
  if (!both && !swap && predicate != P::sle && predicate != P::slt)
    return false;
  auto left = affineForm(comparison.getLhs(), at), right = affineForm(comparison.getRhs(), at);
  if (!left || !right)
    return false;
  AffineForm difference = swap ? *right : *left;
  difference.add(swap ? *left : *right, -1);
  difference.constant += predicate == P::slt || predicate == P::sgt;
  // Every partial sum stays in i32 while all terms do: weight · largest + |constant| < 2^31.
  if (int64_t weight = difference.weight()) {
    int64_t largest = (std::numeric_limits<int32_t>::max() - std::abs(difference.constant)) / weight - 2 * widest;
    if (largest < smallestLimit)
      return false;
    limit = std::min(limit, largest);
  }
  planes.push_back(difference);
  if (both) {
    planes.emplace_back();
    planes.back().add(difference, -1);
  }
  return true;
}

/// Is a value made of coordinates, scalars and loads, and of nothing that the kernel computes from tiles?
bool isOfIndices(Value value, llvm::DenseMap<Value, bool> &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  bool result = false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    result = isa<func::FuncOp>(argument.getOwner()->getParentOp()) || (loop && loop.getInductionVar() == value);
  } else {
    Operation *op = value.getDefiningOp();
    result = (isa<tile::PositionsOp, tile::BroadcastOp, tile::LoadOp, tile::GatherOp, tile::MaskOp, memref::DimOp>(op) ||
              isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect())) &&
             llvm::all_of(op->getOperands(), [&](Value operand) { return isOfIndices(operand, known); });
  }
  return known[value] = result;
}

struct FormMasks : impl::FormMasksBase<FormMasks> {
  void runOnOperation() override {
    kernel = tile::kernelOf(getOperation());
    if (!kernel)
      return;
    for (tile::AxisAttr axis : kernel.getAxes())
      widest = std::max(widest, axis.getWidth());
    SmallVector<arith::SelectOp> selects;
    getOperation()->walk([&](arith::SelectOp select) { selects.push_back(select); });
    for (arith::SelectOp select : selects)
      form(select);
  }

private:
  tile::KernelAttr kernel;
  int64_t widest = 1;

  void form(arith::SelectOp select);
  Value all(OpBuilder &builder, arith::SelectOp select, ArrayRef<std::pair<Value, bool>> conditions);
};

void FormMasks::form(arith::SelectOp select) {
  auto type = dyn_cast<RankedTensorType>(select.getType());
  if (!type || tile::axesOf(type).empty())
    return;
  for (StringAttr axis : tile::axesOf(type))
    if (!originForm(select, axis.getValue()))
      return;
  bool keepsTrue = true;
  TypedAttr otherwise = uniformNumber(select.getFalseValue());
  if (!otherwise) {
    keepsTrue = false;
    otherwise = uniformNumber(select.getTrueValue());
    if (!otherwise)
      return;
  }
  Conjunction condition{select, widest};
  condition.collect(select.getCondition(), keepsTrue);
  Value kept = keepsTrue ? select.getTrueValue() : select.getFalseValue();
  llvm::DenseMap<Value, bool> known;
  SmallVector<std::pair<Value, bool>> ofIndices, ofValues;
  bool hides = isa<FloatType>(type.getElementType()) && !isOfIndices(kept, known);
  for (auto other : condition.others)
    (hides && isOfIndices(other.first, known) ? ofIndices : ofValues).push_back(other);
  if (condition.planes.empty() && ofIndices.empty())
    return;
  OpBuilder builder(select);
  Location location = select.getLoc();
  if (!ofValues.empty())
    kept = arith::SelectOp::create(builder, location, all(builder, select, ofValues), kept, keepsTrue ? select.getFalseValue() : select.getTrueValue());

  SmallVector<int64_t> coefficients;
  SmallVector<Value> rests, origins;
  if (auto inner = kept.getDefiningOp<tile::MaskOp>(); inner && inner.getOtherwise() == otherwise) {
    kept = inner.getSource();
    llvm::append_range(coefficients, inner.getCoefficients());
    llvm::append_range(rests, inner.getRest());
    llvm::append_range(origins, inner.getOrigin());
    if (inner.getCondition())
      ofIndices.insert(ofIndices.begin(), {inner.getCondition(), true});
  }
  if (origins.empty())
    for (StringAttr axis : tile::axesOf(type))
      origins.push_back(originOf(builder, select, axis.getValue()));
  for (AffineForm &plane : condition.planes) {
    for (StringAttr axis : tile::axesOf(type))
      coefficients.push_back(plane.along(axis.getValue()));
    plane.coordinates.clear();
    rests.push_back(materialise(builder, location, plane, select));
  }
  auto mask = tile::MaskOp::create(builder, location, type, kept, origins, coefficients, rests,
                                   ofIndices.empty() ? Value() : all(builder, select, ofIndices), otherwise);
  select.replaceAllUsesWith(mask.getResult());
  select.erase();
  if (condition.planes.empty())
    return;
  auto limit = getOperation()->getAttrOfType<IntegerAttr>(limitAttrName);
  int64_t smallest = limit ? std::min(limit.getInt(), condition.limit) : condition.limit;
  getOperation()->setAttr(limitAttrName, builder.getI64IntegerAttr(smallest));
}

/// Where all conditions are as they must be, for each element of the select.
Value FormMasks::all(OpBuilder &builder, arith::SelectOp select, ArrayRef<std::pair<Value, bool>> conditions) {
  Location location = select.getLoc();
  Type flags = tile::withElement(select.getType(), builder.getI1Type());
  Value all;
  for (auto [other, holds] : conditions) {
    if (other.getType() != flags)
      other = tile::BroadcastOp::create(builder, location, flags, other);
    if (!holds) {
      auto ones = DenseElementsAttr::get(cast<ShapedType>(flags), true);
      other = arith::XOrIOp::create(builder, location, other, arith::ConstantOp::create(builder, location, ones));
    }
    all = all ? arith::AndIOp::create(builder, location, all, other) : other;
  }
  return all;
}

} // namespace
} // namespace tw
