// Boxes that the threads of a warp copy through a software map, and the mbarriers that count them: what lands, and what is found.
#include "Kernels.h"
#include "tilewright/device/TensorMap.h"
#include <catch2/catch.hpp>
#include <array>
#include <numeric>

using namespace tw;
using namespace tw::test;

namespace {

using Five = std::array<int, 5>;

struct BoxesParams {
  TMap map;
  u32 *image;
  int at[5], shift[5], count, shape, bug;
};

/// The shapes of kernels/boxes_sm80.cu: bytes of a row, rows along dimensions 1 to 4, swizzle.
struct Shape {
  Five box;
  int swizzle, unit = 16;   // bytes that are copied at once
  [[nodiscard]] int bytes() const { return std::accumulate(box.begin(), box.end(), 1, std::multiplies<>()); }
};
const Shape shapes[] = {{{128, 16, 1, 1, 1}, 128}, {{128, 6, 2, 3, 1}, 128}, {{128, 7, 1, 1, 1}, 128}, {{128, 64, 2, 1, 2}, 128},
                        {{64, 8, 2, 2, 2}, 0},     {{96, 5, 3, 1, 1}, 0},    {{16, 40, 1, 1, 1}, 0},   {{32, 2, 5, 3, 1}, 0},
                        {{1024, 1, 1, 1, 1}, 0},   {{1536, 2, 1, 1, 2}, 0},  {{16, 1, 1, 1, 1}, 0},   {{128, 16, 1, 1, 1}, 128, 4},
                        {{128, 6, 2, 3, 1}, 128, 2}, {{64, 8, 2, 2, 2}, 0, 4}, {{96, 5, 3, 1, 1}, 0, 2}, {{48, 3, 1, 2, 1}, 0, 1},
                        {{256, 1, 1, 1, 1}, 0, 1}};

const std::vector<std::string> entries{"boxes", "own", "by_all"};

struct Tensor {
  int elementBytes;
  Five sizes;
  std::array<std::int64_t, 5> strides;   // bytes

  /// Rows of 16 bytes and more, with a gap between dimensions.
  Tensor(int elementBytes, Five sizes) : elementBytes(elementBytes), sizes(sizes), strides{elementBytes} {
    std::int64_t stride = (sizes[0] * elementBytes + 15) / 16 * 16;
    for (std::size_t d = 1; d < 5; ++d) {
      strides[d] = stride;
      stride = stride * sizes[d] + 16;
    }
  }
  /// Of the last byte's end, so that a guard follows.
  [[nodiscard]] std::size_t bytes() const {
    std::int64_t last = sizes[0] * elementBytes;
    for (std::size_t d = 1; d < 5; ++d)
      last += (sizes[d] - 1) * strides[d];
    return std::size_t(last);
  }
};

struct Outcome {
  SimulationResult result;
  int wrong = 0;   // bytes
};

/// `threads`: one box, copied by all of so many; else `count` boxes by a warp of its own.
Outcome copyBoxes(int shape, const Tensor &tensor, Five at, Five shift, int count, const SimulatorOptions &options, int bug = 0, int threads = 0) {
  const Shape &its = shapes[shape];
  SimulatedMemory memory;
  auto *data = static_cast<unsigned char *>(memory.allocate("tensor", tensor.bytes()));
  for (std::size_t i = 0; i < tensor.bytes(); ++i)
    data[i] = static_cast<unsigned char>(1 + (i * 7 + i / 255) % 255);   // never 0
  BoxesParams p{};
  device::TensorMap map{.address = reinterpret_cast<std::uint64_t>(data), .rank = 5};
  for (std::size_t d = 0; d < 5; ++d) {
    map.sizes[d] = std::uint64_t(tensor.sizes[d]);
    map.strides[d] = std::uint64_t(tensor.strides[d]);
    p.at[d] = at[d];
    p.shift[d] = shift[d];
  }
  device::softwareMap(map, &p.map);
  auto *image = static_cast<unsigned char *>(memory.allocate("image", std::size_t(count * its.bytes())));
  p.image = reinterpret_cast<u32 *>(image);
  p.count = threads ? threads : count;
  p.shape = shape;
  p.bug = bug;
  const u32 sharedBytes = u32((its.bytes() + 1023) / 1024 * 2048 + 1024 + 32);
  Outcome outcome{threads ? simulate(kernel("boxes_sm80.cu", entries, "by_all"), {{1}, {u32(threads)}, sharedBytes, bytesOf(p)}, memory, options)
                          : simulate(kernel("boxes_sm80.cu", entries, "boxes"), {{1}, {96}, sharedBytes, bytesOf(p)}, memory, options)};
  for (int n = 0; n < count; ++n)
    for (int byte = 0; byte < its.bytes(); ++byte) {
      std::int64_t offset = 0;
      bool inside = true;
      int rest = byte;
      for (std::size_t d = 0; d < 5; ++d) {
        const int extent = d ? its.box[d] : its.box[0] / tensor.elementBytes, unit = d ? 1 : tensor.elementBytes;
        const int x = at[d] + n * shift[d] + rest / unit % extent;
        offset += x * tensor.strides[d] + (d ? 0 : rest % unit);
        inside = inside && x >= 0 && x < tensor.sizes[d];
        rest /= extent * unit;
      }
      const int place = its.swizzle ? byte ^ (byte / 128 % 8 * 16) : byte;
      outcome.wrong += image[n * its.bytes() + place] != (inside ? data[offset] : 0);
    }
  return outcome;
}

/// The reports of a bug, under all settings.
std::string found(int bug) {
  std::string reports;
  for (auto &options : simulatorSettings(3))
    reports += copyBoxes(0, Tensor(2, {64, 100, 1, 1, 1}), {}, {0, 16, 0, 0, 0}, 7, options, bug).result.text();
  return reports;
}

}   // namespace

TEST_CASE("boxes of software maps land in order, swizzled, with zeros outside the tensor, and never read there") {
  const auto settings = simulatorSettings(2);
  int tried = 0;
  for (int shape = 0; shape < int(std::size(shapes)); ++shape)
    for (int elementBytes : {1, 2, 4, 8})
      for (int place = 0; place < 5; ++place) {
        const Five &box = shapes[shape].box;
        if (shapes[shape].unit < 4 && elementBytes > shapes[shape].unit)
          continue;      // elements are copied whole
        const int row = box[0] / elementBytes, piece = std::max(1, shapes[shape].unit / elementBytes);
        // Rows that end within a piece; dimensions that no box divides.
        const Tensor tensor(elementBytes, {row + piece + 1, box[1] * 2 + 1, box[2] + 1, box[3] + 2, box[4] + 1});
        Five at{}, shift{0, box[1], 0, 0, 0};
        for (std::size_t d = 0; d < 5; ++d) {
          const int unit = d ? 1 : piece, end = tensor.sizes[d] / unit * unit;
          at[d] = place == 0 ? 0 : place == 1 ? unit : place == 2 ? -unit : place == 3 ? end - (d ? 1 : 0) : d ? 0 : -row;
        }
        if (place == 2)
          shift = {piece, 1, 1, 1, 1};
        const Outcome outcome = copyBoxes(shape, tensor, at, shift, 3, settings[std::size_t(++tried) % 4]);
        CAPTURE(shape, elementBytes, place, outcome.result.text());
        CHECK(outcome.result.clean());
        CHECK(outcome.wrong == 0);
      }
}

TEST_CASE("a box that all threads of a block copy lands as from one warp") {
  const auto settings = simulatorSettings(2);
  int tried = 0;
  for (int shape = 0; shape < int(std::size(shapes)); ++shape)
    for (int threads : {128, 256, 384})
      for (int place : {0, 1}) {
        const Five &box = shapes[shape].box;
        const int element = std::min(2, shapes[shape].unit);
        const Five at = place ? Five{shapes[shape].unit < 16 ? 3 * (shapes[shape].unit / element) : 8, box[1], -1, 1, 0} : Five{};
        const Outcome outcome = copyBoxes(shape, Tensor(element, {box[0] / element + 9, box[1] * 2 - 1, box[2] + 1, box[3] + 2, box[4] + 1}), at, {}, 1, settings[std::size_t(++tried) % 4], 0, threads);
        CAPTURE(shape, threads, place, outcome.result.text());
        CHECK(outcome.result.clean());
        CHECK(outcome.wrong == 0);
      }
}

TEST_CASE("a tensor of one element, and boxes wholly outside it") {
  for (int shape : {0, 3, 5, 8, 10})
    for (int along = 0; along < 5; ++along)
      for (int way : {-1, 1}) {
        Five at{};
        at[std::size_t(along)] = way * (along ? 70 : 800);
        const Outcome outcome = copyBoxes(shape, Tensor(2, {1, 1, 1, 1, 1}), at, {}, 2, {});
        CAPTURE(shape, along, way, outcome.result.text());
        CHECK(outcome.result.clean());
        CHECK(outcome.wrong == 0);
      }
}

TEST_CASE("a ring of boxes that cp.async fills: clean under every setting, and other right ways to count them") {
  for (int way : {0, 100, 101})
    for (auto &options : simulatorSettings(6)) {
      const Outcome outcome = copyBoxes(0, Tensor(2, {64, 100, 1, 1, 1}), {}, {0, 16, 0, 0, 0}, 7, options, way);
      CAPTURE(way, options.seed, outcome.result.text());
      CHECK(outcome.result.clean());
      CHECK(outcome.wrong == 0);
      CHECK(outcome.result.statistics.loads == (way == 100 ? 0u : 7u * 32));
    }
}

TEST_CASE("bugs planted in a ring that cp.async fills are found") {
  const std::pair<int, const char *> bugs[] = {{1, "RACE-RAW"},        // the phase ends without one lane's copies
                                               {2, "RACE-WA"},         // a slot is filled that may still be read
                                               {3, "RACE-RAW"},        // counted before they are issued
                                               {4, "RACE-RAW"},        // an arrival that waits for no copy
                                               {5, "RACE-RAW"},        // one group too few is waited for
                                               {6, "DEADLOCK"},        // a lane does not arrive
                                               {7, "RACE-RAW"},        // nobody waits for the phase
                                               {8, "COPY-UNWAITED"},   // nor for the last one
                                               {9, "RACE-WAR"},        // released before it is read
                                               {10, "RACE-WAR"},       // one lane releases for lanes that may still read
                                               {11, "DEADLOCK"}};      // nobody releases
  for (auto &[bug, code] : bugs) {
    const std::string reports = found(bug);
    CAPTURE(bug);
    CHECK_THAT(reports, Catch::Contains(std::string(code)));
  }
}

TEST_CASE("what lanes store themselves is not counted by an arrival for cp.async") {
  std::string reports;
  for (auto &options : simulatorSettings(3)) {
    CHECK(copyBoxes(16, Tensor(1, {300, 1, 1, 1, 1}), {1, 0, 0, 0, 0}, {3, 0, 0, 0, 0}, 7, options).result.clean());
    reports += copyBoxes(16, Tensor(1, {300, 1, 1, 1, 1}), {1, 0, 0, 0, 0}, {3, 0, 0, 0, 0}, 7, options, 12).result.text();
  }
  CHECK_THAT(reports, Catch::Contains("RACE-RAW"));
}

TEST_CASE("a missing wait for cp.async is found under every setting, at the line that copies") {
  for (auto &options : simulatorSettings(3)) {
    const auto result = copyBoxes(0, Tensor(2, {64, 100, 1, 1, 1}), {}, {0, 16, 0, 0, 0}, 7, options, 7).result;
    CAPTURE(options.seed, result.text());
    CHECK_THAT(result.text(), Catch::Contains("RACE") || Catch::Contains("UNINIT"));
  }
  const std::string text = found(7);
  CHECK_THAT(text, Catch::Contains("written by the copy of line 28 "));
  CHECK_THAT(text, Catch::Contains("| ld_shared_v4(shared + slot * slot_bytes + i, x);"));
}

TEST_CASE("a deadlock on an mbarrier of cp.async says how many arrivals are missing") {
  CHECK_THAT(found(6), Catch::Contains("(full+0x0): phase 0, 1 of 32 arrivals and 0 bytes are missing"));
}

TEST_CASE("who knows that a cp.async is complete: who waited for its group, or for any arrival that follows it") {
  struct OwnParams {
    const u32 *in;
    u32 *out;
    int bug;
  };
  const char *const codes[] = {"", "RACE-RAW", "RACE-WAW", "RACE-RAW", "", "COPY-UNWAITED"};
  for (int bug = 0; bug < int(std::size(codes)); ++bug)
    for (auto &options : simulatorSettings(4)) {
      SimulatedMemory memory;
      auto *in = static_cast<u32 *>(memory.allocate("in", 512)), *out = static_cast<u32 *>(memory.allocate("out", 256));
      std::iota(in, in + 128, 1u << 24);
      const OwnParams p{in, out, bug};
      const auto result = simulate(kernel("boxes_sm80.cu", entries, "own"), {{1}, {64}, 1040 + 1024, bytesOf(p)}, memory, options);
      CAPTURE(bug, options.seed, result.text());
      if (*codes[bug])
        CHECK_THAT(result.codes(), Catch::Contains(codes[bug]));
      else
        CHECK(result.clean());
      for (u32 lane = 0; !*codes[bug] && lane < 32; ++lane) {
        const u32 bytes = lane % 17, first = bytes >= 4 ? in[4 * lane] : in[4 * lane] & ((1u << 8 * bytes) - 1);
        CHECK(out[lane] == first);
        CHECK(out[32 + lane] == first + in[4 * lane]);
      }
    }
}
