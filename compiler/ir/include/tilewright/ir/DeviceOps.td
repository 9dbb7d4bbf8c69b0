// Operations of the device dialect: a kernel and its roles, parameters, shared memory, items. DeviceRegisters.td has those of a thread.
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
def Device_LookAheadOp : Device_Op<"look_ahead"> {
  let summary = "consumer: waits for the slot at which a cursor will be awaited next, and gives a cursor that stands there";
  let description = [{
    That is the cursor's own slot where it has not been awaited, and the one after it where it has. With `if`, where the condition does not hold, nothing is waited for, and the result stands at
    the cursor's own slot, which must have been awaited. What it stands at can be read until the cursor advances; whoever reads the next slot awaits it then once more.
  }];
  let arguments = (ins Device_CursorType:$cursor, Optional<I1>:$condition);
  let results = (outs Device_CursorType:$result);
  let assemblyFormat = "$cursor (`if` $condition^)? attr-dict";
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

include "tilewright/ir/DeviceRegisters.td"
include "tilewright/ir/DeviceTables.td"
#endif
