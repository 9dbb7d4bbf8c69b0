// The tile dialect in C++.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tilewright/ir/TileDialect.h.inc"
#include "tilewright/ir/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "tilewright/ir/TileAttrs.h.inc"
#define GET_OP_CLASSES
#include "tilewright/ir/TileOps.h.inc"

namespace tw::tile {

/// The names of the axes along which a value runs; empty for a scalar.
llvm::ArrayRef<mlir::StringAttr> axesOf(mlir::Type type);
inline llvm::ArrayRef<mlir::StringAttr> axesOf(mlir::Value value) { return axesOf(value.getType()); }
/// Does the value run along the axis?
bool runsAlong(mlir::Type type, llvm::StringRef axis);
inline bool runsAlong(mlir::Value value, llvm::StringRef axis) { return runsAlong(value.getType(), axis); }
/// The type of a value over these axes: a tile, or `element` itself over none.
mlir::Type tileType(mlir::Type element, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::StringAttr> axes);
/// The same axes and shape with another element type.
mlir::Type withElement(mlir::Type type, mlir::Type element);
mlir::Type elementOf(mlir::Type type);

/// The kernel attribute of a function, or null.
KernelAttr kernelOf(mlir::FunctionOpInterface function);
/// The argument of a kernel marked `tile.<kind> = name` (kind: tensor, extent, scalar, item), or null.
mlir::Value kernelArgument(mlir::FunctionOpInterface function, llvm::StringRef kind, llvm::StringRef name);

/// Does a mask make items visit different tiles of the fold for different tiles of the block axis?
bool boundsDependOnBlock(mlir::FunctionOpInterface kernel);
/// Does a mask keep more of the fold the further the item's tile of the block axis lies?
bool growsWithBlock(mlir::FunctionOpInterface kernel);

/// Does the mask do more than end axes of its tile? `lengthOf` names the axis that a value is the length of; empty for others.
bool hidesMoreThanEnds(MaskOp mask, llvm::function_ref<llvm::StringRef(mlir::Value)> lengthOf);

/// On an `scf.if` over a fold's ways: the careful one, and the usual one.
/// Of a load whose last offset is the coordinate that a fold visits, and nothing else: a multiple of the axis' width, whatever becomes of the loop.
inline constexpr llvm::StringLiteral alignedAttrName = "tile.aligned";
inline constexpr llvm::StringLiteral carefulAttrName = "tile.careful";
/// What an attribute dictionary of a kernel's argument is called.
inline constexpr llvm::StringLiteral kernelAttrName = "tile.kernel";
inline constexpr llvm::StringLiteral tensorAttrName = "tile.tensor";
inline constexpr llvm::StringLiteral extentAttrName = "tile.extent";
inline constexpr llvm::StringLiteral scalarAttrName = "tile.scalar";
inline constexpr llvm::StringLiteral itemAttrName = "tile.item";
inline constexpr llvm::StringLiteral positiveAttrName = "tile.positive";

} // namespace tw::tile
