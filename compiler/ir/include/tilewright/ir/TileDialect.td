// The tile dialect: one fold program with its widths bound. See docs/TileDialect.md.
#ifndef TILEWRIGHT_TILE_DIALECT
#define TILEWRIGHT_TILE_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tw::tile";
  let summary = "folds over tiles, with widths bound and nothing said about a processor";
  let description = [{
    A tile is a builtin static tensor whose encoding names its axes:
    `tensor<64x128xf32, #tile.axes<"q", "k">>`. Elementwise work is `arith` and `math`
    on such tensors, the fold is an `scf.for` with carried values, tensors in global memory are
    `memref`s with dynamic strides. A kernel is a `func.func` with a `tile.kernel` attribute.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

class Tile_Attr<string n, string m, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, n, traits> { let mnemonic = m; }

def Tile_AxesAttr : Tile_Attr<"Axes", "axes", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "the axis of each dimension of a tile, by name";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let assemblyFormat = "`<` $names `>`";
  let extraClassDeclaration = [{
    /// The dimension that runs along `axis`, or -1.
    int find(::mlir::StringRef axis) const;
  }];
}

def Tile_Role : I32EnumAttr<"Role", "what an axis is to the kernel", [
    I32EnumAttrCase<"Free", 0, "free">,     // one value an item
    I32EnumAttrCase<"Block", 1, "block">,   // an item owns one tile of it
    I32EnumAttrCase<"Fold", 2, "fold">,     // walked tile by tile
    I32EnumAttrCase<"Inner", 3, "inner">]> { // whole inside a tile
  let cppNamespace = "::tw::tile";
  let genSpecializedAttr = 0;
}

def Tile_AxisAttr : Tile_Attr<"Axis", "axis"> {
  let summary = "an axis of a kernel, its role, and the width of a tile along it (1 for a free axis)";
  let parameters = (ins "::mlir::StringAttr":$name, EnumParameter<Tile_Role>:$role, "int64_t":$width);
  let assemblyFormat = "`<` $name `,` $role `,` $width `>`";
  let genVerifyDecl = 1;
}

def Tile_KernelAttr : Tile_Attr<"Kernel", "kernel"> {
  let summary = "marks a function as a kernel: the program of one item";
  let description = [{
    At most one axis has the role `block` and at most one `fold`. Arguments of the function carry
    `tile.tensor = "Q"` (a memref), `tile.extent = "q"` (i32, the length of an axis),
    `tile.scalar = "cap"` (with `tile.positive` where promised) or `tile.item = "q"` (i32: the
    coordinate of a free axis, or the first coordinate of the item's tile of the block axis).
  }];
  let parameters = (ins ArrayRefParameter<"::tw::tile::AxisAttr">:$axes,
                        DefaultValuedParameter<"bool", "false">:$ordered);
  let assemblyFormat = "`<` `[` $axes `]` (`,` `ordered` `=` $ordered^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The axis of that name, or null.
    ::tw::tile::AxisAttr find(::mlir::StringRef axis) const;
    /// The axis with that role, or null (for block and fold).
    ::tw::tile::AxisAttr withRole(::tw::tile::Role role) const;
  }];
}

#endif
