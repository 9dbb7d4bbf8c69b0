// What a GPU's kernel cannot do is said at the user's line, with the tensor and the cure, and nothing of the compiler.
#include "tilewright/dsl/Dsl.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/Target.h"
#include <catch2/catch.hpp>

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

TEST_CASE("a gather is refused on a GPU") {
  const Tensor rel("rel", Type::f32, 2);
  Attention attention = variant(Type::bf16);
  attention.score([&](Tile s, const At &at) {
    return s + rel(at.head, at.key - at.query + at.queries);
  });
  const Diagnostic refused = refusal(attention);
  CHECK(refused.message == "reads tensor \"rel\" at computed places; on a GPU an index is one axis' coordinate, shifted by what its tile shares: compute the values from coordinates, or run on the CPU "
                           "(target host)");
  CHECK_THAT(shortName(refused.where), Catch::StartsWith("DeviceRefusalsTest.cpp:"));
  CHECK(refused.notes.empty());
}

TEST_CASE("a bias over queries and keys is refused on a GPU") {
  const Tensor bias("bias", Type::f32, 4);
  Attention attention = variant(Type::bf16);
  attention.score([&](Tile s, const At &at) {
    return s + bias(at.batch, at.head, at.query, at.key);
  });
  const Diagnostic refused = refusal(attention);
  CHECK(refused.message == "reads tensor \"bias\" element by element over two axes; on a GPU such a tile is an operand of a dot, or a vector along one axis: make it of values along one axis each, or of "
                           "coordinates, or run on the CPU (target host)");
  CHECK_THAT(shortName(refused.where), Catch::StartsWith("DeviceRefusalsTest.cpp:"));
  CHECK(refused.notes.empty());
}

TEST_CASE("a bool for each key is refused on a GPU") {
  const Tensor keep("keep", Type::boolean, 1);
  Attention attention = variant(Type::bf16);
  attention.mask([&](const At &at) { return keep(at.key); });
  const Diagnostic refused = refusal(attention);
  CHECK(refused.message == "tensor \"keep\" holds bool; on a GPU what is read along the folded axis takes 16 bits or more an element: make it i32 and compare it with 0, or run on the CPU (target host)");
  CHECK_THAT(shortName(refused.where), Catch::StartsWith("DeviceRefusalsTest.cpp:"));
  CHECK(refused.notes.empty());
}

TEST_CASE("values by head, query and key, and functions of coordinates, are what a GPU takes") {
  const Tensor slope("slope", Type::f32, 1), byQuery("byQuery", Type::f32, 2), byKey("byKey", Type::f32, 2);
  for (const char *target : {"h200", "a100"}) {
    Attention attention = variant(Type::bf16);
    attention.score([&](Tile s, const At &at) { return s + slope(at.head) * abs(at.key - at.query) + byQuery(at.batch, at.query) + byKey(at.batch, at.key); });
    CHECK_NOTHROW(compileFor(target, attention));
    Attention padded = variant(Type::bf16);
    padded.mask([&](const At &at) { return byKey(at.batch, at.key) > 0; });   // a mask that bounds no fold
    CHECK_NOTHROW(compileFor(target, padded));
  }
}
