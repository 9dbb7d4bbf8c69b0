#include "tilewright/kernel/Elements.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tw;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();

std::uint16_t code(double value, Type type) {
  std::uint16_t bits = 0;
  putElement(value, type, &bits);
  return bits;
}
} // namespace

TEST_CASE("f16 is rounded to nearest, ties to even, straight from double") {
  CHECK(code(0, Type::f16) == 0x0000);
  CHECK(code(-0.0, Type::f16) == 0x8000);
  CHECK(code(1, Type::f16) == 0x3c00);
  CHECK(code(-2, Type::f16) == 0xc000);
  CHECK(code(65504, Type::f16) == 0x7bff);
  CHECK(code(65519.99, Type::f16) == 0x7bff);
  CHECK(code(65520, Type::f16) == 0x7c00);
  CHECK(code(-1e300, Type::f16) == 0xfc00);
  CHECK(code(0x1p-24, Type::f16) == 0x0001);
  CHECK(code(0x1p-25, Type::f16) == 0x0000);                  // a tie: 0 is even
  CHECK(code(std::nextafter(0x1p-25, 1), Type::f16) == 0x0001);
  CHECK(code(1 + 0x1p-11, Type::f16) == 0x3c00);              // a tie
  CHECK(code(1 + 0x1p-11 + 0x1p-40, Type::f16) == 0x3c01);    // by way of float it would be the tie again
  CHECK(code(0x1p-14 - 0x1p-26, Type::f16) == 0x0400);        // the largest subnormal rounds up to the smallest normal
}

TEST_CASE("bf16 is rounded to nearest, ties to even, straight from double") {
  CHECK(code(1, Type::bf16) == 0x3f80);
  CHECK(code(1 + 0x1p-8, Type::bf16) == 0x3f80);
  CHECK(code(1 + 0x1p-8 + 0x1p-40, Type::bf16) == 0x3f81);
  CHECK(code(1 + 3 * 0x1p-8, Type::bf16) == 0x3f82);
  CHECK(code(0x1.fep127, Type::bf16) == 0x7f7f);
  CHECK(code(0x1.ffp127, Type::bf16) == 0x7f80);
  CHECK(code(0x1p-133, Type::bf16) == 0x0001);
  CHECK(code(inf, Type::bf16) == 0x7f80);
  CHECK(std::isnan(rounded(std::nan(""), Type::bf16)));
  CHECK(std::isnan(rounded(std::nan(""), Type::f16)));
}

TEST_CASE("every 16-bit float stands for the number that gives it back") {
  for (Type type : {Type::f16, Type::bf16})
    for (unsigned bits = 0; bits < 65536; ++bits) {
      auto element = static_cast<std::uint16_t>(bits);
      double value = getElement(type, &element);
      if (std::isnan(value))
        continue;
      if (code(value, type) != element)
        FAIL(name(type) << " " << bits << " stands for " << value << ", which gives " << code(value, type));
    }
}

TEST_CASE("f16 agrees with the compiler's own") {
  for (unsigned bits = 0; bits < 65536; bits += 7) {
    auto element = static_cast<std::uint16_t>(bits);
    _Float16 peer;
    std::memcpy(&peer, &element, 2);
    double value = getElement(Type::f16, &element), expected = static_cast<double>(peer);
    if (std::isnan(expected) ? !std::isnan(value) : value != expected)
      FAIL(bits << " is " << value << ", expected " << expected);
  }
}

TEST_CASE("integers are cut off and held at their ends") {
  CHECK(rounded(2.9, Type::i32) == 2);
  CHECK(rounded(-2.9, Type::i64) == -2);
  CHECK(rounded(1e30, Type::i32) == 2147483647.0);
  CHECK(rounded(-1e30, Type::i32) == -2147483648.0);
  CHECK(rounded(std::nan(""), Type::i32) == 0);
  CHECK(rounded(0.25, Type::boolean) == 1);
}

TEST_CASE("elements lie side by side") {
  std::uint16_t memory[3];
  putElements(std::vector<double>{1, -2, 0.5}, Type::f16, memory);
  CHECK(getElements(Type::f16, memory, 3) == std::vector<double>{1, -2, 0.5});
  CHECK(memory[1] == 0xc000);
}
