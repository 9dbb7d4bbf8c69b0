// Every complaint about folds and stores, with its exact text.
#include "Refused.h"
#include "tilewright/dsl/Roles.h"

using namespace tw;

namespace {
const Axis q("q"), k("k"), d("d");
const Tensor T("T", Type::f32, 2), O("O", Type::f32, 1), I("I", Type::i32, 1), Flag("Flag", Type::boolean, 1);
const Tile x = T(q, k);
Tile zero() { return full(0, {q}); }
} // namespace

TEST_CASE("refused: a carried value that still runs along the folded axis") {
  auto refusal = tests::refusal([&] {
    return fold(k, std::tuple{zero()}, [](Tile so) { return std::tuple{so + x}; });
  });
  REQUIRE(refusal);
  CHECK(refusal->message == "carried value #0 f32[q, k] still runs along the folded axis 'k'; reduce it first: sum(x, over(k))");
  CHECK(refusal->where.line == __LINE__ - 4);
  REQUIRE(refusal->notes.size() == 1);
  CHECK(refusal->notes[0].text == "in this fold");
}

TEST_CASE("refused: a carried value that changes") {
  REFUSED_HERE("carried value #0 enters as f32[q] and leaves as i32[q]; start it as full(..., [q], Type::i32) or change the step", fold(k, std::tuple{zero()}, [](Tile) { return std::tuple{index(q)}; }));
  REFUSED_HERE("carried value #1 enters as f32 and leaves as f32[q]; start it as full(..., [q], Type::f32) or change the step", fold(k, std::tuple{zero(), constant(0)}, [](Tile a, Tile b) { return std::tuple{a, a + b}; }));
  REFUSED_HERE("carried value #0 f32[q, k] starts along the folded axis 'k'; start it without: full(0, {...})", fold(k, std::tuple{full(0, {q, k})}, [](Tile a) { return std::tuple{a}; }));
}

TEST_CASE("refused: a fold that carries nothing") {
  REFUSED_HERE("a fold over 'k' carries nothing and so makes nothing; carry at least one value", fold(k, std::tuple{}, [] { return std::tuple{}; }));
}

TEST_CASE("refused: a step that returns the wrong number of values") {
  auto open = detail::openFold(k, Order::unspecified, {zero()}, Location::current());
  REFUSED("a fold that carries 1 values got 2 from its step; return one for each", (detail::closeFold(*open, {zero(), zero()}), 0));
}

TEST_CASE("refused: a fold over an axis inside a fold over it") {
  REFUSED_HERE("a fold over 'k' inside a fold over 'k'; fold over another axis, or one after the other", fold(k, std::tuple{zero()}, [](Tile so) { return fold(k, std::tuple{so}, [](Tile in) { return std::tuple{in + sum(x, over(k))}; }); }));
}

TEST_CASE("a finished fold over the same axis may be used inside") {
  auto [total] = fold(k, std::tuple{zero()}, [](Tile so) { return std::tuple{so + sum(x, over(k))}; });
  auto [shares] = fold(k, std::tuple{zero()}, [&](Tile so) { return std::tuple{so + sum(x / total, over(k))}; });
  CHECK(print({"shares", {store(O, {q}, shares)}}).find("fold k") != std::string::npos);
}

TEST_CASE("refused: a reduction over the folded axis that was made before the fold") {
  const Tile whole = sum(x, over(k)); const unsigned line = __LINE__;
  auto refusal = tests::refusal([&] { return fold(k, std::tuple{zero()}, [&](Tile so) { return std::tuple{so + whole}; }); });
  REQUIRE(refusal);
  CHECK(refusal->message == "reduce_sum over 'k' was made before the fold over 'k' that uses it, where it would see one tile only; make it in the step, or in a fold of its own before");
  CHECK(refusal->where.line == line);
}

TEST_CASE("refused: a carried value outside of its fold") {
  std::vector<Tile> leaked;
  auto [total] = fold(k, std::tuple{zero()}, [&](Tile so) {
    leaked.push_back(so);
    return std::tuple{so + sum(x, over(k))};
  });
  REFUSED_HERE("carried value #0 of a fold is used outside of the fold's step; use the fold's result instead", store(O, {q}, leaked[0] * 2.0 + total));
  REFUSED_HERE("require() needs one condition for the whole program, got bool[q]; compare extents, dimensions and scalars only", require(leaked[0] > 0, ""));
}

TEST_CASE("refused: stores") {
  REFUSED_HERE("'T' has 2 dimensions, stored with 1 axes; give one axis a dimension", store(T, {q}, zero()));
  REFUSED_HERE("the store to 'T' names the axis 'q' twice; each dimension needs an axis of its own", store(T, {q, q}, zero()));
  REFUSED_HERE("stored value f32[q, k] runs along 'k', which is no axis of the store to 'O[q]'; reduce it first: sum(x, over(k))", store(O, {q}, x));
  REFUSED_HERE("stored value f32[q] does not fit 'I' of type i32; convert it: cast(x, Type::i32)", store(I, {q}, zero()));
  REFUSED_HERE("stored value i32[q] does not fit 'O' of type f32; convert it: cast(x, Type::f32)", store(O, {q}, q));
  REFUSED_HERE("stored value i64[q] does not fit 'I' of type i32; convert it: cast(x, Type::i32)", store(I, {q}, cast(index(q), Type::i64)));
  REFUSED_HERE("stored value f32[q] does not fit 'Flag' of type bool; convert it: cast(x, Type::boolean)", store(Flag, {q}, zero()));
  CHECK(store(O, {q}, 1).value.type() == Type::f32);
}

TEST_CASE("refused: requirements") {
  REFUSED_HERE("require() needs a condition, got i32; compare it: x > 0", require(extent(q), ""));
  REFUSED_HERE("require() reads a tensor; it is checked before launch and can compare extents, dimensions and scalars only", require(I(0) > 0, ""));
}

TEST_CASE("refused: sums that a fold's steps cannot make in memory") {
  const Axis b("b"), e("e");
  const Tensor W("W", Type::bf16, 3), V("V", Type::bf16, 2), R("R", Type::f32, 2), S("S", Type::f32, 2), H("H", Type::bf16, 2), L("L", Type::f64, 2);
  const Tile w = W(b, q, k);
  auto [rows] = fold(k, std::tuple{full(0, {b, q})}, [&](Tile so) { return std::tuple{so + sum(cast(w, Type::f32), over(k))}; });
  auto with = [&](Tensor to, Axes index, const Tile &value) { return rolesOf({"sums", {store(R, {b, q}, rows), store(to, index, value)}}, "q"); };
  const Tile part = dot(w, V(q, e), over(q));
  const Roles roles = with(S, {k, e}, sum(part, over(b)));
  CHECK(roles.fold->axis.name() == "k");
  CHECK(roles.of(e) == Role::inner);
  CHECK(roles.of(b) == Role::free);
  REFUSED("the steps of a fold add to 'H[k, e]' of type bf16; sums in memory are f32 or f64: store it as one of them, and convert it in a program of its own", with(H, {k, e}, sum(part, over(b))));
  REFUSED("the steps of a fold add f32[k, e] to 'L[k, e]' of type f64; sum it in that type", with(L, {k, e}, sum(part, over(b))));
  REFUSED("items cannot own tiles of axis 'q': 'S[k, e]' is not stored along it", with(S, {k, e}, sum(part, over(b)) + 1));
}

TEST_CASE("a program of elements has a fold that carries nothing") {
  const Tensor To("To", Type::bf16, 2);
  const Roles roles = rolesOf({"rounded", {store(To, {q, k}, x * 2)}});
  CHECK(roles.block().name() == "q");
  CHECK(roles.fold->axis.name() == "k");
  CHECK(roles.fold->arguments.empty());
  REFUSED("program 'row' has no fold; walk one of its axes with fold(axis, …)", rolesOf({"row", {store(O, {q}, cast(index(q), Type::f32))}}));
  REFUSED("program 'sums' has no fold; walk one of its axes with fold(axis, …)", rolesOf({"sums", {store(To, {q, d}, sum(x, over(k)))}}));
}
