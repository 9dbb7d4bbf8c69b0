// Operations of the tile dialect.
#ifndef TILEWRIGHT_TILE_OPS
#define TILEWRIGHT_TILE_OPS

include "tilewright/ir/TileDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string m, list<Trait> traits = []> : Op<Tile_Dialect, m, traits>;

// A tile is a static tensor with an axes encoding; a value over no axes is a plain scalar.
def Tile_Tile : StaticShapeTensorOf<[AnySignlessInteger, AnyFloat]>;
def Tile_Value : AnyTypeOf<[Tile_Tile, AnySignlessInteger, AnyFloat]>;
def Tile_IntegerValue : AnyTypeOf<[TensorOf<[I32, I64]>, I32, I64]>;

//===--- memory ----------------------------------------------------------------------------------===//

// Reads of a kernel's inputs: a kernel never stores to a tensor that it loads, so they are pure.
def Tile_LoadOp : Tile_Op<"load", [Pure]> {
  let summary = "reads a rectangular tile of a tensor; elements outside the tensor read as 0";
  let description = [{
    Dimension m of the memory is read from `offsets[m]` on: along dimension `dims[m]` of the tile,
    or at that one place where `dims[m]` is -1. A tile dimension stands at most once in `dims`;
    one that does not stand there is not allowed (broadcast afterwards).

    ```mlir
    %k = tile.load %K[%b, %hk, %k0, %zero] dims [-1, -1, 0, 1]
       : memref<?x?x?x?xbf16, strided<[?, ?, ?, ?], offset: ?>> -> tensor<64x128xbf16, #tile.axes<"k", "d">>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Variadic<I32>:$offsets, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$memory `[` $offsets `]` `dims` $dims attr-dict `:` type($memory) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure]> {
  let summary = "reads a tensor at computed places; a place outside the tensor reads as 0";
  let description = [{
    One index for each dimension of the memory: a scalar or an integer tile. The result runs along
    the union of the indices' axes. With `among` the result says instead whether a number is in a list: the indices are
    those of all dimensions but the last, then the number, then how many elements of the last dimension are looked through.
    ```mlir
    %x = tile.gather %table[%row, %bucket] : memref<?x?xf32, …>, (i32, tensor<64x64xi32, #tile.axes<"q", "k">>) -> tensor<64x64xf32, #tile.axes<"q", "k">>
    %y = tile.gather %list[%row, %block, %count] {among} : memref<?x?xi32, …>, (i32, tensor<64xi32, #tile.axes<"k">>, i32) -> tensor<64xi1, #tile.axes<"k">>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Variadic<Tile_IntegerValue>:$indices, UnitAttr:$among);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$memory `[` $indices `]` attr-dict `:` type($memory) `,` `(` type($indices) `)` `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile to a tensor; elements outside the tensor are dropped";
  let description = [{
    `offsets` and `dims` as in `tile.load`; the element types agree.
  }];
  let arguments = (ins Tile_Value:$value, AnyMemRef:$memory, Variadic<I32>:$offsets, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$value `,` $memory `[` $offsets `]` `dims` $dims attr-dict `:` type($value) `,` type($memory)";
  let hasVerifier = 1;
}

def Tile_AccumulateOp : Tile_Op<"accumulate", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds a tile to a tensor; elements outside the tensor are dropped";
  let description = [{
    As `tile.store`, of floats that are not rounded on the way. Items add in no fixed order, and what they add to is 0 before the launch. It
    stands in a fold's step, for a sum over the block axis along the fold axis.
    ```mlir
    tile.accumulate %part, %sums[%b, %h, %q0, %zero] dims [-1, -1, 0, 1] : tensor<64x128xf32, #tile.axes<"q", "d">>, memref<?x?x?x?xf32, strided<[?, ?, ?, ?], offset: ?>>
    ```
  }];
  let arguments = (ins Tile_Value:$value, AnyMemRef:$memory, Variadic<I32>:$offsets, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$value `,` $memory `[` $offsets `]` `dims` $dims attr-dict `:` type($value) `,` type($memory)";
  let hasVerifier = 1;
}

//===--- along axes ------------------------------------------------------------------------------===//

def Tile_PositionsOp : Tile_Op<"positions", [Pure]> {
  let summary = "the coordinates along one axis: start, start + 1, …";
  let description = [{
    ```mlir
    %k = tile.positions %k0 : tensor<64xi32, #tile.axes<"k">>
    ```
  }];
  let arguments = (ins I32:$start);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$start attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats a value along axes that it lacks; dimensions are matched by axis name";
  let description = [{
    Also reorders dimensions: the names say which is which.
    ```mlir
    %y = tile.broadcast %row : tensor<64xf32, #tile.axes<"q">> -> tensor<64x64xf32, #tile.axes<"q", "k">>
    ```
  }];
  let arguments = (ins Tile_Value:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_Combine : I32EnumAttr<"Combine", "how a reduction combines two elements", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Sum", 2, "sum">]> {
  let cppNamespace = "::tw::tile";
  let genSpecializedAttr = 0;
}
def Tile_CombineAttr : EnumAttr<Tile_Dialect, Tile_Combine, "combine"> { let assemblyFormat = "$value"; }

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines all elements along one axis; max and min propagate NaN";
  let description = [{
    Of integers too. An element type of 16-bit float is not allowed: extend it first.
    ```mlir
    %m = tile.reduce max %s over "k" : tensor<64x64xf32, #tile.axes<"q", "k">> -> tensor<64xf32, #tile.axes<"q">>
    ```
  }];
  let arguments = (ins Tile_CombineAttr:$kind, Tile_Tile:$source, StrAttr:$axis);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "`` $kind $source `over` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure]> {
  let summary = "contracts one axis of two tiles, accumulating in f32 (f64 if an operand is f64)";
  let description = [{
    The operands run along two axes each, the result along the two that are left, the first
    operand's first. Element types may differ. A product whose left element is exactly 0 contributes
    nothing, whatever the right one holds. `stage` is set by `tile-assign-stages`: 1 for a dot that is
    accumulated into a carried value, 2 for one that contracts the block axis, else 0.
    ```mlir
    %s = tile.dot %q, %k over "d" : tensor<64x128xbf16, #tile.axes<"q", "d">>, tensor<64x128xbf16, #tile.axes<"k", "d">>
       -> tensor<64x64xf32, #tile.axes<"q", "k">>
    ```
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, StrAttr:$axis, OptionalAttr<I32Attr>:$stage);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs `over` $axis (`stage` $stage^)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

//===--- masks and promises ----------------------------------------------------------------------===//

def Tile_MaskOp : Tile_Op<"mask", [Pure, AttrSizedOperandSegments, AllTypesMatch<["source", "result"]>]> {
  let summary = "keeps the elements inside a conjunction of half planes, and where a condition holds; the others become a constant";
  let description = [{
    Dimension j of the tile stands at coordinates `origin[j]`, `origin[j]` + 1, …. Plane i keeps
    the points x with  Σ_j coefficients[i · rank + j] · x_j + rest[i] ≤ 0. The condition, if there is one, is what
    half planes cannot say: a disjunction, a table. It is made of coordinates, scalars and loads alone.
    ```mlir
    // keeps k ≤ q + shift, that is  -q + k - shift ≤ 0
    %t = tile.mask %s at(%q0, %k0) planes [-1, 1] rest(%minusShift) else 0xFF800000 : tensor<64x64xf32, #tile.axes<"q", "k">>
    %u = tile.mask %s at(%q0, %k0) planes [] rest() where %same else 0xFF800000 : tensor<64x64xf32, #tile.axes<"q", "k">>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, Variadic<I32>:$origin, DenseI64ArrayAttr:$coefficients,
                       Variadic<I32>:$rest, Optional<TensorOf<[I1]>>:$condition, TypedAttrInterface:$otherwise);
  let results = (outs Tile_Tile:$result);
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
}

//===--- the tiles that a fold visits ------------------------------------------------------------===//

def Tile_List : Type<MemRefRankOf<[I32], [1]>.predicate, "a list of coordinates">,
    BuildableType<"::mlir::MemRefType::get({::mlir::ShapedType::kDynamic}, $_builder.getI32Type())">;

def Tile_KeptOp : Tile_Op<"kept", [NoMemoryEffect, SingleBlock]> {
  let summary = "lists the tiles in a range which masks keep: those kept in part, and those kept whole";
  let description = [{
    The region tells of the tile at its argument, for each mask, whether the mask excludes all of it and whether it keeps all
    of it. A tile is empty if one mask excludes it, full if all masks keep all of it, else partial. Of the tiles at `begin`,
    `begin` + `step`, … below `end`, empty ones are left out, partial ones are places [0, `partial`) of the list, in ascending order, full ones
    places [`full`, `all`), in any order. Made by `tile-classify-tiles`.
    ```mlir
    %list, %partial, %full, %all = tile.kept %lo to %hi step 64 {
    ^bb0(%k: i32):
      …
      tile.classes empty(%e0, %e1) full(%f0, %f1)
    }
    scf.for %i = %full to %all step %one {
      %k0 = tile.kept_at %list[%i]
    ```
  }];
  let arguments = (ins I32:$begin, I32:$end, I64Attr:$step);
  let results = (outs Tile_List:$list, I32:$partial, I32:$full, I32:$all);
  let regions = (region SizedRegion<1>:$classify);
  let assemblyFormat = "$begin `to` $end `step` $step $classify attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The coordinate of the tile that is looked at.
    ::mlir::BlockArgument getTile() { return getClassify().front().getArgument(0); }
  }];
}
def Tile_ClassesOp : Tile_Op<"classes", [Pure, Terminator, SameVariadicOperandSize, HasParent<"KeptOp">]> {
  let summary = "ends the region of tile.kept: for each mask, is the tile empty, is it full";
  let arguments = (ins Variadic<I1>:$empty, Variadic<I1>:$full);
  let assemblyFormat = "`empty` `(` $empty `)` `full` `(` $full `)` attr-dict";
}
def Tile_KeptAtOp : Tile_Op<"kept_at", [Pure]> {
  let summary = "the coordinate of a tile in a list of tile.kept";
  let arguments = (ins Tile_List:$list, I32:$at);
  let results = (outs I32:$result);
  let assemblyFormat = "$list `[` $at `]` attr-dict";
}

def Tile_ExtremesOp : Tile_Op<"extremes", [Pure, SameVariadicOperandSize]> {
  let summary = "numbers between which a tensor's elements in a box lie; a place outside the tensor holds 0";
  let description = [{
    The box holds the places from `low` to `high`, both ends included, in every dimension; none of them is above the other. Integers
    are widened to i64, floats to f32 (f64 stays). A NaN in the box makes both results NaN. With `blocks = n` along dimension `along`
    the numbers may be of all blocks of n elements that the box touches, which are cheaper to know.
    ```mlir
    %least, %most = tile.extremes %doc[%b, %k] to [%b, %last] : memref<?x?xi32, …> -> i64
    ```
    With `among` they are 1 or 0 and speak of `tile.gather` with `among` at any of these places: of each of the numbers from `low` to `high` in each
    of the lists. They are exact where the numbers are 64 at most; of more the least is 0.
  }];
  let arguments = (ins AnyMemRef:$memory, Variadic<I64>:$low, Variadic<I64>:$high, OptionalAttr<I64Attr>:$along, OptionalAttr<I64Attr>:$blocks, UnitAttr:$among);
  let results = (outs AnyTypeOf<[I64, F32, F64]>:$least, AnyTypeOf<[I64, F32, F64]>:$most);
  let assemblyFormat = "$memory `[` $low `]` `to` `[` $high `]` attr-dict `:` type($memory) `->` type($least) `,` type($most)";
  let hasVerifier = 1;
}

def Tile_SkipOp : Tile_Op<"skip", [Pure]> {
  let summary = "the coordinate of a walk that leaves out [from, from + by): `at` below `from`, `at` + `by` from there on";
  let description = [{
    So one loop, with one body, visits the tiles on both sides of a fold's full ones. `tile-bound-folds` makes it as the
    only reader of the loop's induction variable.
    ```mlir
    scf.for %j = %begin to %left step %c16 {
      %k0 = tile.skip %j, %fullBegin, %full
    ```
  }];
  let arguments = (ins I32:$at, I32:$from, I32:$by);
  let results = (outs I32:$result);
  let assemblyFormat = "$at `,` $from `,` $by attr-dict";
  let extraClassDeclaration = [{
    /// The coordinate as operations of arith, built by `builder`.
    static ::mlir::Value expand(::mlir::OpBuilder &builder, ::mlir::Location location, ::mlir::Value at, ::mlir::Value from, ::mlir::Value by);
  }];
}

def Tile_CarefulOp : Tile_Op<"careful"> {
  let summary = "whether the item is done with care";
  let description = [{
    In a kernel whose items may be done twice: first as if no mask hid a NaN or an infinity, then, where a result is not finite,
    with care. `tile-walk-folds` makes it, `device-draw-items` knows the answer. It is the item's own, so that it is no pure operation.
    ```mlir
    %sum = scf.if %careful -> tensor<64xf32, #q> { …one loop, exact, with all masks… } else { …as usual… } {tile.careful}
    ```
  }];
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_StabiliserOp : Tile_Op<"stabiliser", [Pure, SameOperandsAndResultType]> {
  let summary = "its operand, and the promise that results do not depend on its exactness while nothing overflows";
  let arguments = (ins Tile_Value:$source);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Tile_AttemptOp : Tile_Op<"attempt", [NoRegionArguments, NoMemoryEffect, SingleBlock]> {
  let summary = "a quick way to some values and the exact way, taken where the quick way's guard does not hold";
  let description = [{
    The first region ends in `tile.propose`: a guard, i1 (a scalar, or a tile over the block axis all of
    whose elements must hold), and the values. The second ends in `tile.yield`.
    Made by `tile-hold-stabiliser`.
    ```mlir
    %m1, %l1 = tile.attempt -> (tensor<64xf32, …>, tensor<64xf32, …>) {
      …
      tile.propose %ok, %m, %lq : i1, …
    } otherwise {
      …
      tile.yield %me, %le : …
    }
    ```
  }];
  let results = (outs Variadic<Tile_Value>:$results);
  let regions = (region SizedRegion<1>:$quick, SizedRegion<1>:$exact);
  let assemblyFormat = "`->` `(` type($results) `)` $quick `otherwise` $exact attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Puts the exact way in the attempt's place, and erases the attempt.
    void takeExactWay();
  }];
}
def Tile_ProposeOp : Tile_Op<"propose", [Pure, Terminator, HasParent<"AttemptOp">]> {
  let summary = "ends the quick region of an attempt: the guard and the values";
  let arguments = (ins AnyTypeOf<[I1, TensorOf<[I1]>]>:$guard, Variadic<Tile_Value>:$values);
  let assemblyFormat = "$guard (`,` $values^)? attr-dict `:` type($guard) (`,` type($values)^)?";
}
def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, HasParent<"AttemptOp">]> {
  let summary = "ends the exact region of an attempt";
  let arguments = (ins Variadic<Tile_Value>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
