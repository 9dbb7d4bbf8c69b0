// The check itself: it must be able to fail.
#include "Check.h"
#include "CompareElements.h"
#include "Run.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace tw;
using namespace tw::cli;

namespace {
struct Checked {
  Problem problem = randomProblem("causal", Type::f32, {1, 2, 1, 5, 6, 8, 8}, 1);
  std::map<std::string, Array> expected = oracle(problem), result = expected;
  Comparison operator()(const char *tensor) const { return compare(problem, tensor, result.at(tensor), expected.at(tensor)); }
};
} // namespace

TEST_CASE("a result within rounding is right, one beyond is not") {
  Checked c;
  CHECK(c("O").isRight);
  CHECK(c("O").maxError == 0);
  c.result["O"].data[3] += 1e-6;
  CHECK(c("O").isRight);
  CHECK(c("O").maxError == Approx(1e-6));
  c.result["O"].data[3] += 1e-2;
  CHECK_FALSE(c("O").isRight);
  CHECK(c("O").worst == std::vector<std::int64_t>{0, 0, 0, 3});
  CHECK(c("O").wrong.substr(0, 28) == "too far off at [0, 0, 0, 3]:");
}

TEST_CASE("however large the scores, O is held to 5% of the largest |V|") {
  Problem problem = randomProblem("plain", Type::f32, {1, 1, 1, 3, 5, 8, 8}, 1);
  for (const char *name : {"Q", "K"})
    for (double &x : problem.inputs.tensors[name].data)
      x *= 5000;
  const auto expected = oracle(problem);
  auto result = expected;
  Comparison c = compare(problem, "O", result.at("O"), expected.at("O"));
  CHECK(c.isRight);
  CHECK(c.limited == 3 * 8);
  CHECK(compare(problem, "lse", result.at("lse"), expected.at("lse")).limited == 0);
  double largest = 0;
  for (std::size_t key = 0; key < 5; ++key)
    largest = std::max(largest, std::abs(problem.inputs.tensors["V"].data[key * 8 + 2]));
  result["O"].data[2] += 0.049 * largest;
  CHECK(compare(problem, "O", result.at("O"), expected.at("O")).isRight);
  result["O"].data[2] += 0.003 * largest;
  c = compare(problem, "O", result.at("O"), expected.at("O"));
  CHECK_FALSE(c.isRight);
  CHECK(c.tolerance == Approx(0.05 * largest).epsilon(1e-4));
}

TEST_CASE("row 7: NaN fails the check unless it is in both") {
  Checked c;
  SECTION("in the result") {
    c.result["O"].data[9] = NAN;
    CHECK_FALSE(c("O").isRight);
    CHECK(c("O").wrong.substr(0, 20) == "NaN at [0, 0, 1, 1]:");
  }
  SECTION("in the oracle") {
    c.expected["lse"].data[2] = NAN;
    CHECK_FALSE(c("lse").isRight);
  }
  SECTION("in both") {
    c.result["O"].data[9] = c.expected["O"].data[9] = NAN;
    CHECK(c("O").isRight);
    CHECK(c("O").nans == 1);
  }
}

TEST_CASE("infinities must agree") {
  Checked c;
  c.expected["lse"].data[0] = -INFINITY;
  CHECK_FALSE(c("lse").isRight);
  c.result["lse"].data[0] = -INFINITY;
  CHECK(c("lse").isRight);
  c.result["lse"].data[0] = INFINITY;
  CHECK_FALSE(c("lse").isRight);
}

TEST_CASE("a bias of -inf has no rounding: the tolerance is that of the finite ones") {
  Problem problem = randomProblem("bias", Type::f32, {1, 2, 1, 5, 6, 8, 8}, 1);
  auto tolerances = [&] {
    const auto expected = oracle(problem);
    std::pair<double, double> both;
    for (const char *tensor : {"O", "lse"}) {
      auto result = expected.at(tensor);
      CHECK(compare(problem, tensor, result, expected.at(tensor)).isRight);
      result.data[1] += 0.01;
      const Comparison c = compare(problem, tensor, result, expected.at(tensor));
      CHECK_FALSE(c.isRight);
      CHECK(c.limited == 0);
      (tensor[0] == 'O' ? both.first : both.second) = c.tolerance;
    }
    return both;
  };
  const auto without = tolerances();
  auto &bias = problem.inputs.tensors["bias"].data;
  for (std::size_t i = 0; i < bias.size(); i += 3)
    if (std::abs(bias[i]) < 2)   // the largest is left
      bias[i] = -INFINITY;
  const auto with = tolerances();
  CHECK(with.first == Approx(without.first).epsilon(0.1));
  CHECK(with.second == Approx(without.second).epsilon(0.1));
}

TEST_CASE("a tolerance that is not finite accepts nothing") {
  const Array expected{{1, 2}, {1, 2}};
  auto within = [&](double tolerance) {
    return compareElements("dQ", {{1, 2}, {1, 2.5}}, expected, Type::f32, [=](std::size_t at) { return Tolerance{at == 0 ? 1 : tolerance}; });
  };
  CHECK(within(0.5).isRight);
  CHECK(within(0.25).wrong == "too far off at [0, 1]: 2.5, expected 2");
  for (const auto &[tolerance, text] : {std::pair(-double(NAN), "nan"), std::pair(double(INFINITY), "inf")}) {
    const Comparison c = within(tolerance);
    CHECK_FALSE(c.isRight);
    CHECK(toText(c) == fmt::format("dQ        WRONG: cannot be checked (the tolerance is {0}) at [0, 1]: 2.5, expected 2\n"
                                   "          where both are finite: max error 0.5, RMS 0.354; worst at [0, 1]: 2.5, expected 2, inf of the tolerance {0}\n", text));
  }
  Checked c;   // the same of O and lse, and of a result without an error
  c.problem.facts.scoreBound = [](const VariantShape &, const VariantFacts::Tensors &) { return VariantFacts::ScoreBound{1, NAN}; };
  CHECK(c("O").wrong.substr(0, 57) == "cannot be checked (the tolerance is nan) at [0, 0, 0, 0]:");
  CHECK(c("lse").wrong.substr(0, 54) == "cannot be checked (the tolerance is nan) at [0, 0, 0]:");
  CHECK_FALSE(c("lse").isRight);
}

TEST_CASE("head by head, the oracle is what it is as a whole") {
  const Problem problem = randomProblem("alibi+window(3,1)", Type::f32, {2, 4, 2, 5, 6, 8, 16}, 1);
  auto whole = evaluate(problem.program, problem.inputs), parts = oracle(problem);
  REQUIRE(parts.size() == 2);
  for (const auto &[name, array] : whole) {
    CHECK(parts.at(name).shape == array.shape);
    REQUIRE(parts.at(name).data.size() == array.data.size());
    for (std::size_t i = 0; i < array.data.size(); ++i)
      CHECK(parts.at(name).data[i] == Approx(array.data[i]));
  }
}

TEST_CASE("random inputs come again with the seed, rounded to the type") {
  auto q = [](Type type, std::uint64_t seed) { return randomProblem("plain", type, {1, 1, 1, 4, 4, 8, 8}, seed).inputs.tensors.at("Q").data; };
  CHECK(q(Type::f32, 1) == q(Type::f32, 1));
  CHECK(q(Type::f32, 1) != q(Type::f32, 2));
  CHECK(q(Type::f32, 1) != q(Type::bf16, 1));
  CHECK(randomProblem("alibi", Type::bf16, {1, 4, 1, 1, 1, 8, 8}, 1).inputs.tensors.at("slopes").data == std::vector<double>{0.25, 0.0625, 0.015625, 0.00390625});
}

TEST_CASE("beyond its budget a check takes a sample of heads, and finds what is wrong in them") {
  const Problem problem = randomProblem("causal+alibi", Type::bf16, {2, 4, 2, 9, 11, 16, 8}, 1);
  auto outputs = oracle(problem);
  const CheckBudget all{1e9, 1, 8}, some{0, 3.5 * 9 * 11 * (16 + 8), 8};
  CHECK(checkWithin(problem, outputs, all).heads.empty());
  Verdict verdict = checkWithin(problem, outputs, some);
  CHECK(verdict.isRight());
  CHECK(verdict.pairs == 8);
  CHECK(verdict.heads == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {0, 3}, {1, 3}});
  REQUIRE(verdict.comparisons.size() == 2);
  CHECK(verdict.comparisons[0].maxError < 1e-6);   // one oracle against the other
  outputs["O"].data[std::size_t((3 * 9 + 8) * 8 + 5)] += 1;   // [0, 3, 8, 5]
  outputs["lse"].data[std::size_t(2 * 9)] += 1;               // [0, 2, 0]: not in the sample
  verdict = checkWithin(problem, outputs, some);
  CHECK_FALSE(verdict.isRight());
  CHECK(verdict.comparisons[0].worst == std::vector<std::int64_t>{0, 3, 8, 5});
  CHECK(verdict.comparisons[0].wrong.substr(0, 28) == "too far off at [0, 3, 8, 5]:");
  CHECK(verdict.comparisons[1].isRight);
}

TEST_CASE("a report of what is wrong begins with it") {
  Comparison c;
  c.tensor = "O";
  c.wrong = "NaN at [0, 0, 0, 0]: nan, expected 1";
  const Problem problem = randomProblem("plain", Type::bf16, {1, 1, 1, 2, 2, 8, 8}, 1);
  auto report = [&] {
    const std::string text = toText(problem, {}, {{c}, {}, 0}, {});
    return text.substr(text.find("O         "));
  };
  CHECK(report() == "O         WRONG: NaN at [0, 0, 0, 0]: nan, expected 1\n          no element is finite in both\n");
  c.worst = {0, 0, 0, 1};
  c.result = c.expected = c.tolerance = 1;
  CHECK(report() == "O         WRONG: NaN at [0, 0, 0, 0]: nan, expected 1\n"
                    "          where both are finite: max error 0, RMS 0; worst at [0, 0, 0, 1]: 1, expected 1, 0 of the tolerance 1\n");
}
