// The harness itself: a comparison that accepts too much makes every other test worthless.
#include "support/Arrays.h"
#include "support/Compare.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;

TEST_CASE("edge row 7: a NaN in oracle or result fails, unless both declared") {
  const Array good{{2}, {1, 2}}, nan{{2}, {1, NAN}}, nanFirst{{2}, {NAN, 2}};
  CHECK_FALSE(compare(nan, good, {1e9, 1e9}));
  CHECK_FALSE(compare(good, nan, {1e9, 1e9}));
  CHECK_FALSE(compare(nan, nan, {1e9, 1e9}));
  CHECK(compare(nan, good, {}).summary == "NaN in the result at [1]: result nan, oracle 2.000000");
  CHECK(compare(good, nan, {}).summary == "NaN in the oracle at [1]: result 2.000000, oracle nan");
  CHECK(compare(nan, nan, {}, Nans::declared));
  CHECK_FALSE(compare(nan, good, {1e9, 1e9}, Nans::declared));
  CHECK_FALSE(compare(nan, nanFirst, {1e9, 1e9}, Nans::declared));
}

TEST_CASE("a comparison finds shapes, infinities and the worst element") {
  CHECK_FALSE(compare({{1, 2}, {1, 2}}, {{2}, {1, 2}}, {}));
  CHECK(compare({{2}, {-INFINITY, 2}}, {{2}, {-INFINITY, 2}}, {}));
  CHECK_FALSE(compare({{2}, {INFINITY, 2}}, {{2}, {-INFINITY, 2}}, {1e9, 1e9}));
  CHECK_FALSE(compare({{2}, {1, 2}}, {{2}, {-INFINITY, 2}}, {1e9, 1e9}));
  const Comparison c = compare({{2, 2}, {1, 2, 3.5, 4.25}}, {{2, 2}, {1, 2, 3, 4}}, {0.25, 0});
  CHECK_FALSE(c);
  CHECK(c.maxError == 0.5);
  CHECK(c.summary == "max error 0.5, rms 0.28, worst at [1, 0]: result 3.5, oracle 3, allowed 0.25");
  CHECK(compare({{2, 2}, {1, 2, 3.5, 4.25}}, {{2, 2}, {1, 2, 3, 4}}, {0.5, 0}));
  CHECK(compare({{0}, {}}, {{0}, {}}, {}));
}

TEST_CASE("rounding to 16 bits") {
  CHECK(roundTo(1 + 0x1p-11, Type::f16) == 1);              // a tie goes to even
  CHECK(roundTo(1 + 0x1.8p-10, Type::f16) == 1 + 0x1p-9);
  CHECK(roundTo(65519, Type::f16) == 65504);
  CHECK(roundTo(65520, Type::f16) == INFINITY);
  CHECK(roundTo(0x1p-24, Type::f16) == 0x1p-24);
  CHECK(roundTo(0x1p-26, Type::f16) == 0);
  CHECK(roundTo(1 + 0x1p-8, Type::bf16) == 1);
  CHECK(roundTo(0.1, Type::f32) == double(0.1f));
}
