// Functions, bits and random numbers: what evaluate() makes of them, their types, and what is refused.
#include "Refused.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace tw;

namespace {

/// f(X) for the numbers, by evaluate().
std::vector<double> computed(const std::vector<double> &numbers, Type type, Type result, const std::function<Tile(Tile)> &f, std::int64_t foldTile = 0) {
  const Axis q("q");
  const Tensor X("X", type, 1), O("O", result, 1);
  const Program p{"p", {store(O, {q}, f(X(q)))}};
  Evaluation in{{{"X", {{std::int64_t(numbers.size())}, numbers}}}, {}};
  in.foldTile = foldTile;
  CHECK(print(parseProgram(print(p))) == print(p));
  return evaluate(p, in).at("O").data;
}

void check(const std::function<Tile(Tile)> &f, const std::function<double(double)> &right) {
  const std::vector<double> numbers{-7.5, -2.5, -1, -0.5, -1e-3, 0, 1e-3, 0.3, 0.5, 1, 1.5, 2.5, 3, 40, 1e6, infinity, -infinity, NAN};
  const std::vector<double> results = computed(numbers, Type::f64, Type::f64, f);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double want = right(numbers[i]);
    INFO(numbers[i] << " gives " << results[i] << ", expected " << want);
    CHECK((std::isnan(want) ? std::isnan(results[i]) : std::isinf(want) || want == 0 ? results[i] == want : std::abs(results[i] - want) <= 1e-14 * std::abs(want)));
  }
}

} // namespace

TEST_CASE("functions are those of the C++ library") {
  check([](Tile x) { return expm1(x); }, [](double x) { return std::expm1(x); });
  check([](Tile x) { return log2(x); }, [](double x) { return std::log2(x); });
  check([](Tile x) { return log1p(x); }, [](double x) { return std::log1p(x); });
  check([](Tile x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); });
  check([](Tile x) { return sin(x); }, [](double x) { return std::sin(x); });
  check([](Tile x) { return cos(x); }, [](double x) { return std::cos(x); });
  check([](Tile x) { return erf(x); }, [](double x) { return std::erf(x); });
  check([](Tile x) { return floor(x); }, [](double x) { return std::floor(x); });
  check([](Tile x) { return ceil(x); }, [](double x) { return std::ceil(x); });
  check([](Tile x) { return round(x); }, [](double x) { return std::round(x); });
  check([](Tile x) { return trunc(x); }, [](double x) { return std::trunc(x); });
  for (double n : {-1.0, 0.0, 0.5, 2.0, 3.0, 4.0, 7.0})
    check([=](Tile x) { return pow(x, n); }, [=](double x) { return std::pow(x, n); });
  check([](Tile x) { return pow(2.0, x); }, [](double x) { return std::pow(2.0, x); });
}

TEST_CASE("functions made of others") {
  check([](Tile x) { return clamp(x, -1, 2.5); }, [](double x) { return std::isnan(x) ? x : std::clamp(x, -1.0, 2.5); });
  check([](Tile x) { return sign(x); }, [](double x) { return x > 0 ? 1 : x < 0 ? -1 : x; });
  check([](Tile x) { return cast(isnan(x), Type::f64); }, [](double x) { return std::isnan(x); });
  check([](Tile x) { return cast(isfinite(x), Type::f64); }, [](double x) { return std::isfinite(x); });
  check([](Tile x) { return softplus(x); }, [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); });
  const std::vector<double> smooth = computed({-1, 0, 2}, Type::f64, Type::f64, [](Tile x) { return gelu(x); });
  CHECK(smooth[0] == Approx(-0.15865525393145705).epsilon(1e-14));
  CHECK(smooth[1] == 0);
  CHECK(smooth[2] == Approx(1.9544997361036416).epsilon(1e-14));
}

TEST_CASE("functions of integers: whole numbers stay, others compute in f32") {
  const Axis q("q");
  CHECK(floor(index(q)).type() == Type::i32);
  CHECK(round(index(q)).node().op == Op::index);
  CHECK(sin(index(q)).type() == Type::f32);
  CHECK(pow(index(q), 2).type() == Type::f32);
  CHECK(sign(cast(q, Type::i64)).type() == Type::i64);
  CHECK(clamp(q, 0, 7).type() == Type::i32);
  CHECK(computed({-5, 0, 9}, Type::i32, Type::i32, [](Tile x) { return sign(x); }) == std::vector<double>{-1, 0, 1});
}

TEST_CASE("bits of integers") {
  const std::vector<double> numbers{0, 1, 5, 12, -1, -6, 2147483647, -2147483648.0};
  auto expect = [&](const std::function<Tile(Tile)> &f, const std::function<std::int32_t(std::int32_t)> &right) {
    std::vector<double> want;
    for (double x : numbers)
      want.push_back(right(std::int32_t(x)));
    CHECK(computed(numbers, Type::i32, Type::i32, f) == want);
  };
  expect([](Tile x) { return x & 12; }, [](std::int32_t x) { return x & 12; });
  expect([](Tile x) { return x | 3; }, [](std::int32_t x) { return x | 3; });
  expect([](Tile x) { return x ^ -7; }, [](std::int32_t x) { return x ^ -7; });
  expect([](Tile x) { return ~x; }, [](std::int32_t x) { return ~x; });
  expect([](Tile x) { return x << 3; }, [](std::int32_t x) { return std::int32_t(std::uint32_t(x) << 3); });
  expect([](Tile x) { return x >> 3; }, [](std::int32_t x) { return x >> 3; });
  expect([](Tile x) { return where(testBit(x, 2), 1, 0); }, [](std::int32_t x) { return x >> 2 & 1; });
  CHECK(computed({1, -1}, Type::i64, Type::i64, [](Tile x) { return x << 40; }) == std::vector<double>{0x1p40, -0x1p40});
  const Axis q("q");
  CHECK((index(q) & cast(q, Type::i64)).type() == Type::i64);
  CHECK((index(q) << cast(q, Type::i64)).type() == Type::i32);
  CHECK(((q < 3) ^ (q < 5)).type() == Type::boolean);
}

// The known answers that come with the generator's publication.
TEST_CASE("random numbers are Philox 4x32-10") {
  auto first = [](double seed, double word) {
    return computed({word}, Type::i32, Type::f64, [=](Tile x) { return random(constant(seed, Type::i64), x, x, x, x); })[0] * 0x1p24;
  };
  CHECK(first(0, 0) == 0x6627e8);
  CHECK(first(-1, -1) == 0x408f27);
  const Axis q("q");
  CHECK(random(1, q).type() == Type::f32);
  CHECK(print(Program{"p", {store(Tensor("O", Type::f32, 1), {q}, random(1, cast(q, Type::i64), index(q) * 2))}}).find("random 1:i64, %") != std::string::npos);
}

TEST_CASE("random numbers depend on seed and coordinates alone") {
  const Axis q("q"), k("k");
  const Tensor seed("seed", Type::i64, 1), O("O", Type::f64, 1);
  auto [total] = fold(k, std::tuple{full(0, {q})}, [&](Tile total) { return std::tuple{total + sum(random(seed(0), q, k) * (k + 1), over(k))}; });
  const Program p{"p", {store(O, {q}, total)}};
  Evaluation in{{{"seed", {{1}, {42}}}}, {}};
  in.extents = {{"q", 40}, {"k", 300}};
  const std::vector<double> whole = evaluate(p, in).at("O").data;
  in.foldTile = 17;
  const std::vector<double> tiled = evaluate(p, in).at("O").data;
  double mean = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(tiled[i] == Approx(whole[i]).epsilon(1e-14));
    mean += whole[i] / (300 * 301 / 2) / 40;
  }
  CHECK(mean == Approx(0.5).margin(0.02));
  CHECK(std::set<double>(whole.begin(), whole.end()).size() == whole.size());
  in.tensors["seed"].data = {43};
  CHECK(evaluate(p, in).at("O").data[0] != tiled[0]);
}

TEST_CASE("an i64 coordinate is two words") {
  const auto narrow = computed({7}, Type::i32, Type::f64, [](Tile x) { return random(3, x, 5, 0, 0); });
  const auto wide = computed({5 * 0x1p32 + 7}, Type::i64, Type::f64, [](Tile x) { return random(3, x); });
  CHECK(narrow == wide);
}

TEST_CASE("refused: functions, bits, random numbers") {
  const Axis q("q");
  const Tile condition = q < 3, x = full(0, {q});
  REFUSED_HERE("sin of a condition bool[q]; choose between two numbers by it: where(condition, a, b)", sin(condition));
  REFUSED_HERE("pow of a condition bool[q]; choose between two numbers by it: where(condition, a, b)", pow(condition, 0.5));
  REFUSED_HERE("& needs a condition, got f32[q]; compare it: x != 0", x & 3);
  REFUSED_HERE("| needs a condition, got i32; compare it: x != 0", condition | 3);
  REFUSED_HERE("bit_xor of f32[q] and i32 needs integers; combine conditions with &, | and !, cast() floats to Type::i32", ~x);
  REFUSED_HERE("shift_left of f32[q] by i32 needs integers; cast() floats to Type::i32", x << 3);
  REFUSED_HERE("shift_right of i32[q] by 32 places; shift by 0 to 31", q >> 32);
  REFUSED_HERE("random() takes an integer for a seed, got f32; give a scalar(\"seed\", Type::i64) or an element of an i64 tensor", random(0.5, q));
  REFUSED_HERE("random() takes integers for coordinates, got f32[q]; cast() it to Type::i32", random(1, x));
  REFUSED_HERE("random() takes coordinates of one to four words of 32 bits, got 5; an i32 is one, an i64 two", random(1, q, q, q, cast(q, Type::i64)));
}

TEST_CASE("a shift by too many places is a fault where its value is used") {
  CHECK_THROWS_MATCHES(computed({3, 40}, Type::i32, Type::i32, [](Tile x) { return 1 << x; }), ProgramError,
                       Catch::Matchers::Predicate<ProgramError>([](const ProgramError &error) {
                         return error.diagnostic.message == "shift_left of an i32 by 40 places; shift by 0 to 31: clamp() the places, or take them modulo 32";
                       }));
  CHECK(computed({3, 40}, Type::i32, Type::i32, [](Tile x) { return where(x < 32, 1 << x, 0); }) == std::vector<double>{8, 0});
}

TEST_CASE("contains() looks a number up in a list, whatever its order, as far as it counts") {
  const Axis q("q"), k("k");
  const Tensor lists("lists", Type::i64, 2), counts("counts", Type::i32, 1), O("O", Type::f32, 2);
  Evaluation in{{{"lists", {{3, 4}, {2, 0, 2, 1, 4, 3, 0, 1, 0, 1, 2, 3}}}, {"counts", {{3}, {4, 1, 0}}}}, {}, {{"k", 5}}};
  const Program counted{"counted", {store(O, {q, k}, where(contains(lists, {q}, k, counts(q)), 1.0, 0.0))}};
  CHECK(evaluate(counted, in).at("O").data == std::vector<double>{1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0});
  const Program all{"all", {store(O, {q, k}, where(!contains(lists, {q}, k), 1.0, 0.0))}};
  CHECK(evaluate(all, in).at("O").data == std::vector<double>{0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1});
  for (const Program &program : {counted, all})
    CHECK(print(parseProgram(print(program))) == print(program));
  CHECK(print(counted).find("= contains lists[q], %0, %1 : bool[q, k]\n") != std::string::npos);
  in.tensors["counts"].data = {-2, 5, 0};
  const std::string beyond = "read outside of tensor 'lists': index 4 of dimension 1, which is 4 long; give a longer tensor, or guard the read: where(i < lists.dimension(1), …, 0)";
  REFUSED(beyond, evaluate(counted, in));
  REFUSED("'lists' is both loaded and stored; store to another tensor, since tiles run in any order", verify({"both", {store(lists, {q, k}, cast(where(contains(lists, {q}, k), 1, 0), Type::i64))}}));
}

TEST_CASE("remainders and quotients of numbers beyond 2^53 are those of the numbers as they are") {
  const std::vector<double> numbers{-0x1p63, 0x1p62, -0x1p62, 0x1p60 + 0x1p20};
  CHECK(computed(numbers, Type::i64, Type::i64, [](Tile x) { return x % 3; }) == std::vector<double>{1, 1, 2, 2});
  CHECK(computed(numbers, Type::i64, Type::f64, [](Tile x) { return cast(floorDiv(x, -1), Type::f64); }) == std::vector<double>{0x1p63, -0x1p62, 0x1p62, -0x1p60 - 0x1p20});
}
