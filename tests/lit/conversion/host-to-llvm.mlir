// RUN: tilewright opt --host-to-llvm %s | FileCheck %s
// RUN: tilewright opt --convert-host-to-llvm %s | FileCheck %s

// The wrapper takes descriptors by address; the attribute that emission reads survives.
// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME:    host.scratch_bytes = 64 : i64
// CHECK-NOT:     scf.
// CHECK-NOT:     memref.
// CHECK:         llvm.intr.fmuladd
// CHECK:         "llvm.intr.vector.reduce.fadd"{{.*}}reassoc
// CHECK:       llvm.func @_mlir_ciface_rows(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i32, %{{.*}}: !llvm.ptr)
func.func @rows(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %out: memref<?xf32, strided<[?], offset: ?>>, %row: i32,
                %scratch: memref<?xi8>) attributes {llvm.emit_c_interface, host.scratch_bytes = 64 : i64} {
  %zero = arith.constant 0 : index
  %start = arith.constant dense<0.0> : vector<8xf32>
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i = arith.index_cast %row : i32 to index
  %n = memref.dim %a, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : memref<?x?xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
  %rowStart = arith.muli %i, %strides#0 : index
  %at = arith.addi %offset, %rowStart : index
  %line = memref.reinterpret_cast %base to offset: [%at], sizes: [%n], strides: [1] : memref<f32> to memref<?xf32, strided<[1], offset: ?>>
  %sum = scf.for %k = %zero to %n step %c8 iter_args(%s = %start) -> vector<8xf32> {
    %x = vector.load %line[%k] : memref<?xf32, strided<[1], offset: ?>>, vector<8xf32>
    %y = vector.fma %x, %x, %s : vector<8xf32>
    scf.yield %y : vector<8xf32>
  }
  %total = vector.reduction <add>, %sum : vector<8xf32> into f32
  memref.store %total, %out[%i] : memref<?xf32, strided<[?], offset: ?>>
  return
}
