// Which programs get a second kernel, and which launches take it.
#include "tilewright/dsl/Dsl.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SecondSchedule.h"
#include <catch2/catch.hpp>

using namespace tw;

namespace {

struct Two {
  Program program;
  const Target &target;
  Schedule first;
  std::optional<Schedule> second;

  Two(const char *variant, const char *target, std::int64_t d) : program(makeVariant(variant, {.type = Type::bf16})), target(findTarget(target)) {
    const std::map<std::string, std::int64_t> inner{{"d", d}, {"e", d}};
    first = defaultSchedule(program, this->target, inner);
    second = secondSchedule(program, this->target, inner, first);
  }

  /// For `b` sequences of 32 heads, so long.
  bool takesSecond(std::int64_t b, std::int64_t length) const {
    return prefersSecond(program, target, first, *second, {.tensors = {{"Q", {b, 32, length, 64}}, {"K", {b, 32, length, 64}}, {"V", {b, 32, length, 64}}}});
  }
};

} // namespace

TEST_CASE("where default tiles are wide, a second schedule has three small blocks a multiprocessor, if they fit and promise something") {
  for (const char *variant : {"causal", "plain", "window(1023,0)"}) {
    const Two two(variant, "h200", 64);
    REQUIRE(two.second);
    CHECK(two.first.widths.at("q") == 192);
    CHECK(two.second->widths.at("q") == 64);
    CHECK(two.second->warpgroups == 1);
    CHECK(two.second->blocksPerSM == 3);
    CHECK(footprint(two.program, *two.second, two.target).sharedBytes <= two.target.sharedBytesOfBlock(3));
  }
  CHECK_FALSE(Two("causal", "h200", 128).second);          // three blocks have too few registers
  CHECK_FALSE(Two("causal", "a100", 64).second);
  CHECK_FALSE(Two("documents", "h200", 64).second);        // whose tiles are listed
}

TEST_CASE("short launches take the second kernel, long ones the first, as was measured") {
  const Two causal("causal", "h200", 64), plain("plain", "h200", 64), window("window(1023,0)", "h200", 64);
  for (auto [b, length] : {std::pair(32, 512), {16, 1024}, {8, 2048}, {1, 2048}, {2, 512}})
    CHECK(causal.takesSecond(b, length));
  for (auto [b, length] : {std::pair(4, 4096), {1, 16384}})
    CHECK_FALSE(causal.takesSecond(b, length));
  CHECK(plain.takesSecond(32, 512));
  CHECK_FALSE(plain.takesSecond(4, 4096));
  CHECK(window.takesSecond(1, 16384));
  CHECK_FALSE(causal.takesSecond(0, 512));      // nothing runs
  CHECK_FALSE(causal.takesSecond(4, 0));
}

TEST_CASE("where three warpgroups share narrow steps, short launches take two with wide ones, as was measured") {
  for (const char *variant : {"softcap", "softcapfast", "softcapfast(50)+causal", "softcap(50)+causal", "gemma2", "softcapfast(50)+window(4095,0)"}) {
    INFO(variant);
    const Two two(variant, "h200", 128);
    REQUIRE(two.second);
    CHECK(two.first.warpgroups == 3);
    CHECK(two.second->warpgroups == 2);
    CHECK(two.second->widths.at("q") == 128);
    CHECK(two.second->widths.at("k") == 128);
    auto takesSecond = [&](std::int64_t b, std::int64_t length) {
      return prefersSecond(two.program, two.target, two.first, *two.second, {.tensors = {{"Q", {b, 16, length, 128}}, {"K", {b, 16, length, 128}}, {"V", {b, 16, length, 128}}}});
    };
    CHECK(takesSecond(32, 512));
    CHECK(takesSecond(16, 1024));
    CHECK_FALSE(takesSecond(8, 2048));
    CHECK_FALSE(takesSecond(4, 4096));
    CHECK_FALSE(takesSecond(1, 16384));
  }
}
