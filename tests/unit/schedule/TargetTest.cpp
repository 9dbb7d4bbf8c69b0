// The table of targets: its lookup, its invariants and its text.
#include "tilewright/schedule/Target.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sched.h>

using namespace tw;

namespace {

std::string messageOf(std::string_view name) {
  try {
    (void)findTarget(name);
  } catch (const UnknownTarget &error) {
    return error.what();
  }
  return "no error";
}

const std::string known = "the known targets are host, a10, a100, a100-80gb, b200, h100, h100-pcie, h200, h200-sm80, l4, l40s, "
                          "rtx3090, rtx4090, rtx5090";

} // namespace

TEST_CASE("a target is found by its exact name") {
  CHECK(findTarget("h200").title == "NVIDIA H200 SXM");
  CHECK(findTarget("h200").arch == "sm90a");
  CHECK(findTarget("a100").arch == "sm80");
  CHECK(&findTarget("host") == &targets().front());
}

TEST_CASE("an unknown target names the nearest and all that are known") {
  CHECK(messageOf("h20") == "unknown target 'h20'; did you mean 'h200'? " + known);
  CHECK(messageOf("H100") == "unknown target 'H100'; did you mean 'h100'? " + known);
  CHECK(messageOf("rtx-4090") == "unknown target 'rtx-4090'; did you mean 'rtx4090'? " + known);
}

TEST_CASE("an unknown target that resembles none gets no suggestion") {
  CHECK(messageOf("mi300x") == "unknown target 'mi300x'; " + known);
  CHECK(messageOf("") == "unknown target ''; " + known);
}

TEST_CASE("names are unique and the GPUs are sorted") {
  std::set<std::string> names;
  for (const Target &target : targets())
    CHECK(names.insert(target.name).second);
  for (std::size_t i = 2; i < targets().size(); ++i)
    CHECK(targets()[i - 1].name < targets()[i].name);
}

TEST_CASE("the shared memory of a block is the most that its compute capability lets it ask for") {
  const std::map<std::string, int> kib{{"sm80", 163}, {"sm86", 99}, {"sm89", 99}, {"sm90", 227}, {"sm90a", 227}, {"sm100a", 227}, {"sm120", 99}};
  for (const Target &target : targets()) {
    if (target.isHost())
      continue;
    CAPTURE(target.name);
    REQUIRE(kib.count(target.arch) == 1);
    CHECK(target.sharedBytesPerBlock == kib.at(target.arch) * 1024);
  }
}

TEST_CASE("the facts of a target agree with each other") {
  for (const Target &target : targets()) {
    CAPTURE(target.name);
    CHECK(target.sms > 0);
    CHECK(target.sharedBytesPerBlock > 0);
    CHECK(target.sharedBytesPerBlock <= target.sharedBytesPerSM);
    CHECK(target.registersPerThreadMax <= target.registersPerSM);
    CHECK(target.threadsPerBlock <= target.threadsPerSM);
    CHECK(target.l2Bytes >= target.sharedBytesPerBlock);
    CHECK(target.l2Bytes < target.dramBytes);
  }
}

TEST_CASE("a GPU's tensor rate is its multiprocessors times its clock times the rate of one") {
  // FLOP a clock and multiprocessor, f16 dots with f32 accumulators; GeForce cards do half.
  const std::map<std::string, double> rate{{"sm80", 2048}, {"sm86", 1024}, {"sm89", 1024}, {"sm90", 4096}, {"sm90a", 4096}, {"sm100a", 8192}, {"sm120", 1024}};
  for (const Target &target : targets()) {
    if (target.isHost())
      continue;
    CAPTURE(target.name);
    const bool geForce = target.title.find("GeForce") != std::string::npos;
    const double expected = target.sms * target.clockHz * rate.at(target.arch) / (geForce ? 2 : 1);
    CHECK(target.tensorFlopsF16 == Approx(expected).epsilon(0.02));
    CHECK(target.exp2PerSecond == Approx(target.sms * target.clockHz * 16));
    CHECK(target.f32PerSecond == Approx(target.sms * target.clockHz * (target.arch == "sm80" ? 64 : 128)));
    CHECK(target.l2BytesPerSecond <= target.sms * target.clockHz * 64);
    CHECK(target.l2BytesPerSecond > target.dramBytesPerSecond);
    CHECK(target.sharedBytesPerSecond == Approx(target.sms * target.clockHz * 128));
    CHECK(target.sustainedClockHz <= target.clockHz);
    CHECK(target.sustainedClockHz > 0);
    CHECK(target.tensorShare <= 1);
    CHECK(target.dramBytesPerSecond > 200e9);
    CHECK(target.vectorBytes == 0);
  }
}

TEST_CASE("the host has the cores that this process may use, and plausible caches") {
  const Target &host = findTarget("host");
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  CHECK(host.isHost());
  CHECK(host.sms == CPU_COUNT(&set));
  CHECK(host.l1BytesPerCore >= 8 * 1024);
  CHECK(host.sharedBytesPerBlock >= host.l1BytesPerCore);
  CHECK((host.vectorBytes == 16 || host.vectorBytes == 32 || host.vectorBytes == 64));
}

TEST_CASE("a description states every fact with its unit") {
  CHECK(describe(findTarget("h200")) == "h200: NVIDIA H200 SXM (sm90a)\n"
                                        "  SMs            132 at 1830 MHz, 1530 MHz under load\n"
                                        "  shared memory  227 KiB a block, 228 KiB an SM\n"
                                        "  registers      65536 an SM, 255 a thread\n"
                                        "  threads        2048 an SM, 1024 a block\n"
                                        "  L2             50 MiB at 15.46 TB/s\n"
                                        "  memory         141 GB at 4800 GB/s\n"
                                        "  f16 tensor     989.4 TFLOP/s, dense, f32 accumulators\n"
                                        "  f32            30.92 T/s\n"
                                        "  exp2           3.865 T/s\n");

  Target host;
  host.name = host.arch = "host";
  host.title = "a CPU";
  host.sms = 2;
  host.registersPerSM = 16;
  host.vectorBytes = 32;
  host.l1BytesPerCore = 32 * 1024;
  host.sharedBytesPerSM = 512 * 1024;
  host.l2Bytes = 32 * 1024 * 1024;
  host.dramBytes = 8'000'000'000;
  CHECK(describe(host) == "host: a CPU (host)\n"
                          "  cores          2, clock not stated\n"
                          "  vectors        16 registers of 32 bytes\n"
                          "  caches         L1 32 KiB and L2 512 KiB a core, last level 32 MiB\n"
                          "  memory         8 GB\n");
}
