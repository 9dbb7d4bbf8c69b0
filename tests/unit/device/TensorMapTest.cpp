// What maps say, dimension by dimension.
#include "Facts.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::device;
using namespace tw::device::tests;

namespace {

using Five = std::array<std::uint64_t, 5>;

TensorMap mapOf(std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::uint64_t address = 0x10000) {
  return tensorMap(foldFacts().fields[0], Element::bf16, address, shape, strides, 0x20008);
}

} // namespace

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

TEST_CASE("elements by name") {
  CHECK(bytes(elementNamed("bool")) == 1);
  CHECK(bytes(elementNamed("bf16")) == 2);
  CHECK(bytes(elementNamed("i32")) == 4);
  CHECK(bytes(elementNamed("f64")) == 8);
}
