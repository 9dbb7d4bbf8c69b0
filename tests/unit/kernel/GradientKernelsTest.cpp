// Gradients by kernels for the CPU, against a tape in float64.
#include "GradientRun.h"
#include "support/Captures.h"
#include "support/Thrown.h"
#include "tilewright/kernel/BetweenKernels.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdlib>
#include <new>

/// Allocations of this thread.
static thread_local std::uint64_t allocated = 0;
void *operator new(std::size_t bytes) {
  ++allocated;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

using namespace tw;
using namespace tw::tests;

TEST_CASE("kernels for the CPU compute the gradients of every variant of the gallery") {
  // Several in one, so that few kernels are built; each name stands in one. A gradient of forgetting is 0, its terms cancel: `run --check` has a tolerance for that.
  const std::vector<std::string> together{"t5+documents+sink",   "kerple+jagged+offbyone",        "qknorm+natten1d",      "graphormer+graph", "relative+streaming",   "sigmoid+docprefix", "relu2+dilated",   "linear+strided",   "retention+padded",
                                          "tanhgated+temperature+bigbird", "differential+chunked", "gated+natten2d+dropout", "bias+kvcache",     "blockcausal+alibi",    "prefix+softcapfast", "longformer+gemma2+blocklists", "causal+softcap+window", "plain"};
  for (const Variant &variant : gallery())
    CHECK((variant.name == "forgetting" || std::any_of(together.begin(), together.end(), [&](const std::string &names) { return ("+" + names + "+").find("+" + variant.name + "+") != names.npos; })));
  const Lengths n{1, 4, 2, 37, 45, 8, 16};
  for (const std::string &variant : together) {
    INFO(variant);
    Evaluation in = inputsFor(n, Type::f32);
    addCaptures(in, variant, {n.b, n.h, n.hkv, n.sq, n.skv, n.d, n.dv}, Type::f32);
    GradientRun run(makeVariant(variant, {.type = Type::f32}), in, headDims(n));
    check(run, Type::f32);
  }
}

TEST_CASE("kernels for the CPU compute gradients in every type") {
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
    if (n.sq == 77) {
      const Lengths wide{1, 2, 2, 77, 77, 64, 64};
      GradientRun plain(makeVariant("plain", {.type = Type::bf16}), inputsFor(wide, Type::bf16), headDims(wide));
      check(plain, Type::bf16);
    }
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
    Evaluation in = inputsFor(n, Type::f16);
    for (const char *name : {"Q", "K", "V"})
      for (double &x : in.tensors[name].data)
        x = roundTo(3 * x, Type::f16);
    GradientRun run(makeVariant("plain", {.type = Type::f16}), in, headDims(n), {.outputs = {"O"}, .inputs = {}});
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

TEST_CASE("kernels for the CPU add sums of steps to memory too") {
  const auto [type, variant] = GENERATE(table<Type, std::string>({{Type::f32, "plain"}, {Type::bf16, "causal"}, {Type::f64, "softcap(2)+alibi+window(20,3)"}}));
  const Lengths n{2, 4, 2, 77, 93, 16, 24};
  INFO(variant << " in " << name(type));
  GradientRun run(makeVariant(variant, {.type = type}), inputsFor(n, type), headDims(n), {.outputs = {"O"}, .inputs = {"Q", "K", "V"}, .accumulates = true});
  const std::vector<Kernel> kernels = run.kernels.kernels();
  CHECK(std::any_of(kernels.begin(), kernels.end(), [](const Kernel &kernel) { return kernel.describe().find("adds to   dQ_sum") != std::string::npos; }));
  check(run, type);
  check(run, type);       // from 0 again
}

TEST_CASE("sums of steps that there are none of are 0") {
  const Lengths n{1, 2, 1, 5, 0, 16, 16};
  GradientRun run(makeVariant("plain", {.type = Type::f32}), inputsFor(n, Type::f32), headDims(n), {.outputs = {"O"}, .inputs = {}, .accumulates = true});
  run.run();
  for (double x : run.of("Q").data)
    CHECK(x == 0);
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

TEST_CASE("edge row 63: what a mask and a score capture reaches the backward kernels, or is asked for") {
  const Lengths n{2, 4, 2, 33, 41, 8, 8};
  const Tensor keep("keep", Type::boolean, 2), slope("slope", Type::f32, 1);
  Attention attention("row63", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  attention.score([=](Tile s, const At &at) { return s + slope(at.head) * abs(at.query - at.key); }).mask([=](const At &at) { return keep(at.batch, at.key) & (at.key <= at.query + 8); });
  Evaluation in = inputsFor(n, Type::f32);
  in.tensors["slope"] = randomArray({4}, 11, Type::f32, 0.1);
  in.tensors["keep"] = randomArray({2, 41}, 12);
  for (double &x : in.tensors["keep"].data)
    x = x > -0.5;
  GradientRun run(attention.program(), in, headDims(n));
  CHECK(run.kernels.programs().gradients.size() == 4);
  check(run, Type::f32);
  for (const char *name : {"keep", "slope"}) {
    Arguments without = run.arguments;
    without.tensors.erase(name);
    std::vector<std::byte> memory(run.kernels.workspaceBytes(run.arguments) + 64);
    void *start = memory.data();
    std::size_t room = memory.size();
    start = std::align(64, room - 64, start, room);
    CHECK_THAT(messageOf<ArgumentError>([&] { run.kernels.backward(hostStream, without, {start, room}); }), Catch::StartsWith("tensor '" + std::string(name) + "' is missing: program '") && Catch::Contains("; give it in Arguments::tensors"));
  }
}

TEST_CASE("edge row 66: the gradient of a bf16 bias is bf16, rounded once from a sum in f32") {
  const Lengths n{24, 2, 1, 40, 33, 8, 8};
  const Tensor bias("bias", Type::bf16, 2);
  Attention attention("row66", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  attention.score([=](Tile s, const At &at) { return s + bias(at.head, at.key); });
  Evaluation in = inputsFor(n, Type::f32);
  in.tensors["bias"] = randomArray({2, 33}, 11, Type::bf16);
  GradientRun run(attention.program(), in, headDims(n));
  run.run();
  CHECK(run.arguments.tensors.at("dbias").type == Type::bf16);
  // Each of 960 terms rounded to bf16 before it is added would be off by more than once.
  const Comparison c = compare(run.of("bias"), run.expected.at("bias"), {1e-4, 1.01 * unitRoundoff(Type::bf16)});
  INFO(c.summary);
  CHECK(c.ok);
}

TEST_CASE("edge rows 40, 53: what lies between kernels is linear in the lengths in either form for a GPU, and counted in 64 bits") {
  for (bool deterministic : {true, false})
    for (const char *target : {"h200", "a100"}) {
      auto bytesOf = [&](const Lengths &n) {
        const Gradient made = gradientFor(makeVariant("plain"), {.target = target, .extents = {{"d", n.d}, {"e", n.dv}}, .deterministic = deterministic}, {.outputs = {"O"}, .inputs = {}});
        Arguments arguments;
        auto tensor = [&](const char *name, Type type, std::vector<std::int64_t> shape) { arguments.tensors[name] = {nullptr, type, std::move(shape), {}}; };
        tensor("Q", Type::bf16, {n.b, n.h, n.sq, n.d});
        tensor("K", Type::bf16, {n.b, n.hkv, n.skv, n.d});
        tensor("V", Type::bf16, {n.b, n.hkv, n.skv, n.dv});
        tensor("O", Type::bf16, {n.b, n.h, n.sq, n.dv});
        tensor("lse", Type::f32, {n.b, n.h, n.sq});
        return layOut(made, arguments, nullptr).bytes;
      };
      INFO(target << (deterministic ? ", deterministic" : ""));
      const std::size_t once = bytesOf({1, 128, 128, 16384, 16384, 192, 128});
      CHECK(once < std::size_t(4) << 30);
      CHECK(bytesOf({1, 128, 128, 32768, 32768, 192, 128}) == 2 * once);
      const std::size_t many = bytesOf({15000, 16, 16, 128, 128, 128, 128}), rows = std::size_t(15000) * 16 * 128 * 4;
      CHECK(many >= 2 * rows);
      CHECK(many <= (deterministic ? 3 : 3 + 128) * rows);
    }
}

TEST_CASE("steps that add to memory copy no rows of the caller's, which may begin anywhere") {
  auto adds = [](std::function<Tile(const Tensor &, const At &)> factor, unsigned rank) {
    const Tensor table("table", Type::f32, rank);
    Attention made("factors", Tensor("Q", Type::bf16, 4), Tensor("K", Type::bf16, 4), Tensor("V", Type::bf16, 4), Tensor("O", Type::bf16, 4));
    made.score([=](Tile s, const At &at) { return s * factor(table, at); });
    const Gradient gradients = gradientFor(made.program(), {.target = "h200", .extents = {{"d", 64}, {"e", 64}}}, {.outputs = {"O"}, .inputs = {"Q", "K", "V"}});
    return std::any_of(gradients.intermediates.begin(), gradients.intermediates.end(), [](const Intermediate &between) { return between.tensor.name() == "dQ_sum"; });
  };
  CHECK(adds([](const Tensor &t, const At &at) { return t(at.head); }, 1));
  CHECK(adds([](const Tensor &t, const At &at) { return t(at.query); }, 1));
  CHECK(adds([](const Tensor &t, const At &at) { return t(at.head, at.key); }, 2));
  CHECK_FALSE(adds([](const Tensor &t, const At &at) { return t(at.batch, at.head, at.query); }, 3));
}

TEST_CASE("under a mask that skips tiles steps add to memory where they add large tiles") {
  auto adds = [](const char *variant, std::int64_t d, bool deterministic) {
    const Gradient made = gradientFor(makeVariant(variant, {.type = Type::bf16}), {.target = "h200", .extents = {{"d", d}, {"e", d}}, .deterministic = deterministic}, {.outputs = {"O"}, .inputs = {"Q", "K", "V"}});
    return std::any_of(made.intermediates.begin(), made.intermediates.end(), [](const Intermediate &between) { return between.tensor.name() == "dQ_sum"; });
  };
  CHECK(adds("plain", 64, false));
  CHECK(adds("plain", 128, false));
  CHECK_FALSE(adds("causal", 64, false));
  CHECK(adds("causal", 128, false));
  CHECK_FALSE(adds("causal", 128, true));
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

TEST_CASE("a repeated launch allocates no more than its kernels do, launched one by one") {
  const Lengths n{1, 2, 1, 9, 11, 8, 8};
  GradientRun run(makeVariant("alibi", {.type = Type::f32}), inputsFor(n, Type::f32), headDims(n));
  run.run();
  const Gradient &made = run.kernels.programs();
  // Whose arguments are accepted is kept in few places, found by addresses: where two kernels share one, elsewhere they do not.
  constexpr std::size_t places = 8;
  const std::size_t needed = run.kernels.workspaceBytes(run.arguments);
  std::vector<std::byte> memory(needed + (places + 1) * 256);
  auto allocatesNoMore = [&](std::size_t place) {
    const Workspace workspace{reinterpret_cast<void *>((reinterpret_cast<std::uintptr_t>(memory.data()) + 255) / 256 * 256 + place * 256), needed};
    Arguments all = run.arguments;
    const BetweenKernels between = layOut(made, all, workspace.data);
    all.tensors.insert(between.tensors.begin(), between.tensors.end());
    const Workspace own{static_cast<std::byte *>(workspace.data) + between.bytes, workspace.bytes - between.bytes};
    std::vector<std::pair<Kernel, Arguments>> steps;
    const std::vector<Kernel> kernels = run.kernels.kernels();
    for (std::size_t i = 0; i < made.backward.size(); ++i) {
      steps.push_back({kernels[i + 1], {}});
      for (const auto &tensor : tensorsOf(made.backward[i]))
        steps.back().second.tensors[tensor->name] = all.tensors.at(tensor->name);
    }
    auto oneByOne = [&] {
      for (const auto &[kernel, arguments] : steps)
        kernel.launch(hostStream, arguments, own);
    };
    auto together = [&] { run.kernels.backward(hostStream, run.arguments, workspace); };
    run.kernels.forward(hostStream, run.arguments, workspace);
    auto allocations = [](auto launch) {
      launch();   // what is kept from launch to launch is there now
      const std::uint64_t before = allocated;
      launch();
      return allocated - before;
    };
    return allocations(together) <= allocations(oneByOne);
  };
  bool any = false;
  for (std::size_t place = 0; place < places && !any; ++place)
    any = allocatesNoMore(place);
  CHECK(any);
}

TEST_CASE("rows between kernels begin at multiples of 16 bytes, whatever the lengths") {
  const Lengths n{2, 2, 1, 7, 11, 8, 8};
  GradientRun run(makeVariant("causal", {.type = Type::f32}), inputsFor(n, Type::f32), headDims(n));
  const BetweenKernels between = layOut(run.kernels.programs(), run.arguments, nullptr);
  REQUIRE(between.tensors.size() == 2);
  for (const auto &[name, view] : between.tensors) {
    CHECK(view.shape == std::vector<std::int64_t>{2, 2, 7});
    CHECK(view.strides == std::vector<std::int64_t>{16, 8, 1});
    CHECK(reinterpret_cast<std::uintptr_t>(view.data) % 256 == 0);
  }
  CHECK(between.bytes == 2 * 256);
}

TEST_CASE("where two tiles are too much for a kernel's registers, each program carries one") {
  auto programs = [](const char *variant, std::int64_t d, const char *target) {
    const BuildOptions options{.target = target, .extents = {{"d", d}, {"e", d}}};
    return gradientFor(makeVariant(variant), options, {.outputs = {"O"}, .inputs = {"Q", "K", "V"}}).backward.size();
  };
  CHECK(programs("plain", 64, "h200") == 3);
  CHECK(programs("plain", 256, "h200") == 4);
  CHECK(programs("plain", 256, "host") == 3);
}

TEST_CASE("arguments of a gradient are checked") {
  const Lengths n{1, 2, 1, 9, 11, 8, 8};
  GradientRun run(makeVariant("causal", {.type = Type::f32}), inputsFor(n, Type::f32), headDims(n));
  Arguments missing = run.arguments;
  missing.tensors.erase("Q");
  CHECK(messageOf<ArgumentError>([&] { (void)run.kernels.workspaceBytes(missing); }) == "tensor 'Q' of program 'causal' is missing; give it, with its shape, in Arguments::tensors");
  Arguments more = run.arguments;
  more.tensors["dslope"] = more.tensors.at("dQ");
  CHECK(messageOf<ArgumentError>([&] { run.kernels.forward(hostStream, more, {}); }) ==
        "tensor 'dslope' is no tensor of the gradient of program 'causal', which has K, O, Q, V, dK, dO, dQ, dV, dlse, lse; leave it out");
  more = run.arguments;
  more.scalars["p"] = 1;
  CHECK(messageOf<ArgumentError>([&] { run.kernels.backward(hostStream, more, {}); }) == "scalar 'p' is no scalar of the gradient of program 'causal', which has none; leave it out");
  Arguments huge = run.arguments;
  huge.tensors.at("Q").shape = {std::int64_t(1) << 30, std::int64_t(1) << 30, 9, 8};
  CHECK(messageOf<ArgumentError>([&] { run.kernels.backward(hostStream, huge, {}); }) == "what lies between the kernels of 'causal' has more than 2^63 bytes; launch it on parts");
  std::vector<std::byte> little(64);
  CHECK_THAT(messageOf<ArgumentError>([&] { run.kernels.backward(hostStream, run.arguments, {little.data(), 8}); }),
             Catch::Contains("the workspace has 8 bytes, and ") && Catch::Contains(" lie between the kernels of 'causal'; ask workspaceBytes() with the same arguments"));
}

TEST_CASE("edge row 67: kernels make the gradient of a bias along queries and keys, whatever it lacks or reads by") {
  const Lengths n{2, 4, 2, 19, 23, 8, 16};
  auto biased = [&](std::vector<std::int64_t> shape, ScoreFunction step) {
    Attention attention("biased", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
    attention.score(std::move(step)).score(softcap(5)).mask(causal());
    Evaluation in = inputsFor(n, Type::f32);
    in.tensors["bias"] = randomArray(std::move(shape), 5, Type::f32);
    GradientRun run(attention.program(), in, headDims(n));
    CHECK(run.kernels.programs().gradients.size() == 4);
    check(run, Type::f32);
  };
  const Tensor all("bias", Type::f32, 4), heads("bias", Type::f32, 3), pairs("bias", Type::f32, 2);
  SECTION("over all") { biased({2, 4, 19, 23}, [=](Tile s, const At &at) { return s + all(at.batch, at.head, at.query, at.key); }); }
  SECTION("over one batch and one head") { biased({1, 1, 19, 23}, [=](Tile s, const At &at) { return s + all(0, 0, at.query, at.key); }); }
  SECTION("over heads of keys") { biased({2, 19, 23}, [=](Tile s, const At &at) { return s + heads(at.head / 2, at.query, at.key); }); }
  SECTION("over neither, as a factor") { biased({19, 23}, [=](Tile s, const At &at) { return s * pairs(at.query, at.key); }); }
}

TEST_CASE("gradients of rows' tiles: by kernels of steps, or of elements where none is asked for") {
  const Lengths n{1, 2, 1, 9, 11, 8, 8};
  const Program program = makeVariant("gated", {.type = Type::f32});
  Evaluation in = inputsFor(n, Type::f32);
  in.tensors["gates"] = randomArray({1, 2, 9, 8}, 5, Type::f32);
  for (const std::vector<std::string> &inputs : {std::vector<std::string>{"gates"}, {"gates", "Q"}, {"V"}, {}}) {
    GradientRun run(program, in, headDims(n), {.outputs = {"O"}, .inputs = inputs});
    check(run, Type::f32);
  }
}
