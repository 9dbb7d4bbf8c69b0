// The default schedule fits every target's SRAM and registers, or is refused with figures.
#include "programs/Programs.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SharedLimit.h"
#include <catch2/catch.hpp>

using namespace tw;

namespace {
Program causalProgram() { return makeVariant("causal", {.type = Type::bf16}); }
} // namespace

TEST_CASE("every plain variant has a schedule on every target, within its shared memory and registers") {
  for (const Target &target : targets())
    for (const char *variant : programs::plainVariants)
      for (std::int64_t d : {8, 40, 64, 128, 192, 256}) {
        INFO(variant << " D=" << d << " on " << target.name);
        Program program = makeVariant(variant, {.type = Type::bf16});
        Schedule schedule = defaultSchedule(program, target, {{"d", d}, {"e", d}});
        Footprint taken = footprint(program, schedule, target);
        CHECK(schedule.block == "q");
        CHECK(schedule.widths.at("d") >= d);
        if (!target.isHost()) {
          CHECK(taken.sharedBytes <= target.sharedBytesOfBlock(schedule.blocksPerSM));
          CHECK(taken.registersPerThread <= target.registersPerThreadMax);
        }
      }
}

TEST_CASE("the CPU's tiles are as long as the axis, a GPU's to 8") {
  CHECK(defaultSchedule(causalProgram(), findTarget("host"), {{"d", 40}, {"e", 8}}).widths.at("d") == 40);
  CHECK(defaultSchedule(causalProgram(), findTarget("h200"), {{"d", 40}, {"e", 8}}).widths.at("d") == 40);
  CHECK(defaultSchedule(causalProgram(), findTarget("h200"), {{"d", 40}, {"e", 5}}).widths.at("e") == 8);
}

TEST_CASE("more shared memory gives wider tiles") {
  Target small = findTarget("a100"), large = small;
  small.sharedBytesPerBlock = 48 << 10;
  auto area = [&](const Target &target) {
    Schedule s = defaultSchedule(causalProgram(), target, {{"d", 128}, {"e", 128}});
    return s.widths.at("q") * s.widths.at("k") * s.stages;
  };
  CHECK(area(small) < area(large));
}

TEST_CASE("a program that fits nothing is refused with what it needs and what there is") {
  Target tiny = findTarget("a100");
  tiny.sharedBytesPerBlock = 8 << 10;
  CHECK_THROWS_WITH(defaultSchedule(causalProgram(), tiny, {{"d", 256}, {"e", 256}}),
                    Catch::Contains("program 'causal' fits no schedule on") && Catch::Contains("bytes of shared memory a block, there are 8192") && Catch::Contains("; make an inner axis shorter"));
}

TEST_CASE("outputs of which no tile of the whole length fits are computed in passes") {
  const Program program = makeVariant("differential", {.type = Type::bf16});
  for (const char *name : {"h200", "a100", "l4", "b200"}) {
    const Target &target = findTarget(name);
    CHECK(defaultSchedule(program, target, {{"d", 128}, {"e", 128}}).nested.empty());
    const Schedule schedule = defaultSchedule(program, target, {{"d", 256}, {"e", 256}});
    INFO(name << ": " << print(schedule));
    CHECK(schedule.nested.at("e") == Chunks{128, 1});
    const Footprint taken = footprint(program, schedule, target);
    CHECK(taken.sharedBytes <= target.sharedBytesPerBlock);
    CHECK(taken.registersPerThread <= target.registersPerThreadMax);
  }
}

TEST_CASE("inner axes need lengths in range") {
  CHECK_THROWS_WITH(defaultSchedule(causalProgram(), findTarget("host"), {{"d", 64}}),
                    "program 'causal' needs the length of axis 'e', which lies whole inside a tile: give it in BuildOptions::extents");
  CHECK_THROWS_WITH(defaultSchedule(causalProgram(), findTarget("host"), {{"d", 64}, {"e", 1032}}),
                    "axis 'e' of program 'causal' is 1032 long; an axis that is computed in passes may be 1 to 1024 long");
  CHECK_THROWS_WITH(defaultSchedule(causalProgram(), findTarget("host"), {{"d", 0}, {"e", 64}}), "axis 'd' of program 'causal' is 0 long; an axis that lies whole inside a tile may be 1 to 1024 long");
  CHECK_THROWS_WITH(defaultSchedule(causalProgram(), findTarget("host"), {{"d", 2 << 20}, {"e", 64}}),
                    "axis 'd' of program 'causal' is 2097152 long; an axis that is walked in chunks may be 1 to 1048576 long");
}

TEST_CASE("an axis that is too wide for a tile is walked in chunks, as many at a time as fit") {
  const Program program = programs::linearLogSumExp();
  CHECK(print(defaultSchedule(program, findTarget("h200"), {{"d", 4096}})) ==
        "block=t d=4096 t=128 v=256 warpgroups=2 stages=2 blockBuffers=1 overlap=no turns=no drawn=yes stabilised=no producer=yes blocksPerSM=1 registerRows=6 registerVectors=2 nested=d:64x4");
  CHECK(defaultSchedule(program, findTarget("host"), {{"d", 1000}}).nested == std::map<std::string, Chunks>{{"d", {256, 1}}});
  CHECK(defaultSchedule(program, findTarget("host"), {{"d", 1000}}).widths.at("d") == 1024);
  for (const Target &target : targets()) {
    const Schedule schedule = defaultSchedule(program, target, {{"d", 4000}});
    INFO(target.name << ": " << print(schedule));
    CHECK(schedule.nested.contains("d"));
    if (!target.isHost()) {
      CHECK(schedule.nested.at("d").stages >= 2);
      CHECK(footprint(program, schedule, target).sharedBytes <= target.sharedBytesPerBlock);
    }
  }
}

TEST_CASE("an axis of which no whole tile fits is walked in chunks") {
  const Schedule whole = defaultSchedule(causalProgram(), findTarget("h200-sm80"), {{"d", 256}, {"e", 256}});
  CHECK(whole.nested.empty());
  for (const char *name : {"h200", "h200-sm80", "a100", "rtx4090"}) {
    const Target target = withSharedLimit(findTarget(name), 48 << 10);
    const Schedule schedule = defaultSchedule(causalProgram(), target, {{"d", 256}, {"e", 256}});
    INFO(print(schedule));
    CHECK(schedule.nested == std::map<std::string, Chunks>{{"d", {64, 2}}});
    CHECK(footprint(causalProgram(), schedule, target).sharedBytes <= target.sharedBytesPerBlock);
  }
}

TEST_CASE("results too wide for registers are computed in passes on a GPU, all alike") {
  const Schedule wide = defaultSchedule(causalProgram(), findTarget("h200"), {{"d", 576}, {"e", 512}});
  CHECK(print(wide).ends_with(" nested=d:64x" + std::to_string(wide.nested.at("d").stages) + ",e:256x1"));
  CHECK(!wide.drawn);
  CHECK(defaultSchedule(causalProgram(), findTarget("h200"), {{"d", 64}, {"e", 328}}).nested == std::map<std::string, Chunks>{{"e", {168, 1}}});
  CHECK(defaultSchedule(causalProgram(), findTarget("host"), {{"d", 64}, {"e", 512}}).nested.empty());
  for (const Target &target : targets())
    if (!target.isHost()) {
      const Schedule schedule = defaultSchedule(causalProgram(), target, {{"d", 576}, {"e", 512}});
      INFO(target.name << ": " << print(schedule));
      CHECK(footprint(causalProgram(), schedule, target).sharedBytes <= target.sharedBytesPerBlock);
    }
}

TEST_CASE("edge row 30: widths of default schedules are multiples of what a warp holds") {
  for (const Target &target : targets()) {
    if (target.isHost())
      continue;
    for (std::int64_t d : {8, 40, 80, 96, 128, 192, 256}) {
      Schedule s = defaultSchedule(causalProgram(), target, {{"d", d}, {"e", d}});
      for (const auto &[axis, width] : s.widths) {
        INFO(target.name << " D=" << d << " " << axis << "=" << width);
        CHECK(width % (axis == "q" || axis == "k" ? 16 : 8) == 0);   // copies and dots pad inner axes
      }
      CHECK((s.widths.at("q") == 64 * s.warpgroups || (!target.isHopper() && s.widths.at("q") == 128 * s.warpgroups)));
    }
  }
}

TEST_CASE("off Hopper warps copy for themselves, two blocks beside each other where they fit, and draw where a mask sets rows apart") {
  const Program plain = makeVariant("plain", {.type = Type::bf16});
  auto chosen = [](const Program &program, const char *target, std::int64_t d) {
    const std::string text = print(defaultSchedule(program, findTarget(target), {{"d", d}, {"e", d}}));
    return text.substr(0, text.find(" registerRows"));
  };
  CHECK(chosen(plain, "h200-sm80", 128) == "block=q d=128 e=128 k=64 q=128 warpgroups=1 stages=2 blockBuffers=1 overlap=no turns=no drawn=no stabilised=yes producer=no blocksPerSM=2");
  CHECK(chosen(causalProgram(), "h200-sm80", 128) == "block=q d=128 e=128 k=64 q=128 warpgroups=1 stages=2 blockBuffers=1 overlap=no turns=no drawn=yes stabilised=yes producer=no blocksPerSM=2");
  CHECK(chosen(causalProgram(), "h200-sm80", 64) == "block=q d=64 e=64 k=128 q=128 warpgroups=1 stages=2 blockBuffers=1 overlap=no turns=no drawn=yes stabilised=yes producer=no blocksPerSM=2");
  CHECK(chosen(causalProgram(), "b200", 256) == "block=q d=256 e=256 k=64 q=128 warpgroups=2 stages=2 blockBuffers=1 overlap=no turns=no drawn=yes stabilised=yes producer=no blocksPerSM=1");
  CHECK(chosen(causalProgram(), "a100", 64) == "block=q d=64 e=64 k=64 q=128 warpgroups=1 stages=2 blockBuffers=1 overlap=no turns=no drawn=yes stabilised=yes producer=no blocksPerSM=2");
  CHECK(chosen(causalProgram(), "rtx4090", 128) == "block=q d=128 e=128 k=32 q=256 warpgroups=2 stages=2 blockBuffers=1 overlap=no turns=no drawn=yes stabilised=yes producer=no blocksPerSM=1");
}

TEST_CASE("off Hopper a producer lists tiles where ranges tell of a side of a condition, and nobody does where all is random") {
  auto producer = [](const MaskFunction &keep) {
    Attention made("made", Tensor("Q", Type::bf16, 4), Tensor("K", Type::bf16, 4), Tensor("V", Type::bf16, 4), Tensor("O", Type::bf16, 4));
    return defaultSchedule(made.mask(keep).program(), findTarget("a100"), {{"d", 64}, {"e", 64}}).producer;
  };
  const Tensor doc("doc", Type::i32, 1);
  auto drawn = [](const At &at) { return random(7, {at.query, at.key}) < 0.3; };
  CHECK_FALSE(producer(drawn));
  CHECK(producer([=](const At &at) { return doc(at.key) == 3; }));
  CHECK(producer([=](const At &at) { return (doc(at.key) == 3) | drawn(at); }));
  CHECK(producer([=](const At &at) { return !((at.head == 1) & (doc(at.key) == 3)) & !drawn(at); }));
}

TEST_CASE("what fits comes in order, each with other tiles than the one before") {
  const Program program = causalProgram();
  for (const char *target : {"h200", "a100", "rtx4090"}) {
    const auto fitting = fittingSchedules(program, findTarget(target), {{"d", 64}, {"e", 64}}, 4);
    REQUIRE(fitting.size() == 4);
    CHECK(fitting.front() == defaultSchedule(program, findTarget(target), {{"d", 64}, {"e", 64}}));
    for (std::size_t i = 1; i < fitting.size(); ++i)
      CHECK(fitting[i].widths != fitting[i - 1].widths);
  }
}

TEST_CASE("on Hopper the dots of a step that multiplies twice before it accumulates go one by one, in the widest steps that registers hold") {
  const Gradient made = gradient(causalProgram(), {.outputs = {"O"}, .inputs = {"Q", "K", "V"}});
  auto chosen = [&](const std::string &name, std::int64_t d) {
    for (const Program &program : made.backward)
      if (program.name == name) {
        const std::string text = print(defaultSchedule(program, findTarget("h200"), {{"d", d}, {"e", d}}));
        return text.substr(0, text.find(" stabilised"));
      }
    return std::string("no such program");
  };
  CHECK(chosen("causal_dV_dK", 128) == "block=k d=128 e=128 k=128 q=64 warpgroups=2 stages=2 blockBuffers=2 overlap=no turns=no drawn=yes");
  CHECK(chosen("causal_dV_dK", 64) == "block=k d=64 e=64 k=128 q=112 warpgroups=2 stages=2 blockBuffers=2 overlap=no turns=no drawn=yes");
  CHECK(chosen("causal_dQ", 128) == "block=q d=128 e=128 k=128 q=128 warpgroups=2 stages=2 blockBuffers=1 overlap=no turns=no drawn=yes");
  CHECK(chosen("causal_dQ", 64) == "block=q d=64 e=64 k=128 q=128 warpgroups=2 stages=2 blockBuffers=2 overlap=no turns=no drawn=yes");
  // What multiplies nothing waits for memory: two blocks beside each other, with few registers a thread.
  CHECK(chosen("causal_rows", 128) == "block=q e=64 q=128 warpgroups=2 stages=2 blockBuffers=2 overlap=no turns=no drawn=yes");
  for (const Program &program : made.backward)
    if (program.name == "causal_rows")
      CHECK(defaultSchedule(program, findTarget("h200"), {}).blocksPerSM == 2);
  // A stabiliser's step is tried as a whole.
  CHECK(defaultSchedule(causalProgram(), findTarget("h200"), {{"d", 128}, {"e", 128}}).overlap);
}

TEST_CASE("steps bound by their exponentials are shared by three warpgroups where their registers do") {
  auto scheduleOf = [](const char *variant, std::int64_t d) { return defaultSchedule(makeVariant(variant, {.type = Type::bf16}), findTarget("h200"), {{"d", d}, {"e", d}}); };
  for (const char *variant : {"softcap", "softcapfast", "gemma2"})
    for (std::int64_t d : {80, 96, 128}) {
      INFO(variant << " D=" << d);
      const Schedule schedule = scheduleOf(variant, d);
      CHECK(schedule.warpgroups == 3);
      CHECK(schedule.widths.at("q") == 192);
      CHECK(schedule.widths.at("k") == 64);
      CHECK_FALSE(schedule.turns);       // none waits for the tensor cores
    }
  CHECK(scheduleOf("softcap", 160).warpgroups == 2);   // no second kernel with wide tiles would fit
  SECTION("not those bound by dots, or by other arithmetic") {
    for (const char *variant : {"plain", "causal", "alibi"})
      for (std::int64_t d : {96, 128})
        CHECK(scheduleOf(variant, d).warpgroups == 2);
    CHECK(scheduleOf("alibi", 64).warpgroups == 2);
  }
}

TEST_CASE("where steps add to a tensor, dots over the block axis come a step behind, if memory holds two slots of what is exchanged") {
  const Gradient made = gradient(causalProgram(), {.outputs = {"O"}, .inputs = {"Q", "K", "V"}, .accumulates = true});
  const auto adding = std::find_if(made.backward.begin(), made.backward.end(), [](const Program &program) { return program.name == "causal_dV_dK_dQ"; });
  REQUIRE(adding != made.backward.end());
  const Target &h200 = findTarget("h200");
  auto chosen = [&](const Target &target, std::int64_t d) { return defaultSchedule(*adding, target, {{"d", d}, {"e", d}}); };
  CHECK(print(chosen(h200, 128)).find("q=64 warpgroups=2 stages=2 blockBuffers=1 ") != std::string::npos);
  CHECK(print(chosen(h200, 64)).find("q=128 warpgroups=2 stages=2 blockBuffers=1 ") != std::string::npos);      // the second block buffer makes room
  for (std::int64_t d : {64, 128}) {
    const Schedule usual = chosen(h200, d);
    CHECK(usual.delayed);
    CHECK(usual.exchangeBuffers == 2);
    CHECK(usual.outboxBuffers == 1);
    CHECK_FALSE(usual.ahead);
    CHECK(footprint(*adding, usual, h200).sharedBytes <= h200.sharedBytesPerBlock);
    // The same tiles without it come next, as they take fewer registers.
    const auto fitting = fittingSchedules(*adding, h200, {{"d", d}, {"e", d}}, 2);
    REQUIRE(fitting.size() == 2);
    CHECK(fitting[0] == usual);
    CHECK_FALSE(fitting[1].delayed);
    CHECK(fitting[1].exchangeBuffers == 1);
    CHECK(fitting[1].widths == usual.widths);
    // With too little memory for it a block makes do with one slot.
    const Schedule small = chosen(withSharedLimit(h200, footprint(*adding, usual, h200).sharedBytes - 1), d);
    CHECK((!small.delayed || small.widths != usual.widths));
  }
}
