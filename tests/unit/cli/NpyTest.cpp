#include "Npy.h"
#include <catch2/catch.hpp>

using namespace tw::cli;

namespace {

/// A version 1 file around `header`.
std::string file(const std::string &header, const std::string &data) {
  std::string bytes = "\x93NUMPY";
  bytes += std::string("\1\0", 2);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

std::string refusal(const std::string &bytes) {
  try {
    (void)parseNpy(bytes, "x.npy");
  } catch (const std::exception &error) {
    return error.what();
  }
  return "accepted";
}

const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";

} // namespace

TEST_CASE("arrays are read as NumPy writes them") {
  NpyArray array = parseNpy(file(good + "          \n", std::string(24, 'x')), "x.npy");
  CHECK(array.type == "f4");
  CHECK(array.shape == std::vector<std::int64_t>{2, 3});
  CHECK(array.data == std::string(24, 'x'));
  CHECK(parseNpy(file("{'shape': (), 'fortran_order': False, 'descr': \"|b1\"}", "x"), "x").shape.empty());
  CHECK(parseNpy(file("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", "12345678"), "x").shape == std::vector<std::int64_t>{1});
  CHECK(parseNpy(file("{'descr': '|V2', 'fortran_order': False, 'shape': (0, 5), }", ""), "x").data.empty());
}

TEST_CASE("what is written is read back, and data begins at a multiple of 64") {
  for (const char *type : {"f2", "f4", "f8", "i4", "i8", "b1", "u2"})
    for (std::vector<std::int64_t> shape : {std::vector<std::int64_t>{}, {3}, {0, 4}, {2, 3, 4}}) {
      std::int64_t size = type[1] - '0';
      for (std::int64_t n : shape)
        size *= n;
      NpyArray array{type, shape, std::string(static_cast<std::size_t>(size), 'd')};
      const std::string bytes = formatNpy(array);
      CHECK((bytes.size() - array.data.size()) % 64 == 0);
      NpyArray back = parseNpy(bytes, "x");
      CHECK(back.type == array.type);
      CHECK(back.shape == array.shape);
      CHECK(back.data == array.data);
    }
}

TEST_CASE("a malformed file is refused with the place and what was expected") {
  CHECK(refusal("") == "x.npy: at byte 0: no .npy file: expected it to begin with \\x93NUMPY");
  CHECK(refusal("PK\3\4 a zip") == "x.npy: at byte 0: no .npy file: expected it to begin with \\x93NUMPY");
  CHECK(refusal("\x93NUMPY") == "x.npy: at byte 6: cut short: expected the version of the format");
  CHECK(refusal(std::string("\x93NUMPY\7\0", 8)) == "x.npy: at byte 6: version 7 of the format; expected 1, 2 or 3");
  CHECK(refusal(file(good, "").substr(0, 30)) == "x.npy: at byte 30: cut short: the header has 59 bytes, there are 20");
  CHECK(refusal(file(good, std::string(20, 'x'))) == "x.npy: at byte 89: cut short: f4 [2, 3] has 24 bytes of data, there are 20");
  CHECK(refusal(file(good, std::string(25, 'x'))) == "x.npy: at byte 93: more than the array: f4 [2, 3] has 24 bytes of data, there are 25");
}

TEST_CASE("a header that is not ours to read is refused") {
  CHECK(refusal(file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "")) ==
        "x.npy: at byte 44 of the header: Fortran order is not read; save numpy.ascontiguousarray(x)");
  CHECK(refusal(file("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", "")) ==
        "x.npy: at byte 20 of the header: type '>f4': big-endian data is not read; save x.astype('<f4')");
  CHECK(refusal(file("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", "")) ==
        "x.npy: at byte 20 of the header: type '|O': Python objects are not read; save an array of numbers");
  CHECK(refusal(file("{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3), }", "")) ==
        "x.npy: at byte 20 of the header: type '<c8': expected one of <f2, <f4, <f8, <i4, <i8, |b1, <u2, |V2");
  CHECK(refusal(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }", "")) ==
        "x.npy: at byte 20 of the header: a structured type is not read; save a plain array");
  CHECK(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }", "")) ==
        "x.npy: at byte 64 of the header: expected a whole number from 0 to 2^63 - 1");
  CHECK(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", "")) ==
        "x.npy: at byte 10: the shape [99999999999, 99999999999] has more than 2^63 bytes");
  CHECK(refusal(file("{'descr': '<f4', 'shape': (2, 3), }", "")) == "x.npy: at byte 45 of the header: expected the key 'fortran_order' once");
  CHECK(refusal(file("{'descr': '<f4', 'colour': 3}", "")) == "x.npy: at byte 36 of the header: the key 'colour' is none of descr, fortran_order, shape");
  CHECK(refusal(file("[1, 2]", "")) == "x.npy: at byte 10 of the header: expected '{'");
  CHECK(refusal(file("{'descr': '<f4", "")) == "x.npy: at byte 20 of the header: a string does not end");
}

TEST_CASE("a file that is not there") {
  std::string message;
  try {
    (void)readNpy("/no/such.npy");
  } catch (const std::exception &error) {
    message = error.what();
  }
  CHECK(message == "cannot read /no/such.npy: No such file or directory");
}
