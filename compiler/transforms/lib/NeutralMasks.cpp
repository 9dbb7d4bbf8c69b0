// Makes every reduction see its neutral element past the end of the axis it reduces.
//
// The last tile along an axis may run past the axis's end. What stands there must add nothing: -inf for
// max, +inf for min, 0 for sum, a product with an exact 0 on the left for dot. Proved by abstract
// evaluation of the elements past the end, where
//   - a tile.load along the axis, from the axis's origin on, reads 0;
//   - a mask whose half planes exclude those elements gives its constant.
// A mask excludes them if the plane  x ≤ extent - 1  is added to it, which costs nothing but a compare in partial tiles
// and keeps it one mask; only masks that some proof needs get the plane, and none that implies it:
// k ≤ q + Sk - Sq with q ≤ Sq - 1 gives k ≤ Sk - 1. (Rows past the end of the block axis are never
// stored, so nothing has to hold for them.) Where the masks at hand do not suffice, a mask of its
// own with the neutral constant is put at the reduction's input.
//
// Elements past the end are the kernel's own invention: no stabilising value has seen them, so an
// exponential there may overflow, and counts as finite only if its value is known. What does not run along the axis
// is as the program made it; if that is not finite, so is the result as the program has it.
#include "AffineForms.h"
#include "Evaluator.h"
#include "MaskedTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tw {
#define GEN_PASS_DEF_NEUTRALMASKS
#include "tilewright/transforms/Passes.h.inc"
using namespace mlir;
namespace {

/// The element that adds nothing to a reduction of that kind.
TypedAttr neutralNumber(Operation *reduction, Type element) {
  Builder b(element.getContext());
  auto reduce = dyn_cast<tile::ReduceOp>(reduction);
  if (!reduce || reduce.getKind() == tile::Combine::Sum)
    return cast<TypedAttr>(b.getZeroAttr(element));
  bool max = reduce.getKind() == tile::Combine::Max;
  if (auto floating = dyn_cast<FloatType>(element))
    return FloatAttr::get(floating, APFloat::getInf(floating.getFloatSemantics(), max));
  unsigned bits = element.getIntOrFloatBitWidth();
  return IntegerAttr::get(element, max ? APInt::getSignedMinValue(bits) : APInt::getSignedMaxValue(bits));
}

/// One axis of a kernel and what is known of the elements past its end.
class AxisEnd {
public:
  AxisEnd(func::FuncOp function, StringAttr axis, Value extent) : function(function), axis(axis), extent(extent) {}
  /// Fails if a reduction stands where the axis has no place.
  LogicalResult guard();

private:
  func::FuncOp function;
  StringAttr axis;
  Value extent;
  SmallVector<Operation *> reductions;
  llvm::SetVector<Operation *> excluding;   // masks that exclude what is past the end, so far by assumption
  llvm::DenseSet<Operation *> implied;      // those that do so without the plane
  llvm::DenseSet<Operation *> settled;      // reductions with a mask of their own at their input

  bool startsAtOrigin(Value start, Operation *at);
  bool impliesEnd(tile::MaskOp mask);
  Evaluator pastTheEnd();
  bool isNeutral(Evaluator &evaluator, Operation *reduction);
  llvm::DenseSet<Operation *> neutralOnes();
  bool maskForAll(Operation *reduction);
  LogicalResult maskForOne(Operation *reduction);
  tile::MaskOp maskOn(Value value, TypedAttr constant, Operation *before);
  Value endOfPlane(OpBuilder &builder, Operation *at);
  tile::MaskOp withPlane(tile::MaskOp mask);
};

bool AxisEnd::startsAtOrigin(Value start, Operation *at) {
  auto form = affineForm(start, at), origin = originForm(at, axis);
  if (!form || !origin)
    return false;
  form->add(*origin, -1);
  return form->isConstant() && form->constant == 0;
}

/// Does a half plane c·x + d·y + rest ≤ 0 of the mask, c > 0 ≥ d, with y ≤ extent(y) - 1 along the block axis, give x ≤ extent(x) - 1?
/// That is  -rest - d·(extent(y) - 1) - c·extent(x) + 1 ≤ 0, seen from its symbols.
bool AxisEnd::impliesEnd(tile::MaskOp mask) {
  tile::AxisAttr block = tile::kernelOf(function).withRole(tile::Role::Block);
  auto axes = tile::axesOf(mask.getType());
  for (unsigned plane = 0; plane < mask.getRest().size(); ++plane) {
    auto rest = affineForm(mask.getRest()[plane], mask);
    bool usable = rest.has_value();
    AffineForm most;
    for (unsigned dimension = 0; usable && dimension < axes.size(); ++dimension) {
      int64_t coefficient = mask.getCoefficients()[plane * axes.size() + dimension];
      StringAttr name = axes[dimension];
      if (name == axis) {
        usable = coefficient > 0;
        most.add(AffineForm::of(extent), -coefficient);
      } else if (coefficient != 0) {
        Value rows = block && block.getName() == name ? extentOf(mask, name.getValue()) : Value();
        auto start = affineForm(mask.getOrigin()[dimension], mask), origin = originForm(mask, name.getValue());
        usable = rows && coefficient < 0 && start && origin && start->scalars == origin->scalars && start->constant == origin->constant;
        if (usable) {
          most.add(AffineForm::of(rows), -coefficient);
          most.constant += coefficient;
        }
      }
    }
    if (!usable)
      continue;
    most.add(*rest, -1);
    most.constant += 1;
    bool neverPositive = most.constant <= 0;   // extents are not negative
    for (auto [value, coefficient] : most.scalars) {
      auto argument = dyn_cast<BlockArgument>(value);
      neverPositive &= coefficient < 0 && argument && argument.getOwner() == &function.getBody().front() &&
                       function.getArgAttr(argument.getArgNumber(), tile::extentAttrName);
    }
    if (neverPositive)
      return true;
  }
  return false;
}

Evaluator AxisEnd::pastTheEnd() {
  Evaluator inside, evaluator(/*inRange=*/false);
  function.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      for (auto [offset, dimension] : llvm::zip(load.getOffsets(), load.getDims()))
        if (dimension >= 0 && tile::axesOf(load.getResult())[dimension] == axis && startsAtOrigin(offset, op))
          evaluator.assume(load.getResult(), Known::constant(0));
    } else if (auto mask = dyn_cast<tile::MaskOp>(op); mask && excluding.contains(op)) {
      if (auto number = numberOf(mask.getOtherwise()))
        evaluator.assume(mask.getResult(), Known::constant(*number));
    }
  });
  for (Operation *reduction : reductions) {   // has seen all elements, not only those past the end
    Value result = reduction->getResult(0);
    evaluator.assume(result, Known::equal(result));
    if (inside.finite(result))
      evaluator.assumeFinite(result);
  }
  return evaluator;
}

bool AxisEnd::isNeutral(Evaluator &evaluator, Operation *reduction) {
  if (settled.contains(reduction))
    return true;
  Value source = reduction->getOperand(0);
  Known known = evaluator.evaluate(source);
  if (isa<tile::DotOp>(reduction))            // 0 on the left annihilates anything, 0 on the right what is finite
    return known.is(0) || (evaluator.evaluate(reduction->getOperand(1)).is(0) && evaluator.finite(source));
  return known.number && known.number == numberOf(neutralNumber(reduction, tile::elementOf(source.getType())));
}

llvm::DenseSet<Operation *> AxisEnd::neutralOnes() {
  Evaluator evaluator = pastTheEnd();
  llvm::DenseSet<Operation *> neutral;
  for (Operation *reduction : reductions)
    if (isNeutral(evaluator, reduction))
      neutral.insert(reduction);
  return neutral;
}

/// 1 - extent: the plane x + (1 - extent) ≤ 0 keeps what lies before the end.
Value AxisEnd::endOfPlane(OpBuilder &builder, Operation *at) {
  AffineForm form{{}, {{extent, -1}}, 1};
  return materialise(builder, at->getLoc(), form, at);
}

/// A mask that excludes what lies past the end; null if some axis of the value has no place there.
tile::MaskOp AxisEnd::maskOn(Value value, TypedAttr constant, Operation *before) {
  OpBuilder builder(before);
  SmallVector<Value> origins;
  SmallVector<int64_t> coefficients;
  for (StringAttr name : tile::axesOf(value)) {
    if (!originForm(before, name.getValue()))
      return {};
    origins.push_back(originOf(builder, before, name.getValue()));
    coefficients.push_back(name == axis);
  }
  Value rest = endOfPlane(builder, before);
  return tile::MaskOp::create(builder, value.getLoc(), value.getType(), value, origins, coefficients, rest, Value(), constant);
}

/// Masks the input of a reduction for all that read it; false, and nothing done, if another reduction would lose by that.
bool AxisEnd::maskForAll(Operation *reduction) {
  Value input = reduction->getOperand(0);
  if (auto narrowed = input.getDefiningOp<arith::TruncFOp>(); narrowed && isa<tile::DotOp>(reduction))
    input = narrowed.getIn();                 // the mask belongs to the arithmetic, not to the packed operand
  auto before = neutralOnes();
  OpBuilder builder(reduction);
  builder.setInsertionPointAfterValue(input);
  tile::MaskOp mask = maskOn(input, neutralNumber(reduction, tile::elementOf(input.getType())), &*builder.getInsertionPoint());
  if (!mask)
    return false;
  SmallVector<OpOperand *> others;
  for (OpOperand &use : input.getUses())
    if (use.getOwner() != mask)
      others.push_back(&use);
  for (OpOperand *use : others)
    use->set(mask.getResult());
  excluding.insert(mask);
  auto after = neutralOnes();
  if (after.contains(reduction) && llvm::all_of(before, [&](Operation *r) { return after.contains(r); }))
    return true;
  for (OpOperand *use : others)
    use->set(input);
  excluding.remove(mask);
  mask.erase();
  return false;
}

LogicalResult AxisEnd::maskForOne(Operation *reduction) {
  Value input = reduction->getOperand(0);
  tile::MaskOp mask = maskOn(input, neutralNumber(reduction, tile::elementOf(input.getType())), reduction);
  if (!mask)
    return reduction->emitError() << "reduces over " << axis << " where an axis of " << input.getType()
                                  << " has no first coordinate; a fold axis is reduced inside its fold";
  reduction->setOperand(0, mask.getResult());
  excluding.insert(mask);
  return success();
}

/// The mask with the end of the axis as one more half plane.
tile::MaskOp AxisEnd::withPlane(tile::MaskOp mask) {
  OpBuilder builder(mask);
  SmallVector<int64_t> coefficients(mask.getCoefficients());
  for (StringAttr name : tile::axesOf(mask.getType()))
    coefficients.push_back(name == axis);
  SmallVector<Value> rests(mask.getRest());
  rests.push_back(endOfPlane(builder, mask));
  auto longer = tile::MaskOp::create(builder, mask.getLoc(), mask.getType(), mask.getSource(), SmallVector<Value>(mask.getOrigin()),
                                     coefficients, rests, mask.getCondition(), mask.getOtherwise());
  mask.replaceAllUsesWith(longer.getResult());
  mask.erase();
  return longer;
}

LogicalResult AxisEnd::guard() {
  // The end of the block axis is in one item of many: it gets a mask of its own, so that no mask of the program is kept for its sake.
  const tile::AxisAttr block = tile::kernelOf(function).withRole(tile::Role::Block);
  const bool isBlock = block && block.getName() == axis;
  function.walk([&](Operation *op) {
    if (auto name = isa<tile::ReduceOp, tile::DotOp>(op) ? op->getAttrOfType<StringAttr>("axis") : StringAttr(); name == axis)
      reductions.push_back(op);
    auto mask = dyn_cast<tile::MaskOp>(op);
    if (!mask || (isBlock && !impliesEnd(mask)))
      return;
    for (auto [name, origin] : llvm::zip(tile::axesOf(mask.getType()), mask.getOrigin()))
      if (name == axis && startsAtOrigin(origin, mask)) {
        excluding.insert(mask);
        if (impliesEnd(mask))
          implied.insert(mask);
      }
  });
  if (reductions.empty())
    return success();
  SmallVector<Operation *> candidates(excluding.begin(), excluding.end());
  for (Operation *reduction : reductions) {
    if (neutralOnes().contains(reduction))
      continue;
    if (maskForAll(reduction))
      continue;                               // proved like any other: a mask that comes later may undo it
    if (failed(maskForOne(reduction)))
      return failure();
    settled.insert(reduction);
  }
  for (Operation *candidate : candidates) {   // leave alone the masks that no proof needs
    if (implied.contains(candidate))
      continue;
    excluding.remove(candidate);
    if (neutralOnes().size() != reductions.size())
      excluding.insert(withPlane(cast<tile::MaskOp>(candidate)));
  }
  return success();
}

/// What only goes into what a mask excludes may as well be masked itself: `mask(f(x))` reads mask(x), where there is one that excludes no more, so that the
/// element without a mask need not be kept beside it.
void readMasked(func::FuncOp function) {
  SmallVector<tile::MaskOp> masks;
  function.walk([&](tile::MaskOp mask) { masks.push_back(mask); });
  // The mask that a use of a value ends in, through operations that nothing else reads.
  auto endOf = [](Operation *user) {
    while (user->getNumResults() == 1 && user->hasOneUse() && !isa<tile::MaskOp>(user) && isa<arith::ArithDialect, math::MathDialect>(user->getDialect()) && user->getResult(0).getType() == user->getOperand(0).getType())
      user = *user->getUsers().begin();
    return dyn_cast<tile::MaskOp>(user);
  };
  for (tile::MaskOp mask : masks) {
    SmallVector<OpOperand *> others;
    bool all = true;
    for (OpOperand &use : mask.getSource().getUses()) {
      if (use.getOwner() == mask)
        continue;
      tile::MaskOp end = isa<tile::MaskOp>(use.getOwner()) ? tile::MaskOp() : endOf(use.getOwner());
      all &= end && end->getBlock() == mask->getBlock() && use.getOwner()->getBlock() == mask->getBlock() && mask->isBeforeInBlock(use.getOwner()) && excludesAsMuch(end, mask);
      others.push_back(&use);
    }
    for (OpOperand *use : all ? others : SmallVector<OpOperand *>())
      use->set(mask.getResult());
  }
}

struct NeutralMasks : impl::NeutralMasksBase<NeutralMasks> {
  void runOnOperation() override {
    tile::KernelAttr kernel = tile::kernelOf(getOperation());
    if (!kernel)
      return;
    for (tile::AxisAttr axis : kernel.getAxes())
      if (Value extent = extentOf(getOperation(), axis.getName().getValue()); extent && axis.getRole() != tile::Role::Free)
        if (failed(AxisEnd(getOperation(), axis.getName(), extent).guard()))
          return signalPassFailure();
    readMasked(getOperation());
  }
};

} // namespace
} // namespace tw
