// The tile dialect: attributes, kernels, and the names of axes.
#include "tilewright/ir/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;

#include "tilewright/ir/TileDialect.cpp.inc"
#include "tilewright/ir/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "tilewright/ir/TileAttrs.cpp.inc"

namespace tw::tile {
namespace {
/// Prints axes once, as `#q_k`.
struct AxesAlias : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    auto axes = dyn_cast<AxesAttr>(attribute);
    if (!axes)
      return AliasResult::NoAlias;
    llvm::interleave(axes.getNames(), os, [&](StringAttr name) { os << name.getValue(); }, "_");
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilewright/ir/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/ir/TileOps.cpp.inc"
      >();
  addInterfaces<AxesAlias>();
}

//===--- attributes ------------------------------------------------------------------------------===//

int AxesAttr::find(StringRef axis) const {
  for (auto [i, name] : llvm::enumerate(getNames()))
    if (name.getValue() == axis)
      return int(i);
  return -1;
}

LogicalResult AxesAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> error) const {
  if (shape.size() != getNames().size())
    return error() << "a tile of " << shape.size() << " dimensions names " << getNames().size() << " axes";
  llvm::StringSet<> seen;
  for (StringAttr name : getNames())
    if (!seen.insert(name.getValue()).second)
      return error() << "axis \"" << name.getValue() << "\" stands twice in one tile";
  return success();
}

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> error, StringAttr name, Role role, int64_t width) {
  if (width < 1 || (role == Role::Free && width != 1))
    return error() << "axis \"" << name.getValue() << "\" is " << stringifyRole(role) << " with width " << width
                   << "; expected " << (role == Role::Free ? "1" : "at least 1");
  return success();
}

LogicalResult KernelAttr::verify(function_ref<InFlightDiagnostic()> error, ArrayRef<AxisAttr> axes, bool) {
  llvm::StringMap<AxisAttr> seen;
  AxisAttr first[4];
  for (AxisAttr axis : axes) {
    if (!seen.try_emplace(axis.getName().getValue(), axis).second)
      return error() << "axis \"" << axis.getName().getValue() << "\" is listed twice";
    AxisAttr &other = first[unsigned(axis.getRole())];
    if ((axis.getRole() == Role::Block || axis.getRole() == Role::Fold) && other)
      return error() << "axes \"" << other.getName().getValue() << "\" and \"" << axis.getName().getValue()
                     << "\" are both " << stringifyRole(axis.getRole()) << "; a kernel has one";
    other = axis;
  }
  return success();
}

AxisAttr KernelAttr::find(StringRef axis) const {
  for (AxisAttr a : getAxes())
    if (a.getName().getValue() == axis)
      return a;
  return {};
}

AxisAttr KernelAttr::withRole(Role role) const {
  for (AxisAttr a : getAxes())
    if (a.getRole() == role)
      return a;
  return {};
}

//===--- kernels ---------------------------------------------------------------------------------===//

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kernelAttrName)
    return success();
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || !isa<KernelAttr>(attribute.getValue()))
    return op->emitOpError() << "\"" << kernelAttrName << "\" must be a #tile.kernel on a func.func";
  if (function.getNumResults())
    return op->emitOpError() << "a kernel returns nothing: it stores";
  auto kernel = cast<KernelAttr>(attribute.getValue());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    int kinds = 0;
    for (StringRef kind : {tensorAttrName, extentAttrName, scalarAttrName, itemAttrName}) {
      auto name = function.getArgAttrOfType<StringAttr>(i, kind);
      if (!name)
        continue;
      ++kinds;
      Type type = function.getArgument(i).getType();
      bool memory = kind == tensorAttrName, coordinate = kind == extentAttrName || kind == itemAttrName;
      if (memory != isa<MemRefType>(type) || (coordinate && !type.isInteger(32)))
        return op->emitOpError() << "argument " << i << " (\"" << name.getValue() << "\") is " << type << "; expected "
                                 << (memory ? "a memref" : coordinate ? "i32" : "a scalar");
      if (coordinate && !kernel.find(name.getValue()))
        return op->emitOpError() << "argument " << i << " belongs to axis \"" << name.getValue() << "\", which the kernel does not list";
    }
    if (kinds != 1)
      return op->emitOpError() << "argument " << i << " needs exactly one of tile.tensor, tile.extent, tile.scalar, tile.item";
  }
  return success();
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned i, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == positiveAttrName ? isa<UnitAttr>(attribute.getValue()) : isa<StringAttr>(attribute.getValue()))
    return success();
  return op->emitOpError() << "argument " << i << ": " << name << " must be " << (name == positiveAttrName ? "a unit" : "a string") << " attribute";
}

KernelAttr kernelOf(FunctionOpInterface function) { return function->getAttrOfType<KernelAttr>(kernelAttrName); }

Value kernelArgument(FunctionOpInterface function, StringRef kind, StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto given = function.getArgAttrOfType<StringAttr>(i, ("tile." + kind).str()); given && given.getValue() == name)
      return function.getArgument(i);
  return {};
}

//===--- axes of values --------------------------------------------------------------------------===//

ArrayRef<StringAttr> axesOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    if (auto axes = dyn_cast_or_null<AxesAttr>(tensor.getEncoding()))
      return axes.getNames();
  return {};
}

bool runsAlong(Type type, StringRef axis) {
  return llvm::any_of(axesOf(type), [&](StringAttr name) { return name.getValue() == axis; });
}

Type tileType(Type element, ArrayRef<int64_t> shape, ArrayRef<StringAttr> axes) {
  if (axes.empty())
    return element;
  return RankedTensorType::get(shape, element, AxesAttr::get(element.getContext(), axes));
}

Type elementOf(Type type) { return getElementTypeOrSelf(type); }

Type withElement(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding());
  return element;
}

//===--- masks -----------------------------------------------------------------------------------===//

/// Whether a plane of a mask satisfies `accept(coefficient of the fold axis, of the block axis)`.
static bool anyPlane(FunctionOpInterface kernel, llvm::function_ref<bool(int64_t, int64_t)> accept) {
  auto axes = kernelOf(kernel);
  auto foldAxis = axes.withRole(Role::Fold), blockAxis = axes.withRole(Role::Block);
  bool found = false;
  kernel->walk([&](MaskOp mask) {
    auto names = cast<AxesAttr>(mask.getSource().getType().getEncoding());
    int fold = foldAxis ? names.find(foldAxis.getName().getValue()) : -1, block = blockAxis ? names.find(blockAxis.getName().getValue()) : -1;
    std::size_t rank = names.getNames().size();
    for (std::size_t plane = 0; fold >= 0 && block >= 0 && plane < mask.getRest().size(); ++plane)
      found |= accept(mask.getCoefficients()[plane * rank + unsigned(fold)], mask.getCoefficients()[plane * rank + unsigned(block)]);
  });
  return found;
}

bool hidesMoreThanEnds(MaskOp mask, llvm::function_ref<StringRef(Value)> lengthOf) {
  if (mask.getCondition())
    return true;
  auto axes = axesOf(mask.getResult());
  for (auto [plane, rest] : llvm::enumerate(mask.getRest())) {
    auto difference = rest.getDefiningOp<arith::SubIOp>();
    const StringRef axis = difference ? lengthOf(difference.getRhs()) : StringRef();
    bool ends = !axis.empty() && matchPattern(difference.getLhs(), m_One());
    for (auto [i, name] : llvm::enumerate(axes))
      ends &= mask.getCoefficients()[plane * axes.size() + i] == (name.getValue() == axis ? 1 : 0);
    if (!ends)
      return true;
  }
  return false;
}

bool boundsDependOnBlock(FunctionOpInterface kernel) {
  const bool lists = kernel->walk([](KeptOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return lists || anyPlane(kernel, [](int64_t fold, int64_t block) { return fold && block; });
}

bool growsWithBlock(FunctionOpInterface kernel) {
  return anyPlane(kernel, [](int64_t fold, int64_t block) { return fold > 0 && block < 0; });
}

} // namespace tw::tile
