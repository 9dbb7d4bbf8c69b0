// Every variant in every head dim and every 16- and 32-bit type, against float64, as a user runs it. Each variant is built for
// each head dim in one type, in turn, so that every pair of variant and head dim, and of variant and type, occurs; with
// TILEWRIGHT_FULL_MATRIX=1 every triple does.
#include "Ran.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tw::tests;
using nlohmann::json;

namespace {

const char *const variants[] = {"plain", "causal", "window(20,3)", "softcap", "alibi", "gemma2", "causal+alibi"};
const char *const types[] = {"f16", "bf16", "f32"};
const int headDims[] = {8, 40, 64, 80, 128, 192, 256};

/// One cache for the whole program, so that shapes share kernels.
const std::string &cache() {
  static const Folder folder;
  static const std::string text = "TILEWRIGHT_CACHE=" + folder.path.string();
  return text;
}

/// Runs with --check; returns what was wrong, or nothing.
std::string wrong(const std::string &arguments) {
  Ran r = ran(fmt::format("run {} --repeat 1 --check", arguments), cache());
  return r.status == 0 ? "" : fmt::format("run {}: status {}\n{}{}", arguments, r.status, r.out, r.err);
}

} // namespace

TEST_CASE("every variant, type and head dim is right") {
  const bool full = std::getenv("TILEWRIGHT_FULL_MATRIX");
  for (std::size_t v = 0; v < std::size(variants); ++v)
    for (std::size_t d = 0; d < std::size(headDims); ++d)
      for (std::size_t t = 0; t < std::size(types); ++t) {
        if (!full && t != (v + d) % std::size(types))
          continue;
        const std::string head = fmt::format("'{}' --dtype {} --shape ", variants[v], types[t]), dim = std::to_string(headDims[d]);
        CHECK(wrong(head + "2,4,2,33,70," + dim) == "");
        CHECK(wrong(head + "1,2,1,70,33," + dim) == "");   // rows without a key, where the mask is causal
      }
}

TEST_CASE("D and Dv may differ") {
  for (const char *dims : {"64,128", "192,128", "40,8", "8,256"})
    CHECK(wrong(fmt::format("causal --dtype bf16 --shape 1,2,1,45,61,{}", dims)) == "");
}

TEST_CASE("zero lengths") {
  for (const char *shape : {"0,2,1,5,6,8", "1,0,1,5,6,8", "1,2,1,0,6,8", "1,2,1,5,0,8", "1,2,1,0,0,8"})
    for (const char *variant : {"plain", "causal", "window(20,3)", "gemma2"}) {
      CHECK(wrong(fmt::format("'{}' --dtype f32 --shape {}", variant, shape)) == "");
    }
}

TEST_CASE("odd lengths, one query, one key") {
  for (const char *shape : {"1,3,3,1,1,8", "1,2,2,1,130,8", "1,2,2,130,1,8", "3,1,1,127,129,8", "1,8,1,65,63,8"})
    for (const char *variant : {"plain", "causal", "window(20,3)", "softcap"})
      CHECK(wrong(fmt::format("'{}' --dtype f32 --shape {}", variant, shape)) == "");
}

TEST_CASE("NaN in a masked key or value spoils nothing, in one that is not its own rows only") {
  auto nans = [](const std::string &arguments) {
    Ran r = ran(fmt::format("run {} --dtype f32 --repeat 1 --check --json", arguments), cache());
    if (r.status != 0)
      FAIL(arguments << ": " << r.out << r.err);
    json report = json::parse(r.out);
    return report["check"]["O"]["nans_in_both"].get<int>() / report["shape"]["Dv"].get<int>();   // rows
  };
  CHECK(nans("'window(20,0)' --shape 1,2,1,30,200,8 --nan-keys 0,50,149") == 0);        // the first row sees keys from 150 on
  CHECK(nans("causal --shape 1,2,1,30,200,8 --nan-keys -1") == 2);                      // the last row of each head
  CHECK(nans("causal --shape 1,2,1,100,40,8 --nan-keys 10") == 2 * 30);                 // 60 rows without a key, 10 before it
  CHECK(nans("'window(5,5)' --shape 1,1,1,300,300,8 --nan-keys 150") == 11);
  CHECK(nans("gemma2 --shape 1,2,1,80,80,8 --nan-keys -3") == 2 * 3);
}
