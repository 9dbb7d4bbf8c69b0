// What a GPU's kernel cannot do is said at the user's line, with the tensor and the cure, and nothing of the compiler.
#include "tilewright/artifact/CompileError.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/Target.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>

using namespace tw;

namespace {

Attention variant(Type type, Location where = Location::current()) {
  return Attention("own", Tensor("Q", type, 4), Tensor("K", type, 4), Tensor("V", type, 4), Tensor("O", type, 4), where);
}

void compileFor(const char *name, const Attention &attention) {
  const Program program = attention.program();
  const Target &target = findTarget(name);
  (void)compileDevice(program, defaultSchedule(program, target, {{"d", 64}, {"e", 64}}), target);
}

Diagnostic refusal(const Attention &attention) {
  try {
    compileFor("h200", attention);
  } catch (const ProgramError &error) {
    return error.diagnostic;
  }
  FAIL("accepted");
  return {};
}

/// The line before the one on which this is called.
std::string lineAbove(Location where = Location::current()) { return shortName(Location::of(where.file, where.line - 1)); }

} // namespace

TEST_CASE("tensors that tensor cores do not multiply are refused where the variant is made") {
  for (Type type : {Type::f32, Type::f64}) {
    const Attention attention = variant(type);
    const std::string line = lineAbove();
    const Diagnostic refused = refusal(attention);
    CHECK(refused.message == "tensor \"K\" holds '" + std::string(name(type)) + "'; GPUs multiply tiles of f16 and bf16: convert it to one of them, or run on the CPU (target host)");
    CHECK(shortName(refused.where) == line);
    CHECK(refused.notes.empty());
  }
}

// A GPU would multiply f32 only as TF32, which nobody asked for.
TEST_CASE("edge row 92: no GPU is given f32 to multiply as TF32") {
  for (const Target &target : targets())
    if (!target.isHost())
      for (Type type : {Type::f32, Type::f64}) {
        INFO(name(type) << " for " << target.name);
        CHECK_THROWS_AS(compileFor(target.name.c_str(), variant(type)), ProgramError);
      }
}

TEST_CASE("what is read at computed places, for each score, and bools by key, are what a GPU takes") {
  const Tensor rel("rel", Type::f32, 2), bias("bias", Type::f32, 4), keep("keep", Type::boolean, 1), table("table", Type::i32, 1);
  for (const char *target : {"h200", "a100"}) {
    Attention attention = variant(Type::bf16);
    attention.score([&](Tile s, const At &at) { return s + rel(at.head, at.key - at.query + at.queries) + bias(at.batch, at.head, at.query, at.key); });
    attention.mask([&](const At &at) { return keep(at.key) & (table(table(at.query)) <= at.key); });
    CHECK_NOTHROW(compileFor(target, attention));
  }
}

TEST_CASE("norms of keys are what a GPU takes") {
  Attention attention = variant(Type::bf16);
  attention.score([key = attention.keyTile(), d = attention.d](Tile s, const At &) { return s * rsqrt(sum(key * key, over(d))); });
  for (const char *target : {"h200", "a100"})
    CHECK_NOTHROW(compileFor(target, attention));
}

namespace {

/// What is said of a fold of weights · V, where `step` makes the new sum of the old one and that dot.
Diagnostic refusalOf(const std::function<Tile(Tile sum, Tile dot, const Axis &e)> &step, const char *fields = "k=32") {
  const Axis q("q"), k("k"), d("d"), e("e");
  const Tensor Q("Q", Type::bf16, 2), K("K", Type::bf16, 2), V("V", Type::bf16, 2), O("O", Type::f32, 2);
  auto [sum] = fold(k, std::tuple{full(0, {q, e})}, [&](Tile sum) { return std::tuple{step(sum, dot(sigmoid(dot(Q(q, d), K(k, d), over(d))), V(k, e), over(k)), e)}; });
  const Program program{"own", {store(O, {q, e}, sum)}};
  Schedule schedule = defaultSchedule(program, findTarget("h200"), {{"d", 64}, {"e", 64}});
  schedule.widths["k"] = std::atoi(fields + 2);
  try {
    (void)compileDevice(program, schedule, findTarget("h200"));
  } catch (const ProgramError &error) {
    return error.diagnostic;
  }
  FAIL("accepted");
  return {};
}

} // namespace

TEST_CASE("what multiplies a dot inside of a step belongs behind the fold, which a GPU's refusal says") {
  const Tensor gain("gain", Type::f32, 1);
  const Diagnostic refused = refusalOf([&](Tile sum, Tile dot, const Axis &e) { return sum + dot * gain(e); });
  CHECK(refused.message == "the fold carries the tile 'tensor<128x64xf32, #tile.axes<\"q\", \"e\">>' in another form than argument · row + dot; on a GPU a carried tile is such a sum, from 0 on: apply everything "
                           "else to the fold's result");
  CHECK_THAT(shortName(refused.where), Catch::StartsWith("DeviceRefusalsTest.cpp:"));
}

TEST_CASE("f64 inside of a GPU's kernel is refused where it is written") {
  const Diagnostic refused = refusalOf([&](Tile sum, Tile dot, const Axis &) { return cast(sum + dot * constant(0.1, Type::f64), Type::f32); });
  CHECK(refused.message == "is f64, in which a GPU's kernel does not compute; make tensors, scalars and constants f32 (a number written bare takes the type of what it meets), or run on the CPU (target "
                           "host)");
  CHECK_THAT(shortName(refused.where), Catch::StartsWith("DeviceRefusalsTest.cpp:"));
}

TEST_CASE("a fold's width that no dot contracts is refused with the cure") {
  CHECK(refusalOf([](Tile sum, Tile dot, const Axis &) { return sum + dot; }, "k=40").message ==
        "contracts 40 rows of a tile; expected a multiple of 16: give axis \"k\" such a width in the schedule");
  CHECK(refusalOf([](Tile sum, Tile dot, const Axis &) { return sum + dot; }, "k=20").message ==
        "tensor \"V\" has tiles 20 rows high; a copy takes a multiple of 8, at most 256: give axis \"k\" such a width in the schedule");
}

TEST_CASE("warpgroups that do not own a block's rows are refused") {
  const Program program = variant(Type::bf16).program();
  auto refusal = [&](const char *fields) -> std::string {
    try {
      (void)compileDevice(program, parseSchedule(fields), findTarget("h200"));
    } catch (const CompileError &error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string rest = " producer=yes blocksPerSM=1 registerRows=6 registerVectors=2";
  CHECK(refusal("block=q q=128 k=64 d=64 e=64 warpgroups=3") == "the schedule has q=128 and warpgroups=3; a warpgroup owns 64 rows of a block: take q=192 or warpgroups=2. The schedule: block=q d=64 e=64 k=64 q=128 "
                                                                "warpgroups=3 stages=2 blockBuffers=1 overlap=yes turns=yes drawn=no stabilised=no" + rest);
  CHECK(refusal("block=q q=96 k=64 d=64 e=64 warpgroups=2") == "the schedule has q=96 and warpgroups=2; a warpgroup owns 64 rows of a block: take q=128. The schedule: block=q d=64 e=64 k=64 q=96 warpgroups=2 "
                                                               "stages=2 blockBuffers=1 overlap=yes turns=yes drawn=no stabilised=no" + rest);
}

TEST_CASE("values by head, query and key, and functions of coordinates, are what a GPU takes") {
  const Tensor slope("slope", Type::f32, 1), byQuery("byQuery", Type::f32, 2), byKey("byKey", Type::f32, 2), keep("keep", Type::boolean, 1), part("part", Type::i64, 2);
  for (const char *target : {"h200", "a100"}) {
    Attention attention = variant(Type::bf16);
    attention.score([&](Tile s, const At &at) { return s + slope(at.head) * abs(at.key - at.query) + byQuery(at.batch, at.query) + byKey(at.batch, at.key); });
    CHECK_NOTHROW(compileFor(target, attention));
    Attention padded = variant(Type::bf16);
    padded.mask([&](const At &at) { return byKey(at.batch, at.key) > 0; });   // a mask that bounds no fold
    CHECK_NOTHROW(compileFor(target, padded));
    Attention kept = variant(Type::bf16);
    kept.mask([&](const At &at) { return keep(at.key) & (part(at.batch, at.query) == part(at.batch, at.key)); });
    CHECK_NOTHROW(compileFor(target, kept));
  }
}

TEST_CASE("schedules that a target cannot run are refused with the cure") {
  const Program program = variant(Type::bf16).program();
  auto refusedFor = [&](const std::string &target, const std::string &fields) -> std::string {
    const Schedule schedule = parseSchedule("block=q d=64 e=64 " + fields);
    try {
      (void)compileDevice(program, schedule, findTarget(target));
    } catch (const CompileError &error) {
      const std::string message = error.what(), end = ". The schedule: " + print(schedule);
      REQUIRE(message.ends_with(end));
      return message.substr(0, message.size() - end.size());
    }
    return "accepted";
  };
  CHECK(refusedFor("h200", "q=128 producer=no overlap=no k=64") == "the schedule has producer=no: on NVIDIA H200 SXM one thread copies by an engine of its own; take producer=yes");
  CHECK(refusedFor("h200", "q=128 blocksPerSM=6 k=64") ==
        "the schedule has blocksPerSM=6 and warpgroups=2: on NVIDIA H200 SXM a multiprocessor runs 2048 threads, and a block has 384; take blocksPerSM=5 or less");
  CHECK(refusedFor("h200", "q=64 warpgroups=1 turns=no blocksPerSM=2 k=64") == "accepted");
  CHECK(refusedFor("h200", "q=128 k=64 votes=4 firstVote=5") == "the schedule has firstVote=5 and votes=4: the first vote comes after 4 steps at most; take firstVote=4 or less");
  CHECK(refusedFor("h200", "q=128 k=64 votes=65537") == "the schedule has votes=65537: items vote after 65536 steps at the latest; take votes=65536 or less");
  CHECK(refusedFor("h200", "q=128 k=64 votes=65536 firstVote=65536") == "accepted");
  CHECK(refusedFor("a10", "q=128 producer=no k=64") == "the schedule has producer=no and overlap=yes: on NVIDIA A10 a warp that copies for itself also waits for its own products; take overlap=no or producer=yes");
  CHECK(refusedFor("h200", "q=128 k=64 overlap=no delayed=yes") == "the schedule has delayed=yes and exchangeBuffers=1: on NVIDIA H200 SXM a step publishes before it reads what the step before has published; take exchangeBuffers=2 or delayed=no");
  CHECK(refusedFor("h200", "q=128 k=64 overlap=no stages=1 ahead=yes") == "the schedule has ahead=yes and stages=1: on NVIDIA H200 SXM a step's tiles are held while the next one's are multiplied; take stages=2 or ahead=no");
  CHECK(refusedFor("h200", "q=128 k=64 overlap=yes ahead=yes") == "the schedule has ahead=yes and overlap=yes: on NVIDIA H200 SXM dots of a step are issued ahead or behind; take overlap=no or ahead=no");
  CHECK(refusedFor("a10", "q=128 producer=no overlap=no stages=1 k=64") == "the schedule has producer=no and stages=1: on NVIDIA A10 a step's tiles are read while the next one's come; take stages=2 or producer=yes");
  const Program documents = makeVariant("documents", {.type = Type::bf16});
  CHECK_THROWS_WITH(compileDevice(documents, parseSchedule("block=q d=64 e=64 q=128 producer=no overlap=no k=64"), findTarget("a10")),
                    Catch::StartsWith("the schedule has producer=no: on NVIDIA A10 the producer lists the tiles that the mask of program 'documents' keeps; take producer=yes. The schedule: "));
  CHECK(refusedFor("a10", "q=192 overlap=no k=64") == "the schedule has q=192 and warpgroups=2; a warpgroup owns 64 rows of a block, or 128: take q=128 or warpgroups=3");
  CHECK(refusedFor("h200", "q=256 k=64") == "the schedule has q=256 and warpgroups=2; a warpgroup owns 64 rows of a block: take q=128 or warpgroups=4");
  CHECK(refusedFor("a10", "q=256 overlap=no stages=1 k=16 turns=no") == "accepted");
  CHECK(refusedFor("a10", "q=128 producer=no overlap=no warpgroups=1 blocksPerSM=2 k=16") == "accepted");
}
