// What maps say, dimension by dimension.
#include "Facts.h"
#include "tilewright/artifact/RuntimeError.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace tw;
using namespace tw::device;
using namespace tw::device::tests;

namespace {

using Five = std::array<std::uint64_t, 5>;

TensorMap mapOf(std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::uint64_t address = 0x10000) {
  return tensorMap(foldFacts().fields[0], Element::bf16, address, shape, strides, 0x20008);
}

}   // namespace

TEST_CASE("dimensions of a map, fastest first, chunks among them") {
  const TensorMap map = mapOf({2, 3, 77, 128}, {3 * 77 * 128, 77 * 128, 128, 1});
  CHECK(map.rank == 5);
  CHECK(map.sizes == Five{64, 77, 2, 3, 2});
  CHECK(map.strides == Five{2, 256, 128, 77 * 256, 3 * 77 * 256});
  CHECK(map.box == std::array<std::uint32_t, 5>{64, 96, 2, 1, 1});
  CHECK(map.address == 0x10000);
  CHECK(map.swizzle == 128);
}

TEST_CASE("strides are the tensor's own") {
  const TensorMap map = mapOf({2, 3, 77, 128}, {1 << 20, 128, 3 * 128, 1});
  CHECK(map.strides == Five{2, 768, 128, 256, 1 << 21});
}

TEST_CASE("a last chunk that is not whole counts") { CHECK(mapOf({2, 3, 77, 72}, {3 * 77 * 72, 77 * 72, 72, 1}).sizes[2] == 2); }

TEST_CASE("strides of dimensions that nobody steps along are made valid") {
  const TensorMap map = mapOf({1, 3, 77, 128}, {7, 77 * 128, 128, 1});
  CHECK(map.sizes[4] == 1);
  CHECK(map.strides[4] == 16);
}

TEST_CASE("the map of an empty tensor is valid and lies elsewhere") {
  const TensorMap map = mapOf({2, 3, 0, 128}, {5, 5, 5, 1}, 0);
  CHECK(map.address == 0x20000);
  CHECK(map.sizes == Five{64, 1, 2, 3, 2});
  CHECK(map.strides == Five{2, 16, 16, 16, 16});
}

TEST_CASE("a software map: address, strides and sizes, byte by byte; what is not there has size 1") {
  TensorMap map{.address = 0x0123456789abcdf0,
                .sizes = {64, 77, 3},
                .strides = {2, 768, 0x123456780},
                .box = {64, 16, 1},
                .rank = 3,
                .element = Element::bf16,
                .swizzle = 128};
  unsigned char encoded[tensorMapBytes + 1];
  std::memset(encoded, 0xee, sizeof encoded);
  softwareMap(map, encoded);
  const unsigned char expected[tensorMapBytes] = {0xf0, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,   // the address
                                                  2,    0,    0,    0,    0,    0,    0,    0,      // strides
                                                  0,    3,    0,    0,    0,    0,    0,    0,      //
                                                  0x80, 0x67, 0x45, 0x23, 1,    0,    0,    0,      //
                                                  0,    0,    0,    0,    0,    0,    0,    0,      //
                                                  0,    0,    0,    0,    0,    0,    0,    0,      //
                                                  64,   0,    0,    0,    77,   0,    0,    0,      // sizes
                                                  3,    0,    0,    0,    1,    0,    0,    0,      //
                                                  1};
  CHECK(std::memcmp(encoded, expected, tensorMapBytes) == 0);
  CHECK(encoded[tensorMapBytes] == 0xee);
}

TEST_CASE("a size that a software map cannot hold is refused") {
  TensorMap map{.sizes = {64, 1ull << 31}, .strides = {2, 128}, .rank = 2};
  unsigned char encoded[tensorMapBytes];
  CHECK_THROWS_WITH(softwareMap(map, encoded),
                    "dimension 1 of a tensor map has 2147483648 elements; kernels that copy without a copy engine count them in 31 bits");
}

TEST_CASE("elements by name") {
  CHECK(bytes(elementNamed("bool")) == 1);
  CHECK(bytes(elementNamed("bf16")) == 2);
  CHECK(bytes(elementNamed("i32")) == 4);
  CHECK(bytes(elementNamed("f64")) == 8);
}
