// Operations of the tile dialect: verifiers, folders, the mask's syntax.
#include "tilewright/ir/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SmallSet.h"
using namespace mlir;

#define GET_OP_CLASSES
#include "tilewright/ir/TileOps.cpp.inc"

namespace tw::tile {
namespace {
int64_t rankOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getRank() : 0;
}

int64_t widthAlong(Type type, StringRef axis) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getDimSize(cast<AxesAttr>(tensor.getEncoding()).find(axis));
}

/// Every tile names its axes: nothing in this dialect matches dimensions by position.
LogicalResult namesItsAxes(Operation *op, Type type) {
  if (isa<RankedTensorType>(type) && axesOf(type).size() != size_t(rankOf(type)))
    return op->emitOpError() << "tile " << type << " needs a #tile.axes encoding";
  return success();
}

/// The rectangle that a load or a store touches.
LogicalResult verifyRectangle(Operation *op, Type tile, MemRefType memory, unsigned offsets, ArrayRef<int64_t> dims) {
  if (failed(namesItsAxes(op, tile)))
    return failure();
  if (int64_t(offsets) != memory.getRank() || int64_t(dims.size()) != memory.getRank())
    return op->emitOpError() << "memory of " << memory.getRank() << " dimensions has " << offsets << " offsets and " << dims.size() << " dims";
  llvm::SmallSet<int64_t, 4> used;
  for (int64_t d : dims)
    if (d != -1 && (d < 0 || d >= rankOf(tile) || !used.insert(d).second))
      return op->emitOpError() << "dims: " << d << " is no dimension of " << tile << ", or stands twice";
  if (int64_t(used.size()) != rankOf(tile))
    return op->emitOpError() << "dims: every dimension of " << tile << " must stand in it once";
  if (elementOf(tile) != memory.getElementType())
    return op->emitOpError() << "moves elements of " << memory.getElementType() << " as " << elementOf(tile) << "; convert before or after";
  return success();
}

/// All axes of `part` are in `whole`, with the same widths.
LogicalResult axesWithin(Operation *op, Type part, Type whole) {
  for (StringAttr axis : axesOf(part))
    if (!runsAlong(whole, axis) || widthAlong(part, axis) != widthAlong(whole, axis))
      return op->emitOpError() << "axis \"" << axis.getValue() << "\" of " << part << " is not in " << whole << " with the same width";
  return success();
}
} // namespace

//===--- memory ----------------------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  return verifyRectangle(*this, getResult().getType(), cast<MemRefType>(getMemory().getType()), getOffsets().size(), getDims());
}

LogicalResult StoreOp::verify() {
  return verifyRectangle(*this, getValue().getType(), cast<MemRefType>(getMemory().getType()), getOffsets().size(), getDims());
}

LogicalResult AccumulateOp::verify() {
  if (Type element = elementOf(getValue().getType()); !element.isF32() && !element.isF64())
    return emitOpError() << "adds elements of " << element << "; sums in memory are f32 or f64";
  return verifyRectangle(*this, getValue().getType(), cast<MemRefType>(getMemory().getType()), getOffsets().size(), getDims());
}

LogicalResult GatherOp::verify() {
  auto memory = cast<MemRefType>(getMemory().getType());
  if (getAmong()) {
    if (memory.getRank() == 0 || int64_t(getIndices().size()) != memory.getRank() + 1)
      return emitOpError() << "among elements of memory of " << memory.getRank() << " dimensions has " << getIndices().size()
                           << " indices; expected one for each dimension but the last, a number and a count";
    if (!memory.getElementType().isSignlessInteger(32) && !memory.getElementType().isSignlessInteger(64))
      return emitOpError() << "looks for a number among elements of " << memory.getElementType() << "; expected i32 or i64";
    if (!elementOf(getResult().getType()).isInteger(1))
      return emitOpError() << "says whether as " << elementOf(getResult().getType()) << "; expected i1";
  } else if (int64_t(getIndices().size()) != memory.getRank())
    return emitOpError() << "memory of " << memory.getRank() << " dimensions has " << getIndices().size() << " indices";
  else if (elementOf(getResult().getType()) != memory.getElementType())
    return emitOpError() << "reads elements of " << memory.getElementType() << " as " << elementOf(getResult().getType());
  if (failed(namesItsAxes(*this, getResult().getType())))
    return failure();
  for (Value index : getIndices())
    if (failed(namesItsAxes(*this, index.getType())) || failed(axesWithin(*this, index.getType(), getResult().getType())))
      return failure();
  for (StringAttr axis : axesOf(getResult()))
    if (llvm::none_of(getIndices(), [&](Value index) { return runsAlong(index, axis); }))
      return emitOpError() << "no index runs along axis \"" << axis.getValue() << "\" of the result";
  return success();
}

//===--- along axes ------------------------------------------------------------------------------===//

LogicalResult PositionsOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (type.getRank() != 1 || !type.getElementType().isInteger(32))
    return emitOpError() << "makes a one-dimensional tile of i32, not " << type;
  return namesItsAxes(*this, type);
}

LogicalResult BroadcastOp::verify() {
  Type source = getSource().getType(), result = getResult().getType();
  if (elementOf(source) != elementOf(result))
    return emitOpError() << "changes elements of " << elementOf(source) << " to " << elementOf(result);
  if (failed(namesItsAxes(*this, source)) || failed(namesItsAxes(*this, result)))
    return failure();
  return axesWithin(*this, source, result);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<BroadcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  auto type = cast<ShapedType>(getResult().getType());
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSource()))
    return splat.resizeSplat(type);
  if (auto scalar = dyn_cast_or_null<TypedAttr>(adaptor.getSource()); scalar && isa<FloatAttr, IntegerAttr>(scalar))
    return SplatElementsAttr::get(type, scalar);
  return {};
}

LogicalResult ReduceOp::verify() {
  Type source = getSource().getType();
  if (failed(namesItsAxes(*this, source)) || failed(namesItsAxes(*this, getResult().getType())))
    return failure();
  if (!runsAlong(source, getAxis()))
    return emitOpError() << "reduces over \"" << getAxis() << "\", along which " << source << " does not run";
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> shape;
  for (auto [axis, width] : llvm::zip(axesOf(source), cast<RankedTensorType>(source).getShape()))
    if (axis.getValue() != getAxis()) {
      axes.push_back(axis);
      shape.push_back(width);
    }
  Type expected = tileType(elementOf(source), shape, axes);
  if (getResult().getType() != expected)
    return emitOpError() << "of " << source << " over \"" << getAxis() << "\" gives " << expected << ", not " << getResult().getType();
  if (Type element = elementOf(source); isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return emitOpError() << "combines elements of " << element << "; extend them to f32 first";
  return success();
}

LogicalResult DotOp::verify() {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> shape;
  bool wide = false;
  for (Value operand : {getLhs(), getRhs()}) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (failed(namesItsAxes(*this, type)))
      return failure();
    if (type.getRank() != 2 || !runsAlong(type, getAxis()) || !isa<FloatType>(type.getElementType()))
      return emitOpError() << "operand " << type << " must be a float tile over \"" << getAxis() << "\" and one other axis";
    wide |= type.getElementType().isF64();
    for (auto [axis, width] : llvm::zip(axesOf(type), type.getShape()))
      if (axis.getValue() != getAxis()) {
        axes.push_back(axis);
        shape.push_back(width);
      }
  }
  if (axes[0] == axes[1])
    return emitOpError() << "both operands run along \"" << axes[0].getValue() << "\", which is not contracted";
  if (widthAlong(getLhs().getType(), getAxis()) != widthAlong(getRhs().getType(), getAxis()))
    return emitOpError() << "operands have different widths along \"" << getAxis() << "\"";
  Builder b(getContext());
  Type expected = tileType(wide ? Type(b.getF64Type()) : Type(b.getF32Type()), shape, axes);
  if (getResult().getType() != expected)
    return emitOpError() << "gives " << expected << ", not " << getResult().getType();
  if (getStage() && *getStage() > 2)
    return emitOpError() << "stage " << *getStage() << " must be 0, 1 or 2";
  return success();
}

//===--- masks and promises ----------------------------------------------------------------------===//

LogicalResult MaskOp::verify() {
  auto type = cast<RankedTensorType>(getSource().getType());
  if (failed(namesItsAxes(*this, type)))
    return failure();
  if (int64_t(getOrigin().size()) != type.getRank())
    return emitOpError() << "has " << getOrigin().size() << " origins for " << type.getRank() << " dimensions";
  if (int64_t(getCoefficients().size()) != type.getRank() * int64_t(getRest().size()))
    return emitOpError() << "has " << getCoefficients().size() << " coefficients; expected one for each of " << type.getRank()
                         << " dimensions of " << getRest().size() << " planes";
  if (getCondition() && getCondition().getType() != withElement(type, IntegerType::get(getContext(), 1)))
    return emitOpError() << "has a condition of type " << getCondition().getType() << "; expected an i1 for each element of " << type;
  if (getOtherwise().getType() != type.getElementType())
    return emitOpError() << "replaces elements of " << type.getElementType() << " by a constant of " << getOtherwise().getType();
  return success();
}

// tile.mask %s at(%q0, %k0) planes [-1, 1] rest(%r) where %c else 0xFF800000 : tensor<…>
ParseResult MaskOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand source;
  SmallVector<OpAsmParser::UnresolvedOperand> origin, rest, condition;
  Builder &b = parser.getBuilder();
  SmallVector<int64_t> coefficients;
  RankedTensorType type;
  if (parser.parseOperand(source) || parser.parseKeyword("at") ||
      parser.parseOperandList(origin, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("planes") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] { return parser.parseInteger(coefficients.emplace_back()); }) ||
      parser.parseKeyword("rest") || parser.parseOperandList(rest, OpAsmParser::Delimiter::Paren) ||
      (succeeded(parser.parseOptionalKeyword("where")) && parser.parseOperand(condition.emplace_back())) || parser.parseKeyword("else"))
    return failure();
  Attribute otherwise;
  if (parser.parseAttribute(otherwise) || parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  result.addAttribute("otherwise", otherwise);
  result.addAttribute("coefficients", b.getDenseI64ArrayAttr(coefficients));
  result.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr({1, int32_t(origin.size()), int32_t(rest.size()), int32_t(condition.size())}));
  result.addTypes(type);
  Type i32 = b.getI32Type();
  return failure(parser.resolveOperand(source, type, result.operands) || parser.resolveOperands(origin, i32, result.operands) ||
                 parser.resolveOperands(rest, i32, result.operands) ||
                 parser.resolveOperands(condition, withElement(type, b.getI1Type()), result.operands));
}

void MaskOp::print(OpAsmPrinter &p) {
  p << ' ' << getSource() << " at(" << getOrigin() << ") planes [";
  llvm::interleaveComma(getCoefficients(), p);
  p << "] rest(" << getRest() << ")";
  if (getCondition())
    p << " where " << getCondition();
  p << " else ";
  p.printAttribute(getOtherwise());
  p.printOptionalAttrDict((*this)->getAttrs(), {"otherwise", "coefficients", "operandSegmentSizes"});
  p << " : " << getSource().getType();
}

LogicalResult ExtremesOp::verify() {
  auto memory = cast<MemRefType>(getMemory().getType());
  if (int64_t(getLow().size()) != memory.getRank() + getAmong())
    return emitOpError() << "memory of " << memory.getRank() << " dimensions has " << getLow().size() << " places a corner";
  Builder b(getContext());
  Type element = memory.getElementType(), expected = isa<IntegerType>(element) ? Type(b.getI64Type()) : element.isF64() ? element : Type(b.getF32Type());
  if (getLeast().getType() != expected || getMost().getType() != expected)
    return emitOpError() << "bounds elements of " << element << " by " << getLeast().getType() << "; expected " << expected;
  if (bool(getAlong()) != bool(getBlocks()) || (getAlong() && (*getAlong() >= uint64_t(memory.getRank()) || *getBlocks() < 1)))
    return emitOpError() << "along and blocks go together: a dimension of " << memory << ", and a number of elements from 1";
  return success();
}

LogicalResult KeptOp::verifyRegions() {
  Block &block = getClassify().front();
  if (block.getNumArguments() != 1 || !block.getArgument(0).getType().isInteger(32))
    return emitOpError() << "has a region of one argument, i32: the coordinate of a tile";
  if (int64_t(getStep()) < 1)
    return emitOpError() << "steps by " << int64_t(getStep()) << "; expected 1 or more";
  return success();
}

Value SkipOp::expand(OpBuilder &b, Location loc, Value at, Value from, Value by) {
  Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, from);
  return arith::SelectOp::create(b, loc, below, at, arith::AddIOp::create(b, loc, at, by));
}

LogicalResult AttemptOp::verifyRegions() {
  auto propose = dyn_cast<ProposeOp>(getQuick().front().getTerminator());
  auto yield = dyn_cast<YieldOp>(getExact().front().getTerminator());
  if (!propose || !yield)
    return emitOpError() << "the quick region ends in tile.propose, the exact one in tile.yield";
  if (propose.getValues().getTypes() != getResultTypes() || yield.getValues().getTypes() != getResultTypes())
    return emitOpError() << "both regions must give the types of the results";
  return success();
}

void AttemptOp::takeExactWay() {
  Block &exact = getExact().front();
  auto yield = cast<YieldOp>(exact.getTerminator());
  (*this)->replaceAllUsesWith(yield.getValues());
  yield.erase();
  (*this)->getBlock()->getOperations().splice((*this)->getIterator(), exact.getOperations());
  erase();
}

} // namespace tw::tile
