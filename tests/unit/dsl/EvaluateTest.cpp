// Each operation of the language in float64.
#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tw;

namespace {

const Axis q("q"), k("k");
const Tensor X("X", Type::f64, 1), Y("Y", Type::f64, 1), M("M", Type::f64, 2);

/// The value over q, with X and Y given.
std::vector<double> at(const Tile &value, std::vector<double> x, std::vector<double> y = {}) {
  const std::int64_t n = std::int64_t(x.size());
  if (y.empty())
    y.assign(x.size(), 0);
  Tile stored = value.type() == Type::f64 ? value : cast(value, Type::f64);
  return evaluate({"p", {store(Tensor("O", Type::f64, 1), {q}, stored)}}, {{{"X", {{n}, x}}, {"Y", {{n}, y}}}, {}, {{"q", n}}}).at("O").data;
}
using Data = std::vector<double>;
const Tile x = X(q), y = Y(q);
const Tile i = cast(x, Type::i32), j = cast(y, Type::i32);

} // namespace

TEST_CASE("evaluate: arithmetic") {
  CHECK(at(x + y, {1}, {2}) == Data{3});
  CHECK(at(x - y, {1}, {2}) == Data{-1});
  CHECK(at(x * y, {3}, {2}) == Data{6});
  CHECK(at(x / y, {3}, {2}) == Data{1.5});
  CHECK(at(-x, {3}) == Data{-3});
  CHECK(at(abs(x), {-3}) == Data{3});
  CHECK(at(2 - x, {3}) == Data{-1});
}

TEST_CASE("evaluate: integer division rounds down, the remainder has the sign of the divisor") {
  CHECK(at(i / j, {7, -7, 7, -7, 6}, {2, 2, -2, -2, 3}) == Data{3, -4, -4, 3, 2});
  CHECK(at(i % j, {7, -7, 7, -7, 6}, {2, 2, -2, -2, 3}) == Data{1, 1, -1, -1, 0});
}

TEST_CASE("evaluate: min and max keep a NaN") {
  CHECK(at(max(x, y), {1, 2}, {2, 1}) == Data{2, 2});
  CHECK(at(min(x, y), {1, 2}, {2, 1}) == Data{1, 1});
  for (const Tile &extreme : {max(x, y), min(x, y)})
    for (double r : at(extreme, {NAN, 1}, {1, NAN}))
      CHECK(std::isnan(r));
}

TEST_CASE("evaluate: functions") {
  CHECK(at(exp(x), {1, -INFINITY}) == Data{std::exp(1.0), 0});
  CHECK(at(exp2(x), {3, -INFINITY}) == Data{8, 0});
  CHECK(at(log(x), {1, 0}) == Data{0, -INFINITY});
  CHECK(at(tanh(x), {0.5})[0] == Approx(std::tanh(0.5)));
  CHECK(at(tanhApproximate(x), {0.5})[0] == Approx(std::tanh(0.5)));
  CHECK(at(sigmoid(x), {0, INFINITY, -INFINITY}) == Data{0.5, 1, 0});
  CHECK(at(sqrt(x), {9}) == Data{3});
}

TEST_CASE("evaluate: a weight that underflows is not 0") {
  CHECK(at(exp(x), {-2000})[0] > 0);
  CHECK(at(exp2(x), {-2000})[0] > 0);
  CHECK(at(sigmoid(x), {-2000})[0] > 0);
}

TEST_CASE("evaluate: comparisons and logic") {
  const Data a{1, 2, 3}, b{2, 2, 2};
  CHECK(at(x < y, a, b) == Data{1, 0, 0});
  CHECK(at(x <= y, a, b) == Data{1, 1, 0});
  CHECK(at(x > y, a, b) == Data{0, 0, 1});
  CHECK(at(x >= y, a, b) == Data{0, 1, 1});
  CHECK(at(x == y, a, b) == Data{0, 1, 0});
  CHECK(at(x != y, a, b) == Data{1, 0, 1});
  CHECK(at((x >= y) & (x <= y), a, b) == Data{0, 1, 0});
  CHECK(at((x > y) | (x < y), a, b) == Data{1, 0, 1});
  CHECK(at(!(x < y), a, b) == Data{0, 1, 1});
  CHECK(at(where(x < y, x, 10), a, b) == Data{1, 10, 10});
  CHECK(at(x < y, {NAN}, {1}) == Data{0});
}

TEST_CASE("evaluate: casts") {
  CHECK(at(cast(x, Type::i32), {1.9, -1.9, NAN, 1e12}) == Data{1, -1, 0, 2147483647});
  CHECK(at(cast(x, Type::i64), {1e12}) == Data{1e12});
  CHECK(at(cast(x, Type::boolean), {0, 0.5}) == Data{0, 1});
  CHECK(at(cast(x, Type::f16), {0.1}) == Data{0.1});   // nothing is rounded
}

TEST_CASE("evaluate: coordinates, lengths, scalars") {
  CHECK(at(index(q), {5, 5, 5}) == Data{0, 1, 2});
  CHECK(at(extent(q) + X.dimension(0), {5, 5, 5}) == Data{6, 6, 6});
  const Program p{"p", {store(Tensor("O", Type::f32, 0), {}, scalar("s") * 2)}};
  CHECK(evaluate(p, {{}, {{"s", 1.5}}}).at("O").data == Data{3});
}

TEST_CASE("evaluate: reductions along an axis") {
  const Evaluation in{{{"M", {{2, 3}, {1, 2, 3, 4, NAN, 6}}}}, {}};
  auto reduced = [&](const Tile &value) { return evaluate({"p", {store(Tensor("O", Type::f64, 1), {q}, value)}}, in).at("O").data; };
  CHECK(reduced(max(M(q, k), over(k)))[0] == 3);
  CHECK(reduced(min(M(q, k), over(k)))[0] == 1);
  CHECK(reduced(sum(M(q, k), over(k)))[0] == 6);
  for (const Tile &r : {max(M(q, k), over(k)), min(M(q, k), over(k)), sum(M(q, k), over(k))})
    CHECK(std::isnan(reduced(r)[1]));
  CHECK(reduced(sum(full(2, {q, k}, Type::f64) + 0 * M(q, k), over(k)))[0] == 6);
  const Program constant{"p", {store(Tensor("O", Type::f64, 1), {q}, sum(full(2, {q, k}, Type::f64), over(k)))}};
  CHECK(evaluate(constant, {{}, {}, {{"q", 1}, {"k", 3}}}).at("O").data == Data{6});   // the value does not vary, the axis has its length
}

TEST_CASE("evaluate: reductions of nothing") {
  const Evaluation in{{{"M", {{1, 0}, {}}}}, {}};
  auto reduced = [&](const Tile &value) { return evaluate({"p", {store(Tensor("O", Type::f64, 1), {q}, value)}}, in).at("O").data[0]; };
  CHECK(reduced(max(M(q, k), over(k))) == -INFINITY);
  CHECK(reduced(min(M(q, k), over(k))) == INFINITY);
  CHECK(reduced(sum(M(q, k), over(k))) == 0);
  CHECK(reduced(dot(M(q, k), M(q, k), over(k))) == 0);
}

TEST_CASE("evaluate: a dot with axes on either side, on both, and in any order") {
  const Axis b("b"), m("m"), n("n"), c("c");
  const Tensor A("A", Type::f64, 3), B("B", Type::f64, 3), O("O", Type::f64, 3);
  Evaluation in{{{"A", {{2, 3, 5}, {}}}, {"B", {{4, 2, 5}, {}}}}, {}};
  for (int t = 0; t < 30; ++t)
    in.tensors["A"].data.push_back(t % 7 - 3);
  for (int t = 0; t < 40; ++t)
    in.tensors["B"].data.push_back(t % 5 - 1);
  const Array out = evaluate({"p", {store(O, {n, b, m}, dot(A(b, m, c), B(n, b, c), over(c)))}}, in).at("O");
  CHECK(out.shape == std::vector<std::int64_t>{4, 2, 3});
  for (int nn = 0; nn < 4; ++nn)
    for (int bb = 0; bb < 2; ++bb)
      for (int mm = 0; mm < 3; ++mm) {
        double expected = 0;
        for (int cc = 0; cc < 5; ++cc)
          expected += in.tensors["A"].data[std::size_t((bb * 3 + mm) * 5 + cc)] * in.tensors["B"].data[std::size_t((nn * 2 + bb) * 5 + cc)];
        CHECK(out.data[std::size_t((nn * 2 + bb) * 3 + mm)] == expected);
      }
}

TEST_CASE("evaluate: a masked 0 contributes nothing to a dot, another 0 multiplies") {
  const Tile weights = X(k), masked = where(weights > 0, weights, 0.0), values = Y(k);
  const Evaluation in{{{"X", {{3}, {1, 0, 2}}}, {"Y", {{3}, {5, NAN, 7}}}}, {}};
  auto result = [&](const Tile &value) { return evaluate({"p", {store(Tensor("O", Type::f64, 0), {}, value)}}, in).at("O").data[0]; };
  CHECK(result(dot(masked, values, over(k))) == 19);
  CHECK(result(dot(values, masked, over(k))) == 19);
  CHECK(result(dot(masked, where(weights < 0, 0.0, values), over(k))) == 19);
  CHECK(std::isnan(result(dot(weights, values, over(k)))));
}

TEST_CASE("evaluate: folds in tiles, one inside another, and ordered") {
  const Axis r("r");
  const Tensor O("O", Type::f64, 1);
  const Evaluation base{{{"M", {{3, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}}}, {}};
  auto [nested] = fold(r, std::tuple{full(0, {}, Type::f64)}, [&](Tile so) {
    auto [row] = fold(k, std::tuple{full(0, {r}, Type::f64)}, [&](Tile in) { return std::tuple{in + sum(M(r, k) * M(r, k), over(k))}; });
    return std::tuple{so + sum(row, over(r))};
  });
  auto [ordered] = orderedFold(k, std::tuple{full(0, {q}, Type::f64)}, [&](Tile so) { return std::tuple{so + sum(M(q, k), over(k))}; });
  for (std::int64_t width : {0, 1, 2, 7}) {
    Evaluation in = base;
    in.foldTile = width;
    CHECK(evaluate({"p", {store(Tensor("S", Type::f64, 0), {}, nested)}}, in).at("S").data == Data{1240});
    CHECK(evaluate({"p", {store(O, {q}, ordered)}}, in).at("O").data == Data{15, 40, 65});
  }
}

TEST_CASE("evaluate: stores broadcast and reorder") {
  const Evaluation in{{{"M", {{2, 3}, {1, 2, 3, 4, 5, 6}}}}, {}};
  const auto out = evaluate({"p", {store(Tensor("T", Type::f64, 2), {k, q}, M(q, k)), store(Tensor("C", Type::f64, 2), {q, k}, scalar("c", Type::f64))}},
                            {in.tensors, {{"c", 7}}});
  CHECK(out.at("T").data == Data{1, 4, 2, 5, 3, 6});
  CHECK(out.at("C").data == Data(6, 7.0));
}
