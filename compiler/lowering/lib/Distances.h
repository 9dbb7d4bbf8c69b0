// What a thread computes of the distance between an element's row and its column, and of nothing else that differs within a warp.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "tilewright/ir/Device.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tw::lowering {

/// How often an i32 holds each part of a thread's place; the rest is the same for all lanes of a warp.
struct Place {
  int64_t rowOffset = 0, row = 0, columnOffset = 0, column = 0;
  bool operator==(const Place &) const = default;
  /// Does it hold rows as often as it takes columns away, and so depends on distances alone?
  [[nodiscard]] bool isDistance() const { return rowOffset == row && columnOffset == column && row == -column; }
};

/// Values of the consumers, and values inside of loops over rows and elements.
class Distances {
public:
  explicit Distances(device::ConsumersOp consumers);

  /// The same for all lanes of a warp?
  [[nodiscard]] bool isUniform(mlir::Value value) const { return !differing.contains(value); }
  /// A value in the body of `loop` that is made of the distance alone, and is not the same for all.
  [[nodiscard]] bool isOfDistance(mlir::Value value, device::EachElementOp loop);
  /// The value at `distance`, built where `b` stands.
  mlir::Value at(mlir::Value value, mlir::Value distance, device::EachElementOp loop, mlir::OpBuilder &b, mlir::IRMapping &made);

private:
  bool isMadeOfDistance(mlir::Value value, device::EachElementOp loop);
  std::optional<Place> placeOf(mlir::Value value, device::EachElementOp loop);
  /// Of a comparison of places that differ by a distance: of the first less the second.
  std::optional<Place> comparedPlace(mlir::arith::CmpIOp compare, device::EachElementOp loop);
  /// What rows hold, where one loop over rows alone writes them, and before the loop over elements.
  mlir::Value written(device::GetOp get, device::EachElementOp loop);
  mlir::Value withoutPlace(mlir::Value value, device::EachElementOp loop, mlir::OpBuilder &b, mlir::IRMapping &made);
  mlir::Value copied(mlir::Value value, mlir::OpBuilder &b, mlir::IRMapping &made);

  llvm::DenseSet<mlir::Value> differing;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Operation *>, bool> known;   // isOfDistance, by value and loop
  mlir::DominanceInfo dominance;
};

} // namespace tw::lowering
