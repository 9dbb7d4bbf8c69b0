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

std::runtime_error refusal(const std::string &origin, std::size_t at, const std::string &why) { return std::runtime_error(fmt::format("{}: at byte {}: {}", origin, at, why)); }

constexpr std::size_t longestHeader = 1 << 20;   // NumPy itself reads no more than 10000 without being asked to

/// Bytes up to the end of the header; `bytes` need only hold the first 12.
std::size_t beginningLength(std::string_view bytes, const std::string &origin) {
  if (!bytes.starts_with(magic))
    throw refusal(origin, 0, "no .npy file: expected it to begin with \\x93NUMPY");
  if (bytes.size() < 8)
    throw refusal(origin, bytes.size(), "cut short: expected the version of the format");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    throw refusal(origin, 6, fmt::format("version {} of the format; expected 1, 2 or 3", version));
  const std::size_t lengthBytes = version == 1 ? 2 : 4, start = 8 + lengthBytes;
  if (bytes.size() < start)
    throw refusal(origin, bytes.size(), "cut short: expected the length of the header");
  const std::size_t length = littleEndian(bytes.substr(8, lengthBytes));
  if (length > longestHeader)
    throw refusal(origin, 8, fmt::format("a header of {} bytes; expected at most {}", length, longestHeader));
  return start + length;
}

/// All that comes before the data.
struct Beginning {
  NpyArray array;                // without its data
  std::size_t length = 0;        // in bytes, the magic string included
  std::size_t dataBytes = 0;     // that must follow
};

Beginning parseBeginning(std::string_view bytes, const std::string &origin) {
  const std::size_t end = beginningLength(bytes, origin), start = bytes[6] == 1 ? 10 : 12;
  if (bytes.size() < end)
    throw refusal(origin, bytes.size(), fmt::format("cut short: the header has {} bytes, there are {}", end - start, bytes.size() - start));
  Beginning beginning{{}, end, 0};
  NpyArray &array = beginning.array;
  Header(bytes.substr(start, end - start), origin, start).read(array);
  std::int64_t size = elementBytes(array.type);
  const bool isEmpty = std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end();
  for (std::int64_t extent : array.shape)
    if (!isEmpty && __builtin_mul_overflow(size, extent, &size))
      throw refusal(origin, start, fmt::format("the shape [{}] has more than 2^63 bytes", fmt::join(array.shape, ", ")));
  beginning.dataBytes = isEmpty ? 0 : static_cast<std::size_t>(size);
  return beginning;
}

/// `there` is how many bytes of data there are, in words.
std::runtime_error wrongSize(const Beginning &beginning, const std::string &origin, std::size_t found, const std::string &there) {
  return refusal(origin, beginning.length + std::min(found, beginning.dataBytes),
                 fmt::format("{}: {} [{}] has {} bytes of data, there are {}", found < beginning.dataBytes ? "cut short" : "more than the array", beginning.array.type,
                             fmt::join(beginning.array.shape, ", "), beginning.dataBytes, there));
}

} // namespace

NpyArray parseNpy(std::string_view bytes, const std::string &origin) {
  Beginning beginning = parseBeginning(bytes, origin);
  const std::size_t found = bytes.size() - beginning.length;
  if (found != beginning.dataBytes)
    throw wrongSize(beginning, origin, found, std::to_string(found));
  beginning.array.data = bytes.substr(beginning.length);
  return std::move(beginning.array);
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
  std::setvbuf(file.get(), nullptr, _IONBF, 0);   // a pipe is read no further than asked
  // Makes `bytes` up to `size` long, in pieces: memory is taken for what is there, not for what a header claims.
  auto readUpTo = [&](std::string &bytes, std::size_t size) {
    while (bytes.size() < size) {
      const std::size_t had = bytes.size(), piece = std::min<std::size_t>(size - had, 1 << 20);
      bytes.resize(had + piece);
      const std::size_t n = std::fread(bytes.data() + had, 1, piece, file.get());
      bytes.resize(had + n);
      if (std::ferror(file.get()))
        throw refuse();
      if (n < piece)
        return;
    }
  };
  std::string bytes, more;
  readUpTo(bytes, magic.size());
  if (bytes == magic)
    readUpTo(bytes, 12);
  readUpTo(bytes, beginningLength(bytes, path));
  Beginning beginning = parseBeginning(bytes, path);
  readUpTo(beginning.array.data, beginning.dataBytes);
  if (const std::size_t found = beginning.array.data.size(); found < beginning.dataBytes)
    throw wrongSize(beginning, path, found, std::to_string(found));
  readUpTo(more, 1);
  if (!more.empty())
    throw wrongSize(beginning, path, beginning.dataBytes + 1, "more");
  return std::move(beginning.array);
}

} // namespace tw::cli
