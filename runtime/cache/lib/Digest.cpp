// SHA-256 as FIPS 180-4 states it.
#include "tilewright/cache/Digest.h"

#include <algorithm>
#include <bit>

namespace tw::cache {
namespace {

constexpr std::array<std::uint32_t, 64> roundConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t loadBigEndian(const std::uint8_t* at) {
  return std::uint32_t(at[0]) << 24 | std::uint32_t(at[1]) << 16 | std::uint32_t(at[2]) << 8 | at[3];
}

template <std::size_t count>
std::array<char, count> littleEndian(std::uint64_t value) {
  std::array<char, count> bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = char(value >> (8 * i) & 0xff);
  return bytes;
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Hasher::compress(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w;
  for (int t = 0; t < 16; ++t)
    w[t] = loadBigEndian(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int t = 0; t < 64; ++t) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + roundConstants[t] + w[t];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> step{a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i)
    state[i] += step[i];
}

Hasher& Hasher::add(std::string_view bytes) {
  const auto* next = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  const std::size_t filled = length % 64;
  length += left;
  if (filled > 0) {
    const std::size_t taken = std::min(left, 64 - filled);
    std::copy_n(next, taken, pending.begin() + filled);
    next += taken, left -= taken;
    if (filled + taken < 64) return *this;
    compress(pending.data());
  }
  for (; left >= 64; next += 64, left -= 64)
    compress(next);
  std::copy_n(next, left, pending.begin());
  return *this;
}

Hasher& Hasher::field(std::string_view bytes) {
  const auto size = littleEndian<8>(bytes.size());
  return add({size.data(), size.size()}).add(bytes);
}

Digest Hasher::finish() {
  // Padding: a one bit, zeros up to 56 bytes of the last block, the length in bits, big endian.
  const std::uint64_t bits = length * 8;
  std::array<char, 72> padding{char(0x80)};
  const std::size_t zerosEnd = (length % 64 < 56 ? 56 : 120) - length % 64;
  for (int i = 0; i < 8; ++i)
    padding[zerosEnd + i] = char(bits >> (56 - 8 * i) & 0xff);
  add({padding.data(), zerosEnd + 8});

  Digest result;
  for (std::size_t i = 0; i < 32; ++i)
    result.bytes[i] = std::uint8_t(state[i / 4] >> (24 - 8 * (i % 4)));
  *this = Hasher();
  return result;
}

Digest digest(std::string_view bytes) { return Hasher().add(bytes).finish(); }

std::string Digest::hex() const {
  std::string text;
  text.reserve(64);
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::optional<Digest> Digest::fromHex(std::string_view text) {
  if (text.size() != 64) return std::nullopt;
  Digest result;
  for (std::size_t i = 0; i < 32; ++i) {
    const int high = hexDigit(text[2 * i]), low = hexDigit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    result.bytes[i] = std::uint8_t(high << 4 | low);
  }
  return result;
}

}  // namespace tw::cache
