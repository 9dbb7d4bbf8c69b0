// A C++ file with a variant, compiled into a plug-in that is asked for the program's text.
#pragma once
#include "tilewright/dsl/Program.h"
#include <string>

namespace tw::cli {

/// Whether what stands on the command line in place of a variant's name is a C++ file: it ends with .cpp, .cc or .cxx.
[[nodiscard]] bool isVariantFile(const std::string &given);

/// The program of the variant in the file, for Q, K, V and O of `type`, with lse where that is asked for and there is one. The plug-in is compiled
/// by CXX, or c++, against the headers and the library beside this program, and kept in the cache by the content of all that it is made of.
/// Throws std::invalid_argument with the compiler's words, or the program's error at the user's line.
[[nodiscard]] Program programInFile(const std::string &file, Type type, bool lse);

}   // namespace tw::cli
