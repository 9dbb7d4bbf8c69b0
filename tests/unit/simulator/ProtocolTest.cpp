// Kernels that keep the rules run clean under every setting; each rule they break is reported under its code.
#include "Kernels.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>

using namespace tw;
using namespace tw::test;

namespace {

struct Probe {
  float *out;
  const float *in;
  int *turn;
  int bug, count;
};
const std::vector<std::string> entries{"staging", "ring", "product_rules", "storing", "handing", "lanes", "bounds", "registers", "turns"};

struct Outcome {
  SimulationResult result;
  std::vector<float> out;
};

Outcome probe(const std::string &name, int bug, u32 threads, u32 sharedBytes, const SimulatorOptions &options = {}, u32 blocks = 1, int count = 7) {
  SimulatedMemory memory;
  auto *out = static_cast<float *>(memory.allocate("out", 128 * 4)), *in = static_cast<float *>(memory.allocate("in", 7 * 128));
  auto *turn = static_cast<int *>(memory.allocate("turn", 4));
  std::fill_n(out, 128, 0.f);
  for (int i = 0; i < 7 * 32; ++i)
    in[i] = float(i);
  *turn = 0;
  const Probe p{out, in, turn, bug, count};
  Outcome outcome{simulate(kernel("protocol.cu", entries, name), {{blocks}, {threads}, sharedBytes, bytesOf(p)}, memory, options), {}};
  outcome.out.assign(out, out + 128);
  return outcome;
}

/// Every report of a kernel with this bug, under all settings: code, then text.
std::string found(const std::string &name, int bug, u32 threads, u32 sharedBytes, int count = 7) {
  std::string all;
  for (auto &options : simulatorSettings(3))
    all += probe(name, bug, threads, sharedBytes, options, 1, count).result.text();
  return all;
}

struct Expected {
  int bug;
  const char *code;
};

void checkBugs(const std::string &name, u32 threads, u32 sharedBytes, std::initializer_list<Expected> bugs, int count = 7) {
  for (auto [bug, code] : bugs) {
    CAPTURE(name, bug);
    CHECK_THAT(found(name, bug, threads, sharedBytes, count), Catch::Contains(std::string(code) + ": "));
  }
}

/// Clean, with these results, under every setting.
template <class Check> void checkClean(const std::string &name, u32 threads, u32 sharedBytes, Check check) {
  for (auto &options : simulatorSettings(4)) {
    const Outcome outcome = probe(name, 0, threads, sharedBytes, options);
    CAPTURE(name, options.seed, outcome.result.text());
    CHECK(outcome.result.clean());
    for (u32 i = 0; i < std::min(threads, 128u); ++i)
      if (const float expected = check(int(i)); expected == expected && outcome.out[i] != expected) {
        CAPTURE(i, outcome.out[i], expected);
        FAIL_CHECK("wrong result");
        break;
      }
  }
}

constexpr float any = NAN;

}   // namespace

TEST_CASE("lanes that exchange through shared memory") {
  checkClean("staging", 64, 256, [](int i) {
    float v[32];
    for (int l = 0; l < 32; ++l)
      v[l] = float(i / 32 * 32 + l);
    for (int round = 0; round < 3; ++round) {
      float old[32];
      std::copy_n(v, 32, old);
      for (int l = 0; l < 32; ++l)
        v[l] += old[31 - l] + float(round);
    }
    return v[i % 32];
  });
  checkBugs("staging", 64, 256, {{1, "RACE-RAW"}, {2, "RACE-WAR"}});
}

TEST_CASE("a ring of copies: phases, releases, byte counts, fences") {
  checkClean("ring", 64, 1024, [](int i) { return i < 32 ? float(7 * i + 32 * 21) : any; });
  checkBugs("ring", 64, 1024,
            {{1, "MBAR-UNINIT"},
             {2, "DEADLOCK"},   // the release counts half
             {3, "MBAR-INIT-FENCE"},
             {4, "MBAR-INIT-RACE"},    // nobody waits for the initialisation
             {5, "DEADLOCK"},          // the producer waits for a release of what was never full
             {6, "MBAR-OVERARRIVE"},   // fills a slot twice
             {7, "DEADLOCK"},          // more bytes than the phase expects
             {8, "DEADLOCK"},          // bytes never to come
             {9, "RACE-RAW"},          // the consumer's parity is of the phase before
             {10, "RACE-RAW"},
             {11, "RACE-WAR"},   // released before it is read
             {12, "DEADLOCK"},
             {13, "DEADLOCK"},   // a phase that nobody filled
             {14, "RACE-WAR"},   // one lane releases for lanes that may still read
             {15, "DEADLOCK"}});
}

TEST_CASE("wgmma: fences, waits, registers and operands in flight") {
  checkClean("product_rules", 128, 18432, [](int i) { return i == 0 ? 32.f : i == 1 ? 16.f : any; });
  checkBugs("product_rules", 128, 18432,
            {{1, "PROXY"},
             {2, "RACE-RAW"},
             {3, "WGMMA-ALIGN"},
             {4, "SHARED-BOUNDS"},
             {5, "WGMMA-FENCE"},
             {6, "WGMMA-OPERANDS"},
             {7, "WGMMA-ACC"},
             {8, "WGMMA-REG"},
             {10, "RACE-WAR"},
             {11, "WGMMA-UNWAITED"},
             {12, "WGMMA-FENCE"},
             {14, "WGMMA-FENCE"},
             {15, "WGMMA-FENCE"},
             {13, "WGMMA-OPERANDS"}});
  // A result that is read without its wait is not there: a NaN stands in its place.
  SimulatorOptions late;
  CHECK(std::isnan(probe("product_rules", 9, 128, 18432, late).out[0]));
}

TEST_CASE("bulk stores: fence, barrier, commit, wait") {
  checkClean("storing", 64, 256, [](int i) { return float(i); });
  checkBugs("storing", 64, 256, {{1, "PROXY"}, {2, "RACE-RAW"}, {3, "STORE-UNCOMMITTED"}, {4, "RACE-WAR"}, {5, "STORE-UNWAITED"}});
}

TEST_CASE("named barriers: counts, numbers, and who waits for whom") {
  checkClean("handing", 128, 256, [](int i) { return i < 64 ? float(63 - i) : i == 64 ? 1.f : any; });
  checkBugs("handing", 128, 256, {{1, "BAR-COUNT"}, {2, "BAR-COUNT"}, {3, "BAR-ID"}, {4, "DEADLOCK"}, {5, "RACE-RAW"}, {6, "DEADLOCK"}});
  const std::string text = probe("handing", 4, 128, 256).result.text();
  CHECK_THAT(text, Catch::Contains("block 0 warp 3, 32 lanes: in bar.sync 1 at line"));
  CHECK_THAT(text, Catch::Contains("barrier 1: 96 of 128 threads have arrived: warp 0 (line"));
  CHECK_THAT(text, Catch::Contains("barrier 2: 64 of 128 threads have arrived"));
}

TEST_CASE("lanes: shuffles, votes, masks") {
  checkClean("lanes", 32, 256, [](int) { return 8.f; });
  checkBugs("lanes", 32, 256, {{1, "WARP-DIVERGED"}, {2, "WARP-EXITED"}, {3, "WARP-MASK"}, {4, "SHUFFLE"}});
}

TEST_CASE("memory: bounds, alignment, what nobody wrote, undefined behaviour") {
  checkClean("bounds", 32, 4096, [](int) { return 28.f; });
  checkBugs("bounds", 32, 4096,
            {{1, "UNINIT"},
             {2, "SHARED-BOUNDS"},
             {3, "ALIGN"},
             {5, "GLOBAL-BOUNDS"},
             {6, "GLOBAL-BOUNDS"},
             {7, "ALIGN"},
             {8, "MBAR-CLOBBER"},
             {10, "ALIGN"},
             {11, "MBAR-UNINIT"},
             {12, "MBAR-REINIT"},
             {13, "ADDRESS"}});
  checkBugs("bounds", 32, 4096, {{4, "UNDEFINED"}, {9, "UNDEFINED"}}, 0);
  CHECK_THAT(probe("bounds", 5, 32 * 3, 4096).result.text(), Catch::Contains("that is byte 512 of buffer 'out', which has 512"));
}

TEST_CASE("setmaxnreg: what the register file holds") {
  CHECK(probe("registers", 0, 512, 256).result.clean());
  CHECK(probe("registers", 1, 512, 256).result.codes() == "REGISTERS");
}

TEST_CASE("blocks that wait for each other need to be resident together") {
  SimulatorOptions together;
  together.residentBlocks = 4;
  for (int reversed = 0; reversed < 2; ++reversed) {
    const Outcome outcome = probe("turns", reversed, 64, 256, together, 4);
    CHECK(outcome.result.clean());
    CHECK(outcome.out[5] == ((0 * 2 + 1) * 2 + 2) * 2 + 3);
  }
  CHECK(probe("turns", 0, 64, 256, {}, 4).result.clean());
  const auto alone = probe("turns", 1, 64, 256, {}, 4).result;
  CHECK(alone.codes() == "LIVELOCK");
  CHECK_THAT(alone.text(), Catch::Contains("is the block it waits for resident"));
}

TEST_CASE("a report has a code, the line, its text, and the threads") {
  SimulatorOptions options;
  options.order = ThreadOrder::lastReady;
  const auto result = probe("storing", 2, 64, 256, options).result;
  REQUIRE(result.found > 0);
  const auto &report = result.reports[0];
  CHECK(report.code == "RACE-RAW");
  CHECK_THAT(report.source, Catch::StartsWith("bulk_store(p.out + 64 * round"));
  CHECK_THAT(report.text,
             Catch::Contains("(block 0 warp 0 lane 0)") && Catch::Contains("(tile+0x") && Catch::Contains("written by the store of line"));
}

TEST_CASE("a deadlock on an mbarrier says which, its phase, and what is missing") {
  const std::string text = probe("ring", 8, 64, 1024).result.text();
  CHECK_THAT(text, Catch::Contains("(full+0x0): phase 0, 0 of 1 arrivals and 16 bytes are missing"));
  CHECK_THAT(text, Catch::Contains("| if (p.bug != 6) mbar_wait(empty(slot), phase);"));
}

TEST_CASE("the same options give the same run") {
  auto options = simulatorSettings(1).back();
  const auto one = probe("ring", 0, 64, 1024, options).result.statistics, two = probe("ring", 0, 64, 1024, options).result.statistics;
  CHECK(one.switches == two.switches);
  options.seed = 99;
  CHECK(probe("ring", 0, 64, 1024, options).result.statistics.switches != one.switches);
}
