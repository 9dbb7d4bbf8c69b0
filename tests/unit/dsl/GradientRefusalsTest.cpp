// What gradient() refuses: with which words, and where.
#include "Refused.h"
#include "programs/Programs.h"
#include "tilewright/dsl/Roles.h"

using namespace tw;

TEST_CASE("a carried value that is no sum is refused at its line") {
  REFUSED("carried value #0 f32[t] is no sum over tiles, stabilisers held, so that gradient() cannot take it apart; write it as value + sum(..., over(v)), or mark it stabiliser(...) "
          "where no result depends on its exactness",
          gradient(programs::linearLogSumExp(Type::f32)));
  Axis t("t"), v("v");
  Tensor X("X", Type::f32, 2), R("R", Type::f32, 1);
  auto [r] = fold(v, std::tuple{full(0, {t})}, [&](Tile r) { return std::tuple{r * 0.5 + sum(X(t, v), over(v))}; });
  REFUSED("carried value #0 f32[t] is no sum over tiles, stabilisers held, so that gradient() cannot take it apart; write it as value + sum(..., over(v)), or mark it stabiliser(...) "
          "where no result depends on its exactness",
          gradient({"decay", {store(R, {t}, r)}}));
}

TEST_CASE("recurrences, stabilisers of one tile and maxima over the fold's axis have no gradient") {
  Axis t("t"), v("v");
  Tensor X("X", Type::f32, 2), R("R", Type::f32, 1);
  auto [r] = orderedFold(v, std::tuple{full(0, {t})}, [&](Tile r) { return std::tuple{r + sum(X(t, v), over(v))}; });
  REFUSED("this fold visits its tiles in order, a recurrence; gradient() takes folds whose carried values are sums over tiles", gradient({"ordered", {store(R, {t}, r)}}));
  auto [s] = fold(v, std::tuple{full(0, {t})}, [&](Tile s) { return std::tuple{s + sum(X(t, v) - stabiliser(max(X(t, v), over(v))), over(v))}; });
  REFUSED("stabiliser f32[t] is not carried from tile to tile; gradient() holds carried ones: return it from the step", gradient({"local", {store(R, {t}, s)}}));
  auto [m] = fold(v, std::tuple{full(0, {t})}, [&](Tile m) { return std::tuple{m + max(X(t, v), over(v))}; });
  REFUSED("reduce_max over 'v' sees one tile at a time, and has no derivative here; carry it through the fold as a stabiliser(...)", gradient({"tops", {store(R, {t}, m)}}));
}

TEST_CASE("a gradient without a dimension has no kernel") {
  const Tensor heat("heat", Type::f32, 0);
  Attention made("heated", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  made.score([=](Tile s, const At &) { return s * heat.at({}); });
  const Gradient gradients = gradient(made.program());
  REFUSED("'dheat' is stored along no axis, and items of a kernel share out the points of one; give it a dimension, of length 1", rolesOf(gradients.backward.back()));
}

TEST_CASE("names that a program has not are refused") {
  REFUSED("gradient() is asked for the gradient of 'Kay', which program 'plain' has not as a float; did you mean 'K'?; it has K, V, Q", gradient(makeVariant("plain"), {.outputs = {}, .inputs = {"Kay"}}));
  REFUSED("gradient() is asked for the output 'P', which program 'plain' has not as a float; did you mean 'O'?; it has O, lse", gradient(makeVariant("plain"), {.outputs = {"P"}, .inputs = {}}));
}

TEST_CASE("a tensor that one program reads in two ways is refused") {
  Axis a("a"), b("b"), t("t"), v("v");
  Tensor X("X", Type::f32, 2), S("S", Type::f32, 2), R("R", Type::f32, 3);
  auto [r] = fold(v, std::tuple{full(0, {a, b, t})}, [&](Tile r) { return std::tuple{r + sum(X(t, v) * S(a, b) * S(b, a), over(v))}; });
  REFUSED("'S' is read in two ways whose gradients one program makes along different axes; read it in one, or give it under two names", gradient({"twice", {store(R, {a, b, t}, r)}}));
}
