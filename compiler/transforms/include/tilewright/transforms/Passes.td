// The passes on tile modules, one .cpp each. Every one runs alone: tilewright opt -tile-linear-forms x.mlir
#ifndef TILEWRIGHT_TRANSFORMS_PASSES
#define TILEWRIGHT_TRANSFORMS_PASSES
include "mlir/Pass/PassBase.td"

def FormMasks : Pass<"tile-form-masks", "::mlir::func::FuncOp"> {
  let summary = "turn selects between a value and a constant under affine conditions into tile.mask";
  let description = [{
    A condition that is a conjunction of comparisons of integer linear forms (coordinates, extents, integer scalars) becomes half
    planes; what is none is split off as a select under the mask. Nested masks with one constant become one. Sets
    `tile.limit` on the function: half planes are right in i32 while every extent and every integer scalar of the kernel is at
    most that, which a launch must check.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tw::tile::TileDialect"];
}

def NeutralMasks : Pass<"tile-neutral-masks", "::mlir::func::FuncOp"> {
  let summary = "make every reduction see its neutral element past the end of the axis it reduces";
  let description = [{
    Proved by abstract evaluation of the elements past the end. Masks that a proof needs get the half plane x ≤ extent - 1, unless
    theirs imply it; where no mask suffices, one with the neutral constant is put at the reduction's input.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tw::tile::TileDialect"];
}

def BoundFolds : Pass<"tile-bound-folds", "::mlir::func::FuncOp"> {
  let summary = "visit only the tiles that masks leave, and drop the masks where they exclude nothing";
  let description = [{
    A mask bounds the fold if it is proved that a tile which it excludes wholly changes no carried value, whatever other masks do.
    The loop becomes up to three in ascending order, marked `tile.range = "partial" | "full"`; the full one has no
    masks and lies before the end of the axis. A fold without masks is left as it is.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "remark on every mask: does it bound the fold, and if not, why">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::tile::TileDialect"];
}

#endif
