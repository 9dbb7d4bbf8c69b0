// What a program may not mean.
#include "tilewright/dsl/Dsl.h"
#include "tilewright/dsl/Inspect.h"
#include <catch2/catch.hpp>

using namespace tw;

namespace {
Attention variant() {
  return Attention("v", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
}
}   // namespace

TEST_CASE("a mask that ignores the fold's axis is told at the user's line") {
  Attention attention = variant();
  attention.mask(causal());
  attention.mask([](const At &at) { return at.query >= 3; });
  const unsigned line = __LINE__ - 1;
  const auto found = suspicions(attention.program());
  REQUIRE(found.size() == 1);
  CHECK(found[0].where.line == line);
  CHECK(found[0].message == "this mask ignores 'k', the axis that the fold walks: its condition runs along [q] alone, so that for all k from 0 to "
                            "extent(k) - 1 it is one and the same, and keeps a row or "
                            "empties it; compare 'k' too, or leave it if rows are meant");
  CHECK(renderWarning(found[0]).find("InspectTest.cpp:" + std::to_string(line) + ": warning: this mask ignores 'k'") == 0);
}

TEST_CASE("no variant of the gallery is suspicious") {
  for (const Variant &each : gallery()) {
    INFO(each.name);
    CHECK(suspicions(makeVariant(each.name)).empty());
  }
}
