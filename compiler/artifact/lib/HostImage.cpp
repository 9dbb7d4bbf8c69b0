// The layout of a host image:
//
//   tilewright host image 1\n
//   digest 0123456789abcdef\n      FNV-1a, 64 bits, of every byte after this line
//   triple x86_64-pc-linux-gnu\n
//   features avx2,f16c,fma\n
//   object 18264\n                 bytes that follow, to the end
#include "tilewright/artifact/HostImage.h"
#include "tilewright/artifact/RuntimeError.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace tw {
namespace {

constexpr std::string_view magic = "tilewright host image 1\n";

std::string digestOf(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3u;
  std::string text(16, '0');
  for (int at = 15; at >= 0; --at, hash >>= 4)
    text[static_cast<std::size_t>(at)] = "0123456789abcdef"[hash & 15];
  return text;
}

[[noreturn]] void refuse(const std::string &why) {
  throw RuntimeError("host code cannot be loaded: " + why + "; build the kernel again");
}

/// Takes the line `name value\n` off the front of `bytes` and returns its value.
std::string_view takeLine(std::string_view &bytes, std::string_view name) {
  std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos || bytes.substr(0, name.size()) != name || end <= name.size() || bytes[name.size()] != ' ')
    refuse("its head has no line '" + std::string(name) + "'");
  std::string_view value = bytes.substr(name.size() + 1, end - name.size() - 1);
  bytes.remove_prefix(end + 1);
  return value;
}

} // namespace

std::string sealHostImage(const HostImage &image) {
  std::string body = "triple " + image.triple + "\nfeatures ";
  for (std::size_t at = 0; at < image.features.size(); ++at)
    body += (at ? "," : "") + image.features[at];
  body += "\nobject " + std::to_string(image.object.size()) + "\n" + image.object;
  return std::string(magic) + "digest " + digestOf(body) + "\n" + body;
}

HostImage openHostImage(std::string_view bytes) {
  if (bytes.substr(0, magic.size()) != magic)
    refuse("the " + std::to_string(bytes.size()) + " bytes do not begin with '" +
           std::string(magic.substr(0, magic.size() - 1)) + "'");
  bytes.remove_prefix(magic.size());
  std::string_view digest = takeLine(bytes, "digest");
  if (digest != digestOf(bytes))
    refuse("its bytes do not match their digest, so they were altered or cut short");
  HostImage image;
  image.triple = takeLine(bytes, "triple");
  std::string_view features = takeLine(bytes, "features");
  while (!features.empty()) {
    std::size_t end = std::min(features.find(','), features.size());
    image.features.emplace_back(features.substr(0, end));
    features.remove_prefix(std::min(end + 1, features.size()));
  }
  std::string_view count = takeLine(bytes, "object");
  std::size_t size = 0;
  auto [stop, error] = std::from_chars(count.data(), count.data() + count.size(), size);
  if (error != std::errc() || stop != count.data() + count.size() || size != bytes.size())
    refuse("its head promises " + std::string(count) + " bytes of object and " + std::to_string(bytes.size()) + " follow");
  image.object = bytes;
  return image;
}

bool isHostFunction(std::string_view name) {
  static constexpr std::array names = {
#define TW_HOST_FUNCTION(name) std::string_view(#name),
#include "tilewright/artifact/HostFunctions.def"
#undef TW_HOST_FUNCTION
  };
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace tw
