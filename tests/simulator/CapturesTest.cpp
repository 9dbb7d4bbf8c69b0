// What a program captures, of every type and at every place, in the simulator: values by item, by row and by column, scalars, vectors that start anywhere.
#include "Held.h"
#include "support/Arrays.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <catch2/catch.hpp>
#include <functional>

using namespace tw;
using namespace tw::tests;

namespace {

constexpr double wide = 0x1p33;   // in i64 alone

Array arrayOf(std::vector<std::int64_t> shape, const std::function<double(std::int64_t)> &at) {
  Array array = zeros(std::move(shape));
  for (std::size_t i = 0; i < array.data.size(); ++i)
    array.data[i] = at(std::int64_t(i));
  return array;
}

/// Attention over 2 heads, 70 queries and `keys` keys, with its log-sum-exp, which a single wrong key changes.
Held attention(const char *name, std::int64_t keys, const std::function<void(Attention &)> &write) {
  Attention variant(name, Tensor("Q", Type::bf16, 4), Tensor("K", Type::bf16, 4), Tensor("V", Type::bf16, 4), Tensor("O", Type::f32, 4));
  variant.lse(Tensor("lse", Type::f32, 3));
  write(variant);
  Held held{variant.program(), {{"d", 16}, {"e", 16}}, {}, {{"O", {1, 2, 70, 16}}, {"lse", {1, 2, 70}}}, {}};
  held.inputs.tensors = {{"Q", randomArray({1, 2, 70, 16}, 1, Type::bf16)}, {"K", randomArray({1, 2, keys, 16}, 2, Type::bf16)}, {"V", randomArray({1, 2, keys, 16}, 3, Type::bf16)}};
  held.tolerances = {{"O", roundingOf(Type::bf16, 4, double(keys), 8)}, {"lse", {2e-5, 2e-5}}};
  return held;
}

void right(const Held &held, const char *target, const char *fields) {
  const Schedule schedule = changed(defaultSchedule(held.program, findTarget(target), held.inner), fields);
  CHECK(faultOf(held, schedule, findTarget(target)) == "");
}

} // namespace

TEST_CASE("i64 and bool by item, by row and by column in the simulator") {
  const Tensor flip("flip", Type::boolean, 1), far("far", Type::i64, 1), keepRow("keepRow", Type::boolean, 2), rowPart("rowPart", Type::i64, 2), keepKey("keepKey", Type::boolean, 2),
      keyPart("keyPart", Type::i64, 2);
  const std::int64_t keys = 130;
  Held held = attention("captures", keys, [&](Attention &a) {
    a.score([&](Tile s, const At &at) { return where(flip(at.head), -s, s) + where(keepRow(at.batch, at.query), 0.25, -0.5) + cast(far(at.head) / (std::int64_t(1) << 31), Type::f32); });
    a.mask([&](const At &at) { return keepKey(at.batch, at.key); });
    a.mask([&](const At &at) { return rowPart(at.batch, at.query) == keyPart(at.batch, at.key); });
  });
  auto &tensors = held.inputs.tensors;
  tensors["flip"] = arrayOf({2}, [](std::int64_t i) { return double(i == 1); });
  tensors["far"] = arrayOf({2}, [](std::int64_t i) { return i == 0 ? wide : -wide; });
  tensors["keepRow"] = arrayOf({1, 70}, [](std::int64_t i) { return double(i % 3 == 0); });
  tensors["rowPart"] = arrayOf({1, 70}, [](std::int64_t i) { return wide * double(i / 30); });
  tensors["keepKey"] = arrayOf({1, keys}, [](std::int64_t i) { return double(i % 5 != 2); });
  tensors["keyPart"] = arrayOf({1, keys}, [](std::int64_t i) { return wide * double(i / 48); });
  for (const char *target : {"h200", "a100"})
    for (const char *fields : {"k=32 stabilised=no", "k=16 stages=1 stabilised=yes"})
      right(held, target, fields);
}

TEST_CASE("scalars of every type in the simulator") {
  Held held = attention("scalars", 100, [](Attention &a) {
    a.score([](Tile s, const At &at) {
      Tile gain = scalar("gain", Type::f16), offset = scalar("offset", Type::bf16), on = scalar("on", Type::boolean), limit = scalar("limit", Type::i64), step = scalar("step", Type::i32);
      return where(on, s * gain, s) + where(limit > cast(at.key, Type::i64) * (std::int64_t(1) << 31), offset, 0.0) + scalar("shift") * cast((at.key + step) % 3, Type::f32);
    });
  });
  held.inputs.scalars = {{"gain", 0.75}, {"offset", -1.5}, {"on", 1}, {"limit", 17 * wide / 4 + 1}, {"step", 2}, {"shift", 0.3}};
  for (const char *target : {"h200", "a100"})
    for (double on : {0.0, 1.0}) {
      held.inputs.scalars["on"] = on;
      right(held, target, "k=32");
    }
}

TEST_CASE("sums and maxima of integers in the simulator") {
  // P[t] = Σ_v p(v) over v ≤ t, M[t] = max_v p(v) · m(t), in i64 and beyond i32, beside a dot.
  Axis t("t"), v("v"), d("d");
  Tensor X("X", Type::bf16, 2), W("W", Type::bf16, 2), p("p", Type::i64, 1), m("m", Type::i64, 1), P("P", Type::i64, 1), M("M", Type::i64, 1), R("R", Type::f32, 1), N("N", Type::boolean, 1);
  auto [sums, largest, dots] = fold(v, std::tuple{full(0, {t}, Type::i64), full(-0x1p50, {t}, Type::i64), full(0, {t})}, [&](Tile sums, Tile largest, Tile dots) {
    return std::tuple{sums + sum(where(v <= t, p(v), cast(0, Type::i64)), over(v)), max(largest, max(p(v) * m(t), over(v))), dots + sum(dot(X(t, d), W(v, d), over(d)), over(v))};
  });
  Held held{{"integers", {store(P, {t}, sums), store(M, {t}, largest), store(R, {t}, dots), store(N, {t}, largest < 0)}}, {{"d", 16}}, {}, {{"P", {70}}, {"M", {70}}, {"R", {70}}, {"N", {70}}}, {}};
  held.inputs.tensors = {{"X", randomArray({70, 16}, 1, Type::bf16)}, {"W", randomArray({130, 16}, 2, Type::bf16)}, {"p", arrayOf({130}, [](std::int64_t i) { return wide * double((i * 37) % 19 - 9); })},
                         {"m", arrayOf({70}, [](std::int64_t i) { return double(i % 7 - 3); })}};
  held.tolerances = {{"P", {}}, {"M", {}}, {"N", {}}, {"R", roundingOf(Type::f32, 130 * 16, 130 * 16)}};
  for (const char *target : {"h200", "a100"})
    right(held, target, "v=32");
}

TEST_CASE("vectors that start anywhere in the simulator") {
  // Of every size of an element; at shifts of which 16 bytes are multiples or not, and at what is known at launch only; boxes end within a piece.
  const Axis t("t"), v("v"), d("d");
  for (Type type : {Type::f32, Type::bf16, Type::i64, Type::boolean}) {
    Tensor X("X", Type::bf16, 2), W("W", Type::bf16, 2), C("C", type, 1), L("L", Type::f32, 1);
    const Tile from = scalar("from", Type::i32), x = X(t, d);
    auto read = [&](const Tile &at, double weight) {
      return (type == Type::boolean ? where(C(at), 1.0, -2.0) : cast(C(at), Type::f32)) * weight;
    };
    auto [total] = fold(v, std::tuple{full(0, {t})}, [&](Tile total) {
      Tile c = read(v + 1, 1) + read(v + 2, 3) + read(v + 3, -2) + read(v + 4, 0.5) + read(v + 16, -5) + read(v + from, 7);
      return std::tuple{total + sum(dot(x, W(v, d), over(d)) * c, over(v))};
    });
    Held held{{"shifted", {store(L, {t}, total)}}, {{"d", 16}}, {}, {{"L", {70}}}, {{"L", roundingOf(Type::f32, 90 * 16 * 100, 90 * 16)}}};
    held.inputs.scalars["from"] = 5;
    held.inputs.tensors = {{"X", randomArray({70, 16}, 1, Type::bf16)}, {"W", randomArray({90, 16}, 2, Type::bf16)},
                           {"C", arrayOf({107}, [&](std::int64_t i) { return double(type == Type::boolean ? i % 3 == 0 : (i * 29) % 17 - 8); })}};
    for (const char *target : {"h200", "a100"})
      right(held, target, type == Type::bf16 ? "v=32 stages=1" : "v=16 stages=2");
  }
}

TEST_CASE("tiles that start anywhere in the simulator") {
  // Columns e of V from 3 on, of a tensor that is wider: a box of two dimensions under a swizzle, of less and of more than a chunk.
  for (std::int64_t width : {40, 128}) {
    Axis t("t"), v("v"), e("e");
    Tensor X("X", Type::bf16, 2), V("V", Type::bf16, 2), Y("Y", Type::f32, 2);
    auto [acc] = fold(v, std::tuple{full(0, {t, e})}, [&](Tile a) { return std::tuple{a + dot(X(t, v), V(v, e + 3), over(v))}; });
    Held held{{"columns", {store(Y, {t, e}, acc)}}, {{"e", width}}, {}, {{"Y", {70, width}}}, {{"Y", roundingOf(Type::f32, 90 * 8, 90)}}};
    held.inputs.tensors = {{"X", randomArray({70, 96}, 1, Type::bf16)}, {"V", randomArray({96, width + 8}, 2, Type::bf16)}};
    for (const char *target : {"h200-sm80", "a100"})     // a copy engine starts at multiples of 16 bytes only
      right(held, target, "v=32");
  }
}

TEST_CASE("a stabiliser and a vector by key without dots that accumulate in the simulator") {
  // L[t] = log Σ_v exp(X[t] · W[v] + c[v]): a step's vector is given back where its attempt has ended, held or not.
  Axis t("t"), v("v"), d("d");
  Tensor X("X", Type::bf16, 2), W("W", Type::bf16, 2), C("C", Type::f32, 1), L("L", Type::f32, 1);
  Tile x = X(t, d);
  auto [top, total] = fold(v, std::tuple{full(-infinity, {t}), full(0, {t})}, [&](Tile top, Tile total) {
    Tile z = dot(x, W(v, d), over(d)) + C(v);
    Tile next = stabiliser(max(top, max(z, over(v))));
    return std::tuple{next, total * exp(top - next) + sum(exp(z - next), over(v))};
  });
  Held held{{"biased_log_sum_exp", {store(L, {t}, top + log(total))}}, {{"d", 16}}, {}, {{"L", {70}}}, {{"L", {2e-5, 2e-5}}}};
  held.inputs.tensors = {{"X", randomArray({70, 16}, 1, Type::bf16, 0.3)}, {"W", randomArray({200, 16}, 2, Type::bf16)}, {"C", {}}};
  for (double slope : {0.0, 1.0}) {      // of keys that defeat it on every tile
    held.inputs.tensors["C"] = arrayOf({200}, [&](std::int64_t i) { return 0.25 * double(i % 9) - slope * double(i); });
    right(held, "h200", "v=32 stabilised=yes");
    right(held, "h200", "v=32 stabilised=yes stages=1 overlap=no");
    right(held, "a100", "v=32 stabilised=yes");
  }
}

TEST_CASE("scores times a function of the key in the simulator") {
  const Tensor gate("gate", Type::f32, 1);
  Held held = attention("gated", 130, [&](Attention &a) { a.score([&](Tile s, const At &at) { return s * sigmoid(gate(at.key)); }); });
  held.inputs.tensors["gate"] = randomArray({130}, 5, Type::f32, 2);
  for (const char *fields : {"k=16 stages=1", "k=32 stages=2", "k=16 stages=1 stabilised=no"})
    right(held, "h200", fields);
  right(held, "a100", "k=32 stages=1");
}

TEST_CASE("dots one step behind in rings of one slot in the simulator") {
  for (const char *target : {"h200", "a100"})
    for (const char *mask : {"none", "causal", "window"})
      for (const char *fields : {"k=32 stages=1 overlap=yes stabilised=no", "k=16 stages=1 overlap=yes drawn=no stabilised=yes"}) {
        const Tensor bias("bias", Type::f32, 1);
        Held held = attention("behind", 130, [&](Attention &a) {
          a.score([&](Tile s, const At &at) { return s + bias(at.key); });
          if (mask[0] != 'n')
            a.mask(mask[0] == 'c' ? causal() : slidingWindow(40, 10));
        });
        held.inputs.tensors["bias"] = randomArray({130}, 5, Type::f32);
        right(held, target, fields);
      }
}

TEST_CASE("several dots in one sum in the simulator") {
  // Σ w V + w² U, and with a maximum, so that the sum is scaled by row: it is one accumulator, whatever the order of the dots.
  Axis q("q"), k("k"), d("d"), e("e");
  Tensor Q("Q", Type::bf16, 2), K("K", Type::bf16, 2), V("V", Type::bf16, 2), U("U", Type::bf16, 2), O("O", Type::f32, 2);
  Held held{{}, {{"d", 16}, {"e", 16}}, {}, {{"O", {70, 16}}}, {{"O", roundingOf(Type::bf16, 130, 130)}}};
  held.inputs.tensors = {{"Q", randomArray({70, 16}, 1, Type::bf16, 0.5)}, {"K", randomArray({130, 16}, 2, Type::bf16, 0.5)}, {"V", randomArray({130, 16}, 3, Type::bf16)}, {"U", randomArray({130, 16}, 4, Type::bf16)}};
  auto [sums] = fold(k, std::tuple{full(0, {q, e})}, [&](Tile sums) {
    Tile w = sigmoid(dot(Q(q, d), K(k, d), over(d)));
    return std::tuple{(dot(w * w, U(k, e), over(k)) + sums) + dot(w, V(k, e), over(k))};
  });
  held.program = {"sigmoid_sums", {store(O, {q, e}, sums)}};
  for (const char *target : {"h200", "a100"})
    for (const char *fields : {"k=32 overlap=yes", "k=32 overlap=no", "k=64 stages=1 overlap=no"})
      right(held, target, fields);
  auto [top, total, acc] = fold(k, std::tuple{full(-infinity, {q}), full(0, {q}), full(0, {q, e})}, [&](Tile top, Tile total, Tile acc) {
    Tile s = where(k <= q + 60, dot(Q(q, d), K(k, d), over(d)), -infinity), next = stabiliser(max(top, max(s, over(k))));
    Tile base = where(-infinity < next, next, 0.0), w = exp(s - base), shrink = exp(top - base);      // of a tile a row may see nothing
    return std::tuple{next, total * shrink + sum(w, over(k)), acc * shrink + (dot(w * sigmoid(s), U(k, e), over(k)) + dot(w, V(k, e), over(k)))};
  });
  held.program = {"softmax_sums", {store(O, {q, e}, acc / total)}};
  held.tolerances = {{"O", roundingOf(Type::bf16, 8, 130)}};
  for (const char *target : {"h200", "a100"})
    for (const char *fields : {"k=32 overlap=yes stabilised=no", "k=32 overlap=yes stabilised=yes", "k=32 overlap=no stabilised=no", "k=16 stages=1 overlap=no stabilised=yes"})
      right(held, target, fields);
}

TEST_CASE("weights that the program rounds in the simulator") {
  // The rounded weights go to a dot and into a sum; a cast alone once kept the compiler for ever.
  Axis q("q"), k("k"), d("d"), e("e");
  Tensor Q("Q", Type::bf16, 2), K("K", Type::bf16, 2), V("V", Type::bf16, 2), O("O", Type::f32, 2), N("N", Type::f32, 1);
  for (bool counted : {false, true}) {
    auto [acc, total] = fold(k, std::tuple{full(0, {q, e}), full(0, {q})}, [&](Tile acc, Tile total) {
      Tile w = cast(sigmoid(dot(Q(q, d), K(k, d), over(d))), Type::bf16);
      return std::tuple{acc + dot(w, V(k, e), over(k)), total + sum(counted ? cast(w, Type::f32) : dot(Q(q, d), K(k, d), over(d)), over(k))};
    });
    Held held{{"rounded", {store(O, {q, e}, acc), store(N, {q}, total)}}, {{"d", 16}, {"e", 16}}, {}, {{"O", {70, 16}}, {"N", {70}}}, {}};
    held.inputs.tensors = {{"Q", randomArray({70, 16}, 1, Type::bf16, 0.5)}, {"K", randomArray({130, 16}, 2, Type::bf16, 0.5)}, {"V", randomArray({130, 16}, 3, Type::bf16)}};
    held.tolerances = {{"O", roundingOf(Type::bf16, 130, 130)}, {"N", roundingOf(counted ? Type::bf16 : Type::f32, counted ? 130 : 130 * 16, 130)}};
    for (const char *target : {"h200", "a100"})
      right(held, target, "k=32");
  }
}
