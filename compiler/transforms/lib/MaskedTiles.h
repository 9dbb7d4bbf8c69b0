// Proves that a fold's tile which a mask excludes wholly changes nothing.
//
// The proof is by abstract evaluation of one step with the mask's constant in place of its result, and has to hold
// in every state that a row's carried values can be in. A carried value that starts at a number is taken to be
// finite; one that starts at an infinity (a running maximum) is finite or still at its start, in any
// combination. Other masks that have all half planes of this one exclude the tile too, and give their constants. While it is at its start, other carried values may be known to be at theirs: those are found by induction.
//   A maximum that is -inf after a step was -inf before it, and so were all elements it has seen.
//   With that, and with the others at their start, does the step leave the others at their start?
// What the step adds to a tensor must be 0 too; one that stores anything changes something.
#pragma once
#include "Evaluator.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <string>

namespace tw {

/// Does `other` exclude whatever `mask` does: has it all half planes of it, and its condition?
[[nodiscard]] bool excludesAsMuch(tile::MaskOp other, tile::MaskOp mask);

class MaskedTiles {
public:
  explicit MaskedTiles(mlir::scf::ForOp fold);
  /// Nothing if a tile wholly excluded by the mask, whatever other masks do, leaves every carried value as it
  /// is; else which one would change, as a sentence.
  [[nodiscard]] std::optional<std::string> change(tile::MaskOp mask) const;

private:
  struct Carried {
    mlir::Value argument, yielded;
    std::optional<double> start;      // where it is one number
    bool isFinite;                    // starts finite
    llvm::SmallVector<unsigned> held; // those at their start while this one is (for an infinite start)
    [[nodiscard]] bool startsInfinite() const;
  };
  llvm::SmallVector<tile::AccumulateOp> added;   // what the step adds to in memory
  llvm::SmallVector<Carried> carried;
  llvm::SmallVector<tile::MaskOp> masks;
  std::optional<std::string> obstacle;

  void findHeld(Carried &maximum);
};

} // namespace tw
