/// Content digests: 256 bits (SHA-256) that stand for a run of bytes.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tw::cache {

/// The SHA-256 of some bytes. Equal digests mean equal content; neither names nor times enter it.
struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  /// 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;
  /// The inverse of hex(); accepts upper case too. Empty when `text` is not 64 hexadecimal digits.
  [[nodiscard]] static std::optional<Digest> fromHex(std::string_view text);

  friend auto operator<=>(const Digest&, const Digest&) = default;
};

/// Digests content that arrives in pieces.
///
///   Hasher().field(programText).field(scheduleText).finish()
class Hasher {
public:
  /// Appends raw bytes: add("ab").add("c") and add("abc") are the same content.
  Hasher& add(std::string_view bytes);
  /// Appends bytes preceded by their length (8 bytes, little endian), so that neighbouring fields
  /// cannot run into each other: field("ab").field("c") differs from field("a").field("bc").
  Hasher& field(std::string_view bytes);
  /// The digest of everything added. The hasher is at its start again afterwards.
  [[nodiscard]] Digest finish();

private:
  void compress(const std::uint8_t* block);

  static constexpr std::array<std::uint32_t, 8> start{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint32_t, 8> state = start;
  std::array<std::uint8_t, 64> pending{};  // the first length % 64 bytes are filled
  std::uint64_t length = 0;                // bytes added
};

/// The digest of `bytes`.
[[nodiscard]] Digest digest(std::string_view bytes);

}  // namespace tw::cache

template <>
struct std::hash<tw::cache::Digest> {
  std::size_t operator()(const tw::cache::Digest& digest) const noexcept {
    std::size_t prefix;  // a digest's bits are uniform already
    std::memcpy(&prefix, digest.bytes.data(), sizeof prefix);
    return prefix;
  }
};
