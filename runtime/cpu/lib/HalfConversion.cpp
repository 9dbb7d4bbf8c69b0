#include "HalfConversion.h"
#include <bit>
#include <cstdint>

float tilewrightExtendHalf(float half) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(half) & 0xffffu;
  std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u)         // infinity, NaN: quiet, payload kept
    return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13 | (magnitude > 0x7c00u ? 0x400000u : 0u));
  // The exponent's bias grows from 15 to 127: multiply by 2^112, which also normalises subnormals.
  float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

float tilewrightTruncateToHalf(float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu, half;
  if (magnitude > 0x7f800000u)      // NaN
    half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  else if (magnitude >= 0x477ff000u) // from 65520 on the nearest is infinity
    half = 0x7c00u;
  else if (magnitude < 0x38800000u) // subnormal: let the addition of 0.5 round at 2^-24
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  else                              // to nearest, ties to even
    half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  return std::bit_cast<float>(sign | half);
}
