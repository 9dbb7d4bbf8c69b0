// Machine code for the CPU as bytes that can be stored, checked and loaded later.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// A relocatable object and what the CPU that runs it must offer.
struct HostImage {
  std::string triple;                 // LLVM's name of architecture, system and format: x86_64-pc-linux-gnu
  std::vector<std::string> features;  // LLVM's names of CPU features the code may use, sorted: avx2, f16c, fma, …
  std::string object;                 // the object file
};

/// One run of bytes: a readable head, a digest over everything else, the object.
[[nodiscard]] std::string sealHostImage(const HostImage &image);

/// The image inside `bytes`. Throws RuntimeError if they are no image, are cut short or were altered.
[[nodiscard]] HostImage openHostImage(std::string_view bytes);

/// The functions of the C library that host code may call; nothing else may be left undefined in an object.
[[nodiscard]] bool isHostFunction(std::string_view name);

} // namespace tw
