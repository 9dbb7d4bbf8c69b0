// Gradients of what a score captures: biases, slopes, tables, temperatures, sinks; and of scalars.
#include "Gradients.h"
#include "tilewright/dsl/Roles.h"

using namespace tw;
using namespace tw::tests;

namespace {

const Lengths lengths{2, 4, 2, 7, 9, 8, 8};

/// An attention whose score has one step more.
Attention attentionWith(ScoreFunction step) {
  Attention attention("captures", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  attention.score(std::move(step)).mask(causal()).lse(Tensor("lse", Type::f32, 3));
  return attention;
}

void checkCapture(const ScoreFunction &step, const std::string &name, const std::vector<std::int64_t> &shape, Type type = Type::f32) {
  Evaluation in = attentionInputs(lengths);
  in.tensors[name] = randomArray(shape, 9, Type::f64, 0.5);
  for (double &x : in.tensors[name].data)
    x += 1.5;
  for (std::int64_t width : {0, 2}) {
    in.foldTile = width;
    const Gradients result = checkGradients(attentionWith(step).program(), in, {"Q", "K", "V", name});
    CHECK(result.of(name).shape == shape);
  }
}

} // namespace

TEST_CASE("edge row 67: a bias of any axes has its gradient, summed over those it lacks") {
  SECTION("over all") { Tensor T("bias", Type::f32, 4); checkCapture([=](Tile s, const At &at) { return s + T(at.batch, at.head, at.query, at.key); }, "bias", {2, 4, 7, 9}); }
  SECTION("over heads, queries and keys") { Tensor T("bias", Type::f32, 3); checkCapture([=](Tile s, const At &at) { return s + T(at.head, at.query, at.key); }, "bias", {4, 7, 9}); }
  SECTION("over one batch of one head, as length 1") { Tensor T("bias", Type::f32, 4); checkCapture([=](Tile s, const At &at) { return s + T(0, 0, at.query, at.key); }, "bias", {1, 1, 7, 9}); }
  SECTION("over keys") { Tensor T("bias", Type::f32, 1); checkCapture([=](Tile s, const At &at) { return s * T(at.key); }, "bias", {9}); }
  SECTION("over heads and keys") { Tensor T("bias", Type::f32, 2); checkCapture([=](Tile s, const At &at) { return s + T(at.head, at.key); }, "bias", {4, 9}); }
  SECTION("over queries") { Tensor T("bias", Type::f32, 1); checkCapture([=](Tile s, const At &at) { return s * T(at.query); }, "bias", {7}); }
  SECTION("over batches") { Tensor T("bias", Type::f32, 1); checkCapture([=](Tile s, const At &at) { return s * T(at.batch); }, "bias", {2}); }
  SECTION("over heads of keys") { Tensor T("bias", Type::f32, 1); checkCapture([=](Tile s, const At &at) { return s * T(at.head / 2); }, "bias", {2}); }
  SECTION("over nothing") { Tensor T("bias", Type::f32, 0); checkCapture([=](Tile s, const At &) { return s * T.at({}); }, "bias", {}); }
}

TEST_CASE("edge row 67: a table read by distance, and a temperature behind a function") {
  SECTION("by distance and head") {
    Tensor T("table", Type::f32, 2);
    checkCapture([=](Tile s, const At &at) { return s + T(min(max(at.query - at.key + 3, 0), 5), at.head); }, "table", {6, 4});
  }
  SECTION("by what another table says of the key") {
    Tensor T("table", Type::f32, 1), ids("ids", Type::i32, 1);
    Evaluation in = attentionInputs(lengths);
    in.tensors["table"] = randomArray({3}, 9);
    in.tensors["ids"] = {{9}, {0, 1, 1, 2, 0, 0, 2, 1, 1}};
    checkGradients(attentionWith([=](Tile s, const At &at) { return s + T(ids(at.key)); }).program(), in, {"Q", "K", "V", "table"});
  }
  SECTION("a temperature of each head, divided by") { Tensor T("heat", Type::f32, 1); checkCapture([=](Tile s, const At &at) { return s / T(at.head); }, "heat", {4}); }
  SECTION("through functions of its own") { Tensor T("heat", Type::f32, 1); checkCapture([=](Tile s, const At &at) { return s * sigmoid(T(at.head)) + sqrt(T(at.head)) * at.key; }, "heat", {4}); }
  SECTION("a factor of each query, row by row") { Tensor T("gate", Type::f32, 2); checkCapture([=](Tile s, const At &at) { return s * tanh(T(at.head, at.query)); }, "gate", {4, 7}); }
}

TEST_CASE("edge row 64: a learnable scalar has its gradient, a tensor of one element") {
  const ScoreFunction step = [](Tile s, const At &) { return s * scalar("p"); };
  Evaluation in = attentionInputs(lengths);
  in.scalars = {{"p", 0.7}};
  const Gradients result = checkGradients(attentionWith(step).program(), in, {"Q", "K", "V", "p"});
  CHECK(result.of("p").shape == std::vector<std::int64_t>{1});
  in.scalars = {{"cap", 3.0}};
  Attention capped("capped", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  capped.score(softcap(scalar("cap", Type::f32, Sign::positive)));
  checkGradients(capped.program(), in, {"Q", "K", "V", "cap"});
}

TEST_CASE("edge row 64: several learnable scalars, and a tensor's only element beside them") {
  Tensor first("first", Type::f32, 1);
  Evaluation in = attentionInputs(lengths);
  in.scalars = {{"p", 0.7}, {"m", 0.1}};
  in.tensors["first"] = {{1}, {0.5}};
  const Gradients result = checkGradients(attentionWith([=](Tile s, const At &at) { return s * scalar("p") + scalar("m") * (at.query - at.key) + first(0) * at.key; }).program(), in, {"Q", "K", "V", "p", "m", "first"});
  for (const Program &program : result.made.backward)
    if (!foldsOf(program).empty())
      CHECK_NOTHROW(rolesOf(program));   // each has a kernel
}

TEST_CASE("edge row 66: the gradient of a bf16 bias is bf16, summed in f32") {
  Tensor T("bias", Type::bf16, 3);
  const Gradient made = gradient(attentionWith([=](Tile s, const At &at) { return s + T(at.head, at.query, at.key); }).program());
  bool found = false;
  for (const Program &program : made.backward)
    for (const Store &store : program.stores)
      if (store.tensor.name() == made.gradients.at("bias")) {
        found = true;
        CHECK(store.tensor.type() == Type::bf16);
        CHECK(store.value.type() == Type::f32);
      }
  CHECK(found);
}

TEST_CASE("a tensor that is read in two ways gets its gradient from two programs, which add up") {
  SECTION("queries and keys are one") {
    Axis t("t"), v("v"), d("d");
    Tensor X("X", Type::f32, 2), R("R", Type::f32, 1);
    auto [r] = fold(v, std::tuple{full(0, {t})}, [&](Tile r) { return std::tuple{r + sum(dot(X(t, d), X(v, d), over(d)), over(v))}; });
    Evaluation in;
    in.tensors["X"] = randomArray({9, 5}, 1);
    in.foldTile = 4;
    const Gradients result = checkGradients({"gram", {store(R, {t}, r)}}, in, {"X"});
    REQUIRE(result.made.intermediates.size() == 1);
    CHECK(result.made.intermediates[0].tensor.name() == "dX_part");
  }
  SECTION("a matrix and its diagonal are one") {
    Axis t("t"), v("v"), d("d");
    Tensor X("X", Type::f32, 2), W("W", Type::f32, 2), R("R", Type::f32, 1);
    auto [r] = fold(v, std::tuple{full(0, {t})}, [&](Tile r) { return std::tuple{r + sum(dot(X(t, d), W(v, d), over(d)) * X(t, t), over(v))}; });
    Evaluation in;
    in.tensors = {{"X", randomArray({5, 5}, 1)}, {"W", randomArray({7, 5}, 2)}};
    checkGradients({"diagonal", {store(R, {t}, r)}}, in, {"X", "W"});
  }
  SECTION("gates of queries and of keys are one") {
    Tensor gates("gates", Type::f32, 3);
    Evaluation in = attentionInputs({2, 4, 2, 9, 9, 8, 8});
    in.tensors["gates"] = randomArray({2, 4, 9}, 5);
    checkGradients(attentionWith([=](Tile s, const At &at) { return s + gates(at.batch, at.head, at.query) - gates(at.batch, at.head, at.key); }).program(), in, {"Q", "K", "V", "gates"});
  }
  SECTION("a scalar of rows and of scores is one") {
    Attention attention = attentionWith([](Tile s, const At &) { return s * scalar("p"); });
    attention.output([](Tile o, const AtOutput &) { return o * scalar("p"); });
    Evaluation in = attentionInputs(lengths);
    in.scalars = {{"p", 0.7}};
    checkGradients(attention.program(), in, {"Q", "K", "V", "p"});
  }
}

TEST_CASE("integer captures, conditions and lengths have no gradient") {
  Tensor ids("ids", Type::i32, 1);
  Attention attention = attentionWith([](Tile s, const At &) { return s; });
  attention.mask([=](const At &at) { return ids(at.query) == ids(at.key); });
  Evaluation in = attentionInputs({1, 2, 1, 8, 8, 8, 8});
  in.tensors["ids"] = {{8}, {0, 0, 0, 1, 1, 2, 2, 2}};
  const Gradients result = checkGradients(attention.program(), in, {"Q", "K", "V"});
  CHECK(result.made.gradients.size() == 3);
}

TEST_CASE("where two are equal, max, min and abs take the stated side") {
  Attention attention = attentionWith([](Tile s, const At &) { return max(s, 0.0) + min(s * 0.0, 0.0) + abs(s * 0.0); });
  checkGradients(attention.program(), attentionInputs(lengths), {"Q", "K", "V"});
}

namespace {
/// A softmax with a value per head in its denominator and no weight of its own. `from`: where it enters.
Program withSink(bool fromStart) {
  Axis b("b"), h("h"), q("q"), k("k"), d("d"), e("e");
  Tensor Q("Q", Type::f32, 4), K("K", Type::f32, 4), V("V", Type::f32, 4), O("O", Type::f32, 4), L("lse", Type::f32, 3), S("sink", Type::f32, 1);
  const Axes rows{b, h, q};
  Tile sink = S(h) + full(0, rows), none = full(-infinity, rows);
  auto [top, total, acc] = fold(k, std::tuple{fromStart ? sink : none, full(fromStart ? 1 : 0, rows), full(0, {b, h, q, e})}, [&](Tile top, Tile total, Tile acc) {
    Tile s = where(k <= q + (extent(k) - extent(q)), dot(Q(b, h, q, d), K(b, h / (extent(h) / K.dimension(1)), k, d), over(d)), -infinity);
    Tile next = named("top", stabiliser(max(top, max(s, over(k))))), base = where(-infinity < next, next, 0.0), w = exp(s - base), shrink = exp(top - base);
    return std::tuple{next, named("total", total * shrink + sum(w, over(k))), named("acc", acc * shrink + dot(w, V(b, h / (extent(h) / K.dimension(1)), k, e), over(k)))};
  });
  if (fromStart)
    return {"sink", {store(O, {b, h, q, e}, acc / total), store(L, rows, top + log(total))}};
  Tile base = where(-infinity < top, top, 0.0), all = total + exp(sink - base);
  return {"sink", {store(O, {b, h, q, e}, acc / all), store(L, rows, base + log(all))}};
}
} // namespace

TEST_CASE("edge row 68: a sink has its gradient, with lse in the loss and without a key too") {
  const bool fromStart = GENERATE(true, false);
  INFO((fromStart ? "as the fold's start" : "behind the fold"));
  const Program program = withSink(fromStart);
  for (std::int64_t keys : {9, 3, 0}) {
    Evaluation in = attentionInputs({2, 4, 2, 7, keys, 8, 8});
    in.tensors["sink"] = randomArray({4}, 21);
    in.foldTile = 4;
    const Gradients result = checkGradients(program, in, {"Q", "K", "V", "sink"});
    if (keys == 0)
      CHECK(result.got.at("lse").data[7] == Approx(in.tensors["sink"].data[1]));
  }
}
