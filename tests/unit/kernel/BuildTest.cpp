// One build for each key: in threads, for new shapes, from the cache, after failures.
#include "BuildKey.h"
#include "Launched.h"
#include "programs/Programs.h"
#include "tilewright/cache/Store.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <time.h>

using namespace tw;
using namespace tw::tests;

namespace {

BuildOptions withDims(std::int64_t d, std::int64_t dv, bool useCache = false) {
  BuildOptions options = headDims({.d = d, .dv = dv});
  options.useCache = useCache;
  return options;
}

std::string refusal(const Program &program, const BuildOptions &options) {
  try {
    (void)build(program, options);
  } catch (const std::exception &error) {
    return error.what();
  }
  return "accepted";
}

/// A cache of its own for one test.
struct OwnCache {
  std::filesystem::path folder;
  OwnCache() {
    folder = std::filesystem::temp_directory_path() / fmt::format("tilewright-kernel-test-{}", ::getpid());
    std::filesystem::remove_all(folder);
    ::setenv("TILEWRIGHT_CACHE", folder.c_str(), 1);
    forgetKernels();
  }
  ~OwnCache() {
    ::unsetenv("TILEWRIGHT_CACHE");
    std::filesystem::remove_all(folder);
  }
};

std::string keyOf(const Kernel &kernel) {
  const std::string text = kernel.describe();
  const std::size_t at = text.find("key       ") + 10;
  return text.substr(at, 64);
}

/// Seconds of this thread's processor time: what a build takes on a machine with nothing else to do.
template <class F> double cpuSeconds(F work) {
  auto now = [] {
    timespec t;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

} // namespace

TEST_CASE("no new build for a new B, H, Hkv, Sq, Skv or stride") {
  const Program program = makeVariant("causal", {Type::f32, true});
  const auto before = buildCounts();
  int launches = 0;
  for (Lengths n : {Lengths{1, 1, 1, 4, 4}, Lengths{3, 1, 1, 4, 4}, Lengths{1, 6, 2, 4, 4}, Lengths{1, 1, 1, 70, 4}, Lengths{1, 1, 1, 4, 200}, Lengths{2, 4, 1, 65, 33}}) {
    n.d = n.dv = 24;
    Tensors tensors(program, randomInputs(n, Type::f32), outputs(n));
    build(program, headDims(n)).launch(tensors.arguments);
    std::vector<float> wide(static_cast<std::size_t>(n.b * n.h * n.sq * 100));
    tensors.arguments.tensors["O"].data = wide.data();
    tensors.arguments.tensors["O"].strides = {n.h * n.sq * 100, n.sq * 100, 100, 1};
    build(program, headDims(n)).launch(tensors.arguments);
    launches += 2;
  }
  CHECK(buildCounts().compiled - before.compiled == 1);
  CHECK(buildCounts().found - before.found == std::uint64_t(launches - 1));
  CHECK(buildCounts().loaded == before.loaded);
}

TEST_CASE("edge row 97: sixteen threads that ask first for one kernel get one compile") {
  const auto before = buildCounts();
  std::vector<std::string> keys(16);
  std::vector<std::thread> threads;
  for (auto &key : keys)
    threads.emplace_back([&] { key = keyOf(build(makeVariant("softcap(7)", {Type::f32, true}), withDims(8, 8))); });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(buildCounts().compiled - before.compiled == 1);
  CHECK(buildCounts().found - before.found == 15);
  for (const std::string &key : keys)
    CHECK(key == keys[0]);
}

TEST_CASE("a build that fails throws to all who wait, and the next one tries again") {
  const Program program = makeVariant("plain", {Type::f32, true});
  BuildOptions options = withDims(8, 8);
  options.schedule = parseSchedule("block=q q=8 k=8 d=8 e=8 zebra=8");
  const auto before = buildCounts();
  std::vector<std::string> messages(8);
  std::vector<std::thread> threads;
  for (auto &message : messages)
    threads.emplace_back([&] { message = refusal(program, options); });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &message : messages)
    CHECK(message == "the schedule gives axis 'zebra' a width of 8, but program 'plain' has no such axis");
  CHECK(refusal(program, options) == messages[0]);
  CHECK(buildCounts().compiled == before.compiled);
  options.schedule->widths.erase("zebra");
  CHECK(refusal(program, options) == "accepted");
}

TEST_CASE("kernels are found again by content, not by where the program was written") {
  auto make = [](int line) { return makeVariant(line ? "causal+softcap(3)" : "causal+softcap(3)", {Type::f32, false}); };
  const std::string key = keyOf(build(make(0), withDims(8, 16)));
  const auto before = buildCounts();
  CHECK(keyOf(build(parseProgram(print(make(1))), withDims(8, 16))) == key);
  CHECK(buildCounts().found == before.found + 1);
  CHECK(keyOf(build(make(0), withDims(8, 24))) != key);
  BuildOptions scheduled = withDims(8, 16);
  scheduled.schedule = build(make(0), withDims(8, 16)).schedule();
  CHECK(keyOf(build(make(0), scheduled)) == key);   // the default one, said
  scheduled.schedule->registerRows = 2;
  CHECK(keyOf(build(make(0), scheduled)) != key);
}

TEST_CASE("edge row 103: everything that code depends on is in the key, times are not") {
  const KeyParts parts{"program", "schedule", "host", "cpu", "compiler", {{"d", 8}}};
  const auto key = keyOf(parts);
  CHECK(keyOf(parts) == key);
  auto changed = [&](auto change) {
    KeyParts other = parts;
    change(other);
    return keyOf(other) != key;
  };
  CHECK(changed([](KeyParts &p) { p.program += "x"; }));
  CHECK(changed([](KeyParts &p) { p.schedule += "x"; }));
  CHECK(changed([](KeyParts &p) { p.target += "x"; }));
  CHECK(changed([](KeyParts &p) { p.processor += "x"; }));
  CHECK(changed([](KeyParts &p) { p.compiler += "x"; }));
  CHECK(changed([](KeyParts &p) { p.inner["d"] = 16; }));
  CHECK(changed([](KeyParts &p) { p.sharedLimit = 49152; }));
  CHECK(changed([](KeyParts &p) { std::swap(p.program, p.schedule); }));
}

TEST_CASE("the cache file is used by the next process, and what is damaged in it is built anew") {
  OwnCache own;
  const Program program = makeVariant("window(9,2)", {Type::f32, true});
  auto counted = [&] {
    const auto before = buildCounts();
    const Kernel kernel = build(program, withDims(16, 16, true));
    const Lengths n{1, 2, 1, 20, 20, 16, 16};
    Tensors tensors(program, randomInputs(n, Type::f32), outputs(n));
    kernel.launch(tensors.arguments);
    auto expected = evaluate(program, randomInputs(n, Type::f32)).at("O");
    for (std::size_t i = 0; i < expected.data.size(); ++i)
      REQUIRE(tensors.read("O").data[i] == Approx(expected.data[i]).margin(1e-5));
    const auto now = buildCounts();
    return fmt::format("{} compiled, {} loaded, {} found", now.compiled - before.compiled, now.loaded - before.loaded, now.found - before.found);
  };
  CHECK(counted() == "1 compiled, 0 loaded, 0 found");
  CHECK(counted() == "0 compiled, 0 loaded, 1 found");
  forgetKernels();   // as a new process begins
  CHECK(counted() == "0 compiled, 1 loaded, 0 found");

  const auto key = *cache::Digest::fromHex(keyOf(build(program, withDims(16, 16, true))));
  auto replace = [&](auto change) {
    cache::Store store = cache::Store::open(cache::locate());
    std::string bytes = *store.get(key);
    change(bytes);
    store.put(key, bytes);
    forgetKernels();
  };
  SECTION("no artifact") {
    replace([](std::string &bytes) { bytes = "garbage"; });
    CHECK(counted() == "1 compiled, 0 loaded, 0 found");
  }
  SECTION("an artifact that is cut short") {
    replace([](std::string &bytes) { bytes.resize(bytes.size() - 100); });
    CHECK(counted() == "1 compiled, 0 loaded, 0 found");
  }
  SECTION("one bit of the code") {
    replace([](std::string &bytes) { bytes[bytes.size() - 1000] ^= 4; });
    CHECK(counted() == "1 compiled, 0 loaded, 0 found");
  }
  forgetKernels();
  CHECK(counted() == "0 compiled, 1 loaded, 0 found");   // it was repaired
}

TEST_CASE("a warm build touches no file") {
  OwnCache own;
  const Program program = makeVariant("plain", {Type::f32, true});
  (void)build(program, withDims(8, 8, true));
  const auto elsewhere = own.folder / "elsewhere";
  ::setenv("TILEWRIGHT_CACHE", elsewhere.c_str(), 1);
  (void)build(program, withDims(8, 8, true));
  CHECK_FALSE(std::filesystem::exists(elsewhere));
}

TEST_CASE("edge row 110: a cache that cannot be written costs nothing but the file") {
  OwnCache own;
  ::setenv("TILEWRIGHT_CACHE", "/proc/no-such-place", 1);
  const auto before = buildCounts();
  CHECK(refusal(makeVariant("causal", {Type::f32, true}), withDims(8, 32, true)) == "accepted");
  CHECK(buildCounts().compiled == before.compiled + 1);
}

TEST_CASE("what cannot be built is refused before compiling") {
  const Program program = makeVariant("causal", {Type::f32, true});
  const auto before = buildCounts();
  BuildOptions options = withDims(8, 8);
  SECTION("an unknown target") {
    options.target = "h20";
    CHECK(refusal(program, options).find("h20") != std::string::npos);
  }
  SECTION("a missing extent") {
    options.extents.erase("e");
    CHECK(refusal(program, options) ==
          "axis 'e' of program 'causal' lies whole inside a tile, so a kernel is made for one length of it; give it: BuildOptions::extents = {{\"e\", 64}}");
  }
  SECTION("an extent of an axis that is given at launch") {
    options.extents["q"] = 100;
    CHECK(refusal(program, options) == "BuildOptions::extents gives a length to 'q', whose length is given at launch by the shapes of tensors; a kernel is made for the lengths of d, e");
  }
  SECTION("an extent of no axis") {
    options.extents["D"] = 8;
    CHECK(refusal(program, options) == "BuildOptions::extents gives a length to 'D', which is no axis of program 'causal'; did you mean 'd'?; a kernel is made for the lengths of d, e");
  }
  SECTION("a head dim out of range") {
    options.extents["d"] = 20;
    CHECK(refusal(program, options) == "program 'causal': the head dimension of 'Q' and 'K' (dimension 3) must be a multiple of 8 from 8 to 1024; any other length is padded in both with zeros, and the scale stated "
                                       "(here extent(d) = 20, extent(e) = 8)");
    options.extents["d"] = 1032;
    CHECK(refusal(program, options).find("(here extent(d) = 1032, extent(e) = 8)") != std::string::npos);
  }
  CHECK(buildCounts().compiled == before.compiled);
}

TEST_CASE("a kernel describes itself") {
  const std::string text = build(makeVariant("causal", {Type::bf16, true}), withDims(8, 16)).describe();
  for (const char *line : {"kernel causal\n", "  target    host\n", "  schedule  block=q ", "  launch    1 kernel\n", "  loads     Q bf16[4]\n", "  stores    O bf16[4]\n", "  stores    lse f32[3]\n",
                           "  axis      b free: dimension 0 of O, dimension 0 of Q", "  axis      d inner, 8 wide, 8 long: dimension 3 of Q", "  axis      e inner, 16 wide, 16 long"})
    CHECK_THAT(text, Catch::Contains(line));
}

TEST_CASE("a warm build takes at most 100 us") {
  for (const char *variant : {"plain", "gemma2", "causal+alibi+softcap+window"}) {
    const Program program = makeVariant(variant, {Type::bf16, true});
    const BuildOptions options = withDims(64, 64);
    (void)build(program, options);
    double best = 1;   // the least of many: what it takes when nothing else runs
    for (int i = 0; i < 200; ++i)
      best = std::min(best, cpuSeconds([&] { (void)build(program, options); }));
    std::printf("warm build of %s: %.1f us\n", variant, best * 1e6);
    CHECK(best <= 100e-6);
  }
}

// The aim is 500 ms on a quiet machine; how fast the gate's machine is and what else it does nobody knows, so there it has three times as long.
// TILEWRIGHT_TIMES=1 holds the aim.
TEST_CASE("a cold build takes at most 500 ms of one core") {
  const double most = std::getenv("TILEWRIGHT_TIMES") ? 0.5 : 1.5;
  (void)build(makeVariant("plain", {Type::f32, true}), withDims(48, 48));   // what a process does once
  for (const char *variant : programs::plainVariants) {
    double best = 1e9;
    for (int i = 0; i < 6 && best > 0.5; ++i) {   // the least of several: others may use the core's other half
      forgetKernels();
      best = std::min(best, cpuSeconds([&] { (void)build(makeVariant(variant), withDims(128, 128)); }));
    }
    std::printf("cold build of %s: %.0f ms\n", variant, best * 1e3);
    CHECK(best <= most);
  }
}
