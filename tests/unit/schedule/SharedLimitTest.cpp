// A limit below what a target has: schedules keep to it, or are refused with what they need.
#include "programs/Programs.h"
#include "tilewright/schedule/SharedLimit.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <catch2/catch.hpp>

using namespace tw;

namespace {
constexpr std::int64_t KiB = 1024;

/// The block's tile, two of 16 along the fold, and what barriers and alignment take; rows are padded to 128 bytes.
std::int64_t smallestBytes(std::int64_t d) {
  const std::int64_t row = (2 * d + 127) / 128 * 128;
  return (64 + 16 + 16) * row + 2 * KiB;
}
} // namespace

TEST_CASE("the default schedule keeps to a limit of shared memory, for every plain variant, head dim and target") {
  for (const Target &whole : targets()) {
    if (whole.isHost())
      continue;
    for (std::int64_t limit : {48 * KiB, 64 * KiB, 99 * KiB}) {
      const Target target = withSharedLimit(whole, limit);
      for (const char *variant : programs::plainVariants) {
        const Program program = makeVariant(variant, {.type = Type::bf16});
        for (std::int64_t d : {8, 64, 128, 256}) {
          INFO(variant << " D=" << d << " on " << target.name << " within " << limit);
          const bool fitsWhole = smallestBytes(d) <= limit;
          CHECK(fitsWhole == (d != 256 || limit != 48 * KiB));
          for (const Schedule &schedule : fittingSchedules(program, target, {{"d", d}, {"e", d}}, 4)) {
            CHECK(footprint(program, schedule, target).sharedBytes <= limit);
            CHECK(schedule.nested.empty() == fitsWhole);
          }
        }
      }
    }
  }
}

TEST_CASE("a limit that nothing fits is refused with the bytes needed, the limit and the cure") {
  const Program program = makeVariant("gemma2", {.type = Type::bf16});
  const Target l4 = findTarget("l4");
  CHECK_THROWS_WITH(defaultSchedule(program, withSharedLimit(l4, 24 * KiB), {{"d", 256}, {"e", 256}}),
                    "program 'gemma2' fits no schedule on NVIDIA L4: the smallest tiles need 26624 bytes of shared memory a block, there are 24576, which is the limit asked for: "
                    "the GPU has 101376; make an inner axis shorter, or the limit at least 26624");
  CHECK_NOTHROW(defaultSchedule(program, withSharedLimit(l4, 26624), {{"d", 256}, {"e", 256}}));
}

TEST_CASE("a limit above what there is changes nothing") {
  const Target l4 = findTarget("l4");
  CHECK(withSharedLimit(l4, 227 * KiB).sharedBytesPerBlock == l4.sharedBytesPerBlock);
  CHECK(withSharedLimit(l4, 64 * KiB).sharedBytesPerBlock == 64 * KiB);
}

TEST_CASE("limits that cannot be meant are refused") {
  CHECK_THROWS_WITH(withSharedLimit(findTarget("l4"), 0), "a limit of 0 bytes of shared memory: expected at least 1, or none");
  CHECK_THROWS_WITH(withSharedLimit(findTarget("host"), 48 * KiB),
                    "a limit of shared memory (48 KiB (49152 bytes)) goes with a GPU; target 'host' is this machine's CPU, whose tiles lie in its caches: leave it out, or take a GPU such as h200");
}

TEST_CASE("sizes are bytes, KiB or MiB") {
  CHECK(parseBytes("x", "49152") == 49152);
  CHECK(parseBytes("x", "49152B") == 49152);
  CHECK(parseBytes("x", "48KiB") == 49152);
  CHECK(parseBytes("x", "48 KiB") == 49152);
  CHECK(parseBytes("x", "1MiB") == 1 << 20);
  for (const char *bad : {"", "KiB", "48K", "48kb", "0", "-1", "4.5KiB", "48KiBs", "99999999999999999999"})
    CHECK_THROWS_WITH(parseBytes("--shared-limit", bad), std::string("--shared-limit '") + bad + "': expected a number of bytes from 1 to 1 TiB, such as 49152 or 48KiB");
}
