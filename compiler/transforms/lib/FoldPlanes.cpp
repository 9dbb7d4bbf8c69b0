// The half planes of a fold's masks as its tiles see them.
#include "FoldPlanes.h"
#include "AffineForms.h"
#include "FoldAttributes.h"
#include "mlir/IR/Matchers.h"
using namespace mlir;

namespace tw {

FoldPlanes::FoldPlanes(scf::ForOp loop, OpBuilder &builder)
    : loop(loop), axis(loop->getAttrOfType<StringAttr>(foldAxisAttr).getValue()), scalars{builder, loop.getLoc()} {
  kernel = tile::kernelOf(loop->getParentOfType<func::FuncOp>());
  if (tile::AxisAttr known = kernel ? kernel.find(axis) : tile::AxisAttr())
    width = known.getWidth();
  if (kernel)
    block = kernel.withRole(tile::Role::Block);
  loop.getBody()->walk([&](Operation *op) {
    if (auto mask = dyn_cast<tile::MaskOp>(op))
      masks.push_back(mask);
    if (auto reduced = isa<tile::ReduceOp, tile::DotOp>(op) ? op->getAttrOfType<StringAttr>("axis") : StringAttr())
      rowsMeet |= block && reduced == block.getName();
  });
}

std::optional<std::string> FoldPlanes::obstacle() const {
  if (!width)
    return "the kernel does not list axis \"" + axis.str() + "\"";
  APInt begin, step;
  scf::ForOp walked = loop;
  if (!matchPattern(walked.getLowerBound(), m_ConstantInt(&begin)) || !begin.isZero() ||
      !matchPattern(walked.getStep(), m_ConstantInt(&step)) || step.getSExtValue() != width)
    return "it does not walk from 0 in steps of " + std::to_string(width);
  return std::nullopt;
}

/// May the value differ along an axis? One that is repeated along it does not.
static bool differsAlong(Value value, StringRef axis) {
  value = withoutBroadcasts(value);
  Operation *op = value.getDefiningOp();
  if (!tile::runsAlong(value, axis) || !op)
    return tile::runsAlong(value, axis);
  if (SplatElementsAttr same; matchPattern(value, m_Constant(&same)))
    return false;
  if (isa<tile::PositionsOp, tile::LoadOp, tile::GatherOp>(op) || op->getNumOperands() == 0)
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return differsAlong(operand, axis); });
}

bool FoldPlanes::movesAlongFold(tile::MaskOp mask) const {
  int dimension = cast<tile::AxesAttr>(cast<RankedTensorType>(mask.getType()).getEncoding()).find(axis);
  std::size_t rank = tile::axesOf(mask.getType()).size();
  for (std::size_t plane = 0; dimension >= 0 && plane < mask.getRest().size(); ++plane)
    if (mask.getCoefficients()[plane * rank + unsigned(dimension)])
      return true;
  return mask.getCondition() && differsAlong(mask.getCondition(), axis);
}

/// coefficient · x for the coordinate x along a dimension of the mask, with all values x takes in the item's tile.
std::optional<Term<Value>> FoldPlanes::termOf(tile::MaskOp mask, unsigned dimension, int64_t coefficient) {
  auto origin = affineForm(mask.getOrigin()[dimension], mask);
  if (!origin || variesIn(*origin, loop))
    return std::nullopt;
  Value lower = materialise(scalars.builder, scalars.location, *origin, loop);
  int64_t length = cast<RankedTensorType>(mask.getType()).getDimSize(dimension);
  StringRef name = tile::axesOf(mask.getType())[dimension].getValue();
  bool isBlock = block && block.getName().getValue() == name;
  Value item = isBlock ? tile::kernelArgument(loop->getParentOfType<func::FuncOp>(), "item", name) : Value();
  Value extent = isBlock ? extentOf(loop, name) : Value();
  if (!item || !extent || lower != item || rowsMeet)
    return Term<Value>{coefficient, lower, scalars.add(lower, scalars.constant(length - 1))};
  if (!lastRow)
    lastRow = scalars.subtract(scalars.min(scalars.add(lower, scalars.constant(length)), extent), scalars.constant(1));
  return Term<Value>{coefficient, lower, lastRow};
}

/// A half plane as the fold sees it; nothing if it does not move with the fold's tiles.
std::optional<FoldPlane<Value>> FoldPlanes::planeOf(tile::MaskOp mask, unsigned plane, bool bounds) {
  auto axes = tile::axesOf(mask.getType());
  auto rest = affineForm(mask.getRest()[plane], mask);
  if (!rest || variesIn(*rest, loop))
    return std::nullopt;
  int64_t along = 0;
  std::vector<Term<Value>> terms;
  for (unsigned dimension = 0; dimension < axes.size(); ++dimension) {
    int64_t coefficient = mask.getCoefficients()[plane * axes.size() + dimension];
    if (coefficient == 0)
      continue;
    if (axes[dimension].getValue() == axis) {
      if (mask.getOrigin()[dimension] != loop.getInductionVar())
        return std::nullopt;
      along = coefficient;
    } else if (auto term = termOf(mask, dimension, coefficient)) {
      terms.push_back(*term);
    } else {
      return std::nullopt;
    }
  }
  auto [least, most] = extremes(scalars, materialise(scalars.builder, scalars.location, *rest, loop), terms);
  return FoldPlane<Value>{along, least, most, bounds};
}

} // namespace tw
