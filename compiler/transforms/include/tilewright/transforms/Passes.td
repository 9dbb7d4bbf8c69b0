// The passes on tile modules, one .cpp each. Every one runs alone: tilewright opt -tile-linear-forms x.mlir
#ifndef TILEWRIGHT_TRANSFORMS_PASSES
#define TILEWRIGHT_TRANSFORMS_PASSES
include "mlir/Pass/PassBase.td"

def FormMasks : Pass<"tile-form-masks", "::mlir::func::FuncOp"> {
  let summary = "turn selects between a value and a constant under conditions on coordinates into tile.mask";
  let description = [{
    What is a conjunction of comparisons of integer linear forms (coordinates, extents, integer scalars) becomes half
    planes; other conditions on coordinates, scalars and loads become the mask's condition; what depends on computed values is split
    off as a select under the mask. Nested masks with one constant become one. Sets
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

def ClassifyTiles : Pass<"tile-classify-tiles", "::mlir::func::FuncOp"> {
  let summary = "list the tiles that masks with conditions leave, partial ones apart from full ones, and visit those";
  let description = [{
    Where a mask of a fold has a condition, ranges of what it compares (interval arithmetic over the tile's coordinates and over the elements of
    tables) tell, as scalar code in a tile.kept, whether a tile is empty, full or partial. The loop becomes two over its list, marked
    `tile.range = "full"` and `tile.range = "partial"`; the full one has no masks. An ordered fold becomes one. As in tile-bound-folds a mask
    skips tiles only where it is proved that this changes no carried value, and half planes bound what is listed. A fold whose masks are half planes
    alone is left to tile-bound-folds, and so is one in which no range is known.
  }];
  let options = [
    Option<"mostElements", "most-elements", "int64_t", "4096", "look at no more elements of a table for one tile">,
    Option<"all", "all", "bool", "false", "list the tiles of every fold with masks">,
    Option<"perItem", "per-item", "bool", "false", "leave folds inside of other loops alone: list an item's tiles once">,
    Option<"explain", "explain", "bool", "false", "remark on every mask: does it skip tiles, and if not, why">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::tw::tile::TileDialect"];
}

def BoundFolds : Pass<"tile-bound-folds", "::mlir::func::FuncOp"> {
  let summary = "visit only the tiles that masks leave, and drop the masks where they exclude nothing";
  let description = [{
    A mask bounds the fold if it is proved that a tile which it excludes wholly changes no carried value, whatever other masks do.
    The loop becomes two, marked `tile.range = "full"` and `tile.range = "partial"`; the full one has no
    masks and lies before the end of the axis; the partial one visits what lies on both sides of it (`tile.skip`). An ordered
    fold becomes up to three in ascending order. A fold without masks is left as it is.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "remark on every mask: does it bound the fold, and if not, why">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::tile::TileDialect"];
}

def LinearForms : Pass<"tile-linear-forms", "::mlir::func::FuncOp"> {
  let summary = "move scales and offsets through maxima, masks, sums and into exponents, and out of the fold";
  let description = [{
    Every float value is taken as core · a + b, where a and b run along at most one axis each: products with and sums of
    scalars, rows and columns change a and b alone. A maximum passes a positive a and a b that do not run along the
    reduced axis; a sum passes a; a mask with -inf passes a positive a and a finite b, with 0 a finite a. exp(x) becomes exp2 of one multiply-add, log
    becomes log2 · ln 2, a coordinate used as a number becomes a constant ramp plus a row. A carried value that becomes max(itself, x · u), u > 0 the same
    in every step, is carried in units of u. Scalar and row code that does not vary in the fold stands before it.

    Rounding may change. Nothing moves that could turn a masked element or an empty row into NaN.

    With `fold-exponents=false`, exp(core · a + b) becomes exp2((core · a + b) · log2 e): one multiplication more for each
    element, and right where b · log2 e overflows, as in a row whose scores all are near the lowest number.
  }];
  let options = [Option<"foldExponents", "fold-exponents", "bool", "true", "put log2 e into the factors of an exponent">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::tw::tile::TileDialect"];
}

def AssignStages : Pass<"tile-assign-stages", "::mlir::func::FuncOp"> {
  let summary = "tell dots that are accumulated into carried values from those that are not; name the kinds of carried values";
  let description = [{
    On every fold: stage 1 for a dot whose sum with `argument` or `argument · row` is yielded, stage 0 for the others; of several
    dots in one such sum each is added to what the one before it has left;
    `tile.carried` lists for each carried value
    - "accumulator": such a sum,
    - "sum": `argument · row` plus a sum along the fold axis, which may be kept in parts until the fold ends,
    - "value": anything else.
    The first two start at 0, and nothing else reads their argument.
  }];
  let dependentDialects = ["::tw::tile::TileDialect"];
}

def AbsoluteTangents : Pass<"tile-absolute-tangents", "::mlir::func::FuncOp"> {
  let summary = "compute tanh by an exponential and a reciprocal where nothing but its absolute error counts";
  let description = [{
    Where every use of a tile of f32 tanh ends in an exponential, or in a sum with a logarithm, after nothing but sums, maxima, masks and products with scalars,
    tanh(x) becomes 2 u + 1 with u = 1 / (-1 - exp2(2 log2 e · x)): off by up to 2^-21 whatever its size, where `math.tanh` promises 2^-20 of its size. Masks and
    maxima take u, exponents the factor and the sum.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::tw::tile::TileDialect"];
}

def HoldStabiliser : Pass<"tile-hold-stabiliser", "::mlir::func::FuncOp"> {
  let summary = "give the steps of a fold a quick way that leaves its stabilisers as they are";
  let description = [{
    In folds without partial tiles, the step becomes a tile.attempt. Its quick way takes every carried value that would become a
    tile.stabiliser as it was, with what follows: the search for a maximum and the rescaling of accumulators vanish. Its guard
    holds where the held values are finite and every sum of exponentials that depend on them stays under a limit (`limit`, or 2^15
    for the left operand of a dot with an f16 tile, else 10^18). What both ways need stands before the attempt.

    A fold is left as it is where that guard would not bound all that the held values reach, or where nothing would be won.
    Needs the stages and kinds of tile-assign-stages.
  }];
  let options = [
    Option<"limit", "limit", "double", "0", "bound of the guarded sums; 0 stands for that of the element type">,
    Option<"explain", "explain", "bool", "false", "say as a remark why a fold is left as it is">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::tw::tile::TileDialect"];
}

def DropStabilisers : Pass<"tile-drop-stabilisers", "::mlir::func::FuncOp"> {
  let summary = "replace every tile.stabiliser by its operand, once nobody asks for the promise any more";
}

def NestFolds : Pass<"tile-nest-folds", "::mlir::func::FuncOp"> {
  let summary = "walk inner axes that are too wide for SRAM in chunks: dots over them become folds inside the step";
  let description = [{
    For every axis given that dots contract, an inner one whose width its chunks divide: the dots of a block over that axis become one `scf.for` over chunks, marked
    `tile.nested = "d"`, that carries their sums. What their operands are made of, element by element from loads, stands inside it; everything else
    that they need stands before it, and the rest of the block behind it. `tile.stages` says how many chunks are on their way at a time.
  }];
  let options = [
    ListOption<"axes", "axes", "std::string", "the axes to walk in chunks">,
    ListOption<"widths", "widths", "int64_t", "the width of a chunk, for each of the axes">,
    ListOption<"stages", "stages", "int64_t", "the slots of the ring of chunks, for each of the axes">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::tw::tile::TileDialect"];
}

def SplitPasses : Pass<"tile-split-passes", "::mlir::func::FuncOp"> {
  let summary = "compute what runs along an inner axis that is too wide for registers in passes, a part of the axis in each";
  let description = [{
    The whole kernel becomes the body of an `scf.for` over parts of the axis, marked `tile.pass = "e"`. What does not run along it is
    computed in every pass anew, and stored in every pass as the same; lists of tiles alone are made once, before the passes. Nothing may reduce over
    the axis; if dots contract it, it is left as it is.
  }];
  let options = [Option<"axis", "axis", "std::string", "", "the axis">, Option<"width", "width", "int64_t", "0", "elements of a part">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::tile::TileDialect"];
}

#endif
