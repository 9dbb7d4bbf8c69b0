// The text form prints and parses back.
#include "programs/Programs.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tw;

namespace {

void roundTrip(const Program &program) {
  for (Locations locations : {Locations::omit, Locations::print}) {
    const std::string text = print(program, locations);
    INFO(text);
    CHECK(print(parseProgram(text), locations) == text);
  }
  CHECK(print(parseProgram(print(program, Locations::print))) == print(program));
}

} // namespace

TEST_CASE("text: every variant of the gallery and every fold program") {
  for (const Variant &variant : gallery())
    for (Type type : {Type::bf16, Type::f64})
      roundTrip(makeVariant(variant.name, {.type = type}));
  roundTrip(makeVariant("softcap+alibi+causal+window(5,-1)"));
  for (const Program &p : {programs::gemm(), programs::rowSumsOfAbs(), programs::linearLogSumExp(), programs::sumsUnderMasks(), programs::sigmoidWeights()})
    roundTrip(p);
}

TEST_CASE("text: every operation") {
  const Axis q("q"), k("k");
  const Tensor T("T", Type::f16, 2), N("N", Type::i64, 1), O("O", Type::f64, 1), P("P", Type::i64, 1), B("B", Type::boolean, 1);
  const Tile half = T(q, k), n = N(q), s = scalar("s", Type::f64, Sign::positive), c = scalar("c", Type::boolean);
  Tile x = cast(half, Type::f64) + half * 2.0 - n / s;
  x = min(max(-x, abs(x)), exp(x)) + exp2(x) + log(x) + tanh(x) + tanhApproximate(x) + sigmoid(x) + sqrt(x);
  const Tile m = (n / 3 + n % 5) * T.dimension(1) - extent(k) + k;
  const Tile condition = ((m < n) & (m <= n)) | ((m > n) & !(m >= n)) | (m == n) | (m != 7) | c | (half == half);
  x = where(condition, x, -infinity) + where(q < 3, half, 1e-3) + cast(condition, Type::f32) + constant(NAN, Type::f64);
  auto [a, i] = orderedFold(k, std::tuple{full(0.1, {q}, Type::f64), full(-5, {}, Type::i32)}, [&](Tile a, Tile i) {
    Tile y = named("y", stabiliser(max(a, max(x, over(k)))));
    return std::tuple{y + min(x, over(k)) + sum(x, over(k)) + dot(half, x, over(k)), i + 1};
  });
  const Program p{"every \"operation\"\\", {store(O, {q}, named("step", a, {n, s}, Location::current())), store(P, {q}, i + n), store(B, {q}, i < 3)},
                  {require(s > 1, "line one\nline \"two\"")}};
  roundTrip(p);
}

TEST_CASE("text: what a small program looks like") {
  const Axis t("t"), v("v");
  const Tensor X("X", Type::f32, 2), R("R", Type::f32, 1);
  const Tile cap = scalar("cap", Type::f32, Sign::positive);
  auto [r] = fold(v, std::tuple{full(0, {t})}, [&](Tile r) { return std::tuple{named("r", r + sum(where(v <= t, X(t, v), 0.0), over(v)))}; });
  const Program p{"lower", {store(R, {t}, min(r, cap) / extent(v))}, {require(extent(v) > 0, "v is empty; give a column")}};
  CHECK(print(p) == R"(program "lower"
axis t
axis v
tensor X f32[2]
tensor R f32[1]
scalar cap f32 positive
%0 = gt extent(v), 0 : bool[]
%1 = constant 0.0 : f32[t]
%2 = fold v (%3 = %1) {
  %4 = le v, t : bool[t, v]
  %5 = load X[t, v] : f32[t, v]
  %6 = select %4, %5, 0.0 : f32[t, v]
  %7 = reduce_sum %6 over v : f32[t]
  %8 = add %3, %7 : f32[t]
  %9 = named "r" %8 : f32[t]
  yield %9
}
%10 = min %2, scalar(cap) : f32[t]
%11 = cast extent(v) : f32[]
%12 = div %10, %11 : f32[t]
require %0 "v is empty; give a column"
store R[t] = %12
)");
}

TEST_CASE("text: equal programs from different lines print alike") {
  auto make = [] { return makeVariant("causal"); };
  const Program a = make();
  const Program b = make();
  CHECK(print(a) == print(b));
  CHECK(print(a, Locations::print).find("Gallery.cpp") != std::string::npos);
}

TEST_CASE("text: numbers are exact") {
  const Axis q("q");
  for (double number : {0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 16777217.0}) {
    const Program p{"p", {store(Tensor("O", Type::f64, 1), {q}, full(0, {q}, Type::f64) + constant(number, Type::f64))}};
    const Program back = parseProgram(print(p));
    const double read = back.stores[0].value.node().operands[1].node().literal;
    CHECK(read == number);
    CHECK(std::signbit(read) == std::signbit(number));
  }
}

TEST_CASE("text: what does not differ from tile to tile stands before the fold") {
  const std::string text = print(makeVariant("causal"));
  CHECK(text.find("load Q") < text.find("fold k"));
  CHECK(text.find("load K") > text.find("fold k"));
}

TEST_CASE("text: a value used in a fold and outside of it") {
  const Axis q("q"), k("k");
  const Tensor X("X", Type::f32, 2), O("O", Type::f32, 1), Y("Y", Type::f32, 2);
  const Tile x = exp(X(q, k));
  auto [r] = fold(k, std::tuple{full(0, {q})}, [&](Tile r) { return std::tuple{r + sum(x, over(k))}; });
  roundTrip({"shared", {store(O, {q}, r), store(Y, {q, k}, x / r)}});
}

TEST_CASE("text: a nested fold that uses the outer one's carried value") {
  const Axis q("q"), k("k"), j("j");
  const Tensor X("X", Type::f32, 2), Y("Y", Type::f32, 1), O("O", Type::f32, 1);
  auto [r] = fold(k, std::tuple{full(0, {q})}, [&](Tile r) {
    auto [inner] = fold(j, std::tuple{r}, [&](Tile in) { return std::tuple{in + sum(Y(j), over(j)) + sum(r * Y(j), over(j))}; });
    return std::tuple{inner + sum(X(q, k), over(k))};
  });
  roundTrip({"nested", {store(O, {q}, r)}});
}

TEST_CASE("text: comments and empty lines are skipped") {
  const Program p = parseProgram("// a comment\n\nprogram \"p\" // of the kind\naxis q\ntensor O f32[1]\nstore O[q] = 1.0\n");
  CHECK(p.name == "p");
}
