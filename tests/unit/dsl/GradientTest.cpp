// gradient() of the gallery and of other folds, against a tape; the tape against differences.
#include "Gradients.h"
#include "programs/Programs.h"
#include "tilewright/dsl/Roles.h"
#include <sstream>

using namespace tw;
using namespace tw::tests;

TEST_CASE("the tape runs what evaluate() runs, and its gradients are slopes") {
  const std::string variant = GENERATE(as<std::string>{}, "plain", "softcap(2)+alibi+causal");
  const Program program = makeVariant(variant, {.type = Type::f64});
  Evaluation in = restricted(program, attentionInputs({1, 2, 1, 3, 4, 8, 8}, 5));
  in.foldTile = 3;
  const Array weights = randomArray({1, 2, 3, 8}, 50), rows = randomArray({1, 2, 3}, 51);
  auto loss = [&](const Evaluation &at) {
    const auto out = evaluate(program, at);
    double sum = 0;
    for (const auto &[result, by] : {std::pair{&out.at("O"), &weights}, std::pair{&out.at("lse"), &rows}})
      for (std::size_t i = 0; i < by->data.size(); ++i)
        sum += result->data[i] * by->data[i];
    return sum;
  };
  Tape tape(program, in);
  const auto out = tape.forward(), expected = evaluate(program, in);
  for (const char *name : {"O", "lse"}) {
    const Comparison same = compare(out.at(name), expected.at(name), {1e-12, 1e-12});
    INFO(name << ": " << same.summary);
    CHECK(same.ok);
  }
  const auto gradients = tape.backward({{"O", weights}, {"lse", rows}});
  for (const auto &[name, array] : in.tensors)
    for (std::size_t i = 0; i < array.data.size(); i += 5) {
      Evaluation above = in, below = in;
      above.tensors[name].data[i] += 1e-5;
      below.tensors[name].data[i] -= 1e-5;
      INFO(variant << ": " << name << " at " << position(array.shape, i));
      CHECK(gradients.at(name).data[i] == Approx((loss(above) - loss(below)) / 2e-5).margin(1e-8).epsilon(1e-6));
    }
}

TEST_CASE("gradients of every variant are the tape's, whatever the tiles' width") {
  const std::string variant = GENERATE(as<std::string>{}, "plain", "causal", "window(5,2)", "softcap(2)", "alibi", "gemma2",
                                       "softcap(2)+alibi+causal", "causal+window(5,2)");
  const Lengths shape = GENERATE(Lengths{2, 4, 2, 13, 13, 8, 16}, Lengths{1, 3, 1, 7, 21, 8, 8}, Lengths{1, 2, 2, 23, 9, 16, 8});
  INFO(variant << " Sq " << shape.Sq << " Skv " << shape.Skv);
  Evaluation in = attentionInputs(shape);
  std::vector<std::string> inputs{"Q", "K", "V"};
  if (variant.find("alibi") != std::string::npos)
    inputs.push_back("slopes");
  for (std::int64_t width : {0, 3}) {
    in.foldTile = width;
    checkGradients(makeVariant(variant, {.type = Type::f32}), in, inputs);
  }
}

TEST_CASE("a gradient has the type of its tensor, and sums are carried in f32 or f64") {
  for (Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
    const Gradient made = gradient(makeVariant("alibi", {.type = type}));
    const Type exact = type == Type::f64 ? Type::f64 : Type::f32;
    for (const Program &program : made.backward) {
      for (const Store &store : program.stores)
        CHECK(store.tensor.type() == (store.tensor.name() == "dQ" || store.tensor.name() == "dK" || store.tensor.name() == "dV" ? type : exact));
      for (const auto &fold : foldsOf(program))
        for (const Tile &argument : fold->arguments)
          CHECK(argument.type() == exact);
    }
  }
}

TEST_CASE("the loss may depend on O, on lse or on both") {
  Evaluation in = attentionInputs({1, 4, 2, 9, 11, 8, 8});
  for (const std::vector<std::string> &outputs : {std::vector<std::string>{"O"}, {"lse"}, {"O", "lse"}}) {
    const bool values = outputs[0] == "O";
    const Gradients result = checkGradients(makeVariant("causal", {.type = Type::f32}), in, values ? std::vector<std::string>{"Q", "K", "V"} : std::vector<std::string>{"Q", "K"}, {.outputs = outputs, .inputs = {}});
    CHECK(result.made.upstream.size() == outputs.size());
    CHECK(result.made.gradients.count("V") == values);
  }
}

TEST_CASE("only the gradients that are asked for are made") {
  const Gradient made = gradient(makeVariant("alibi"), {.outputs = {"O"}, .inputs = {"K"}});
  CHECK(made.gradients == std::map<std::string, std::string>{{"K", "dK"}});
  REQUIRE(made.backward.size() == 2);
  CHECK(made.backward[1].stores.size() == 1);
}

TEST_CASE("programs may carry one tile each") {
  const Evaluation in = attentionInputs({1, 4, 2, 9, 11, 8, 8});
  const Gradients result = checkGradients(makeVariant("causal", {.type = Type::f32}), in, {"Q", "K", "V"}, {.outputs = {}, .inputs = {}, .tilesPerProgram = 1});
  REQUIRE(result.made.backward.size() == 4);
  for (std::size_t i = 1; i < 4; ++i)
    CHECK(result.made.backward[i].stores.size() == 1);
}

TEST_CASE("sums over the fold's axis may be made in memory by the steps of the program that sums over the block axis") {
  const std::string variant = GENERATE(as<std::string>{}, "plain", "causal", "softcap(2)+alibi+causal", "window(5,2)");
  const Lengths shape = GENERATE(Lengths{2, 4, 2, 13, 13, 8, 16}, Lengths{1, 3, 1, 7, 21, 8, 8});
  INFO(variant << " Sq " << shape.Sq << " Skv " << shape.Skv);
  const Gradients result = checkGradients(makeVariant(variant, {.type = Type::f32}), attentionInputs(shape), {"Q", "K", "V"}, {.outputs = {"O"}, .inputs = {"Q", "K", "V"}, .accumulates = true});
  REQUIRE(result.made.backward.size() == 3);
  const Program &all = result.made.backward[1], &last = result.made.backward[2];
  const Roles roles = rolesOf(all);
  REQUIRE(all.stores.size() == 3);
  CHECK(roles.block().name() == "k");
  CHECK(roles.fold->axis.name() == "q");
  CHECK(addedBySteps(roles, all.stores[0]) == nullptr);
  CHECK(all.stores[2].tensor.name() == "dQ_sum");
  CHECK(all.stores[2].tensor.type() == Type::f32);
  const Tile *added = addedBySteps(roles, all.stores[2]);
  REQUIRE(added);
  CHECK(added->node().op == Op::dot);
  CHECK(added->node().consumed.front().name() == "k");
  REQUIRE(last.stores.size() == 1);
  CHECK(last.stores[0].tensor.name() == "dQ");
  const Roles rounding = rolesOf(last);
  CHECK(rounding.block().name() == "q");
  CHECK(rounding.fold->axis.name() == "d");
  CHECK(rounding.fold->arguments.empty());
}

TEST_CASE("tiles of rows of which each element is computed by itself have a program of their own, before the sums") {
  const Program program = makeVariant("gated", {.type = Type::f32});
  for (bool accumulates : {false, true}) {
    const Gradient made = gradient(program, {.outputs = {"O"}, .inputs = {}, .accumulates = accumulates});
    std::vector<std::string> names;
    for (const Program &each : made.backward)
      names.push_back(each.name);
    CHECK(names == (accumulates ? std::vector<std::string>{"gated_rows", "gated_tiles", "gated_dV_dK_dQ", "gated_dQ"} : std::vector<std::string>{"gated_rows", "gated_tiles", "gated_dQ", "gated_dV_dK"}));
    REQUIRE(made.backward[1].stores.size() == 2);
    CHECK(made.backward[1].stores[0].tensor.name() == "dgates");
    CHECK(made.backward[1].stores[1].tensor.name() == "dacc");
    CHECK(rolesOf(made.backward[1]).fold->arguments.empty());
  }
}

TEST_CASE("what a program reduces behind its fold is stored by it") {
  Attention normed("normed", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  const Tensor gain("gain", Type::f32, 2);
  const Axis e = normed.e;
  normed.mask(causal()).output([=](Tile o, const AtOutput &at) {
    Tile n = cast(extent(e), o.type()), centred = o - sum(o, over(e)) / n;
    return centred * rsqrt(sum(centred * centred, over(e)) / n + 1e-3) * gain(at.head, e);
  });
  Evaluation in = attentionInputs({2, 4, 2, 9, 13, 8, 16});
  in.tensors["gain"] = randomArray({4, 16}, 9);
  in.foldTile = 4;
  const Gradients result = checkGradients(normed.program(), in, {"Q", "K", "V", "gain"});
  CHECK(std::count_if(result.made.intermediates.begin(), result.made.intermediates.end(), [](const Intermediate &between) { return between.tensor.name().starts_with("reduced"); }) == 2);
  for (const Program &program : result.made.backward)
    CHECK_NOTHROW(rolesOf(program));
}

TEST_CASE("products by the same tile are one of their sum") {
  const Gradient made = gradient(makeVariant("differential"), {.outputs = {"O"}, .inputs = {"V"}});
  const Program &values = made.backward.back();
  CHECK(values.stores[0].tensor.name() == "dV");
  std::istringstream text(print(values));
  int products = 0;
  for (std::string line; std::getline(text, line);)
    products += line.find(" over q ") != line.npos && line.find("= dot ") != line.npos;
  CHECK(products == 1);
}

TEST_CASE("sums along both axes have no program that could add them") {
  const Gradient made = gradient(makeVariant("plain"), {.outputs = {"O"}, .inputs = {"Q"}, .accumulates = true});
  REQUIRE(made.backward.size() == 2);
  CHECK(made.backward[1].stores[0].tensor.name() == "dQ");      // nothing sums over the block axis
}

TEST_CASE("a program without an lse gets one for its gradients") {
  const Program program = makeVariant("causal", {.type = Type::f32, .lse = false});
  const Gradients result = checkGradients(program, attentionInputs({1, 2, 1, 12, 7, 8, 8}), {"Q", "K", "V"});
  REQUIRE(result.made.forward.stores.size() == 2);
  CHECK(result.made.forward.stores[1].tensor.name() == "lse");
  CHECK(result.made.intermediates.front().tensor.name() == "lse");
}

TEST_CASE("folds that are no attention have gradients too") {
  Evaluation in;
  in.tensors = {{"X", randomArray({7, 5}, 1)}, {"W", randomArray({5, 6}, 2)}};
  checkGradients(programs::gemm(Type::f32), in, {"X", "W"});
  in.tensors["W"] = randomArray({9, 5}, 3);
  checkGradients(programs::rowSumsOfAbs(Type::f32), in, {"X", "W"});

  Evaluation sigmoid = attentionInputs({2, 4, 2, 9, 13, 8, 16});
  sigmoid.scalars = {{"scale", 0.5}};
  for (std::int64_t width : {0, 4}) {
    sigmoid.foldTile = width;
    checkGradients(programs::sigmoidWeights(Type::f32), sigmoid, {"Q", "K", "V", "scale"});
  }
}

TEST_CASE("a sum that nothing stores is stored for its gradient") {
  Axis t("t"), v("v"), d("d");
  Tensor X("X", Type::f32, 2), W("W", Type::f32, 2), R("R", Type::f32, 1);
  Tile x = X(t, d);
  auto [a, b] = fold(v, std::tuple{full(0, {t}), full(0, {t})}, [&](Tile a, Tile b) {
    Tile z = dot(x, W(v, d), over(d));
    return std::tuple{named("squares", a + sum(z * z, over(v))), named("cubes", b + sum(z * z * z, over(v)))};
  });
  Evaluation in;
  in.tensors = {{"X", randomArray({7, 5}, 1)}, {"W", randomArray({6, 5}, 2)}};
  const Gradients result = checkGradients({"moments", {store(R, {t}, b * sqrt(a))}}, in, {"X", "W"});
  CHECK(result.made.forward.stores.size() == 3);
}

TEST_CASE("a log-sum-exp by hand, its maximum a stabiliser") {
  Axis t("t"), v("v"), d("d");
  Tensor X("X", Type::f32, 2), W("W", Type::f32, 2), L("L", Type::f32, 1);
  Tile x = X(t, d);
  auto [top, total] = fold(v, std::tuple{full(-infinity, {t}), full(0, {t})}, [&](Tile top, Tile total) {
    Tile z = dot(x, W(v, d), over(d)), next = stabiliser(max(top, max(z, over(v))));
    return std::tuple{next, total * exp(top - next) + sum(exp(z - next), over(v))};
  });
  Evaluation in;
  in.tensors = {{"X", randomArray({7, 5}, 1)}, {"W", randomArray({9, 5}, 2)}};
  in.foldTile = 4;
  checkGradients({"lse", {store(L, {t}, top + log(total))}}, in, {"X", "W"});
}
