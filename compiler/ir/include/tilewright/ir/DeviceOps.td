// Operations of the device dialect.
#ifndef TILEWRIGHT_DEVICE_OPS
#define TILEWRIGHT_DEVICE_OPS

include "tilewright/ir/DeviceDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Device_Op<string m, list<Trait> traits = []> : Op<Device_Dialect, m, traits>;

// Rows of one element type, which need not be written in the text.
class Device_RowsOf<string size, string label> : Type<CPred<"::llvm::isa<::tw::device::RowsType>($_self) && ::llvm::cast<::tw::device::RowsType>($_self).getElement().isInteger(" # size # ")">,
    "rows of " # label>, BuildableType<"::tw::device::RowsType::get($_builder.getContext(), $_builder.getIntegerType(" # size # "))">;
def Device_OffsetRows : Device_RowsOf<"64", "i64">;
def Device_InsideRows : Device_RowsOf<"1", "i1">;

//===--- the kernel and its roles ----------------------------------------------------------------===//

def Device_KernelOp : Device_Op<"kernel", [IsolatedFromAbove, NoTerminator, SingleBlock, Symbol]> {
  let summary = "the program of one thread block";
  let description = [{
    Declarations, at most one `device.producer`, beside it at most one `device.lister`, one `device.consumers`. A block has 128 threads for each consumer warpgroup, and for the producer
    a warpgroup on `sm90a`, where registers are handed over by whole ones, and a warp on everything else. `block`, `width` and `free` say how the items are
    counted: tiles of the axis `block`, `width` elements each, times the points of the axes `free`.
    `grouped`: items come in groups of free points whose rings' tensors fit the level-2 cache. `blocks`: so many run on one multiprocessor at a time.
    `strided`: tensors may have any strides, along their innermost dimension too, and start at any element; copies and stores go element by element.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$arch, StrAttr:$block, I64Attr:$width, StrArrayAttr:$free,
                       UnitAttr:$grouped, UnitAttr:$strided, OptionalAttr<I64Attr>:$sharedBytes, DefaultValuedAttr<I64Attr, "1">:$blocksPerSM);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $arch `items` $block $width `of` $free (`grouped` $grouped^)? (`strided` $strided^)? (`shared` $sharedBytes^)? (`blocks` $blocksPerSM^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    int64_t threads();      // of the block
  }];
}

def Device_ProducerOp : Device_Op<"producer", [HasParent<"KernelOp">, NoTerminator, SingleBlock]> {
  let summary = "what one thread (on `sm90a`) or one warp does: it copies tiles into rings";
  let arguments = (ins I64Attr:$registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`registers` $registers attr-dict-with-keyword $body";
}

def Device_ListerOp : Device_Op<"lister", [HasParent<"KernelOp">, NoTerminator, SingleBlock]> {
  let summary = "what a second warp of the producer's warpgroup does: it draws items, lists the tiles that they visit, and posts both";
  let description = [{
    The producer is told of items as the consumers are, and gives slots back as they do. Only on `sm90a`, where that warp is there in any case.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Device_ConsumersOp : Device_Op<"consumers", [HasParent<"KernelOp">, NoTerminator, SingleBlock]> {
  let summary = "what every thread of `warpgroups` warpgroups does";
  let description = [{
    `rows`: of a warp, 16 or 32. On `sm90a` they are 16. Elsewhere each warp multiplies for itself, and with 32 rows every word of a right operand that
    it reads from shared memory serves two products. Where a kernel has no producer, the consumers do what it would: all of their threads
    acquire, copy and advance together.
  }];
  let arguments = (ins I64Attr:$warpgroups, I64Attr:$registers, DefaultValuedAttr<I64Attr, "16">:$rows);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$warpgroups (`rows` $rows^)? `registers` $registers attr-dict-with-keyword $body";
}

//===--- parameters: fields of the parameter struct, in their order --------------------------------===//

def Device_TensorMapOp : Device_Op<"tensor_map", [Pure, HasParent<"KernelOp">]> {
  let summary = "a tensor map parameter";
  let description = [{
    Dimensions fastest first; for each one the tensor's dimension that it walks, the elements of a chunk (0: single
    elements), how many there are where the build fixes it (0: as the tensor is long), and how many one copy takes.
    ```mlir
    // K [B, H, S, 128], 64 rows and both chunks of 64 columns in one copy
    %K = device.tensor_map "K" bf16 dimensions [3, 2, 3, 1, 0] chunks [0, 0, 64, 0, 0] sizes [64, 0, 2, 0, 0] box [64, 64, 2, 1, 1] swizzle 128
    ```
  }];
  let arguments = (ins StrAttr:$tensor, TypeAttr:$element, DenseI64ArrayAttr:$dimensions, DenseI64ArrayAttr:$chunks,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$box, I64Attr:$swizzle);
  let results = (outs Device_MapType:$result);
  let assemblyFormat = "$tensor $element `dimensions` $dimensions `chunks` $chunks `sizes` $sizes `box` $box `swizzle` $swizzle attr-dict";
  let hasVerifier = 1;
}
def Device_TensorOp : Device_Op<"tensor", [Pure, HasParent<"KernelOp">]> {
  let summary = "the address of a tensor";
  let arguments = (ins StrAttr:$tensor);
  let results = (outs Device_PointerType:$result);
  let assemblyFormat = "$tensor attr-dict `:` type($result)";
}
def Device_StrideOp : Device_Op<"stride", [Pure, HasParent<"KernelOp">]> {
  let summary = "the stride of a dimension of a tensor, in elements";
  let arguments = (ins StrAttr:$tensor, I64Attr:$dimension);
  let results = (outs I64:$result);
  let assemblyFormat = "$tensor $dimension attr-dict";
}
def Device_ExtentOp : Device_Op<"extent", [Pure, HasParent<"KernelOp">]> {
  let summary = "the length of an axis";
  let arguments = (ins StrAttr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
}
def Device_DimensionOp : Device_Op<"dimension", [Pure, HasParent<"KernelOp">]> {
  let summary = "the length of a dimension of a tensor";
  let arguments = (ins StrAttr:$tensor, I64Attr:$dimension);
  let results = (outs I32:$result);
  let assemblyFormat = "$tensor $dimension attr-dict";
}
def Device_ScalarOp : Device_Op<"scalar", [Pure, HasParent<"KernelOp">]> {
  let summary = "a run-time scalar of the program";
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyTypeOf<[I1, I32, I64, F16, BF16, F32]>:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}
def Device_CountOp : Device_Op<"count", [Pure, HasParent<"KernelOp">]> {
  let summary = "how many items, tiles of the block axis, free points, or free points a group there are";
  let arguments = (ins Device_CountAttr:$what);
  let results = (outs I32:$result);
  let assemblyFormat = "$what attr-dict";
}
def Device_CountersOp : Device_Op<"counters", [Pure, HasParent<"KernelOp">]> {
  let summary = "`number` i32 counters in the launch's workspace, 0 before and after every launch";
  let arguments = (ins I64Attr:$number);
  let results = (outs Device_PointerType:$result);
  let assemblyFormat = "$number attr-dict `:` type($result)";
}

def Device_ListsOp : Device_Op<"lists", [Pure, HasParent<"KernelOp">]> {
  let summary = "room in the launch's workspace for lists of tiles: for each block `slots` lists, an i32 for each tile of `width` along `axis`";
  let arguments = (ins StrAttr:$axis, I64Attr:$width, OptionalAttr<I64Attr>:$slots);
  let results = (outs Device_PointerType:$result);
  let assemblyFormat = "$axis `by` $width (`slots` $slots^)? attr-dict `:` type($result)";
}

//===--- shared memory -----------------------------------------------------------------------------===//

def Device_RingOp : Device_Op<"ring", [HasParent<"KernelOp">]> {
  let summary = "declares tiles in shared memory; `offset` is set by device-lay-out-memory";
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$offset);
  let results = (outs Device_RingType:$result);
  let assemblyFormat = "$name (`offset` $offset^)? attr-dict `:` type($result)";
}
def Device_BarriersOp : Device_Op<"barriers", [HasParent<"KernelOp">]> {
  let summary = "declares full and empty barriers; a slot is empty after `releases` releases";
  let description = [{
    A full barrier completes when the producer has armed it once and all bytes it was armed for have
    arrived. Every consumer warp releases a slot once. `offset` is that of the first of 2 · slots barriers of 8 bytes: all
    full ones, then all empty ones. With `arrivals` it is the consumers themselves who fill the slots: so many warps each (`device.publish`).
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$releases, OptionalAttr<I64Attr>:$arrivals, OptionalAttr<I64Attr>:$offset);
  let results = (outs Device_BarriersType:$result);
  let assemblyFormat = "$name `releases` $releases (`arrivals` $arrivals^)? (`offset` $offset^)? attr-dict `:` type($result)";
}
def Device_MailboxOp : Device_Op<"mailbox", [HasParent<"KernelOp">]> {
  let summary = "declares numbers in shared memory";
  let description = [{ `answers`: how many warps say of each slot whether its item must be done again (`device.send_back`). }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$answers, OptionalAttr<I64Attr>:$offset);
  let results = (outs Device_MailboxType:$result);
  let assemblyFormat = "$name (`answers` $answers^)? (`offset` $offset^)? attr-dict `:` type($result)";
}

//===--- rings -------------------------------------------------------------------------------------===//

def Device_CursorOp : Device_Op<"cursor"> {
  let summary = "declares a cursor at slot 0";
  let description = [{
    `phase` is the parity that the first wait asks for: 0 for who waits for full slots, 1 for who fills and waits for
    empty ones (all are, at first). A trailing cursor only releases and advances.
  }];
  let arguments = (ins StrAttr:$name, Device_BarriersType:$barriers, I64Attr:$phase, UnitAttr:$trailing);
  let results = (outs Device_CursorType:$result);
  let assemblyFormat = "$name `on` $barriers `phase` $phase (`trailing` $trailing^)? attr-dict `:` type($barriers)";
  let hasVerifier = 1;
}
def Device_AcquireOp : Device_Op<"acquire"> {
  let summary = "producer: waits until the slot is empty, then arms its full barrier for `bytes` (0: a later device.post fills it)";
  let arguments = (ins Device_CursorType:$cursor, I64Attr:$bytes);
  let assemblyFormat = "$cursor `bytes` $bytes attr-dict";
}
def Device_CopyOp : Device_Op<"copy"> {
  let summary = "producer: copies a box of a tensor into the slot, from `column` on; arrives at the slot's full barrier";
  let description = [{
    `coordinates` are those of the map's dimensions, fastest first, in the map's units. `column`, a multiple of
    64, is the first column of the tile that the box fills. `divisor`: so many bytes, a power of two up to 16, are known to divide where a row of
    the box starts in its row of the tensor. A copy engine takes any; a warp copies by as many bytes.
  }];
  let arguments = (ins Device_MapType:$map, Variadic<I32>:$coordinates, Device_RingType:$ring, Device_CursorType:$cursor, DefaultValuedAttr<I64Attr, "0">:$column,
                       DefaultValuedAttr<I64Attr, "16">:$divisor);
  let assemblyFormat = "$map `[` $coordinates `]` `to` $ring `at` $cursor (`column` $column^)? (`divisor` $divisor^)? attr-dict `:` type($ring)";
  let hasVerifier = 1;
}
def Device_AdvanceOp : Device_Op<"advance"> {
  let summary = "the next slot; the phase turns after the last one";
  let arguments = (ins Device_CursorType:$cursor);
  let assemblyFormat = "$cursor attr-dict";
}
def Device_AwaitOp : Device_Op<"await"> {
  let summary = "consumer: waits until the slot is full";
  let arguments = (ins Device_CursorType:$cursor);
  let assemblyFormat = "$cursor attr-dict";
}
def Device_ReleaseOp : Device_Op<"release"> {
  let summary = "consumer: gives the slot back, once a warp; with `if`, only where the condition holds";
  let arguments = (ins Device_CursorType:$cursor, Optional<I1>:$condition);
  let assemblyFormat = "$cursor (`if` $condition^)? attr-dict";
}

//===--- what consumers tell each other ------------------------------------------------------------===//

def Device_ReserveOp : Device_Op<"reserve"> {
  let summary = "consumer: waits until all warps have given the slot back, which this warp is then to publish a part of";
  let arguments = (ins Device_CursorType:$cursor);
  let assemblyFormat = "$cursor attr-dict";
}
def Device_PublishOp : Device_Op<"publish"> {
  let summary = "consumer: writes an operand to the slot, transposed, and arrives at its full barrier, once a warp";
  let description = [{
    The ring's tiles have a row for each column of the operand and 64 columns for each warpgroup: its rows. All warps do so, each once a slot, between
    `device.reserve` and `device.await` of it.
  }];
  let arguments = (ins Device_OperandType:$operand, Device_RingType:$ring, Device_CursorType:$cursor);
  let assemblyFormat = "$operand `to` $ring `at` $cursor attr-dict `:` type($operand) `,` type($ring)";
  let hasVerifier = 1;
}

//===--- items -------------------------------------------------------------------------------------===//

def Device_BlockIndexOp : Device_Op<"block_index", [Pure]> {
  let summary = "the number of this thread block";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Device_GridSizeOp : Device_Op<"grid_size", [Pure]> {
  let summary = "how many thread blocks there are";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Device_DrawOp : Device_Op<"draw"> {
  let summary = "producer: the next item that no block has drawn: counter 0, counted up, plus the grid size";
  let arguments = (ins Device_PointerType:$counters);
  let results = (outs I32:$result);
  let assemblyFormat = "$counters attr-dict `:` type($counters)";
}
def Device_RetireOp : Device_Op<"retire"> {
  let summary = "producer: this block draws no more; the last one sets the counters back to 0";
  let arguments = (ins Device_PointerType:$counters);
  let assemblyFormat = "$counters attr-dict `:` type($counters)";
}
def Device_PostOp : Device_Op<"post"> {
  let summary = "producer: writes the words of a mailbox's slot and fills it";
  let arguments = (ins Variadic<I32>:$values, Device_MailboxType:$mailbox, Device_CursorType:$cursor);
  let assemblyFormat = "$values `to` $mailbox `at` $cursor attr-dict `:` type($mailbox)";
  let hasVerifier = 1;
}
def Device_ReadPostOp : Device_Op<"read_post"> {
  let summary = "consumer: the words in the slot, for all lanes of a warp";
  let arguments = (ins Device_MailboxType:$mailbox, Device_CursorType:$cursor);
  let results = (outs Variadic<I32>:$words);
  let assemblyFormat = "$mailbox `at` $cursor attr-dict `:` type($mailbox) `->` type($words)";
  let hasVerifier = 1;
}
def Device_SendBackOp : Device_Op<"send_back"> {
  let summary = "consumer: a warp says, before it gives the slot back, whether what the slot's first word stands for must be done again";
  let arguments = (ins Device_MailboxType:$mailbox, Device_CursorType:$cursor, I1:$again);
  let assemblyFormat = "$mailbox `at` $cursor `if` $again attr-dict `:` type($mailbox)";
  let hasVerifier = 1;
}
def Device_SentBackOp : Device_Op<"sent_back"> {
  let summary = "producer: the first word that was posted to the slot before, if a warp has sent it back; else -1";
  let arguments = (ins Device_MailboxType:$mailbox, Device_CursorType:$cursor);
  let results = (outs I32:$result);
  let assemblyFormat = "$mailbox `at` $cursor attr-dict `:` type($mailbox)";
  let hasVerifier = 1;
}

//===--- the tiles that an item visits -----------------------------------------------------------------===//

def Device_ListTilesOp : Device_Op<"list_tiles", [SingleBlock]> {
  let summary = "producer or lister: lists the tiles of a range that are kept in part, and those kept whole, a tile a lane";
  let description = [{
    As `tile.kept`: the region tells of the tile at its argument whether it is empty and whether it is full. The list is that of the slot at
    `cursor` (`device-draw-items` says which), in the block's part of `lists`; it is the consumers' once the slot is posted. `list` is the place of its first
    number in `lists`. A whole warp must come here.
    ```mlir
    %list, %partial, %full, %all = device.list_tiles %lists from %lo to %hi step 128 at %work {
    ^bb0(%k: i32):
      …
      device.classes %empty, %full
    } : !device.pointer<i32>
    ```
  }];
  let arguments = (ins Device_PointerType:$lists, I32:$begin, I32:$end, I64Attr:$step, Optional<Device_CursorType>:$cursor);
  let results = (outs I32:$list, I32:$partial, I32:$full, I32:$all);
  let regions = (region SizedRegion<1>:$classify);
  let assemblyFormat = "$lists `from` $begin `to` $end `step` $step (`at` $cursor^)? $classify attr-dict `:` type($lists)";
}
def Device_ClassesOp : Device_Op<"classes", [Pure, Terminator, HasParent<"ListTilesOp">]> {
  let summary = "ends the region of device.list_tiles: is the tile empty, is it full";
  let arguments = (ins I1:$empty, I1:$full);
  let assemblyFormat = "$empty `,` $full attr-dict";
}
def Device_RowExtremesOp : Device_Op<"row_extremes"> {
  let summary = "the least and the most of `count` elements of a tensor, `stride` apart, as i64 or f32; of none the furthest numbers, the wrong way round";
  let description = [{ NaN if one of them is. }];
  let arguments = (ins Device_PointerType:$pointer, I64:$offset, I64:$stride, I64:$count);
  let results = (outs AnyTypeOf<[I64, F32]>:$least, AnyTypeOf<[I64, F32]>:$most);
  let assemblyFormat = "$pointer `[` $offset `]` `by` $stride `count` $count attr-dict `:` type($pointer) `->` type($least) `,` type($most)";
}
def Device_ListedOp : Device_Op<"listed"> {
  let summary = "consumer: what the producer's device.list_tiles gave for the item; device-draw-items replaces it by words of a mailbox";
  let results = (outs I32:$list, I32:$partial, I32:$full, I32:$all);
  let assemblyFormat = "attr-dict";
}
def Device_KeptAtOp : Device_Op<"kept_at"> {
  let summary = "a number of a list: the coordinate of a tile";
  let arguments = (ins Device_PointerType:$lists, I32:$list, I32:$at);
  let results = (outs I32:$result);
  let assemblyFormat = "$lists `[` $list `+` $at `]` attr-dict `:` type($lists)";
}

//===--- on the way: gone after device-distribute-tiles -----------------------------------------------===//

def Device_MemoryOp : Device_Op<"memory", [Pure]> {
  let summary = "a tensor of the program, for tile operations to load from and store to";
  let arguments = (ins StrAttr:$tensor);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$tensor attr-dict `:` type($result)";
}
def Device_TileOp : Device_Op<"tile"> {
  let summary = "what the producer copies into the slot where the cursor stands, as a value over axes";
  let description = [{ `columns` is the axis along which neighbours in memory lie. }];
  let arguments = (ins Device_RingType:$ring, Device_CursorType:$cursor, StrAttr:$columns);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$ring `at` $cursor `columns` $columns attr-dict `:` type($ring) `->` type($result)";
}

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
    ring of f32 as long as its part of the fragment, which it waits for until the engine has read what was there. With `shares` all warpgroups hold the same
    rows and columns of their own; else rows of their own. Elements outside the tensor are dropped. With `unless`, nothing is added where that holds.
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
include "tilewright/ir/DeviceTables.td"
#endif
