// device-draw-items: the list of an item's tiles, which the producer makes before it posts the item.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/ir/Device.h"
#include "llvm/ADT/SetVector.h"

namespace tw {

class ItemList {
public:
  /// Of the roles' loops over items, which may have none.
  ItemList(mlir::scf::ForOp produced, mlir::scf::ForOp consumed);

  explicit operator bool() const { return count != 0; }
  /// That tell the consumers of it.
  [[nodiscard]] std::size_t words() const { return count; }

  /// Makes room for a list in every slot of the mailbox.
  void reserve(std::int64_t slots);
  /// Makes the list of item `known` where the builder stands, in the slot at `cursor`; it is empty where nothing is `present`. Returns the words.
  llvm::SmallVector<mlir::Value> make(mlir::OpBuilder &builder, mlir::Value known, mlir::Value present, mlir::Value cursor);
  /// Takes the list, and what serves it alone, out of the producer's body, which is told the words. `kept`: what stays all the same.
  void drop(mlir::ValueRange words, const llvm::SetVector<mlir::Operation *> &kept);
  /// Tells the consumers' body.
  void tell(mlir::ValueRange words);

private:
  mlir::scf::ForOp produced;
  device::ListTilesOp made;   // until it is dropped
  std::size_t count;          // of its words
  device::ListedOp told;
};

} // namespace tw
