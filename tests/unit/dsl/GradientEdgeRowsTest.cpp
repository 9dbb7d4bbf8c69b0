// Gradients where other kernels' went wrong. Row numbers are those of the project's list of edge cases.
#include "Gradients.h"

using namespace tw;
using namespace tw::tests;

namespace {

Program plain(bool lse = false) { return makeVariant("plain", {.type = Type::f32, .lse = lse}); }

bool allFinite(const Gradients &gradients) {
  for (const auto &[input, name] : gradients.made.gradients)
    for (double x : gradients.got.at(name).data)
      if (!std::isfinite(x))
        return false;
  return true;
}

} // namespace

TEST_CASE("edge row 13: one query, strongly negative scores") {
  Evaluation in = attentionInputs({1, 2, 2, 1, 128, 64, 64});
  for (double &x : in.tensors["Q"].data)
    x = 5;
  for (double &x : in.tensors["K"].data)
    x = -5 + 0.01 * x;
  checkGradients(plain(), in, {"Q", "K", "V"});
}

TEST_CASE("edge row 15: a mask and a step of the score together, an odd length") {
  Attention attention("row15", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  attention.score([](Tile s, const At &at) { return s + (at.query - at.key); }).mask(causalTopLeft());
  Evaluation in = attentionInputs({1, 1, 1, 65, 65, 16, 16});
  in.foldTile = 16;
  CHECK(allFinite(checkGradients(attention.program(), in, {"Q", "K", "V"})));
}

TEST_CASE("edge row 16: one query and one key: dQ and dK are 0, dV is dO") {
  Evaluation in = attentionInputs({1, 1, 1, 1, 1, 16, 16}, 3, 3);
  const Gradient made = gradient(plain());
  in = restricted(plain(), in);
  in.tensors["dO"] = {{1, 1, 1, 16}, std::vector<double>(16, 1.0)};
  const auto got = evaluateGradient(made, in);
  for (int i = 0; i < 16; ++i) {
    CHECK(std::abs(got.at("dQ").data[i]) < 1e-12);
    CHECK(std::abs(got.at("dK").data[i]) < 1e-12);
    CHECK(got.at("dV").data[i] == Approx(1));
  }
}

TEST_CASE("edge row 17: inputs of 1000") {
  Evaluation in = attentionInputs({1, 2, 2, 8, 8, 32, 32});
  for (const char *name : {"Q", "K", "V"})
    for (double &x : in.tensors[name].data)
      x = 1000;
  CHECK(allFinite(checkGradients(plain(), in, {"Q", "K", "V"}, {}, {1e-4, 1e-6})));
}

TEST_CASE("edge row 27: a length that is no multiple of anything") {
  Evaluation in = attentionInputs({1, 2, 2, 77, 77, 8, 8});
  in.foldTile = 32;
  checkGradients(plain(), in, {"Q", "K", "V"});
}

TEST_CASE("edge rows 33, 36: dK and dV are summed over the group") {
  for (const Lengths &shape : {Lengths{1, 9, 3, 5, 5, 8, 8}, Lengths{1, 8, 2, 6, 7, 8, 8}, Lengths{2, 4, 1, 5, 6, 8, 8}}) {
    const Gradients result = checkGradients(makeVariant("causal", {.type = Type::f32}), attentionInputs(shape), {"Q", "K", "V"});
    CHECK(result.of("K").shape == std::vector<std::int64_t>{shape.B, shape.Hkv, shape.Skv, shape.D});
  }
}

TEST_CASE("edge row 58: a cap of 15 and scores of 40") {
  Evaluation in = attentionInputs({1, 2, 1, 9, 11, 8, 8}, 4, 4);
  checkGradients(makeVariant("softcap(15)", {.type = Type::f32}), in, {"Q", "K", "V"});
}

TEST_CASE("edge row 63: the backward programs read what the forward one reads, or cannot be run") {
  const Gradient made = gradient(makeVariant("alibi+causal", {.type = Type::f32}));
  Evaluation in = restricted(makeVariant("alibi+causal", {.type = Type::f32}), attentionInputs({1, 2, 1, 5, 5, 8, 8}));
  in.tensors["dO"] = randomArray({1, 2, 5, 8}, 7);
  in.tensors["dlse"] = randomArray({1, 2, 5}, 8);
  in.tensors.erase("slopes");
  CHECK_THROWS_AS(evaluateGradient(made, in), ProgramError);
}

TEST_CASE("edge rows 71, 74: no query, no key, no head and no batch: gradients of 0, never NaN") {
  for (const Lengths &shape : {Lengths{1, 2, 1, 0, 5, 8, 8}, Lengths{1, 2, 1, 5, 0, 8, 8}, Lengths{0, 2, 1, 5, 5, 8, 8}, Lengths{1, 0, 1, 5, 5, 8, 8}, Lengths{1, 2, 2, 0, 0, 8, 8}}) {
    const Gradients result = checkGradients(makeVariant("causal", {.type = Type::f32}), attentionInputs(shape), {"Q", "K", "V"});
    for (const char *name : {"Q", "K", "V"})
      for (double x : result.of(name).data)
        CHECK(x == 0);
  }
}

TEST_CASE("a row without a key gives exactly 0, whatever the loss says of it") {
  const Program program = makeVariant("causal", {.type = Type::f32});
  const Gradient made = gradient(program);
  Evaluation in = restricted(program, attentionInputs({1, 2, 1, 9, 4, 8, 8}));
  in.tensors["dO"] = randomArray({1, 2, 9, 8}, 7);
  in.tensors["dlse"] = randomArray({1, 2, 9}, 8);
  Evaluation spoiled = in;
  for (int h = 0; h < 2; ++h)
    for (int row = 0; row < 5; ++row) {   // rows 0 to 4 see no key
      spoiled.tensors["dlse"].data[std::size_t(h * 9 + row)] = NAN;
      for (int e = 0; e < 8; ++e)
        spoiled.tensors["dO"].data[std::size_t((h * 9 + row) * 8 + e)] = NAN;
    }
  const auto clean = evaluateGradient(made, in), got = evaluateGradient(made, spoiled);
  for (const char *name : {"dQ", "dK", "dV"})
    CHECK(got.at(name).data == clean.at(name).data);
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 5 * 8; ++i)
      CHECK(got.at("dQ").data[std::size_t(h * 72 + i)] == 0);
}

TEST_CASE("a NaN under a mask spoils no gradient, one that is not its own rows' and keys'") {
  const Program program = makeVariant("softcap(20)+window(2,0)", {.type = Type::f32});
  const Gradient made = gradient(program);
  Evaluation in = restricted(program, attentionInputs({1, 1, 1, 6, 12, 8, 8}));
  in.tensors["dO"] = randomArray({1, 1, 6, 8}, 7);
  in.tensors["dlse"] = randomArray({1, 1, 6}, 8);
  const auto clean = evaluateGradient(made, in);
  for (const char *name : {"K", "V"})
    for (std::size_t i = 0; i < 3 * 8; ++i)
      in.tensors[name].data[i] = NAN;   // keys 0 to 2 are outside of every window
  const auto got = evaluateGradient(made, in);
  for (const char *name : {"dQ", "dK", "dV"})
    CHECK(got.at(name).data == clean.at(name).data);
  in.tensors["K"].data[11 * 8] = NAN;   // the last key, which the last query alone sees
  const auto spoiled = evaluateGradient(made, in);
  for (std::size_t i = 0; i < 6 * 8; ++i)
    CHECK(std::isnan(spoiled.at("dQ").data[i]) == (i >= 5 * 8));
  for (std::size_t i = 0; i < 12 * 8; ++i)
    CHECK(std::isnan(spoiled.at("dV").data[i]) == (i >= 9 * 8));
}
