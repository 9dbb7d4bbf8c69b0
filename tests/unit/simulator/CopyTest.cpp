// Tensor maps: what a box brings into shared memory and takes out of it, at every rank and swizzle, past every edge.
#include "Kernels.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <optional>

using namespace tw;
using namespace tw::test;

namespace {

struct BoxParams {
  TMap from, to;
  u32 *image;
  int rank, at[5], put[5], bytes, adds;
};
const std::vector<std::string> entries{"box"};

struct Tensor {
  std::vector<u64> dimensions, strides;   // elements, bytes of dimensions 1 on
  std::vector<u32> box;
  [[nodiscard]] std::size_t elements() const { return strides.empty() ? dimensions[0] : strides.back() / 4 * dimensions.back(); }
};

std::string encode(TMap &map, void *data, const Tensor &tensor, int swizzle) {
  const u32 ones[5] = {1, 1, 1, 1, 1};
  const std::vector<std::uint64_t> dimensions(tensor.dimensions.begin(), tensor.dimensions.end()),
      strides(tensor.strides.begin(), tensor.strides.end());
  return encodeTensorMap(&map, MapElement::f32, u32(dimensions.size()), data, dimensions.data(), strides.data(), tensor.box.data(), ones, 0, swizzle,
                         0, 0);
}

/// Copies one box in and out; the numbers of wrong words in shared and in global memory. What begins before the tensor is written from 0 on, unless `anywhere`.
std::pair<int, int> copyBox(const Tensor &tensor, int swizzle, const std::vector<int> &at, bool adds, const SimulatorOptions &options,
                            std::string &reports, bool anywhere = false) {
  SimulatedMemory memory;
  const int rank = int(tensor.dimensions.size());
  auto *from = static_cast<float *>(memory.allocate("from", tensor.elements() * 4)),
       *to = static_cast<float *>(memory.allocate("to", tensor.elements() * 4));
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    from[i] = float(i + 1);
    to[i] = -1;
  }
  BoxParams p{};
  REQUIRE(encode(p.from, from, tensor, swizzle) == "");
  REQUIRE(encode(p.to, to, tensor, swizzle) == "");
  p.bytes = 4;
  for (u32 extent : tensor.box)
    p.bytes *= int(extent);
  p.image = static_cast<u32 *>(memory.allocate("image", std::size_t(p.bytes)));
  p.rank = rank;
  p.adds = adds;
  std::vector<int> put = at;
  for (int &first : put)
    first = anywhere ? first : std::max(first, 0);
  std::copy(at.begin(), at.end(), p.at);
  std::copy(put.begin(), put.end(), p.put);
  const auto result = simulate(kernel("copies.cu", entries, "box"), {{1}, {64}, u32(p.bytes) + 2048, bytesOf(p)}, memory, options);
  reports = result.text();
  std::vector<float> expectedTo(tensor.elements(), -1.f);
  int wrongShared = 0, wrongGlobal = 0;
  for (int i = 0; i < p.bytes / 4; ++i) {   // element i of the box, innermost fastest
    auto placeOf = [&](const std::vector<int> &first) -> std::optional<std::size_t> {
      std::size_t offset = 0;
      bool inside = true;
      for (int dimension = 0, rest = i; dimension < rank; ++dimension) {
        const int extent = int(tensor.box[std::size_t(dimension)]), x = first[std::size_t(dimension)] + rest % extent;
        rest /= extent;
        inside = inside && x >= 0 && x < int(tensor.dimensions[std::size_t(dimension)]);
        offset += std::size_t(x) * (dimension ? tensor.strides[std::size_t(dimension - 1)] / 4 : 1);
      }
      return inside ? std::optional(offset) : std::nullopt;
    };
    const auto source = placeOf(at), target = placeOf(put);
    const u32 byte = u32(i * 4), place = byte ^ ((byte >> 7 & ((1u << swizzle) - 1)) << 4);
    float landed;
    std::memcpy(&landed, p.image + place / 4, 4);
    const float expected = source ? from[*source] : 0.f;
    wrongShared += landed != expected;
    if (target)
      expectedTo[*target] = adds ? expected - 1 : expected;
  }
  for (std::size_t i = 0; i < tensor.elements(); ++i)
    wrongGlobal += to[i] != expectedTo[i];
  return {wrongShared, wrongGlobal};
}

const Tensor tensors[] = {{{37}, {}, {32}},
                          {{35, 9}, {160}, {32, 8}},
                          {{40, 7, 5}, {160, 1120}, {32, 4, 3}},
                          {{33, 6, 3, 4}, {144, 880, 2656}, {32, 3, 2, 2}},
                          {{32, 5, 2, 3, 2}, {128, 640, 1280, 3840}, {32, 4, 2, 1, 2}}};

}   // namespace

TEST_CASE("boxes of every rank land swizzled, with zeros outside the tensor, and are stored inside it only") {
  const auto settings = simulatorSettings(1);
  int tried = 0;
  for (const Tensor &whole : tensors)
    for (int swizzle = 0; swizzle < 4; ++swizzle)
      for (int place = 0; place < 4; ++place) {
        Tensor tensor = whole;
        if (swizzle)
          tensor.box[0] = u32(16 << swizzle) / 4;
        std::vector<int> at(tensor.dimensions.size(), 0);
        for (std::size_t i = 0; i < at.size(); ++i) {   // inside; before the start; past the end; wholly outside
          at[i] = place == 0 ? 1 : place == 1 ? -2 : place == 2 ? int(tensor.dimensions[i]) - 1 : i == 0 ? int(tensor.dimensions[0]) + 4 : 0;
          if (i == 0)
            at[i] = (at[i] + 3) / 4 * 4 - 4 * (place == 1 || place == 2);   // a multiple of 16 bytes
        }
        std::string reports;
        CAPTURE(tensor.dimensions.size(), swizzle, place, reports);
        const auto [wrongShared, wrongGlobal] = copyBox(tensor, swizzle, at, false, settings[std::size_t(++tried) % 3], reports);
        CAPTURE(reports);
        CHECK(reports.empty());
        CHECK(wrongShared == 0);
        CHECK(wrongGlobal == 0);
      }
  std::string reports;
  CHECK(copyBox(tensors[1], 3, {4, 4}, true, settings[2], reports) == std::pair(0, 0));
  CHECK(reports.empty());
}

TEST_CASE("a box that reaches memory outside its buffer is reported with the buffer's name") {
  SimulatedMemory memory;
  auto *data = static_cast<float *>(memory.allocate("short", 8 * 160 - 16));   // the last row lacks 4 elements
  BoxParams p{};
  REQUIRE(encode(p.from, data, {{40, 8}, {160}, {32, 8}}, 3) == "");
  p.to = p.from;
  p.bytes = 1024;
  p.image = static_cast<u32 *>(memory.allocate("image", 1024));
  p.rank = 2;
  p.at[0] = 8;
  const auto result = simulate(kernel("copies.cu", entries, "box"), {{1}, {64}, 4096, bytesOf(p)}, memory);
  CHECK(result.codes() == "GLOBAL-BOUNDS");
  CHECK_THAT(result.text(), Catch::Contains("'short', which has 1264"));
  p.rank = 3;
  CHECK(simulate(kernel("copies.cu", entries, "box"), {{1}, {64}, 4096, bytesOf(p)}, memory).codes() == "MAP");
}

TEST_CASE("a box that starts at no multiple of 16 bytes is reported: a copy engine takes it for an illegal instruction") {
  std::string reports;
  (void)copyBox(tensors[0], 0, {5}, false, {}, reports);
  CHECK_THAT(reports, Catch::Contains("ALIGN") && Catch::Contains("the first coordinate is 5, 20 bytes into the tensor's rows; it must be a multiple of 16 bytes"));
}

TEST_CASE("a box that is written before its tensor is reported: a copy engine takes it for an illegal instruction, though it reads there") {
  for (const bool adds : {false, true}) {
    std::string reports;
    (void)copyBox(tensors[1], 3, {4, -1}, adds, {}, reports, true);
    CHECK_THAT(reports, Catch::Contains("MAP") && Catch::Contains("TMA store at line ") && Catch::Contains("coordinate 1 is -1, before the tensor's first element; what is written must begin at 0 or behind it"));
  }
}

TEST_CASE("what the driver would refuse to encode is refused, with the reason") {
  alignas(64) TMap map;
  alignas(16) static float data[1024];
  auto refusal = [&](Tensor tensor, int swizzle, int skipped = 0) { return encode(map, data + skipped, tensor, swizzle); };
  CHECK(refusal({{64, 8}, {256}, {32, 8}}, 3) == "");
  CHECK(refusal({{64, 8}, {256}, {64, 8}}, 3) == "a box row has 256 bytes, more than the swizzle of 128");
  CHECK(refusal({{64, 8}, {264}, {32, 8}}, 3) == "stride 264 of dimension 1; it must be a multiple of 16 bytes below 2^40");
  CHECK(refusal({{64, 0}, {256}, {32, 8}}, 3) == "dimension 1 has 0 elements; it must have from 1 to 2^32");
  CHECK(refusal({{64, 8}, {256}, {32, 257}}, 0) == "dimension 1 of the box has 257 elements; it must have from 1 to 256");
  CHECK(refusal({{64, 8}, {256}, {3, 8}}, 0) == "a box row has 12 bytes; they must be a multiple of 16");
  CHECK(refusal({{64, 8}, {256}, {32, 8}}, 3, 1) == "the tensor is not aligned to 16 bytes");
}
