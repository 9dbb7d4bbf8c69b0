// The declarations of a device kernel: each is made once, wherever it is asked for.
#pragma once
#include "tilewright/ir/Device.h"

namespace tw {

/// Finds or makes parameters of a kernel. They come first in the kernel's body; sort() gives them the order of the struct.
class Parameters {
public:
  explicit Parameters(device::KernelOp kernel) : kernel(kernel) {}

  mlir::Value extent(llvm::StringRef axis);
  mlir::Value length(llvm::StringRef tensor, int64_t dimension);
  mlir::Value stride(llvm::StringRef tensor, int64_t dimension);
  mlir::Value pointer(llvm::StringRef tensor, mlir::Type element);
  mlir::Value scalar(llvm::StringRef name, mlir::Type type);
  mlir::Value count(device::Count what);
  mlir::Value counters(int64_t number);
  mlir::Value lists(llvm::StringRef axis, int64_t width);

  /// The element at these places, each i32 or i64, of a tensor that holds `element` in global memory, as `loaded`; 0 where a place is outside.
  mlir::Value load(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef tensor, mlir::Type element, llvm::ArrayRef<mlir::Value> indices, mlir::Type loaded);

  /// Looks for the numbers from `low` to `high` among the first `few`, or `many`, elements of the last dimension at these places, each i32 or i64; outside nothing is found.
  /// Numbers are i64.
  device::AmongOp search(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef tensor, mlir::Type element, llvm::ArrayRef<mlir::Value> list, mlir::Value low, mlir::Value high,
                         mlir::Value few, mlir::Value many);
  /// The same for one number; places, number and count as `tile.gather` with `among` has them.
  mlir::Value isAmong(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef tensor, mlir::Type element, llvm::ArrayRef<mlir::Value> indices);

  /// Tensor maps, pointers, strides, then 4-byte fields, each in the order in which they were made.
  void sort();

private:
  device::KernelOp kernel;
  /// The offset of the places, one a dimension from the first on, and whether they are inside.
  std::pair<mlir::Value, mlir::Value> place(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef tensor, llvm::ArrayRef<mlir::Value> indices);
  /// The declaration that `isSame` accepts, or the one that `make` makes at the start of the kernel.
  template <class Op, class Same, class Make> mlir::Value get(Same isSame, Make make);
};

} // namespace tw
