// What a built kernel does with memory: against float64, with any strides, empty lengths, and many threads.
#include "Launched.h"
#include "support/Compare.h"
#include <catch2/catch.hpp>
#include <thread>

using namespace tw;
using namespace tw::tests;

namespace {

std::string refusal(const Kernel &kernel, const Arguments &arguments, Workspace workspace, Stream stream = hostStream) {
  try {
    kernel.launch(stream, arguments, workspace);
  } catch (const ArgumentError &error) {
    return error.what();
  }
  return "accepted";
}

struct Aligned {
  explicit Aligned(std::size_t bytes) : bytes(bytes), data(std::aligned_alloc(64, (bytes + 127) / 64 * 64), &std::free) { std::memset(data.get(), 0xff, bytes); }
  std::size_t bytes;
  std::unique_ptr<void, void (*)(void *)> data;
};

void checkAgainstEvaluate(const char *variant, const Lengths &n, Type type) {
  CAPTURE(variant, n.sq, n.skv, n.d, n.dv, name(type));
  const Program program = makeVariant(variant, {type, true});
  Evaluation inputs = randomInputs(n, type);
  for (const auto &tensor : tensorsOf(program))
    if (tensor->name == "slopes")
      inputs.tensors["slopes"] = randomArray({n.h}, 9, Type::f32, 0.1);
  Tensors tensors(program, inputs, outputs(n));
  build(program, headDims(n)).launch(tensors.arguments);
  auto expected = evaluate(program, inputs);
  Comparison o = compare(tensors.read("O"), expected.at("O"), roundingOf(type, 4, double(n.skv + n.d), 8));
  CHECK((o.ok ? "" : o.summary) == "");
  Comparison lse = compare(tensors.read("lse"), expected.at("lse"), roundingOf(Type::f32, 8, double(n.skv + n.d), 8));
  CHECK((lse.ok ? "" : lse.summary) == "");
}

} // namespace

TEST_CASE("kernels agree with float64") {
  for (Type type : {Type::f32, Type::f16, Type::bf16}) {
    checkAgainstEvaluate("causal", {2, 4, 2, 37, 53, 40, 24}, type);
    checkAgainstEvaluate("plain", {1, 3, 1, 5, 100, 64, 64}, type);
  }
  checkAgainstEvaluate("alibi+window(20,3)", {1, 2, 2, 70, 61, 16, 80}, Type::f32);
  checkAgainstEvaluate("causal", {1, 2, 2, 9, 30, 8, 8}, Type::f64);
}

TEST_CASE("edge row 28: lengths that are no multiple of any tile") {
  for (std::int64_t sq : {1, 2, 15, 16, 17, 63, 65, 127, 129})
    for (std::int64_t skv : {1, 17, 65, 128})
      checkAgainstEvaluate("causal", {1, 2, 1, sq, skv, 32, 32}, Type::f32);
}

TEST_CASE("a row without a key gives 0 and -inf, whatever stands in the outputs before") {
  const Lengths n{2, 2, 1, 9, 0, 8, 16};
  const Program program = makeVariant("causal", {Type::bf16, true});
  Tensors tensors(program, randomInputs(n, Type::bf16), outputs(n));
  build(program, headDims(n)).launch(tensors.arguments);
  for (double x : tensors.read("O").data)
    CHECK(x == 0);
  for (double x : tensors.read("lse").data)
    CHECK(x == -infinity);
}

TEST_CASE("empty lengths launch nothing and break nothing") {
  for (Lengths n : {Lengths{0, 2, 1, 5, 6, 8, 8}, Lengths{1, 2, 1, 0, 6, 8, 8}, Lengths{1, 0, 1, 5, 6, 8, 8}, Lengths{1, 2, 1, 0, 0, 8, 8}}) {
    const Program program = makeVariant("plain", {Type::f32, true});
    Tensors tensors(program, randomInputs(n, Type::f32), outputs(n));
    CHECK_NOTHROW(build(program, headDims(n)).launch(tensors.arguments));
  }
}

TEST_CASE("edge rows 42, 44: any strides give the same bits") {
  const Lengths n{2, 4, 4, 33, 33, 16, 16};
  const Program program = makeVariant("causal", {Type::f16, true});
  const Kernel kernel = build(program, headDims(n));
  const Evaluation inputs = randomInputs(n, Type::f16);
  Tensors plain(program, inputs, outputs(n));
  kernel.launch(plain.arguments);

  // q, k, v and o as parts of one buffer [B, S, 4, H, D].
  const std::int64_t row = 4 * n.h * n.d;
  std::vector<std::uint16_t> packed(static_cast<std::size_t>(n.b * n.sq * row), 0xffff);
  Tensors strided(program, inputs, outputs(n));
  const std::vector<std::int64_t> strides{n.sq * row, n.d, row, 1};
  const char *parts[] = {"Q", "K", "V", "O"};
  for (int part = 0; part < 4; ++part) {
    TensorView &view = strided.arguments.tensors[parts[part]];
    view.data = packed.data() + part * n.h * n.d;
    view.strides = strides;
    if (part == 3)
      continue;
    const Array &values = inputs.tensors.at(parts[part]);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.data.size()); ++i) {
      std::int64_t d = i % n.d, s = i / n.d % n.sq, h = i / n.d / n.sq % n.h, b = i / n.d / n.sq / n.h;
      putElement(values.data[static_cast<std::size_t>(i)], Type::f16, static_cast<std::uint16_t *>(view.data) + b * strides[0] + h * strides[1] + s * strides[2] + d);
    }
  }
  kernel.launch(strided.arguments);
  const Array expected = plain.read("O");
  const auto *o = static_cast<const std::uint16_t *>(strided.arguments.tensors["O"].data);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(expected.data.size()); ++i) {
    std::int64_t d = i % n.d, s = i / n.d % n.sq, h = i / n.d / n.sq % n.h, b = i / n.d / n.sq / n.h;
    if (getElement(Type::f16, o + b * strides[0] + h * strides[1] + s * strides[2] + d) != expected.data[static_cast<std::size_t>(i)])
      FAIL("O[" << b << ", " << h << ", " << s << ", " << d << "] differs");
  }
}

TEST_CASE("edge row 26: outputs and workspace full of NaN, ten runs, the same bits") {
  const Lengths n{1, 3, 3, 92, 92, 32, 32};
  const Program program = makeVariant("plain", {Type::f32, true});
  const Kernel kernel = build(program, headDims(n));
  Array first;
  for (int run = 0; run < 10; ++run) {
    Tensors tensors(program, randomInputs(n, Type::f32), outputs(n));
    Aligned workspace(kernel.workspaceBytes(tensors.arguments));
    kernel.launch(hostStream, tensors.arguments, {workspace.data.get(), workspace.bytes});
    Array o = tensors.read("O");
    for (double x : o.data)
      REQUIRE(std::isfinite(x));
    if (run == 0)
      first = o;
    CHECK(o.data == first.data);
  }
}

TEST_CASE("edge row 5: a row of scores at the lowest float is no empty row") {
  const Lengths n{1, 1, 1, 8, 8, 16, 16};
  Tensor bias("bias", Type::f32, 2);
  Attention attention("biased", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  attention.score([&](Tile s, const At &at) { return s + bias(at.query, at.key); });
  const Program program = attention.program();
  Evaluation inputs = randomInputs(n, Type::f32);
  inputs.tensors["bias"] = zeros({8, 8});
  for (std::size_t k = 0; k < 8; ++k)
    inputs.tensors["bias"].data[3 * 8 + k] = -3.4028234663852886e38;
  Tensors tensors(program, inputs, {{"O", {1, 1, 8, 16}}});
  build(program, headDims(n)).launch(tensors.arguments);
  const Array o = tensors.read("O"), v = inputs.tensors["V"];
  for (std::size_t e = 0; e < 16; ++e) {
    double mean = 0;
    for (std::size_t k = 0; k < 8; ++k)
      mean += v.data[k * 16 + e] / 8;
    CHECK(o.data[3 * 16 + e] == Approx(mean).margin(1e-6));
  }
}

TEST_CASE("edge row 8: lse is a natural logarithm") {
  const Lengths n{1, 1, 1, 1, 100, 8, 8};
  const Program program = makeVariant("plain", {Type::f32, true});
  Evaluation inputs = randomInputs(n, Type::f32);
  for (double &x : inputs.tensors["Q"].data)
    x = 0;
  Tensors tensors(program, inputs, outputs(n));
  build(program, headDims(n)).launch(tensors.arguments);
  CHECK(tensors.read("lse").data[0] == Approx(std::log(100.0)).epsilon(1e-6));
}

TEST_CASE("one kernel in many threads at once, each with its own workspace") {
  const Lengths n{2, 2, 1, 40, 50, 32, 32};
  const Program program = makeVariant("causal", {Type::f32, true});
  const Kernel kernel = build(program, headDims(n));
  const Evaluation inputs = randomInputs(n, Type::f32);
  Tensors expected(program, inputs, outputs(n));
  kernel.launch(expected.arguments);
  std::vector<std::vector<double>> results(8);
  std::vector<std::thread> threads;
  for (auto &result : results)
    threads.emplace_back([&] {
      Tensors tensors(program, inputs, outputs(n));
      for (int i = 0; i < 20; ++i)
        kernel.launch(tensors.arguments);
      result = tensors.read("O").data;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (auto &result : results)
    CHECK(result == expected.read("O").data);
}

TEST_CASE("workspace and stream are checked") {
  const Lengths n;
  const Program program = makeVariant("plain", {Type::f32, true});
  const Kernel kernel = build(program, headDims(n));
  Tensors tensors(program, randomInputs(n, Type::f32), outputs(n));
  const std::size_t needed = kernel.workspaceBytes(tensors.arguments);
  Aligned memory(needed + 64);
  CHECK(refusal(kernel, tensors.arguments, {memory.data.get(), needed}) == "accepted");
  CHECK(refusal(kernel, tensors.arguments, {memory.data.get(), needed - 1}) ==
        "the workspace has " + std::to_string(needed - 1) + " bytes, kernel 'plain' needs " + std::to_string(needed) + "; ask workspaceBytes() with the same arguments");
  CHECK(refusal(kernel, tensors.arguments, {nullptr, needed}) == "the workspace has no memory: its address is null; kernel 'plain' needs " + std::to_string(needed) + " bytes");
  CHECK(refusal(kernel, tensors.arguments, {static_cast<std::byte *>(memory.data.get()) + 1, needed}).find("which is no multiple of 64") != std::string::npos);
  CHECK(refusal(kernel, tensors.arguments, {memory.data.get(), needed}, {&memory}) == "kernel 'plain' runs on the CPU, which has no streams; launch it on hostStream");
}

TEST_CASE("heads that do not divide are refused, and nothing is written") {
  const Lengths n{1, 3, 2, 4, 4, 8, 8};
  const Program program = makeVariant("plain", {Type::f32, true});
  Tensors tensors(program, randomInputs(n, Type::f32), outputs(n));
  std::string message;
  try {
    build(program, headDims(n)).launch(tensors.arguments);
  } catch (const ArgumentError &error) {
    message = error.what();
  }
  CHECK(message == "program 'plain': the heads of 'Q' (dimension 1) must be a multiple of the heads of 'K', which has at least one; repeat heads of 'K' or drop some of 'Q' "
                   "(here K.dimension(1) = 2, extent(h) = 3)");
  for (double x : tensors.read("O").data)
    CHECK(std::isnan(x));
}
