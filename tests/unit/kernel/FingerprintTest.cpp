// Two programs have the same fingerprint only if they print the same text.
#include "Fingerprint.h"
#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>
#include <map>

using namespace tw;

namespace {
std::string fingerprint(const Program &program) {
  std::string bytes;
  appendFingerprint(bytes, program);
  return bytes;
}

Program rowSums(const char *tensor, double factor, Type type, bool swapped, Order order = Order::unspecified) {
  Axis r("r"), c("c");
  Tensor X(tensor, type, 2), Y("Y", Type::f32, 1);
  std::tuple start{full(0, {r})};
  auto step = [&](Tile total) {
    Tile x = cast(X(r, c), Type::f32) * factor;
    return std::tuple{swapped ? sum(x, over(c)) + total : total + sum(x, over(c))};
  };
  auto [total] = order == Order::unspecified ? fold(c, start, step) : orderedFold(c, start, step);
  return {"row_sums", {store(Y, {r}, total)}};
}
} // namespace

TEST_CASE("fingerprints are equal just where texts are") {
  std::vector<Program> programs{
      rowSums("X", 1, Type::f32, false), rowSums("X", 1, Type::f32, false), rowSums("X", 2, Type::f32, false), rowSums("Z", 1, Type::f32, false),
      rowSums("X", 1, Type::f64, false), rowSums("X", 1, Type::f32, true), rowSums("X", 1, Type::f32, false, Order::ascending), rowSums("X", -0.0, Type::f32, false), rowSums("X", 0.0, Type::f32, false)};
  for (Type type : {Type::f16, Type::bf16, Type::f32, Type::f64})
    for (const char *variant : {"plain", "causal", "window", "window(5,0)", "window(5,1)", "softcap", "alibi", "gemma2", "causal+alibi", "alibi+causal", "softcap(30)"})
      for (bool lse : {true, false})
        programs.push_back(makeVariant(variant, {type, lse}));
  const std::size_t single = programs.size();
  for (std::size_t i = 0; i < single; i += 3) {
    programs.push_back(programs[i]);
    programs.back().name += "x";
    programs.push_back(parseProgram(print(programs[i])));   // the same program from other nodes
  }
  std::map<std::string, std::string> textOf, printOf;
  for (const Program &program : programs) {
    std::string print = tw::print(program), bytes = fingerprint(program);
    CAPTURE(print);
    CHECK(textOf.emplace(bytes, print).first->second == print);
  }
  CHECK(fingerprint(programs[0]) == fingerprint(programs[1]));
  CHECK(fingerprint(makeVariant("gemma2")) == fingerprint(makeVariant("gemma2")));
  CHECK(textOf.size() > 90);
}

TEST_CASE("requirements and messages are part of the fingerprint") {
  Program a = rowSums("X", 1, Type::f32, false), b = a, c = a;
  Axis r = axesOf(a)[0];
  b.requirements.push_back(require(extent(r) > 0, "no rows"));
  c.requirements.push_back(require(extent(r) > 0, "no row"));
  CHECK(fingerprint(a) != fingerprint(b));
  CHECK(fingerprint(b) != fingerprint(c));
}
