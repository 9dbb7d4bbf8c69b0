// What each axis of a program is to its kernel.
#pragma once
#include "tilewright/dsl/Program.h"

namespace tw {

enum class Role {
  free,    // one value an item
  block,   // an item owns one tile of it
  fold,    // walked tile by tile
  point,   // walked point by point, around the fold
  inner    // whole inside a tile
};

struct Roles {
  std::shared_ptr<const Fold> fold;                  // the innermost one
  std::vector<std::shared_ptr<const Fold>> around;   // folds around it, the outermost first, that carry its values through
  Axes axes;                   // all axes of the program, in order of declaration
  std::vector<Role> roles;     // of each of them
  [[nodiscard]] Role of(const Axis &axis) const;
  [[nodiscard]] const Axis &block() const;
  /// Whether tiles run along the axis: whether it is neither free nor walked point by point.
  [[nodiscard]] bool isTiled(const Axis &axis) const;
  /// The fold whose results the stores see.
  [[nodiscard]] const Fold &outermost() const { return around.empty() ? *fold : *around.front(); }
};

/// What each step of the fold adds to the tensor of a store along the fold axis that sums over the block axis (and over free ones, from point to
/// point); null for any other store. Nobody carries such a sum: it is made in memory, which starts at 0, in no fixed order.
[[nodiscard]] const Tile *addedBySteps(const Roles &roles, const Store &store);

/// The roles of a program's axes if its items own tiles of axis `block`; where `block` is empty the
/// first axis is taken, in the order of the stores' indices, that can be it: not folded, in every store,
/// in exactly one operand of every dot, and leaving no value more than two axes that are tiled; of two that stand in the same operands the one
/// whose elements are nearer in memory. Inner is what a dot or a
/// reduction consumes, or what only the dot operand without the block axis has; the rest is free.
/// Of folds that stand in one another's steps and do no more than carry the inner one's values through, the inner one is
/// the kernel's; a tile of an outer one is a point.
/// A program that computes each element by itself has a fold that carries nothing, along the last axis of its first store: its steps store.
/// Throws ProgramError for a program without a fold that does anything else or with others than these, a block axis that does not do (with
/// the reason), and a value over three axes that are tiled.
[[nodiscard]] Roles rolesOf(const Program &program, std::string_view block = {});

} // namespace tw
