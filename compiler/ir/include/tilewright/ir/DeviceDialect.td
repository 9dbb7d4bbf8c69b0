// The device dialect: the program of one thread block, with its roles, rings, barriers and registers. See docs/DeviceDialect.md.
#ifndef TILEWRIGHT_DEVICE_DIALECT
#define TILEWRIGHT_DEVICE_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Device_Dialect : Dialect {
  let name = "device";
  let cppNamespace = "::tw::device";
  let summary = "the program of one thread block of a GPU";
  let description = [{
    A `device.kernel` declares parameters and shared memory and holds the regions of its roles: a
    producer that copies tiles into rings, and consumer warpgroups that multiply them, or consumers that copy for themselves. Control flow is
    `scf`, scalars are `arith` and `math`. What a thread holds in registers across statements is
    declared (`device.fragment`, `device.operand`, `device.rows`) and changed in place, so that nothing
    about asynchronous instructions is hidden in values: what is in flight, and what may be touched
    meanwhile, can be read off and is verified.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

class Device_Type<string n, string m> : TypeDef<Device_Dialect, n> { let mnemonic = m; }

def Device_MapType : Device_Type<"Map", "map"> {
  let summary = "a parameter that tells the copy engine how a tensor lies in memory";
}
def Device_PointerType : Device_Type<"Pointer", "pointer"> {
  let summary = "the address of a tensor's first element in global memory";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}
def Device_RingType : Device_Type<"Ring", "ring"> {
  let summary = "tiles of one shape in shared memory, `slots` of them";
  let description = [{
    `!device.ring<2 x [128, 64] bf16>`. Two dimensions: rows and columns of a dot operand of 2 bytes an
    element, columns in chunks of 64 (128 bytes, the last one padded), each chunk [rows][64], permuted by
    the 128-byte swizzle. One dimension: a column vector, as it lies in memory.
  }];
  let parameters = (ins "int64_t":$slots, ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$element);
  let assemblyFormat = "`<` $slots `x` `[` $shape `]` $element `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isVector() const { return getShape().size() == 1; }
    int64_t rows() const { return isVector() ? 1 : getShape()[0]; }
    int64_t columns() const { return getShape().back(); }
    /// Chunks of 64 columns of a tile.
    int64_t chunks() const { return (columns() + 63) / 64; }
    /// Bytes of one slot, a multiple of 128 (of 1024 for tiles).
    int64_t slotBytes() const;
  }];
}
def Device_BarriersType : Device_Type<"Barriers", "barriers"> {
  let summary = "a full and an empty barrier for each of `slots` slots";
  let parameters = (ins "int64_t":$slots);
  let assemblyFormat = "`<` $slots `>`";
}
def Device_MailboxType : Device_Type<"Mailbox", "mailbox"> {
  let summary = "slots of i32 numbers in shared memory, `words` in each, that the producer tells the consumers";
  let parameters = (ins "int64_t":$slots, DefaultValuedParameter<"int64_t", "1">:$words);
  let assemblyFormat = "`<` $slots (`words` $words^)? `>`";
}
def Device_CursorType : Device_Type<"Cursor", "cursor"> {
  let summary = "a thread's place in a ring: a slot and the parity of the phase it waits for";
}
def Device_FragmentType : Device_Type<"Fragment", "fragment"> {
  let summary = "a warpgroup's rows, 64 or 128, of `width` columns, in the layout of a dot's accumulator";
  let description = [{
    Of 16 rows a warp, a thread holds width / 2 elements, in 2 rows; of 32, width elements in 4. With R rows a thread, element i stands
    at row `device.row_offset` + 8 · ((i >> 1) mod R) and column `device.column_offset` + 8 · (i / 2R) + (i & 1).
  }];
  let parameters = (ins "int64_t":$width, "::mlir::Type":$element);
  let assemblyFormat = "`<` $width `x` $element `>`";
  let genVerifyDecl = 1;
}
def Device_OperandType : Device_Type<"Operand", "operand"> {
  let summary = "a fragment rounded to 16 bit, two elements a register: the left operand of a dot";
  let parameters = (ins "int64_t":$width, "::mlir::Type":$element);
  let assemblyFormat = "`<` $width `x` $element `>`";
  let genVerifyDecl = 1;
}
def Device_RowsType : Device_Type<"Rows", "rows"> {
  let summary = "one value for each of a thread's rows, 2 or 4; the four threads of a quad share a row";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

def Device_Count : I32EnumAttr<"Count", "a number of the launch", [
    I32EnumAttrCase<"Items", 0, "items">, I32EnumAttrCase<"Blocks", 1, "blocks">,
    I32EnumAttrCase<"Frees", 2, "frees">, I32EnumAttrCase<"Group", 3, "group">]> {
  let cppNamespace = "::tw::device";
  let genSpecializedAttr = 0;
}
def Device_CountAttr : EnumAttr<Device_Dialect, Device_Count, "count"> { let assemblyFormat = "$value"; }

def Device_Combine : I32EnumAttr<"Combine", "how a reduction combines two elements", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Sum", 2, "sum">]> {
  let cppNamespace = "::tw::device";
  let genSpecializedAttr = 0;
}
def Device_CombineAttr : EnumAttr<Device_Dialect, Device_Combine, "combine"> { let assemblyFormat = "$value"; }

#endif
