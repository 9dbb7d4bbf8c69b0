// Operations on what a thread holds: its place, its registers, elements and dots in them, and the results that it stores.
#ifndef TILEWRIGHT_DEVICE_REGISTERS
#define TILEWRIGHT_DEVICE_REGISTERS

//===--- a thread's place and registers ------------------------------------------------------------===//

def Device_RowOffsetOp : Device_Op<"row_offset", [Pure]> {
  let summary = "the first of the thread's rows, counted from the first row of the block's tile; the others are 8 further each";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Device_ColumnOffsetOp : Device_Op<"column_offset", [Pure]> {
  let summary = "the thread's first column in a fragment: 2 · (lane mod 4)";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Device_RegistersOp : Device_Op<"registers"> {
  let summary = "declares registers: a fragment, a dot operand, or a value for each row";
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyTypeOf<[Device_FragmentType, Device_OperandType, Device_RowsType]>:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}
def Device_FillOp : Device_Op<"fill"> {
  let summary = "sets every element";
  let arguments = (ins AnyTypeOf<[Device_FragmentType, Device_RowsType]>:$registers, AnyTypeOf<[F32, I1, I8, I32, I64]>:$value);
  let assemblyFormat = "$registers `with` $value attr-dict `:` type($registers) `,` type($value)";
  let hasVerifier = 1;
}

//===--- work on elements --------------------------------------------------------------------------===//

def Device_EachRowOp : Device_Op<"each_row", [NoTerminator, SingleBlock]> {
  let summary = "its body for each of the thread's rows";
  let description = [{
    Inside, `device.get` and `device.set` of rows mean the present row, and `device.row` tells which one it is.
    A `device.each_element` inside runs over the elements of that row.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}
def Device_EachElementOp : Device_Op<"each_element", [NoTerminator, SingleBlock]> {
  let summary = "its body for each of the thread's elements of a fragment that is `width` columns wide";
  let description = [{
    Inside, `device.get` and `device.set` mean the present element of a fragment, and the row it stands in of rows.
    Elements are independent: their order is not said.
  }];
  let arguments = (ins I64Attr:$width);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$width attr-dict-with-keyword $body";
  let hasVerifier = 1;
}
def Device_RowOp : Device_Op<"row"> {
  let summary = "the present row's distance from the thread's first one: 0 or 8, or 16 or 24 where a warp has 32 rows";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Device_ColumnOp : Device_Op<"column"> {
  let summary = "the present element's distance from the thread's first column, a constant once the loop is unrolled";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Device_GetOp : Device_Op<"get"> {
  let summary = "reads the present element or row";
  let arguments = (ins AnyTypeOf<[Device_FragmentType, Device_RowsType]>:$registers);
  let results = (outs AnyTypeOf<[F32, I1, I8, I32, I64]>:$result);
  let assemblyFormat = "$registers attr-dict `:` type($registers) `->` type($result)";
  let hasVerifier = 1;
}
def Device_SetOp : Device_Op<"set"> {
  let summary = "writes the present element or row";
  let arguments = (ins AnyTypeOf<[F32, I1, I8, I32, I64]>:$value, AnyTypeOf<[Device_FragmentType, Device_RowsType]>:$registers);
  let assemblyFormat = "$value `in` $registers attr-dict `:` type($value) `,` type($registers)";
  let hasVerifier = 1;
}
def Device_CombineOp : Device_Op<"combine"> {
  let summary = "reduces a value of each element of a row; when the loop has ended, `rows` holds the result";
  let description = [{
    `lanes`: only over the elements of this thread (the four threads of a quad hold a part each); else over the whole row.
    Max and min propagate NaN.
  }];
  let arguments = (ins Device_CombineAttr:$kind, AnyTypeOf<[F32, I32, I64]>:$value, Device_RowsType:$rows, UnitAttr:$lanes);
  let assemblyFormat = "$kind $value `into` $rows (`lanes` $lanes^)? attr-dict `:` type($value) `,` type($rows)";
  let hasVerifier = 1;
}
def Device_JoinOp : Device_Op<"join"> {
  let summary = "combines the parts that the threads of a quad hold of each row";
  let arguments = (ins Device_CombineAttr:$kind, Device_RowsType:$rows);
  let assemblyFormat = "$kind $rows attr-dict `:` type($rows)";
}
def Device_LoadColumnOp : Device_Op<"load_column"> {
  let summary = "the present column's element of a column vector in shared memory: a float as f32, an integer as it is";
  let description = [{ Without a cursor, of the vector that the warpgroup's last `device.reduce_tile` made. }];
  let arguments = (ins Device_RingType:$ring, Optional<Device_CursorType>:$cursor);
  let results = (outs AnyTypeOf<[F32, I8, I32, I64]>:$result);
  let assemblyFormat = "$ring (`at` $cursor^)? attr-dict `:` type($ring) `->` type($result)";
  let hasVerifier = 1;
}
def Device_ReduceTileOp : Device_Op<"reduce_tile", [SingleBlock]> {
  let summary = "reduces along each row of a tile what the body makes of its elements, into a column vector";
  let description = [{
    `vector` has a slot of f32 for each warpgroup, one element a row of the tile: a warpgroup makes its own, so that warpgroups need not meet. All warps of a
    warpgroup come together. The first `columns` of a row count. What it makes is read by `device.load_column` without a cursor.

    ```mlir
    device.reduce_tile sum %K at %cursor columns 64 into %norms : !device.ring<2 x [128, 64] bf16> into !device.ring<2 x [128] f32> {
    ^bb0(%x: f32):
      %y = arith.mulf %x, %x : f32
      device.yield %y : f32
    }
    ```
  }];
  let arguments = (ins Device_CombineAttr:$kind, Device_RingType:$tile, Device_CursorType:$cursor, I64Attr:$columns, Device_RingType:$vector);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind $tile `at` $cursor `columns` $columns `into` $vector attr-dict-with-keyword `:` type($tile) `into` type($vector) $body";
  let hasVerifier = 1;
}
def Device_YieldOp : Device_Op<"yield", [Terminator, ParentOneOf<["ReduceTileOp", "TabulateOp"]>]> {
  let summary = "what is made of an element, or of a distance";
  let arguments = (ins AnyTypeOf<[F32, I1, I32]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}
def Device_LoadOp : Device_Op<"load"> {
  let summary = "an element of a tensor in global memory, a float as f32, an integer as it is, where `inside` holds; else 0";
  let arguments = (ins Device_PointerType:$pointer, I64:$offset, I1:$inside);
  let results = (outs AnyTypeOf<[F32, I8, I32, I64]>:$result);
  let assemblyFormat = "$pointer `[` $offset `]` `if` $inside attr-dict `:` type($pointer) `->` type($result)";
}

def Device_AmongOp : Device_Op<"among"> {
  let summary = "of the numbers from `low` to `high`: are all among the first `few` elements of a list, is some among the first `many`";
  let description = [{
    Elements are `stride` apart, and none is read where `few` and `many` are not positive. Of more than 64 numbers not all are said to be there.
  }];
  let arguments = (ins Device_PointerType:$pointer, I64:$offset, I64:$stride, I64:$few, I64:$many, I64:$low, I64:$high);
  let results = (outs I1:$all, I1:$some);
  let assemblyFormat = "$pointer `[` $offset `]` `by` $stride `count` $few `to` $many `from` $low `to` $high attr-dict `:` type($pointer)";
}

def Device_LoadTileOp : Device_Op<"load_tile"> {
  let summary = "reads a fragment: row r from pointer + offsets[r] on, where inside[r] holds, its first `columns` columns, `stride` elements apart; 0 elsewhere";
  let description = [{ Of floats. Where columns lie side by side and rows at multiples of 16 bytes, a lane reads many at once. }];
  let arguments = (ins Device_FragmentType:$fragment, Device_PointerType:$pointer, Device_OffsetRows:$offsets, Device_InsideRows:$inside, I32:$columns, I64:$stride);
  let assemblyFormat = "$fragment `,` $pointer `[` $offsets `]` `if` $inside `columns` $columns `by` $stride attr-dict `:` type($fragment) `,` type($pointer)";
}

//===--- dots --------------------------------------------------------------------------------------===//

def Device_MultiplyOp : Device_Op<"multiply"> {
  let summary = "issues accumulator = or += left · right, asynchronously";
  let description = [{
    The left operand is an operand in registers, or the warpgroup's rows of a tile, contracted along its columns.
    The right one is a tile: [n, contracted], or [contracted, n] with `transposed`. `depth` is the contracted length,
    a multiple of 16. Without `accumulate` the old accumulator does not count. With `shares` the left tile has 64 rows, all of
    which each warpgroup multiplies by columns of its own, as many as the accumulator has.
  }];
  let arguments = (ins Device_FragmentType:$accumulator, AnyTypeOf<[Device_OperandType, Device_RingType]>:$left, Optional<Device_CursorType>:$leftCursor,
                       Device_RingType:$right, Device_CursorType:$rightCursor, I64Attr:$depth, UnitAttr:$transposed, UnitAttr:$accumulate, UnitAttr:$shares);
  let assemblyFormat = [{
    $accumulator `,` $left (`at` $leftCursor^)? `,` $right `at` $rightCursor `depth` $depth (`transposed` $transposed^)? (`accumulate` $accumulate^)? (`shares` $shares^)?
    attr-dict `:` type($accumulator) `,` type($left) `,` type($right)
  }];
  let hasVerifier = 1;
}
def Device_FenceOp : Device_Op<"fence"> {
  let summary = "orders earlier accesses of these registers before the dots that follow";
  let arguments = (ins Variadic<AnyTypeOf<[Device_FragmentType, Device_OperandType]>>:$registers);
  let assemblyFormat = "($registers^ `:` type($registers))? attr-dict";
}
def Device_CommitOp : Device_Op<"commit"> {
  let summary = "closes a group of issued dots";
  let assemblyFormat = "attr-dict";
}
def Device_WaitOp : Device_Op<"wait"> {
  let summary = "waits until at most `pending` groups are in flight; `registers` are those that are then free";
  let arguments = (ins I64Attr:$pending, Variadic<AnyTypeOf<[Device_FragmentType, Device_OperandType]>>:$registers);
  let assemblyFormat = "$pending ($registers^ `:` type($registers))? attr-dict";
}
def Device_PackOp : Device_Op<"pack"> {
  let summary = "rounds a fragment to 16 bit, as the left operand of a dot";
  let arguments = (ins Device_FragmentType:$fragment, Device_OperandType:$operand);
  let assemblyFormat = "$fragment `into` $operand attr-dict `:` type($fragment) `,` type($operand)";
  let hasVerifier = 1;
}
def Device_ScanOp : Device_Op<"scan"> {
  let summary = "whether a tile holds a NaN or an infinity";
  let description = [{
    Waits until the cursor's slot is full. All warps of a warpgroup come together. What it says is for `device.isolate` of the same slot: a look
    at the tile costs least while dots run that read other tiles.
  }];
  let arguments = (ins Device_RingType:$ring, Device_CursorType:$cursor);
  let results = (outs I1:$result);
  let assemblyFormat = "$ring `at` $cursor attr-dict `:` type($ring)";
}
def Device_IsolateOp : Device_Op<"isolate"> {
  let summary = "lets NaNs and infinities of a tile reach only the rows of an accumulator whose weights for them are not 0";
  let description = [{
    Stands before accumulator += weights · tile: waits until the cursor's slot is full, adds what the tile's elements that are not finite
    make of the rows that see them, and sets those elements to 0, for all warpgroups. Weights are the left operand before it is
    rounded; `depth`, the contracted length, is their width, and `transposed` means what it does for `device.multiply`. With `keep`
    the tile is left as it is, for a later isolate with other weights. `found` is what a `device.scan` of the slot said; without it the
    operation looks for itself. All consumers come here together; none reads the tile for
    another purpose from here on.
  }];
  let arguments = (ins Device_FragmentType:$accumulator, Device_FragmentType:$weights, Device_RingType:$ring, Device_CursorType:$cursor, Optional<I1>:$found,
                       I64Attr:$depth, UnitAttr:$transposed, UnitAttr:$keep);
  let assemblyFormat = [{
    $accumulator `,` $weights `,` $ring `at` $cursor (`if` $found^)? `depth` $depth (`transposed` $transposed^)? (`keep` $keep^)?
    attr-dict `:` type($accumulator) `,` type($weights) `,` type($ring)
  }];
  let hasVerifier = 1;
}
def Device_SpoiledOp : Device_Op<"spoiled"> {
  let summary = "whether an element of a fragment that the warp holds is NaN or infinite; with `all`, that any warp of the consumers holds, who all come here";
  let arguments = (ins Device_FragmentType:$fragment, UnitAttr:$all);
  let results = (outs I1:$result);
  let assemblyFormat = "$fragment (`all` $all^)? attr-dict `:` type($fragment)";
}
def Device_RepeatOp : Device_Op<"repeat"> {
  let summary = "a warp computes its rows of left · right once more, by itself and at once";
  let description = [{ `left` is a tile contracted along its columns, `right` is [n, contracted]. }];
  let arguments = (ins Device_FragmentType:$result, Device_RingType:$left, Device_CursorType:$leftCursor, Device_RingType:$right, Device_CursorType:$rightCursor, I64Attr:$depth);
  let assemblyFormat = "$result `,` $left `at` $leftCursor `,` $right `at` $rightCursor `depth` $depth attr-dict `:` type($result) `,` type($left) `,` type($right)";
}
def Device_AnyOp : Device_Op<"any"> {
  let summary = "whether the condition holds for a row of any lane of the warp";
  let description = [{ `uniform`: all rows of all lanes of the warp hold the same, so that nobody need vote. }];
  let arguments = (ins Device_InsideRows:$rows, UnitAttr:$uniform);
  let results = (outs I1:$result);
  let assemblyFormat = "$rows (`uniform` $uniform^)? attr-dict";
}
def Device_TurnOp : Device_Op<"turn"> {
  let summary = "consumer: waits for (or with `pass` gives on) the turn that goes round the warpgroups; `first` starts it";
  let arguments = (ins UnitAttr:$first, UnitAttr:$pass);
  let assemblyFormat = "(`first` $first^)? (`pass` $pass^)? attr-dict";
}

//===--- results -----------------------------------------------------------------------------------===//

def Device_StoreTileOp : Device_Op<"store_tile"> {
  let summary = "writes a fragment, rounded to the tensor's type: row r from pointer + offsets[r] on, where inside[r] holds, its first `columns` columns";
  let description = [{
    Columns lie side by side, `columns` is a multiple of 16 bytes, so is every row's address. With a `stride` they lie so many elements apart, anywhere.
  }];
  let arguments = (ins Device_FragmentType:$fragment, Device_PointerType:$pointer, Device_OffsetRows:$offsets, Device_InsideRows:$inside, I32:$columns, Optional<I64>:$stride);
  let assemblyFormat = "$fragment `,` $pointer `[` $offsets `]` `if` $inside `columns` $columns (`stride` $stride^)? attr-dict `:` type($fragment) `,` type($pointer)";
}
def Device_AddTileOp : Device_Op<"add_tile", [AttrSizedOperandSegments]> {
  let summary = "adds a fragment to a tensor of f32 in global memory, in the background: each warp its rows, 32 columns at a time, by the copy engine";
  let description = [{
    `coordinates` are those of the tile's first element in the map's dimensions, whose box is 32 columns by a warp's 16 rows. Each warp has a slot of `outbox`, a
    ring of f32 as long as its part of the fragment, which it waits for until the engine has read what was there; or several, which it takes in turn. With `shares` all warpgroups hold the same
    rows and columns of their own; else rows of their own. Elements behind the tensor are dropped, and there must be none before it. With `unless`, nothing is added where that holds.
  }];
  let arguments = (ins Device_FragmentType:$fragment, Device_MapType:$map, Variadic<I32>:$coordinates, Device_RingType:$outbox, Optional<I1>:$unless, UnitAttr:$shares);
  let assemblyFormat = "$fragment `to` $map `[` $coordinates `]` `through` $outbox (`shares` $shares^)? (`unless` $unless^)? attr-dict `:` type($fragment) `,` type($outbox)";
  let hasVerifier = 1;
}
def Device_AddApartOp : Device_Op<"add_apart"> {
  let summary = "adds left · right to a tensor of f32 in global memory element by element, without the products whose left element is 0";
  let description = [{
    For a right tile that holds a NaN or an infinity, which must not reach the rows that do not see it. `left` is [rows, contracted] and published whole, `right`
    as in `device.multiply`. Element (r, c) goes to pointer[offset + r · stride + c], for r below `rows` and c below `columns`. All consumers come here.
  }];
  let arguments = (ins Device_RingType:$left, Device_CursorType:$leftCursor, Device_RingType:$right, Device_CursorType:$rightCursor, Device_PointerType:$pointer, I64:$offset, I64:$stride, I32:$rows, I32:$columns,
                       I64Attr:$width, UnitAttr:$transposed);
  let assemblyFormat = "$left `at` $leftCursor `,` $right `at` $rightCursor `to` $pointer `[` $offset `]` `by` $stride `rows` $rows `columns` $columns `width` $width (`transposed` $transposed^)? attr-dict `:` type($left) `,` type($right) `,` type($pointer)";
  let hasVerifier = 1;
}
def Device_StoreRowsOp : Device_Op<"store_rows"> {
  let summary = "writes a value for each row, rounded to the tensor's type, to pointer + offsets[r] where inside[r] holds";
  let arguments = (ins Device_RowsType:$rows, Device_PointerType:$pointer, Device_OffsetRows:$offsets, Device_InsideRows:$inside);
  let assemblyFormat = "$rows `,` $pointer `[` $offsets `]` `if` $inside attr-dict `:` type($rows) `,` type($pointer)";
}

#endif
