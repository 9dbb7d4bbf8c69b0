// Masks that are no half planes: the numbers are right, and the tiles visited are those that a dense look at the mask asks for.
#include "Launched.h"
#include "programs/Masks.h"
#include "support/Compare.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/pipeline/TileClasses.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/Target.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;
using programs::MaskedProgram;
using programs::MaskedSizes;

namespace {

Evaluation inputsOf(const MaskedProgram &masked, const MaskedSizes &n, Type type) {
  Evaluation inputs = randomInputs({n.b, n.h, n.h, n.sq, n.skv, n.d, n.d}, type, 7);
  inputs.tensors.insert(masked.tables.begin(), masked.tables.end());
  return inputs;
}

Schedule scheduleOf(const Program &program, const MaskedSizes &n, int block, int fold) {
  Schedule schedule = defaultSchedule(program, findTarget("host"), {{"d", n.d}, {"e", n.d}});
  schedule.widths["q"] = block;
  schedule.widths["k"] = fold;
  return schedule;
}

void right(const MaskedProgram &masked, const MaskedSizes &n, Type type, int block, int fold) {
  INFO(masked.name << " " << name(type) << " " << n.sq << " × " << n.skv << " in tiles of " << block << " × " << fold);
  Evaluation inputs = inputsOf(masked, n, type);
  const Lengths lengths{n.b, n.h, n.h, n.sq, n.skv, n.d, n.d};
  Tensors tensors(masked.program, inputs, outputs(lengths));
  BuildOptions options = headDims(lengths);
  options.schedule = scheduleOf(masked.program, n, block, fold);
  build(masked.program, options).launch(tensors.arguments);
  for (const auto &[name, shape] : outputs(lengths))
    inputs.tensors[name] = zeros(shape);
  auto expected = evaluate(masked.program, inputs);
  for (const char *name : {"O", "lse"}) {
    auto compared = compare(tensors.read(name), expected.at(name), roundingOf(name == std::string("lse") ? Type::f32 : type, 8, double(n.skv + n.d), 8));
    INFO(name << ": " << compared.summary);
    CHECK(compared.ok);
  }
}

struct Count {
  int visited = 0, needed = 0, masked = 0, cut = 0;   // tiles; masked: visited with their masks, cut: in which the mask excludes something
};

/// Holds the classes of all tiles against the mask's condition.
Count tilesOf(const MaskedProgram &masked, const MaskedSizes &n, int block, int fold) {
  TileClasses classes(masked.program, scheduleOf(masked.program, n, block, fold), findTarget("host"));
  CHECK(classes.blockAxis() == "q");
  CHECK(classes.foldAxis() == "k");
  Evaluation inputs = inputsOf(masked, n, Type::f32);
  inputs.extents = {{"b", n.b}, {"h", n.h}, {"q", n.sq}, {"k", n.skv}, {"d", n.d}, {"e", n.d}};
  Count count;
  for (std::int64_t b = 0; b < n.b; ++b)
    for (std::int64_t q0 = 0; q0 < n.sq; q0 += block) {
      auto tiles = classes.classify(inputs, {{"b", b}, {"h", 0}, {"q", q0}});
      REQUIRE(std::int64_t(tiles.size()) == (n.skv + fold - 1) / fold);
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        std::int64_t k0 = std::int64_t(i) * fold;
        int kept = 0, elements = 0;
        for (std::int64_t q = q0; q < std::min(q0 + block, n.sq); ++q)
          for (std::int64_t k = k0; k < std::min(k0 + fold, n.skv); ++k, ++elements)
            kept += masked.keeps(b, q, k);
        INFO(masked.name << " item " << b << ", " << q0 << ", tile at " << k0 << ": " << kept << " of " << elements);
        if (tiles[i].is == TileClass::empty)
          CHECK(kept == 0);
        if (tiles[i].is == TileClass::full)
          CHECK((kept == elements && k0 + fold <= n.skv));
        count.visited += tiles[i].is != TileClass::empty;
        count.masked += tiles[i].is == TileClass::partial;
        count.needed += kept > 0;
        count.cut += kept > 0 && (kept < elements || k0 + fold > n.skv);
      }
    }
  return count;
}

} // namespace

TEST_CASE("masks with conditions: numbers as evaluate() has them") {
  for (const MaskedProgram &masked : programs::masks(Type::f32, {}))
    for (auto [block, fold] : {std::pair(16, 16), {32, 48}})
      right(masked, {}, Type::f32, block, fold);
}

TEST_CASE("masks with conditions: 16 bits, one key, more rows than keys, none of either") {
  for (const MaskedSizes &n : {MaskedSizes{1, 1, 40, 1}, MaskedSizes{2, 1, 131, 67}, MaskedSizes{1, 1, 3, 0}, MaskedSizes{1, 1, 0, 5}})
    for (const MaskedProgram &masked : programs::masks(Type::bf16, n))
      right(masked, n, Type::bf16, 32, 32);
}

TEST_CASE("masks with conditions: tiles visited are tiles needed") {
  for (const MaskedSizes &n : {MaskedSizes{}, MaskedSizes{2, 1, 230, 130}})
    for (auto [block, fold] : {std::pair(16, 16), {32, 16}, {16, 64}})
      for (const MaskedProgram &masked : programs::masks(Type::f32, n)) {
        Count count = tilesOf(masked, n, block, fold);
        INFO(masked.name << " " << n.sq << " × " << n.skv << " in tiles of " << block << " × " << fold << ": " << count.visited << " visited, " << count.needed << " needed; " << count.masked
                         << " with masks, " << count.cut << " cut");
        CHECK(count.visited >= count.needed);
        if (masked.skipsAll)
          CHECK(count.visited == count.needed);
        if (masked.dropsAll)
          CHECK(count.masked - count.cut == count.visited - count.needed);
      }
}

TEST_CASE("masks with conditions: of lists with counts, tiles within a row of blocks are told exactly") {
  for (const MaskedProgram &masked : programs::masks(Type::f32, {}))
    if (masked.name == "block_lists")
      for (auto [block, fold] : {std::pair(16, 16), {16, 48}, {8, 64}}) {
        const Count count = tilesOf(masked, {}, block, fold);
        CHECK(count.visited == count.needed);
        CHECK(count.masked == count.cut);
      }
}

TEST_CASE("masks with conditions: of a table of bits, tiles within a block are told exactly") {
  for (const MaskedProgram &masked : programs::masks(Type::f32, {}))
    if (masked.name == "block_bits") {
      const Count count = tilesOf(masked, {}, 16, 16);
      CHECK(count.visited == count.needed);
      CHECK(count.masked == count.cut);
      CHECK(count.needed < 2 * 10 * 14 / 2);     // of two batches; most blocks are left out
    }
}
