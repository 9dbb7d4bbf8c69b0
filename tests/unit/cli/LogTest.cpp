// TILEWRIGHT_LOG: what builds did and why, on stderr and nowhere else.
#include "Ran.h"
#include "tilewright/cuda/Nvrtc.h"
#include <catch2/catch.hpp>
#include <regex>

using namespace tw::tests;

namespace {
/// Whether the lines but those on steps, of which the default schedule decides whether there are any, are as the pattern says.
bool matches(const std::string &text, const std::string &pattern) {
  return std::regex_match(std::regex_replace(text, std::regex("[^\n]* keeps to exact steps: [^\n]*\n"), ""), std::regex(pattern));
}
} // namespace

TEST_CASE("masks say whether they bound the fold, at the user's line, and builds how they ended") {
  Folder folder;
  const std::string cached = "TILEWRIGHT_LOG=1 TILEWRIGHT_CACHE=" + folder.path.string(), run = "run causal --shape 1,1,1,4,4,8 --repeat 1";
  const Ran first = ran(run, cached);
  INFO(first.err);
  CHECK(first.status == 0);
  CHECK(matches(first.err, R"(tilewright: causal for host: \w+\.(cpp|h):\d+: the mask bounds the fold over "k"\ntilewright: causal for host: compiled in [\d.]+ (ms|s); block=q .*\n)"));
  CHECK(first.out.find("tilewright: ") == std::string::npos);
  const Ran second = ran(run, cached);
  INFO(second.err);
  CHECK(matches(second.err, R"(tilewright: causal for host: found in the cache in [\d.]+ ms; block=q .*\n)"));
  CHECK(ran(run, "TILEWRIGHT_LOG=0 TILEWRIGHT_CACHE=off").err == "");
}

TEST_CASE("stages and texts are explained too") {
  const Ran r = ran("compile 'window(8,0)' --head-dim 64 --emit cuda --target h200", "TILEWRIGHT_LOG=1 TILEWRIGHT_CACHE=off");
  INFO(r.err);
  CHECK(matches(r.err, R"(tilewright: window\(8,0\) for h200: \w+\.(cpp|h):\d+: the mask bounds the fold over "k"\n)"));
  CHECK(r.out == ran("compile 'window(8,0)' --head-dim 64 --emit cuda --target h200").out);
  CHECK(matches(ran("run plain --shape 1,1,1,4,4,64 --on simulator", "TILEWRIGHT_LOG=1 TILEWRIGHT_CACHE=off").err,
                R"(tilewright: plain for h200: Attention\.cpp:\d+: the mask bounds the fold over "k"\ntilewright: plain for h200: CUDA text made in [\d.]+ (ms|s); block=q .*\n)"));
}

TEST_CASE("of a GPU's kernel, what it takes of the machine is said") {
  if (!tw::cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << tw::cuda::nvrtcAbsence());
    return;
  }
  const Ran r = ran("run plain --shape 1,1,1,4,4,128 --on gpu --repeat 1", "TILEWRIGHT_LOG=1 TILEWRIGHT_CACHE=off TILEWRIGHT_CUDA_DRIVER=" TILEWRIGHT_FAKE_DRIVER);
  INFO(r.err);
  CHECK(matches(r.err, R"(tilewright: plain for h200: Attention\.cpp:\d+: the mask bounds the fold over "k"\ntilewright: plain for h200: compiled in [\d.]+ (ms|s), [\d.]+ (ms|s) to CUDA text and [\d.]+ (ms|s) to machine code; \d+ registers a thread, \d+ bytes spilled, \d+ bytes of shared memory a block; block=q .*\n)"));
}
