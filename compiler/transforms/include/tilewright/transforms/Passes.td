// The passes on tile modules, one .cpp each. Every one runs alone: tilewright opt -tile-linear-forms x.mlir
#ifndef TILEWRIGHT_TRANSFORMS_PASSES
#define TILEWRIGHT_TRANSFORMS_PASSES
include "mlir/Pass/PassBase.td"

def FormMasks : Pass<"tile-form-masks", "::mlir::func::FuncOp"> {
  let summary = "turn selects between a value and a constant under affine conditions into tile.mask";
  let dependentDialects = ["::tw::tile::TileDialect"];
}

#endif
