// How the library refuses a program.
#pragma once
#include "tilewright/dsl/Tile.h"

namespace tw::detail {

/// Throws the ProgramError at `where`.
[[noreturn]] inline void fail(Location where, std::string message, std::vector<Note> notes = {}) {
  throw ProgramError({where, std::move(message), std::move(notes)});
}

/// The note that leads from a complaint to the value complained of.
inline Note madeHere(const Tile &tile, const std::string &what = "the value") {
  return {tile.where(), what + " is made here"};
}

/// A type as a program writes it: `Type::f32`.
inline std::string spelled(Type type) { return std::string("Type::") + (type == Type::boolean ? "boolean" : name(type)); }

} // namespace tw::detail
