// The format is numpy.lib.format's: a magic string, a version, the length of a header, a Python dictionary as the header, data.
#include "Npy.h"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace tw::cli {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Reads the header's dictionary: string keys; values are strings, True, False, or tuples of whole numbers.
class Header {
public:
  Header(std::string_view text, const std::string &origin, std::size_t start) : text(text), origin(origin), start(start) {}

  void read(NpyArray &array) {
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr")
        array.type = type();
      else if (key == "fortran_order")
        order();
      else if (key == "shape")
        array.shape = tuple();
      else
        refuse(fmt::format("the key '{}' is none of descr, fortran_order, shape", key));
      seen.push_back(key);
      if (!accept(',') && peek() != '}')
        refuse("expected ',' or '}'");
    }
    for (const char *key : {"descr", "fortran_order", "shape"})
      if (std::count(seen.begin(), seen.end(), key) != 1)
        refuse(fmt::format("expected the key '{}' once", key));
  }

private:
  [[noreturn]] void refuse(const std::string &why) { throw std::runtime_error(fmt::format("{}: at byte {} of the header: {}", origin, start + at, why)); }

  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
    return at < text.size() ? text[at] : '\0';
  }
  bool accept(char c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      refuse(fmt::format("expected '{}'", c));
  }

  std::string string() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      refuse("expected a string");
    std::size_t end = text.find(quote, at + 1);
    if (end == text.npos)
      refuse("a string does not end");
    std::string out(text.substr(at + 1, end - at - 1));
    at = end + 1;
    return out;
  }

  std::string type() {
    if (peek() == '[')
      refuse("a structured type is not read; save a plain array");
    const std::size_t before = at;
    const std::string descr = string();
    auto wrong = [&](const std::string &why) {
      at = before;
      refuse(fmt::format("type '{}': {}", descr, why));
    };
    if (descr.find('O') != descr.npos)
      wrong("Python objects are not read; save an array of numbers");
    static const std::vector<std::string> known{"f2", "f4", "f8", "i4", "i8", "b1", "u2", "V2"};
    const std::string name = descr.empty() ? "" : descr.substr(1);
    if (descr.empty() || std::string_view("<>|=").find(descr[0]) == std::string_view::npos || std::find(known.begin(), known.end(), name) == known.end())
      wrong("expected one of <f2, <f4, <f8, <i4, <i8, |b1, <u2, |V2");
    if (descr[0] == '>')
      wrong("big-endian data is not read; save x.astype('<" + name + "')");
    return name;
  }

  void order() {
    peek();
    std::string_view rest = text.substr(at);
    if (rest.starts_with("True"))
      refuse("Fortran order is not read; save numpy.ascontiguousarray(x)");
    if (!rest.starts_with("False"))
      refuse("expected True or False");
    at += 5;
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    expect('(');
    while (!accept(')')) {
      peek();
      std::int64_t number = 0;
      auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
      if (error != std::errc() || number < 0)
        refuse("expected a whole number from 0 to 2^63 - 1");
      at = static_cast<std::size_t>(stop - text.data());
      numbers.push_back(number);
      if (!accept(',') && peek() != ')')
        refuse("expected ',' or ')'");
    }
    return numbers;
  }

  std::string_view text;
  const std::string &origin;
  std::size_t start, at = 0;
  std::vector<std::string> seen;
};

int elementBytes(const std::string &type) { return type[1] - '0'; }

std::uint32_t littleEndian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

} // namespace

NpyArray parseNpy(std::string_view bytes, const std::string &origin) {
  auto refuse = [&](std::size_t at, const std::string &why) { return std::runtime_error(fmt::format("{}: at byte {}: {}", origin, at, why)); };
  if (!bytes.starts_with(magic))
    throw refuse(0, "no .npy file: expected it to begin with \\x93NUMPY");
  if (bytes.size() < 8)
    throw refuse(bytes.size(), "cut short: expected the version of the format");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    throw refuse(6, fmt::format("version {} of the format; expected 1, 2 or 3", version));
  const std::size_t lengthBytes = version == 1 ? 2 : 4, start = 8 + lengthBytes;
  if (bytes.size() < start)
    throw refuse(bytes.size(), "cut short: expected the length of the header");
  const std::size_t length = littleEndian(bytes.substr(8, lengthBytes));
  if (bytes.size() - start < length)
    throw refuse(bytes.size(), fmt::format("cut short: the header has {} bytes, there are {}", length, bytes.size() - start));
  NpyArray array;
  Header(bytes.substr(start, length), origin, start).read(array);

  std::int64_t size = elementBytes(array.type);
  const bool isEmpty = std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end();
  for (std::int64_t extent : array.shape)
    if (!isEmpty && __builtin_mul_overflow(size, extent, &size))
      throw refuse(start, fmt::format("the shape [{}] has more than 2^63 bytes", fmt::join(array.shape, ", ")));
  const std::size_t expected = isEmpty ? 0 : static_cast<std::size_t>(size), found = bytes.size() - start - length;
  if (found != expected)
    throw refuse(start + length + std::min(found, expected), fmt::format("{}: {} [{}] has {} bytes of data, there are {}", found < expected ? "cut short" : "more than the array", array.type,
                                                                        fmt::join(array.shape, ", "), expected, found));
  array.data = bytes.substr(start + length);
  return array;
}

std::string formatNpy(const NpyArray &array) {
  std::string shape = fmt::format("{}", fmt::join(array.shape, ", "));
  if (array.shape.size() == 1)
    shape += ",";
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", array.type == "b1" ? '|' : '<', array.type, shape);
  const std::size_t before = magic.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');   // so that data begins at a multiple of 64
  header += '\n';
  std::string out(magic);
  out += '\1';
  out += '\0';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  return out + header + array.data;
}

NpyArray readNpy(const std::string &path) {
  auto refuse = [&] { return std::runtime_error(fmt::format("cannot read {}: {}", path, std::generic_category().message(errno))); };
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file)
    throw refuse();
  std::string bytes;
  char piece[1 << 16];
  while (std::size_t n = std::fread(piece, 1, sizeof piece, file.get()))
    bytes.append(piece, n);
  if (std::ferror(file.get()))
    throw refuse();
  return parseNpy(bytes, path);
}

} // namespace tw::cli
