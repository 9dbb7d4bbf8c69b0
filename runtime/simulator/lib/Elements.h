// The 16-bit floating-point formats.
#pragma once
#include <bit>
#include <cstdint>

namespace tw::simulated {

inline float bf16Value(std::uint32_t bits) { return std::bit_cast<float>(bits << 16); }
inline float f16Value(std::uint32_t bits) { return float(std::bit_cast<_Float16>(std::uint16_t(bits))); }

/// Rounded to nearest even.
inline std::uint16_t bf16Bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return value != value ? 0x7fff : std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline std::uint16_t f16Bits(float value) { return value != value ? 0x7fff : std::bit_cast<std::uint16_t>(_Float16(value)); }

}   // namespace tw::simulated
