// NumPy's .npy files: one array each.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

/// An array as it lies in the file: row-major, little-endian.
struct NpyArray {
  std::string type;                   // NumPy's name without the byte order: f2, f4, f8, i4, i8, b1, u2, V2
  std::vector<std::int64_t> shape;
  std::string data;
};

/// What is in the bytes of a .npy file; throws std::runtime_error naming `origin`, where in it, and what was expected.
[[nodiscard]] NpyArray parseNpy(std::string_view bytes, const std::string &origin);
[[nodiscard]] std::string formatNpy(const NpyArray &array);

/// The same from a file.
[[nodiscard]] NpyArray readNpy(const std::string &path);

} // namespace tw::cli
