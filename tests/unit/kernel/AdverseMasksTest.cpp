// Masks that somebody might write and that are easily got wrong: negations, gathers in gathers, numbers at the ends of their types, tables of one element.
#include "Launched.h"
#include "support/Compare.h"
#include "support/Thrown.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/Target.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace tw;
using namespace tw::tests;

namespace {

struct Case {
  std::string name;
  MaskFunction keeps;
  std::map<std::string, double> scalars = {};
};

constexpr double tiny = -2147483648.0, huge = 2147483647.0;

/// Tables by name, with room for any place that a case reads.
std::map<std::string, Array> tables(const Lengths &n) {
  auto of = [](std::vector<std::int64_t> shape, const std::function<double(std::int64_t)> &f) {
    std::int64_t count = 1;
    for (std::int64_t length : shape)
      count *= length;
    Array array{std::move(shape), {}};
    for (std::int64_t i = 0; i < count; ++i)
      array.data.push_back(f(i));
    return array;
  };
  const double nan = std::nan("");
  return {{"doc", of({n.sq}, [](std::int64_t i) { return double(i / 23); })},
          {"keydoc", of({n.skv}, [](std::int64_t i) { return double(i / 23 % 3); })},
          {"far", of({n.skv}, [](std::int64_t i) { return i / 20 % 2 ? -0x1p62 : 0x1p62 + double(i / 40) * 0x1p40; })},
          {"ends", of({n.skv}, [](std::int64_t i) { return i % 40 < 20 ? tiny : huge; })},
          {"when", of({n.skv}, [=](std::int64_t i) { return i / 16 == 2 ? nan : i / 16 == 3 ? infinity : i / 16 == 4 ? -infinity : double(i) - 40; })},
          {"half", of({n.skv}, [](std::int64_t i) { return double(i / 16) * 0.5; })},
          {"flag", of({n.skv}, [](std::int64_t i) { return double(i / 30 % 2); })},
          {"one", of({1}, [](std::int64_t) { return 5.0; })},
          {"perm", of({n.skv}, [&](std::int64_t i) { return double((i * 7 + 3) % n.skv); })},
          {"dense", of({n.sq, n.skv}, [](std::int64_t i) { return double(i % 7 < 3); })},
          {"words", of({n.sq}, [](std::int64_t i) { return double(std::int32_t(std::uint32_t(i) * 2654435761u)); })},
          {"list", of({n.b, 3}, [](std::int64_t i) { return double(i % 3 == 2 ? tiny : double(i * 5 % 7)); })}};
}

std::vector<Case> cases() {
  const Tensor doc("doc", Type::i32, 1), keydoc("keydoc", Type::i32, 1), far("far", Type::i64, 1), ends("ends", Type::i32, 1), when("when", Type::f32, 1), half("half", Type::f16, 1),
      flag("flag", Type::boolean, 1), one("one", Type::i32, 1), perm("perm", Type::i32, 1), dense("dense", Type::boolean, 2), words("words", Type::i32, 1), list("list", Type::i32, 2);
  auto scalarOf = [](const char *name, Type type = Type::i32) { return scalar(name, type); };
  std::vector<Case> all = {
      {"not_same", [=](const At &at) { return !(doc(at.query) == keydoc(at.key)); }},
      {"not_and", [=](const At &at) { return !((doc(at.query) == keydoc(at.key)) & !flag(at.key)) & !(at.key > at.query + 60); }},
      {"or_of_gathers", [=](const At &at) { return (keydoc(perm(at.key)) == 1) | flag(perm(at.key)) | (doc(at.query) == 2); }},
      {"xor", [=](const At &at) { return flag(at.key) ^ (at.key < at.query); }},
      {"nowhere", [=](const At &at) { return flag(at.key) & !flag(at.key); }},
      {"everywhere", [=](const At &at) { return flag(at.key) | !flag(at.key); }},
      {"far_apart", [=](const At &at) { return far(at.key) > cast(at.query, Type::i64) * (std::int64_t(1) << 40); }},
      {"ends_of_i32", [=](const At &at) { return ends(at.key) < at.query; }},
      {"ends_equal", [=](const At &at) { return (ends(at.key) == int(tiny)) | (ends(at.key) == at.query); }},
      {"nan_below", [=](const At &at) { return when(at.key) <= cast(at.query, Type::f32); }},
      {"nan_not_above", [=](const At &at) { return !(when(at.key) > 3.0); }},
      {"nan_differs", [=](const At &at) { return when(at.key) != when(at.key); }},
      {"infinite", [=](const At &at) { return (when(at.key) == infinity) | (when(at.key) < -1e30); }},
      {"half_table", [=](const At &at) { return half(at.key) * 2.0 == cast(at.query / 16, Type::f32); }},
      {"one_element", [=](const At &at) { return one(at.key * 0) < at.query; }},
      {"one_element_scaled", [=](const At &at) { return (at.key % one(0)) != (at.query % one(0)); }},
      {"dense_table", [=](const At &at) { return !dense(at.query, at.key); }},
      {"bit_of_query", [=](const At &at) { return testBit(words(at.query), at.key % 32); }},
      {"shifted", [=](const At &at) { return ((words(at.query) >> (at.key & 31)) & 1) == 1; }},
      {"by_batch_and_head", [=](const At &at) { return (at.head != 1) & (at.batch * 10 <= at.key); }},
      {"by_lengths", [=](const At &at) { return (at.keys - at.key > at.queries / 2) | (at.queries - at.query < 5); }},
      {"negative_divisor", [=](const At &at) { return floorDiv(at.query - at.key, -16) >= 1; }},
      {"negative_remainder", [=](const At &at) { return mod(at.query - at.key, -5) == -2; }},
      {"remainder_of_far", [=](const At &at) { return (far(at.key) % 3) == 1; }},
      {"steep", [=](const At &at) { return at.key * 1000 - at.query * 999 <= 7; }},
      {"min_max", [=](const At &at) { return max(min(at.key, at.query), 20) == min(max(at.key, 20), 40); }},
      {"rounded", [=](const At &at) { return round(cast(at.key, Type::f32) / 16.0) == floor(cast(at.query, Type::f32) / 16.0); }},
      {"by_sqrt", [=](const At &at) { return sqrt(cast(at.key, Type::f32)) < cast(at.query, Type::f32) * 0.125; }},
      {"random_blocks", [=](const At &at) { return random(constant(7, Type::i32), {at.query / 16, at.key / 16}) < 0.3; }},
      {"listed", [=](const At &at) { return !contains(list, {at.batch}, at.key / 16) & (at.key > 3); }},
      {"listed_by_table", [=](const At &at) { return contains(list, {at.batch}, keydoc(perm(at.key)) * 5) | contains(list, {at.batch}, ends(at.key)); }},
      {"counted_by_scalar", [=](const At &at) { return contains(list, {at.batch}, at.key / 16, min(scalarOf("n"), 3)); }}};
  for (double n : {-4e8, -3.0, 0.0, 1.0, 17.0, 4e8}) {
    auto named = [&](const char *name, MaskFunction keeps) { all.push_back({std::string(name) + " n=" + std::to_string(std::int64_t(n)), std::move(keeps), {{"n", n}}}); };
    named("scalar_bound", [=](const At &at) { return at.key < scalarOf("n"); });
    named("scalar_not_distance", [=](const At &at) { return !(at.query - at.key <= scalarOf("n")); });
    named("scalar_or_table", [=](const At &at) { return flag(at.key) | (at.key - scalarOf("n") > at.query); });
    named("scalar_divisor", [=](const At &at) { return where(scalarOf("n") != 0, at.key / max(scalarOf("n"), 1), 0) == where(scalarOf("n") > 0, at.query / max(scalarOf("n"), 1), at.key); });
    named("scalar_index", [=](const At &at) { return keydoc(clamp(at.key + scalarOf("n"), 0, at.keys - 1)) == 1; });
  }
  for (Case &each : all)
    if (each.name == "counted_by_scalar")
      each.scalars = {{"n", 2}};
  return all;
}

void check(const Case &each, const Lengths &n, const std::string &target = "host") {
  INFO(each.name << " " << n.sq << " × " << n.skv);
  Attention made(each.name.substr(0, each.name.find(' ')), Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  const Program program = made.mask(each.keeps).lse(Tensor("lse", Type::f32, 3)).program();
  Evaluation inputs = randomInputs(n, Type::f32);
  for (auto &[name, table] : tables(n))
    for (const auto &tensor : tensorsOf(program))
      if (tensor->name == name)
        inputs.tensors[name] = table;
  inputs.scalars = each.scalars;
  Tensors tensors(program, inputs, outputs(n));
  BuildOptions options = headDims(n);
  options.schedule = defaultSchedule(program, findTarget(target), {{"d", n.d}, {"e", n.dv}});
  options.schedule->widths["q"] = 16;
  options.schedule->widths["k"] = 16;
  build(program, options).launch(tensors.arguments);
  for (const auto &[name, shape] : outputs(n))
    inputs.tensors[name] = zeros(shape);
  for (const auto &[name, want] : evaluate(program, inputs)) {
    const auto compared = compare(tensors.read(name), want, roundingOf(Type::f32, 8, double(n.skv + n.d), 8));
    INFO(name << ": " << compared.summary);
    CHECK(compared.ok);
  }
}

} // namespace

TEST_CASE("adverse masks are what evaluate() says") {
  for (const Case &each : cases())
    for (const Lengths &n : {Lengths{2, 3, 3, 70, 100, 8, 8}, Lengths{1, 2, 1, 33, 1, 8, 8}, Lengths{1, 1, 1, 3, 0, 8, 8}})
      check(each, n);
}
