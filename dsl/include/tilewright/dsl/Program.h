// A kernel before any decision about how to run it.
#pragma once
#include "tilewright/dsl/Fold.h"
#include "tilewright/dsl/Tensor.h"
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// tensor[axes] = value, converted to the tensor's type.
struct Store {
  Tensor tensor;
  Axes index;        // in the order of the tensor's dimensions, each a different axis
  Tile value;
  Location where;
};
[[nodiscard]] Store store(Tensor tensor, Axes index, Operand value, Location where = Location::current());

/// A condition on lengths and scalars that must hold at launch; `message` says what and the cure.
struct Requirement {
  Tile condition;    // bool, over no axes, without loads
  std::string message;
  Location where;
};
[[nodiscard]] Requirement require(Operand condition, std::string message, Location where = Location::current());

/// Named stores and requirements: nothing else.
struct Program {
  std::string name;
  std::vector<Store> stores;
  std::vector<Requirement> requirements = {};
};

/// Refuses, at the user's line, a program whose parts do not fit together: one name for two tensors, scalars
/// or axes that differ, a tensor stored twice or both loaded and stored, no store at all. `print`, `evaluate`
/// and the attention level call it; so must whoever else takes a program from a user.
void verify(const Program &program);

// ---- what a program mentions, each once, in order of first mention in a walk of requirements, then stores
[[nodiscard]] Axes axesOf(const Program &program);
[[nodiscard]] std::vector<std::shared_ptr<const TensorInfo>> tensorsOf(const Program &program);   // loaded, measured or stored
[[nodiscard]] std::vector<Tile> scalarsOf(const Program &program);                                // Op::scalar nodes, one a name
[[nodiscard]] std::vector<std::shared_ptr<const Fold>> foldsOf(const Program &program);

// ---- text form
enum class Locations { omit, print };
/// The program as text, one operation a line; `parseProgram` reads it back. Without locations it is
/// canonical: equal programs built by different lines of C++ print alike.
[[nodiscard]] std::string print(const Program &program, Locations locations = Locations::omit);
/// Reads the text form; throws ProgramError at the line of `text` (file name `origin`) that is wrong.
[[nodiscard]] Program parseProgram(std::string_view text, std::string_view origin = "<program>");

} // namespace tw
