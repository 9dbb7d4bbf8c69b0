// Tables of what a step computes from the distance between an element's row and its column.
#ifndef TILEWRIGHT_DEVICE_TABLES
#define TILEWRIGHT_DEVICE_TABLES

def Device_TabulateOp : Device_Op<"tabulate", [SingleBlock]> {
  let summary = "consumer: a warp makes its body of every distance that an element of a fragment of its rows can have, and keeps it in shared memory";
  let description = [{
    A distance is the row, counted from the first row of the block's tile, less the column, counted from the first one of the fragment. The rows of a warp
    and `width` columns have rows + width - 1 of them, where the fragment has rows x width elements. `table` has a slot of i32 for each warp of the
    consumers, an element for each distance. `device.look_up` reads it, until the warp's next `device.tabulate` into it.

    ```mlir
    device.tabulate %table width 128 : !device.ring<8 x [143] i32> {
    ^bb0(%distance: i32):
      %far = arith.addi %distance, %first : i32
      %bias = func(%far)
      device.yield %bias : f32
    }
    ```
  }];
  let arguments = (ins Device_RingType:$table, I64Attr:$width);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$table `width` $width attr-dict-with-keyword `:` type($table) $body";
  let hasVerifier = 1;
}
def Device_LookUpOp : Device_Op<"look_up"> {
  let summary = "what the warp's last `device.tabulate` into the table made of the present element's distance";
  let arguments = (ins Device_RingType:$table);
  let results = (outs AnyTypeOf<[F32, I1, I32]>:$result);
  let assemblyFormat = "$table attr-dict `:` type($table) `->` type($result)";
  let hasVerifier = 1;
}
#endif
