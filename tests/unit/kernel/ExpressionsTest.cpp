// What the language computes, on the CPU: every function, bits, random numbers, against evaluate().
#include "Launched.h"
#include "support/Compare.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;

namespace {

using Function = std::function<Tile(Tile)>;

/// R<i>[q] = Σ_k f_i(X[q, k])
Program sumsOf(const std::vector<Function> &functions, Type type, Type result) {
  Axis q("q"), k("k");
  const Tensor X("X", type, 2);
  const std::vector<Tile> sums = fold(k, std::vector<Tile>(functions.size(), full(0, {q}, result)), [&](std::vector<Tile> carried) {
    for (std::size_t i = 0; i < functions.size(); ++i)
      carried[i] = carried[i] + sum(cast(functions[i](X(q, k)), result), over(k));
    return carried;
  });
  Program program{"sums_of_functions", {}};
  for (std::size_t i = 0; i < functions.size(); ++i)
    program.stores.push_back(store(Tensor("R" + std::to_string(i), result, 1), {q}, sums[i]));
  return program;
}

BuildOptions fresh() {
  BuildOptions options;
  options.useCache = false;
  return options;
}

/// Each function of each number alone: rows of one column.
void checkEach(const std::vector<Function> &functions, const std::vector<double> &numbers, Type type, Type result, double relative, double absolute = 0) {
  const Program program = sumsOf(functions, type, result);
  Evaluation inputs{{{"X", {{std::int64_t(numbers.size()), 1}, numbers}}}, {}};
  for (double &x : inputs.tensors["X"].data)
    x = rounded(x, type);
  std::map<std::string, std::vector<std::int64_t>> stored;
  for (const Store &store : program.stores)
    stored[store.tensor.name()] = {std::int64_t(numbers.size())};
  Tensors tensors(program, inputs, stored);
  build(program, fresh()).launch(tensors.arguments);
  const auto expected = evaluate(program, inputs);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const std::string name = "R" + std::to_string(i);
    Array want = expected.at(name);
    for (double &x : want.data)
      x = rounded(x, result);   // an infinity of the type is one
    const auto compared = compare(tensors.read(name), want, {absolute, relative}, Nans::declared);
    INFO(tw::name(type) << " function " << i << ": " << compared.summary);
    CHECK(compared.ok);
  }
}

} // namespace

TEST_CASE("functions on the CPU are those of evaluate()") {
  const std::vector<Function> functions{[](Tile x) { return expm1(x); }, [](Tile x) { return log2(x); }, [](Tile x) { return log1p(x); }, [](Tile x) { return rsqrt(x); },
                                        [](Tile x) { return sin(x); }, [](Tile x) { return cos(x); }, [](Tile x) { return erf(x); }, [](Tile x) { return floor(x); },
                                        [](Tile x) { return ceil(x); }, [](Tile x) { return round(x); }, [](Tile x) { return trunc(x); }, [](Tile x) { return pow(x, 1.5); },
                                        [](Tile x) { return pow(x, 3); }, [](Tile x) { return pow(2, x); }, [](Tile x) { return softplus(x); },
                                        [](Tile x) { return sign(x); }, [](Tile x) { return clamp(x, -1, 0.5); }, [](Tile x) { return where(isnan(x), 7, 1); },
                                        [](Tile x) { return where(isfinite(x), 7, 1); }, [](Tile x) { return tanh(x); }, [](Tile x) { return sigmoid(x); }};
  const std::vector<double> numbers{-88,   -31.5, -7.5, -2.5, -1.5, -1, -0.999, -0.5, -0.03, -1e-3, -1e-6, -1e-20, 0,   1e-20,  1e-6,     1e-3, 0.02,
                                    0.499, 0.5,   0.9,  0.999, 1,   1.0001, 1.5, 2.5,   3.14159, 7.3,  20.5,   41.0, 80, 88, 1000.25, 65000, infinity, -infinity, NAN};
  checkEach(functions, numbers, Type::f32, Type::f32, 1e-6, 1e-36);
  checkEach(functions, numbers, Type::f64, Type::f64, 1e-14);
  checkEach(functions, numbers, Type::f16, Type::f32, 1e-6, 1e-36);
  checkEach({[](Tile x) { return gelu(x); }}, {-5, -2.5, -1, -0.1, 0, 0.3, 1, 4, 100}, Type::f32, Type::f32, 1e-6, 5e-7);   // 1 + erf cancels
}

TEST_CASE("bits of integers on the CPU") {
  const std::vector<Function> functions{[](Tile x) { return x & 12; }, [](Tile x) { return x | 3; }, [](Tile x) { return x ^ -7; }, [](Tile x) { return ~x; },
                                        [](Tile x) { return x << 3; }, [](Tile x) { return x >> 3; }, [](Tile x) { return 1 << (x & 15); },
                                        [](Tile x) { return where(testBit(x, 2), 5, 6); }, [](Tile x) { return clamp(x, -2, 9); }, [](Tile x) { return sign(x); }};
  const std::vector<double> numbers{0, 1, 5, 12, 31, -1, -6, -100, 12345, 2147483, -2147483};
  checkEach(functions, numbers, Type::i32, Type::i32, 0);
  checkEach(functions, numbers, Type::i64, Type::i64, 0);
}

TEST_CASE("random numbers are the same in every tile") {
  Axis q("q"), k("k");
  const Tensor X("X", Type::f32, 2), seed("seed", Type::i64, 1), R("R", Type::f32, 1), N("N", Type::f32, 1), W("W", Type::f32, 1);
  auto [all, narrow, wide] = fold(k, std::tuple{full(0, {q}), full(0, {q}), full(0, {q})}, [&](Tile all, Tile narrow, Tile wide) {
    const Tile number = random(seed(0), q, k, 3);
    return std::tuple{all + sum(number * X(q, k), over(k)), narrow + sum(where(number < 0.25, X(q, k), 0.0), over(k)),
                      wide + sum(random(scalar("start", Type::i64), cast(k, Type::i64) * 4000000000L, index(q) * 7) * X(q, k), over(k))};
  });
  const Program program{"random", {store(R, {q}, all), store(N, {q}, narrow), store(W, {q}, wide)}};
  for (int width : {16, 24, 64}) {
    Evaluation inputs{{{"X", randomArray({45, 77}, 1, Type::f32)}, {"seed", {{1}, {123456789012}}}}, {{"start", -5}}};
    BuildOptions options = fresh();
    options.schedule = parseSchedule("block=q q=32 k=" + std::to_string(width));
    Tensors tensors(program, inputs, {{"R", {45}}, {"N", {45}}, {"W", {45}}});
    build(program, options).launch(tensors.arguments);
    for (auto &[name, want] : evaluate(program, inputs)) {
      const auto compared = compare(tensors.read(name), want, {1e-5, 1e-5});
      INFO(name << " in tiles of " << width << ": " << compared.summary);
      CHECK(compared.ok);
    }
  }
}
