// What docs/gallery.md shows of a variant's masks.
#pragma once
#include <string>

namespace tw::cli {

/// Of 256 queries and keys, in squares of 16: `#` where all elements are kept, `/` some, `.` none. Empty where the variant masks nothing.
[[nodiscard]] std::string galleryPicture(const std::string &variant);

} // namespace tw::cli
