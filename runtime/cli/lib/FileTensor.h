// What a .npy file gives a tensor: how its numbers become the tensor's elements, and which it cannot be given.
#pragma once
#include "Npy.h"
#include "tilewright/dsl/Evaluate.h"
#include <optional>
#include <string>

namespace tw::cli {

/// The type that numbers of an .npy type are without conversion; none of two bytes without a meaning (u2, V2).
[[nodiscard]] std::optional<Type> naturalType(const std::string &npy);

/// Whether somebody asked for the tensor's type (--dtype). If nobody did, numbers that had to be rounded are said on stderr.
enum class Conversion { asked, unasked };

/// The file's numbers as elements of the tensor. Whole numbers and floats become others of their kind, and whole numbers floats: exactly, or rounded to nearest. Floats are not
/// taken for whole numbers, nor truths for either or either for truths; and nothing is moved to the end of a type's range. Throws std::invalid_argument, which names the file, what it
/// holds, the tensor, its type and the cure.
[[nodiscard]] Array tensorIn(const NpyArray &file, const TensorInfo &tensor, const std::string &path, Conversion conversion = Conversion::unasked);

}   // namespace tw::cli
