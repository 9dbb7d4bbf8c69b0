// Gradients by kernels for the CPU, against a tape in float64.
#include "Launched.h"
#include "support/Compare.h"
#include "support/Tape.h"
#include "support/Thrown.h"
#include "tilewright/kernel/GradientKernels.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;

namespace {

/// Memory for a program and its gradients; what kernels write starts as NaN.
struct GradientRun {
  GradientRun(const Program &program, const Evaluation &inputs, const BuildOptions &options, const GradientOptions &wanted = {}) : kernels(buildGradient(program, options, wanted)), in(inputs) {
    const Gradient &made = kernels.programs();
    std::erase_if(in.tensors, [&](const auto &tensor) { return !mentions(program, tensor.first); });
    Tape tape(program, in);
    const auto outputs = tape.forward();
    std::map<std::string, Array> upstream;
    unsigned seed = 100;
    for (const Store &store : program.stores)
      reserve(store.tensor.name(), store.tensor.type(), outputs.at(store.tensor.name()).shape);
    for (const auto &[output, name] : made.upstream) {
      const Type type = arguments.tensors.at(output).type;
      upstream[output] = randomArray(outputs.at(output).shape, ++seed, type);
      reserve(name, type, upstream[output].shape, &upstream[output]);
    }
    expected = tape.backward(upstream);
    for (const auto &tensor : tensorsOf(program))
      if (auto given = in.tensors.find(tensor->name); given != in.tensors.end())
        reserve(tensor->name, tensor->type, given->second.shape, &given->second);
    arguments.scalars = in.scalars;
    for (const Program &each : made.backward)
      for (const Store &store : each.stores)
        for (const auto &[input, name] : made.gradients)
          if (name == store.tensor.name())
            reserve(name, store.tensor.type(), in.tensors.count(input) ? in.tensors.at(input).shape : std::vector<std::int64_t>{1});
    workspace.assign(kernels.workspaceBytes(arguments) + 64, std::byte(0xff));
  }

  static bool mentions(const Program &program, const std::string &name) {
    for (const auto &tensor : tensorsOf(program))
      if (tensor->name == name)
        return true;
    return false;
  }

  void run() {
    void *start = workspace.data();
    std::size_t room = workspace.size();
    start = std::align(64, room - 64, start, room);
    kernels.forward(hostStream, arguments, {start, room});
    kernels.backward(hostStream, arguments, {start, room});
  }

  [[nodiscard]] Array of(const std::string &input) const { return read(kernels.programs().gradients.at(input)); }

  [[nodiscard]] Array read(const std::string &name) const {
    const TensorView &view = arguments.tensors.at(name);
    std::size_t count = 1;
    for (std::int64_t n : view.shape)
      count *= std::size_t(n);
    return {view.shape, getElements(view.type, view.data, count)};
  }

  GradientKernels kernels;
  Evaluation in;
  Arguments arguments;
  std::map<std::string, Array> expected;   // by input

private:
  void reserve(const std::string &name, Type type, const std::vector<std::int64_t> &shape, const Array *values = nullptr) {
    std::size_t count = 1;
    for (std::int64_t n : shape)
      count *= std::size_t(n);
    auto &bytes = memory[name] = std::vector<std::byte>(count * std::size_t(tw::bytes(type)) + 1, std::byte(0xff));
    if (values)
      putElements(values->data, type, bytes.data());
    arguments.tensors[name] = {bytes.data(), type, shape, {}};
  }
  std::map<std::string, std::vector<std::byte>> memory;
  std::vector<std::byte> workspace;
};

/// Every gradient is within what rounding of the type explains, relative to the largest element.
void check(GradientRun &run, Type type) {
  run.run();
  for (const auto &[input, name] : run.kernels.programs().gradients) {
    const Array &want = run.expected.at(input);
    double largest = 0;
    for (double x : want.data)
      largest = std::max(largest, std::abs(x));
    const double u = unitRoundoff(type), sums = unitRoundoff(type == Type::f64 ? Type::f64 : Type::f32);
    const Comparison c = compare(run.of(input), want, {largest * (2 * u + 64 * sums) + 1e-30, u});
    INFO(name << ": " << c.summary);
    CHECK(c.ok);
  }
}

Evaluation inputsFor(const Lengths &n, Type type) {
  Evaluation in = randomInputs(n, type);
  in.tensors["slopes"] = randomArray({n.h}, 9, type == Type::f64 ? Type::f64 : Type::f32, 0.1);
  return in;
}

} // namespace

TEST_CASE("kernels for the CPU compute the gradients of every variant, in every type") {
  const auto [type, variant] = GENERATE(table<Type, std::string>({{Type::f32, "plain"}, {Type::bf16, "causal"}, {Type::f32, "softcap(2)+alibi+window(20,3)"}, {Type::f16, "softcap(2)+alibi+causal"}, {Type::f64, "causal"}}));
  const Lengths n{2, 4, 2, 77, 93, 16, 24};
  INFO(variant << " in " << name(type));
  GradientRun run(makeVariant(variant, {.type = type}), inputsFor(n, type), headDims(n));
  CHECK(run.kernels.programs().gradients.size() == (variant.find("alibi") != std::string::npos ? 4u : 3u));
  check(run, type);
}

TEST_CASE("edge rows 27, 36, 71, 74: odd lengths, groups, rows without a key, empty axes; memory full of NaN before") {
  for (const Lengths &n : {Lengths{1, 2, 2, 77, 77, 8, 8}, Lengths{1, 9, 3, 5, 5, 16, 16}, Lengths{1, 4, 1, 130, 40, 8, 16}, Lengths{1, 2, 1, 5, 0, 8, 8}, Lengths{1, 2, 1, 0, 5, 8, 8}, Lengths{0, 2, 1, 5, 5, 8, 8}}) {
    INFO("B " << n.b << " H " << n.h << " Hkv " << n.hkv << " Sq " << n.sq << " Skv " << n.skv);
    GradientRun run(makeVariant("causal", {.type = Type::f32}), inputsFor(n, Type::f32), headDims(n));
    check(run, Type::f32);
    if (n.sq > n.skv)
      for (std::int64_t i = 0; i < (n.sq - n.skv) * n.d; ++i)
        CHECK(run.of("Q").data[std::size_t(i)] == 0);
  }
}

TEST_CASE("edge rows 13, 16, 17: one query, one key, inputs of 1000") {
  const Program program = makeVariant("plain", {.type = Type::bf16});
  {
    const Lengths n{1, 2, 2, 1, 128, 64, 64};
    Evaluation in = inputsFor(n, Type::bf16);
    for (double &x : in.tensors["Q"].data)
      x = 5;
    for (double &x : in.tensors["K"].data)
      x = roundTo(-5 + 0.01 * x, Type::bf16);
    GradientRun run(program, in, headDims(n));
    check(run, Type::bf16);
  }
  {
    const Lengths n{1, 1, 1, 1, 1, 16, 16};
    GradientRun run(program, inputsFor(n, Type::bf16), headDims(n), {.outputs = {"O"}, .inputs = {}});
    run.run();
    for (const char *name : {"Q", "K"})
      for (double x : run.of(name).data)
        CHECK(std::abs(x) < 0.05);
    const Array dO = run.read("dO");
    for (std::size_t i = 0; i < 16; ++i)
      CHECK(run.of("V").data[i] == dO.data[i]);
  }
  {
    const Lengths n{1, 8, 8, 64, 64, 32, 32};
    Evaluation in = inputsFor(n, Type::bf16);
    for (const char *name : {"Q", "K", "V"})
      for (double &x : in.tensors[name].data)
        x = 1000;
    GradientRun run(program, in, headDims(n));
    run.run();
    for (const char *name : {"Q", "K", "V"})
      for (double x : run.of(name).data)
        CHECK(std::isfinite(x));
  }
}

TEST_CASE("edge rows 64, 67: gradients of captures by kernels: per head, per key, by distance, of a scalar") {
  const Lengths n{2, 4, 2, 33, 41, 8, 8};
  Tensor heat("heat", Type::f32, 1), keys("keys", Type::f32, 2), table("table", Type::f32, 2);
  Attention attention("captures", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  attention.score([=](Tile s, const At &at) {
    return s * scalar("p") / heat(at.head) + keys(at.batch, at.key) + table(min(max(at.query - at.key + 8, 0), 15), at.head);
  }).mask(causal()).lse(Tensor("lse", Type::f32, 3));
  Evaluation in = inputsFor(n, Type::f32);
  in.tensors["heat"] = randomArray({4}, 11, Type::f32, 0.2);
  for (double &x : in.tensors["heat"].data)
    x = roundTo(x + 2, Type::f32);
  in.tensors["keys"] = randomArray({2, 41}, 12, Type::f32);
  in.tensors["table"] = randomArray({16, 4}, 13, Type::f32);
  in.scalars = {{"p", 0.75}};
  GradientRun run(attention.program(), in, headDims(n));
  CHECK(run.kernels.programs().gradients.size() == 7);
  check(run, Type::f32);
  const std::map<std::string, Array> first = {{"Q", run.of("Q")}, {"heat", run.of("heat")}, {"table", run.of("table")}, {"p", run.of("p")}};
  for (int again = 0; again < 3; ++again) {   // edge row 87: the same bits, captures' gradients too
    run.run();
    for (const auto &[input, array] : first)
      CHECK(run.of(input).data == array.data);
  }
}

TEST_CASE("a NaN under a mask reaches no gradient of a kernel") {
  const Lengths n{1, 2, 1, 40, 60, 8, 8};
  Evaluation in = inputsFor(n, Type::f32);
  const Program program = makeVariant("softcap(20)+window(5,0)", {.type = Type::f32});
  GradientRun clean(program, in, headDims(n));
  clean.run();
  for (const char *name : {"K", "V"})
    for (std::size_t i = 0; i < 15 * 8; ++i)
      in.tensors[name].data[i] = NAN;   // keys 0 to 14 are outside of every window
  GradientRun spoiled(program, in, headDims(n));
  spoiled.run();
  for (const char *name : {"Q", "K", "V"})
    CHECK(spoiled.of(name).data == clean.of(name).data);
}

TEST_CASE("edge rows 40, 53: the workspace is linear in the lengths, and counted in 64 bits") {
  auto bytesOf = [](const Lengths &n) {
    const GradientKernels kernels = buildGradient(makeVariant("plain", {.type = Type::bf16}), headDims(n), {.outputs = {"O"}, .inputs = {}});
    Arguments arguments;
    std::uintptr_t at = std::uintptr_t(1) << 45;   // nothing is read there
    auto tensor = [&](const char *name, Type type, std::vector<std::int64_t> shape) {
      arguments.tensors[name] = {reinterpret_cast<void *>(at), type, std::move(shape), {}};
      at += std::uintptr_t(1) << 42;
    };
    tensor("Q", Type::bf16, {n.b, n.h, n.sq, n.d});
    tensor("K", Type::bf16, {n.b, n.hkv, n.skv, n.d});
    tensor("V", Type::bf16, {n.b, n.hkv, n.skv, n.dv});
    tensor("O", Type::bf16, {n.b, n.h, n.sq, n.dv});
    tensor("lse", Type::f32, {n.b, n.h, n.sq});
    return kernels.workspaceBytes(arguments);
  };
  const std::size_t large = bytesOf({1, 128, 128, 16384, 16384, 192, 128});
  CHECK(large < std::size_t(4) << 30);
  CHECK(bytesOf({1, 128, 128, 32768, 32768, 192, 128}) < 2 * large);
  CHECK(bytesOf({15000, 16, 16, 128, 128, 128, 128}) >= std::size_t(15000) * 16 * 128 * 4 * 2);
}

TEST_CASE("arguments of a gradient are checked") {
  const Lengths n{1, 2, 1, 9, 11, 8, 8};
  GradientRun run(makeVariant("causal", {.type = Type::f32}), inputsFor(n, Type::f32), headDims(n));
  Arguments missing = run.arguments;
  missing.tensors.erase("Q");
  CHECK(messageOf<ArgumentError>([&] { (void)run.kernels.workspaceBytes(missing); }) == "tensor 'Q' of program 'causal' is missing; give it, with its shape, in Arguments::tensors");
  std::vector<std::byte> little(64);
  CHECK_THAT(messageOf<ArgumentError>([&] { run.kernels.backward(hostStream, run.arguments, {little.data(), 8}); }),
             Catch::Contains("the workspace has 8 bytes, and ") && Catch::Contains(" lie between the kernels of 'causal'; ask workspaceBytes() with the same arguments"));
}

TEST_CASE("a gradient along queries and keys is refused, and the others are made without it") {
  Tensor bias("bias", Type::f32, 3);
  Attention attention("biased", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  attention.score([=](Tile s, const At &at) { return s + bias(at.head, at.query, at.key); });
  const Lengths n{1, 2, 1, 9, 11, 8, 8};
  CHECK(messageOf<std::invalid_argument>([&] { (void)buildGradient(attention.program(), headDims(n)); }) ==
        "'dbias' runs along both 'q' and 'k', and no kernel makes such a gradient so far; ask for those of other inputs by GradientOptions::inputs, or use evaluateGradient()");
  Evaluation in = inputsFor(n, Type::f32);
  in.tensors["bias"] = randomArray({2, 9, 11}, 5, Type::f32);
  GradientRun run(attention.program(), in, headDims(n), {.outputs = {}, .inputs = {"Q", "K", "V"}});
  check(run, Type::f32);
}
