// The text of the shipped tables, made by EmbedTables.cmake.
#pragma once

namespace tw::tuning {

extern const unsigned char shippedBytes[];
extern const unsigned long shippedSize;

} // namespace tw::tuning
