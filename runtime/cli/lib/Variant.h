// Variants by what stands on the command line: names of the gallery, or a C++ file with one.
#pragma once
#include "tilewright/dsl/Gallery.h"
#include <string>

namespace tw::cli {

/// The gallery's makeVariant(), or the program in the file, of which what its author may not have meant is said on stderr, once.
[[nodiscard]] Program programOf(const std::string &variant, const VariantOptions &options);

/// What is known of a variant besides. Of a variant in a file that is what its program tells: no bound of its scores (`scoreBound` is empty), and tensors
/// that are as long as the program's places in them reach, with normal numbers, whole ones from 0 to 7, or fair coins in them.
[[nodiscard]] VariantFacts factsFor(const std::string &variant, Type type);

}   // namespace tw::cli
