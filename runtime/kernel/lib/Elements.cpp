// 16-bit floats are rounded straight from double, so that nothing is rounded twice.
#include "tilewright/kernel/Elements.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tw {
namespace {

/// A float of 16 bits with `mantissa` bits of fraction; f16 has 10, bf16 7.
template <int mantissa> std::uint16_t encode(double value) {
  constexpr int exponentBits = 15 - mantissa, bias = (1 << (exponentBits - 1)) - 1;
  constexpr std::uint16_t inf = ((1 << exponentBits) - 1) << mantissa;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | inf | 1 << (mantissa - 1);
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | inf;
  if (magnitude == 0)
    return sign;
  // A step is the distance of neighbours around the value; subnormals share the smallest one. nearbyint ties to even.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double steps = std::nearbyint(std::ldexp(magnitude, mantissa - exponent));   // below 2^(mantissa + 1), or just that
  const std::uint64_t code = static_cast<std::uint64_t>(steps) + (static_cast<std::uint64_t>(exponent + bias - 1) << mantissa);
  return sign | static_cast<std::uint16_t>(std::min<std::uint64_t>(code, inf));
}

template <int mantissa> double decode(std::uint16_t code) {
  constexpr int exponentBits = 15 - mantissa, bias = (1 << (exponentBits - 1)) - 1, top = (1 << exponentBits) - 1;
  const int exponent = (code >> mantissa) & top, fraction = code & ((1 << mantissa) - 1);
  double magnitude;
  if (exponent == top)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, 1 - bias - mantissa);
  else
    magnitude = std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
  return code & 0x8000 ? -magnitude : magnitude;
}

template <class Integer> Integer whole(double value) {
  if (std::isnan(value))
    return 0;
  const double low = static_cast<double>(std::numeric_limits<Integer>::min());   // a power of two: exact
  if (value <= low)
    return std::numeric_limits<Integer>::min();
  return value >= -low ? std::numeric_limits<Integer>::max() : static_cast<Integer>(value);
}

template <class T> void write(T value, void *element) { std::memcpy(element, &value, sizeof value); }
template <class T> T read(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

} // namespace

void putElement(double value, Type type, void *element) {
  switch (type) {
  case Type::boolean: return write<std::uint8_t>(value != 0, element);
  case Type::i32: return write(whole<std::int32_t>(value), element);
  case Type::i64: return write(whole<std::int64_t>(value), element);
  case Type::f16: return write(encode<10>(value), element);
  case Type::bf16: return write(encode<7>(value), element);
  case Type::f32: return write(static_cast<float>(value), element);
  case Type::f64: return write(value, element);
  }
}

double getElement(Type type, const void *element) {
  switch (type) {
  case Type::boolean: return read<std::uint8_t>(element) != 0;
  case Type::i32: return read<std::int32_t>(element);
  case Type::i64: return static_cast<double>(read<std::int64_t>(element));
  case Type::f16: return decode<10>(read<std::uint16_t>(element));
  case Type::bf16: return std::bit_cast<float>(std::uint32_t(read<std::uint16_t>(element)) << 16);
  case Type::f32: return read<float>(element);
  case Type::f64: return read<double>(element);
  }
  return 0;
}

double rounded(double value, Type type) {
  double element;   // no type is larger
  putElement(value, type, &element);
  return getElement(type, &element);
}

void putElements(std::span<const double> values, Type type, void *elements) {
  auto *at = static_cast<std::byte *>(elements);
  for (double value : values) {
    putElement(value, type, at);
    at += bytes(type);
  }
}

std::vector<double> getElements(Type type, const void *elements, std::size_t count) {
  std::vector<double> values(count);
  auto *at = static_cast<const std::byte *>(elements);
  for (double &value : values) {
    value = getElement(type, at);
    at += bytes(type);
  }
  return values;
}

double largestDifference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::isfinite(a[i]) && std::isfinite(b[i]))
      largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

} // namespace tw
