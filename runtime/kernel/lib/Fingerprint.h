// A program as bytes, much quicker than its text: what finds a kernel of this process again.
#pragma once
#include "tilewright/dsl/Program.h"
#include <string>

namespace tw {

/// Appends bytes from which the program could be rebuilt, locations apart: two programs have the same bytes only
/// if they print the same text. Does not check the program.
void appendFingerprint(std::string &bytes, const Program &program);

/// Appends `field` with its length, so that neighbours cannot run into each other.
void appendField(std::string &bytes, std::string_view field);

} // namespace tw
