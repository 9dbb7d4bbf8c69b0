// Predictions: work counted by hand, and what must hold between schedules.
#include "tilewright/schedule/CostModel.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

using namespace tw;

namespace {

LaunchShape shapeOf(std::int64_t b, std::int64_t h, std::int64_t hkv, std::int64_t sq, std::int64_t skv, std::int64_t d) {
  return {{{"Q", {b, h, sq, d}}, {"K", {b, hkv, skv, d}}, {"V", {b, hkv, skv, d}}, {"O", {b, h, sq, d}}, {"lse", {b, h, sq}}}};
}

} // namespace

TEST_CASE("lengths of axes come from the shapes of tensors") {
  const Program program = makeVariant("causal");
  const auto lengths = axisLengths(program, shapeOf(2, 8, 4, 100, 300, 64));
  CHECK(lengths == std::map<std::string, std::int64_t>{{"b", 2}, {"h", 8}, {"q", 100}, {"k", 300}, {"d", 64}, {"e", 64}});
  CHECK(innerExtents(program, shapeOf(2, 8, 4, 100, 300, 64)) == std::map<std::string, std::int64_t>{{"d", 64}, {"e", 64}});
  LaunchShape wrong = shapeOf(2, 8, 4, 100, 300, 64);
  wrong.tensors["V"][2] = 299;
  CHECK_THROWS_WITH(axisLengths(program, wrong), "axis 'k' of program 'causal' is 299 long by dimension 2 of 'V' and 300 long by dimension 2 of 'K'; make the two equal");
  wrong.tensors.erase("V");
  CHECK_THROWS_WITH(axisLengths(program, {{{"K", {1, 1, 8, 8}}}}), Catch::Contains("; give the shape of a tensor that is indexed with it, or give it in LaunchShape::extents"));
}

TEST_CASE("shapes that are nearly alike share a class, others do not") {
  const Program program = makeVariant("plain");
  const std::string text = shapeClass(program, shapeOf(4, 16, 16, 4096, 4096, 128));
  CHECK(text == "free=64 q=4096 k=4096 d=128 e=128 K/1 V/1");
  CHECK(shapeClass(program, shapeOf(2, 32, 32, 4096, 4096, 128)) == text);
  CHECK(shapeClass(program, shapeOf(4, 16, 16, 4001, 4200, 128)) == text);
  CHECK(shapeClass(program, shapeOf(4, 16, 4, 4096, 4096, 128)) != text); // four heads share what they read
  CHECK(shapeClass(program, shapeOf(4, 16, 16, 8192, 4096, 128)) != text);
  CHECK(shapeClass(program, shapeOf(4, 16, 16, 4096, 4096, 64)) != text);
}

namespace {

Schedule defaultFor(const Program &program, const Target &target, const LaunchShape &shape) { return defaultSchedule(program, target, innerExtents(program, shape)); }

/// Tiles of rows × columns in which `keeps` holds for some pair, and those in which for some but not all, counted one pair at a time.
std::pair<std::int64_t, std::int64_t> counted(std::int64_t rows, std::int64_t columns, std::int64_t height, std::int64_t width, const std::function<bool(std::int64_t, std::int64_t)> &keeps) {
  std::int64_t visited = 0, partial = 0;
  for (std::int64_t q = 0; q < rows; q += height)
    for (std::int64_t k = 0; k < columns; k += width) {
      std::int64_t kept = 0;
      for (std::int64_t i = q; i < std::min(q + height, rows); ++i)
        for (std::int64_t j = k; j < std::min(k + width, columns); ++j)
          kept += keeps(i, j);
      visited += kept > 0;
      partial += kept > 0 && kept < height * width;
    }
  return {visited, partial};
}

} // namespace

TEST_CASE("work is what the tiles of all items are") {
  const Program program = makeVariant("plain");
  const Target &target = findTarget("h200");
  const LaunchShape shape = shapeOf(4, 16, 16, 4096, 4096, 128);
  const Estimate e = estimate(program, defaultFor(program, target, shape), target, shape);
  CHECK(e.flop == 4.0 * 64 * 4096 * 4096 * 128);
  CHECK(e.exponentials >= 64.0 * 4096 * 4096);
  CHECK(e.exponentials <= 64.0 * 4096 * 4096 * 1.05);   // and a few of each row
  CHECK(e.compulsoryBytes == 4.0 * 64 * 4096 * 128 * 2 + 64 * 4096 * 4);
  CHECK(e.items == 64 * 4096 / 128);
  CHECK(e.slots == 132);
  CHECK(e.visited == 1);
  CHECK(e.partial == 0);
  CHECK(e.tensorSeconds == Approx(e.flop / target.tensorFlopsF16 * target.clockHz / target.sustainedClockHz));
  CHECK(e.seconds > e.tensorSeconds);
}

TEST_CASE("tiles that masks skip and cut are counted as they are") {
  struct Case {
    const char *variant;
    std::function<bool(std::int64_t, std::int64_t)> keeps;
  };
  const std::int64_t rows = 700, columns = 900, ahead = columns - rows;
  for (const Case &each : {Case{"plain", [](std::int64_t, std::int64_t) { return true; }}, Case{"causal", [&](std::int64_t q, std::int64_t k) { return k <= q + ahead; }},
                           Case{"window(100,0)", [&](std::int64_t q, std::int64_t k) { return k <= q + ahead && k >= q + ahead - 100; }},
                           Case{"window(40,30)+alibi", [&](std::int64_t q, std::int64_t k) { return k <= q + ahead + 30 && k >= q + ahead - 40; }}}) {
    INFO(each.variant);
    const Program program = makeVariant(each.variant);
    LaunchShape shape = shapeOf(1, 4, 2, rows, columns, 64);
    shape.tensors["slopes"] = {4};
    for (const char *target : {"h200", "a100"})
      for (int fold : {32, 64, 128}) {
        Schedule schedule = defaultFor(program, findTarget(target), shape);
        schedule.widths["k"] = fold;
        const Estimate e = estimate(program, schedule, findTarget(target), shape);
        const std::int64_t height = schedule.widths.at("q"), all = (rows + height - 1) / height * ((columns + fold - 1) / fold);
        const auto [visited, partial] = counted(rows, columns, height, fold, each.keeps);
        CHECK(e.visited * double(all) == Approx(double(visited)));
        CHECK(e.partial * double(visited) <= double(partial) + 1e-9);   // rows beyond the end cost no mask
        CHECK(e.partial * double(visited) >= double(partial) - double((columns + fold - 1) / fold) - 1);
      }
  }
}

TEST_CASE("what elements of a tensor decide is taken to be kept") {
  const Program program = makeVariant("documents");
  LaunchShape shape = shapeOf(1, 4, 4, 512, 512, 64);
  shape.tensors["query_documents"] = shape.tensors["key_documents"] = {1, 512};
  const Estimate e = estimate(program, defaultFor(program, findTarget("h200"), shape), findTarget("h200"), shape);
  CHECK(e.visited == 1);
  CHECK(e.partial == 1);
}

TEST_CASE("what the level-2 cache does not keep comes from memory again") {
  const Program program = makeVariant("plain");
  Target target = findTarget("h200");
  const LaunchShape shape = shapeOf(1, 4, 4, 16384, 16384, 128);
  Schedule schedule = defaultFor(program, target, shape);
  const Estimate cached = estimate(program, schedule, target, shape);
  CHECK(cached.dramBytes == cached.compulsoryBytes);
  target.l2Bytes = 0;
  const Estimate without = estimate(program, schedule, target, shape);
  const double tiles = 16384.0 / 128, inUse = 1 + 132 / tiles, operands = 2.0 * 4 * 16384 * 128 * 2;   // K and V are read once for all items that run at once
  CHECK(without.dramBytes == Approx(without.compulsoryBytes + (tiles / (132 / inUse) - 1) * operands));
  target.sms = 1;
  const Estimate alone = estimate(program, schedule, target, shape);
  CHECK(alone.dramBytes == Approx(alone.compulsoryBytes + (tiles / std::max(1.0, 1 / (1 + 1 / tiles)) - 1) * operands));
  CHECK(alone.l2Bytes == cached.l2Bytes);
}

TEST_CASE("a launch of nothing costs nothing, and grouped heads are read once") {
  const Program program = makeVariant("causal");
  const Target &target = findTarget("h200");
  const LaunchShape none = shapeOf(1, 4, 4, 0, 128, 64);
  CHECK(estimate(program, defaultFor(program, target, none), target, none).items == 0);
  const LaunchShape noKeys = shapeOf(1, 4, 4, 128, 0, 64);
  CHECK(estimate(program, defaultFor(program, target, noKeys), target, noKeys).flop == 0);
  const LaunchShape grouped = shapeOf(2, 32, 4, 1024, 1024, 128), whole = shapeOf(2, 32, 32, 1024, 1024, 128);
  const Schedule schedule = defaultFor(program, target, whole);
  CHECK(estimate(program, schedule, target, whole).compulsoryBytes - estimate(program, schedule, target, grouped).compulsoryBytes == Approx(2.0 * 2 * 28 * 1024 * 128 * 2));
  CHECK(estimate(program, schedule, target, grouped).dramBytes == estimate(program, schedule, target, grouped).compulsoryBytes);
}

TEST_CASE("a schedule without a width, and the host, are refused") {
  const Program program = makeVariant("plain");
  const LaunchShape shape = shapeOf(1, 1, 1, 128, 128, 64);
  Schedule schedule = defaultFor(program, findTarget("h200"), shape);
  CHECK_THROWS_WITH(estimate(program, schedule, findTarget("host"), shape), "the cost model is of GPUs; target 'host' is this machine's CPU: take a GPU such as h200");
  schedule.widths.erase("k");
  CHECK_THROWS_WITH(estimate(program, schedule, findTarget("h200"), shape), Catch::StartsWith("the schedule gives no width of at least 1 for axis 'k'; give one: k=64. The schedule: block=q d=64"));
}

TEST_CASE("ranking is of the whole search space, the fastest prediction first, and quick") {
  const Program program = makeVariant("causal");
  for (const char *target : {"h200", "a100", "rtx4090"}) {
    const LaunchShape shape = shapeOf(4, 16, 16, 4096, 4096, 128);
    const auto ranked = rank(program, findTarget(target), shape);
    CHECK(ranked.size() == searchSpace(program, findTarget(target), innerExtents(program, shape)).size());
    for (std::size_t i = 1; i < ranked.size(); ++i)
      REQUIRE(ranked[i - 1].estimate.seconds <= ranked[i].estimate.seconds);
    CHECK(rank(program, findTarget(target), shape, 5).size() == 5);
  }
}

TEST_CASE("a prediction replaces the default schedule where it gains more than predictions err by") {
  std::vector<RankedSchedule> ranked(3);
  for (int i = 0; i < 3; ++i) {
    ranked[std::size_t(i)].schedule = Schedule{"q", {{"q", 64 * (i + 1)}}};
    ranked[std::size_t(i)].estimate.seconds = 1 + 0.05 * i;
  }
  CHECK(&modelChoice(ranked, ranked[2].schedule) == &ranked[2]);
  CHECK(&modelChoice(ranked, ranked[0].schedule) == &ranked[0]);
  ranked[2].estimate.seconds = 1.2;
  CHECK(&modelChoice(ranked, ranked[2].schedule) == &ranked[0]);
  CHECK(&modelChoice(ranked, ranked[1].schedule) == &ranked[1]);
  CHECK(&modelChoice(ranked, Schedule{}) == &ranked[0]);      // which the space may lack
}

TEST_CASE("every kernel of a gradient can be ranked") {
  for (const char *variant : {"plain", "causal", "alibi", "gemma2"}) {
    const Gradient made = gradient(makeVariant(variant));
    LaunchShape launch = shapeOf(2, 8, 2, 1000, 1300, 64);
    launch.tensors["slopes"] = {8};
    const LaunchShape shape = backwardShape(made, launch);
    for (const Program &program : made.backward) {
      INFO(program.name);
      const Estimate e = rank(program, findTarget("h200"), shape, 1).front().estimate;
      CHECK(e.seconds > 0);
      CHECK(e.dramBytes >= e.compulsoryBytes);
    }
  }
}
