// What a tensor map says, before a driver or a simulator makes it the bytes that copies read.
#pragma once
#include "tilewright/artifact/DeviceFacts.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace tw::device {

enum class Element : std::uint32_t { boolean, i32, i64, f16, bf16, f32, f64 };
/// `f16`, `bf16`, `f32`, `f64`, `i32`, `i64`, `bool`; throws RuntimeError for any other name.
[[nodiscard]] Element elementNamed(std::string_view name);
/// Bytes of one element in memory; a bool takes one.
[[nodiscard]] int bytes(Element element);

/// A view of a tensor in global memory, and the box of it that one copy takes; dimensions fastest first. The inputs of
/// cuTensorMapEncodeTiled, without interleaving, steps or fill: what lies outside reads as 0.
struct TensorMap {
  std::uint64_t address = 0;                   // a multiple of 16
  std::array<std::uint64_t, 5> sizes = {};     // elements, from 1; 0 past `rank`
  std::array<std::uint64_t, 5> strides = {};   // bytes, multiples of 16; the first is the size of an element
  std::array<std::uint32_t, 5> box = {};       // elements
  std::uint32_t rank = 0;                      // 1 to 5
  Element element = Element::f16;
  std::int32_t swizzle = 0;                    // bytes over which 16-byte pieces are permuted; 0: not at all

  friend bool operator==(const TensorMap &, const TensorMap &) = default;
};

inline constexpr std::size_t tensorMapBytes = 128;   // of an encoded map, and its alignment

/// Writes the encoded map to `out`, tensorMapBytes aligned to as many.
using EncodeMap = std::function<void(const TensorMap &map, void *out)>;

/// Encodes for kernels whose own threads copy boxes (SoftwareMap of templates/common/box_copies.cuh), without a driver. Bytes 0 to 7: the
/// address; from 8: five strides in bytes, of 64 bits; from 48: five sizes in elements, of 32; the rest 0. Past `rank`, sizes are 1 and
/// strides 0. Throws RuntimeError where a size has more than 31 bits.
void softwareMap(const TensorMap &map, void *out);

/// The map that `field` asks for, of the tensor at `address`. A length of 0 counts as 1, with `elsewhere` in place of an address
/// that may be null: such a map is valid, and nothing is copied through it. A dimension one element long may have any stride. Elements of the first dimension lie
/// side by side, unless `strided`.
[[nodiscard]] TensorMap tensorMap(const ParameterField &field, Element element, std::uint64_t address, std::span<const std::int64_t> shape,
                                  std::span<const std::int64_t> strides, std::uint64_t elsewhere, bool strided = false);

} // namespace tw::device
