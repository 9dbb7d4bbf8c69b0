// What each axis of a program is to its kernel.
#pragma once
#include "tilewright/dsl/Program.h"

namespace tw {

enum class Role {
  free,    // one value an item
  block,   // an item owns one tile of it
  fold,    // walked tile by tile
  inner    // whole inside a tile
};

struct Roles {
  std::shared_ptr<const Fold> fold;
  Axes axes;                   // all axes of the program, in order of declaration
  std::vector<Role> roles;     // of each of them
  [[nodiscard]] Role of(const Axis &axis) const;
  [[nodiscard]] const Axis &block() const;
};

/// The roles of a program's axes if its items own tiles of axis `block`; where `block` is empty the
/// first axis is taken, in the order of the stores' indices, that can be it: not folded, in every store,
/// and in exactly one operand of every dot. Inner is what a dot or a reduction consumes, or what only the
/// dot operand without the block axis has; the rest is free.
/// Throws ProgramError for a program without a fold or with several, a block axis that does not do (with
/// the reason), and a value over three axes that are not free.
[[nodiscard]] Roles rolesOf(const Program &program, std::string_view block = {});

} // namespace tw
