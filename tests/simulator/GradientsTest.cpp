// Backward programs compiled for an H200 and run in the simulator, against float64.
#include "EmittedKernel.h"
#include "support/Arrays.h"
#include "support/Captures.h"
#include "support/Compare.h"
#include "tilewright/artifact/CompileError.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/CostModel.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SearchSpace.h"
#include "tilewright/schedule/Target.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <sstream>

using namespace tw;
using namespace tw::tests;

namespace {

struct Spoiled {
  std::string tensor;
  std::size_t element;
};

/// How a gradient is made and run; `spoiled`: an element that is NaN.
struct How {
  Type type = Type::bf16;
  const char *target = "h200";
  std::optional<Spoiled> spoiled = {};
  bool accumulates = false;
  std::vector<std::string> outputs = {"O"};           // on which the loss depends
  std::function<void(Evaluation &)> change = {};      // of the inputs
  double slack = 0;           // what terms that cancel may leave
  bool onlyFinite = false;    // scores are so large that their rounding alone changes weights: that gradients are finite is all that is known of them
  int triedBlocks = 0;      // blocks a multiprocessor of the schedule, one that a tuner tries; 0: the default one
  const char *fields = "";  // of the schedule, in place of the default one's
};

/// Variants that the gallery has not, and what they read besides.
struct Own {
  std::string name;
  std::function<void(Attention &, Type)> describe;
  std::function<void(Evaluation &, const VariantShape &, Type)> give;
};

const std::vector<Own> owns{
    // The gradient of K is two products: by Q, and by other queries.
    {"queries of two kinds",
     [](Attention &made, Type type) {
       const Tensor Q2("Q2", type, 4);
       made.score([=, &made](Tile s, const At &at) { return s + 0.125 * dot(Q2(at.batch, at.head, at.query, made.d), made.keyTile(), over(made.d)); }).mask(causal());
     },
     [](Evaluation &in, const VariantShape &n, Type type) { in.tensors["Q2"] = randomArray({n.b, n.h, n.sq, n.d}, 4, type); }},
    {"shifted", [](Attention &made, Type) { made.score([](Tile s, const At &at) { return s + (at.query - at.key); }).mask([](const At &at) { return at.query >= at.key; }); },
     [](Evaluation &, const VariantShape &, Type) {}},
    {"scalars",
     [](Attention &made, Type) {
       const Tensor first("first", Type::f32, 1);
       made.score([=](Tile s, const At &at) { return s * scalar("factor") + scalar("slope") * (at.query - at.key) + first(0) * cast(at.key % 3, Type::f32); }).output([](Tile o, const AtOutput &) { return o * scalar("gain"); });
     },
     [](Evaluation &in, const VariantShape &, Type) {
       in.scalars = {{"factor", 0.75}, {"slope", 0.0625}, {"gain", 1.25}};
       in.tensors["first"] = {{1}, {0.5}};
     }},
    {"normed",
     [](Attention &made, Type) {
       const Tensor gain("gain", Type::f32, 2);
       const Axis e = made.e;
       made.mask(causal()).output([=](Tile o, const AtOutput &at) {
         Tile n = cast(extent(e), o.type()), centred = o - sum(o, over(e)) / n;
         return centred * rsqrt(sum(centred * centred, over(e)) / n + 1e-3) * gain(at.head, e);
       });
     },
     [](Evaluation &in, const VariantShape &n, Type) { in.tensors["gain"] = randomArray({n.h, n.dv}, 4, Type::f32); }}};

const Own *ownNamed(const std::string &name) {
  const auto found = std::find_if(owns.begin(), owns.end(), [&](const Own &own) { return own.name == name; });
  return found == owns.end() ? nullptr : &*found;
}

/// A variant of the gallery, or one of these.
Program programOf(const std::string &variant, Type type) {
  const Own *own = ownNamed(variant);
  if (!own)
    return makeVariant(variant, {.type = type});
  Attention made("own", Tensor("Q", type, 4), Tensor("K", type, 4), Tensor("V", type, 4), Tensor("O", type, 4));
  own->describe(made, type);
  return made.program();
}

/// All that the programs of a gradient read and store, each in its type.
Evaluation everything(const std::string &variant, const Gradient &made, const VariantShape &n, const How &how) {
  const Type type = how.type;
  Evaluation in;
  in.tensors["Q"] = randomArray({n.b, n.h, n.sq, n.d}, 1, type);
  in.tensors["K"] = randomArray({n.b, n.hkv, n.skv, n.d}, 2, type);
  in.tensors["V"] = randomArray({n.b, n.hkv, n.skv, n.dv}, 3, type);
  if (const Own *own = ownNamed(variant))
    own->give(in, n, type);
  else
    addCaptures(in, variant, n, type);
  in.tensors["dO"] = randomArray({n.b, n.h, n.sq, n.dv}, 5, type);
  if (made.upstream.contains("lse"))
    in.tensors["dlse"] = randomArray({n.b, n.h, n.sq}, 6, Type::f32);
  if (how.change)
    how.change(in);
  if (how.spoiled)
    in.tensors[how.spoiled->tensor].data[how.spoiled->element] = std::numeric_limits<double>::quiet_NaN();
  for (auto &[name, array] : evaluateGradient(made, in, [](double x, Type to) { return roundTo(x, to); }))
    in.tensors[name] = array;
  return in;
}

std::map<std::string, std::int64_t> innerOf(const Program &program, const VariantShape &n) {
  const Roles roles = rolesOf(program);
  std::map<std::string, std::int64_t> inner;
  for (const auto &[axis, length] : {std::pair("d", n.d), std::pair("e", n.dv)})
    for (std::size_t i = 0; i < roles.axes.size(); ++i)
      if (roles.axes[i].name() == axis && roles.roles[i] == Role::inner)
        inner[axis] = length;
  return inner;
}

/// With as many tiles a program as its kernels have registers for.
Gradient fitting(const Program &program, const VariantShape &n, const Target &target, bool accumulates = false, const std::vector<std::string> &outputs = {"O"}) {
  const GradientOptions two{.outputs = outputs, .inputs = {}, .accumulates = accumulates}, one{.outputs = outputs, .inputs = {}, .tilesPerProgram = 1};
  try {
    Gradient made = gradient(program, two);
    for (const Program &each : made.backward)
      (void)defaultSchedule(each, target, innerOf(each, n));
    return made;
  } catch (const std::invalid_argument &) {
    return gradient(program, one);
  }
}

/// What a tuner tries beside the default schedule: by the cost model's order the first one with so many blocks a multiprocessor and other tiles.
Schedule tried(const Program &program, const LaunchShape &shape, const Schedule &unchanged, int blocksPerSM) {
  for (const RankedSchedule &ranked : rank(program, findTarget("h200"), shape))
    if (ranked.schedule.blocksPerSM == blocksPerSM && ranked.schedule.widths != unchanged.widths)
      return ranked.schedule;
  FAIL("the search space of " << program.name << " has none");
  return {};
}

/// The schedule with other fields.
Schedule with(const Schedule &schedule, const std::string &fields) {
  std::istringstream words(print(schedule));
  std::string text = fields;
  for (std::string word; words >> word;)
    if ((" " + fields).find(" " + word.substr(0, word.find('=') + 1)) == std::string::npos)
      text += " " + word;
  return parseSchedule(text);
}

/// The backward programs, or the one that stores a tensor, in the simulator against evaluate(): reports, and how far off. Under the default schedule, or one that a tuner tries.
void right(const std::string &variant, const VariantShape &n, const std::string &stored = "", const How &how = {}) {
  const Type type = how.type;
  const char *target = how.target;
  const Program program = programOf(variant, type);
  const Gradient made = fitting(program, n, findTarget(target), how.accumulates, how.outputs);
  const Evaluation all = everything(variant, made, n, how);
  for (const Program &each : made.backward) {
    Evaluation in;
    for (const Tile &scalar : scalarsOf(each))
      in.scalars[scalar.node().label] = all.scalars.at(scalar.node().label);
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const auto &tensor : tensorsOf(each))
      in.tensors[tensor->name] = all.tensors.at(tensor->name);
    bool wanted = stored.empty();
    for (const Store &store : each.stores) {
      wanted |= store.tensor.name() == stored;
      shapes[store.tensor.name()] = all.tensors.at(store.tensor.name()).shape;
    }
    if (!wanted)
      continue;
    Schedule schedule = defaultSchedule(each, findTarget(target), innerOf(each, n));
    if (how.triedBlocks) {
      LaunchShape shape{{}, {}, innerOf(each, n)};
      for (const auto &[name, array] : all.tensors)
        shape.tensors[name] = array.shape;
      schedule = tried(each, shape, schedule, how.triedBlocks);
    }
    if (*how.fields)
      schedule = with(schedule, how.fields);
    INFO(each.name << " for " << target << " under " << print(schedule));
    const EmittedKernel kernel(compileDevice(each, schedule, findTarget(target)));
    const auto expected = evaluate(each, in);
    Evaluation given = in;
    for (const auto &[name, shape] : shapes)
      given.tensors.erase(name);
    for (const SimulatorOptions &options : simulatorSettings(0)) {
      const EmittedOutcome outcome = kernel.run(given, shapes, options);
      INFO(outcome.simulation.text());
      CHECK(outcome.simulation.clean());
      for (const auto &[name, shape] : shapes) {
        if (how.onlyFinite) {
          INFO(name);
          CHECK(std::all_of(outcome.outputs.at(name).data.begin(), outcome.outputs.at(name).data.end(), [](double x) { return std::isfinite(x); }));
          continue;
        }
        double largest = 0;
        for (double x : expected.at(name).data)
          largest = std::isnan(x) ? largest : std::max(largest, std::abs(x));
        const Comparison compared =
            compare(outcome.outputs.at(name), expected.at(name), {largest * 3 * unitRoundoff(type) + 1e-6 + how.slack, unitRoundoff(type)}, how.spoiled ? Nans::declared : Nans::refused);
        INFO(name << ": " << compared.summary);
        CHECK(compared.ok);
      }
    }
  }
}

} // namespace

TEST_CASE("dQ on an H200") {
  right("plain", {1, 2, 1, 70, 90, 64, 64}, "dQ");
  right("softcap(20)+causal", {1, 1, 1, 70, 90, 64, 64}, "dQ");
}

TEST_CASE("dK and dV on an H200, summed over the heads of a group") {
  right("plain", {1, 2, 1, 72, 90, 64, 64}, "dK");
  right("causal", {1, 2, 1, 132, 100, 64, 64}, "dK");
}

TEST_CASE("a NaN in dO reaches the keys that its row sees and no others, on an H200") {
  const VariantShape n{1, 1, 1, 132, 100, 64, 64};
  right("causal", n, "dK", {.spoiled = Spoiled{"dO", std::size_t(40 * n.dv + 5)}});      // row 40 sees keys 0 … 8
}

TEST_CASE("dQ summed in memory beside dK and dV, on an H200") {
  right("plain", {1, 2, 1, 72, 140, 64, 64}, "dQ_sum", {.accumulates = true});          // halves of 64 columns; the last keys' tile is cut
  right("plain", {1, 2, 2, 132, 136, 128, 128}, "dQ_sum", {.accumulates = true});
  right("causal", {1, 2, 1, 132, 136, 128, 128}, "dQ_sum", {.accumulates = true});
  right("softcap(20)+window(40,0)", {1, 1, 1, 132, 136, 64, 64}, "dQ_sum", {.accumulates = true});
  right("plain", {1, 2, 1, 72, 70, 8, 40}, "dQ_sum", {.accumulates = true});            // rows that are no whole pieces of what is added at once
  right("plain", {1, 1, 1, 70, 90, 64, 64}, "dQ", {.accumulates = true});
}

TEST_CASE("dQ summed in memory from two outboxes, of what two slots exchange, on an H200") {
  const char *fields = "q=64 exchangeBuffers=2 outboxBuffers=2";
  right("plain", {1, 2, 1, 72, 140, 64, 64}, "dQ_sum", {.accumulates = true, .fields = fields});
  right("causal", {1, 1, 1, 132, 136, 64, 64}, "dQ_sum", {.spoiled = Spoiled{"K", std::size_t(130 * 64 + 5)}, .accumulates = true, .fields = fields});      // items are done again
}

TEST_CASE("dQ summed in memory a step behind, on an H200") {
  const char *fields = "blockBuffers=1 exchangeBuffers=2 delayed=yes", *both = "q=64 exchangeBuffers=2 outboxBuffers=2 delayed=yes";
  right("plain", {1, 2, 1, 72, 140, 64, 64}, "dQ_sum", {.accumulates = true, .fields = both});
  right("causal", {1, 2, 1, 200, 136, 128, 128}, "dQ_sum", {.accumulates = true, .fields = fields});
  right("softcap(20)+window(40,0)", {1, 1, 1, 132, 136, 64, 64}, "dQ_sum", {.accumulates = true, .fields = both});
  right("causal", {1, 1, 1, 132, 136, 64, 64}, "dQ_sum", {.spoiled = Spoiled{"K", std::size_t(130 * 64 + 5)}, .accumulates = true, .fields = both});
  right("causal", {1, 2, 1, 8, 70, 64, 64}, "dQ_sum", {.accumulates = true, .fields = fields});      // keys that no row sees
}

TEST_CASE("a step's first dot issued in the step before, on an H200") {
  right("plain", {1, 2, 1, 72, 140, 64, 64}, "dQ_sum", {.accumulates = true, .fields = "ahead=yes"});
  right("causal", {1, 2, 1, 200, 136, 128, 128}, "dQ_sum", {.accumulates = true, .fields = "blockBuffers=1 exchangeBuffers=2 delayed=yes ahead=yes"});
  right("softcap(20)+window(40,0)", {1, 1, 1, 132, 136, 64, 64}, "dQ_sum", {.accumulates = true, .fields = "q=64 exchangeBuffers=2 outboxBuffers=2 delayed=yes ahead=yes"});
  right("causal", {1, 2, 1, 8, 70, 64, 64}, "dQ_sum", {.accumulates = true, .fields = "ahead=yes"});      // keys that no row sees
  right("causal", {1, 2, 1, 132, 100, 64, 64}, "dK", {.fields = "ahead=yes"});                            // sums in order
}

TEST_CASE("gradients under schedules that a tuner tries, on an H200") {
  right("plain", {1, 2, 1, 72, 140, 64, 64}, "dQ_sum", {.accumulates = true, .triedBlocks = 1});
  right("causal", {1, 2, 1, 132, 100, 64, 64}, "dK", {.triedBlocks = 1});
  right("causal", {1, 1, 1, 132, 100, 64, 64}, "dQ", {.triedBlocks = 2});
}

TEST_CASE("every tile of the search space becomes a kernel of a gradient") {
  const Target &target = findTarget(GENERATE("h200", "a100"));
  std::size_t tiles = 0;
  for (const auto &[accumulates, d] : {std::pair(true, 64), {true, 40}, {false, 64}}) {
    const std::vector<std::int64_t> rows{1, 1, 64, d};
    if (accumulates && !target.isHopper())
      continue;
    const Gradient made = gradient(makeVariant("plain", {.type = Type::bf16}), {.outputs = {"O"}, .inputs = {}, .accumulates = accumulates});
    const LaunchShape shape = backwardShape(made, {{{"Q", rows}, {"K", rows}, {"V", rows}, {"O", rows}, {"lse", {1, 1, 64}}}});
    for (const Program &program : made.backward) {
      std::set<std::string> known;
      for (const Schedule &schedule : searchSpace(program, target, innerExtents(program, shape))) {
        std::string tile = std::to_string(schedule.warpgroups);
        for (const auto &[axis, width] : schedule.widths)
          tile += axis + std::to_string(width);
        if (!known.insert(tile).second)
          continue;
        ++tiles;
        INFO(target.name << " " << program.name << " under " << print(schedule));
        CHECK_NOTHROW(compileDevice(program, schedule, target));
      }
    }
  }
  CHECK(tiles > 50);
}

TEST_CASE("a NaN that a mask hides reaches no sum in memory, on an H200") {
  const VariantShape n{1, 1, 1, 132, 136, 64, 64};
  right("causal", n, "dQ_sum", {.spoiled = Spoiled{"K", std::size_t(130 * n.d + 5)}, .accumulates = true});      // rows from 126 on see key 130
  right("causal", n, "dQ_sum", {.spoiled = Spoiled{"dO", std::size_t(40 * n.dv + 5)}, .accumulates = true});
}

TEST_CASE("gradients of variants with tables, sinks, factors and functions, on both families") {
  const VariantShape n{1, 2, 1, 72, 84, 64, 64};
  for (const char *variant : {"t5+documents+dropout(0.3)+sink", "kerple+jagged+offbyone", "forgetting+longformer", "tanhgated+temperature+bigbird", "relu2+streaming", "linear+alibi", "bias"})
    right(variant, n);
  right("retention", n, "", {.type = Type::f16});
  right("alibi+causal+sink", n, "", {.target = "h200-sm80"});
  right("sigmoid+docprefix", n, "", {.type = Type::f16, .target = "a100"});
}

TEST_CASE("edge row 68: a sink's gradient, with lse in the loss, and without a key, on both families") {
  for (const char *target : {"h200", "a100"})
    for (const VariantShape &n : {VariantShape{1, 6, 2, 72, 84, 64, 32}, VariantShape{1, 2, 2, 8, 0, 64, 64}})
      right("sink+causal", n, "", {.target = target, .outputs = {"O", "lse"}});
}

TEST_CASE("edge row 64: gradients of scalars, on both families") {
  const VariantShape n{2, 2, 1, 72, 84, 64, 64};
  for (const char *target : {"h200", "a100"})
    right("scalars", n, "", {.target = target});
}

TEST_CASE("gradients where outputs are normed, on both families") {
  for (const char *target : {"h200", "a100"})
    right("normed", {1, 2, 1, 72, 84, 64, 64}, "", {.target = target});
}

TEST_CASE("gradients where rows' tiles lie between programs, and where a gradient is more than one product, on both families") {
  const VariantShape n{1, 2, 1, 72, 84, 64, 64};
  right("gated", n);
  right("gated", n, "dQ_sum", {.accumulates = true});
  right("gated+causal", n, "", {.type = Type::f16, .target = "a100"});
  right("differential", n, "dV");
  right("queries of two kinds", n);
  right("queries of two kinds", n, "dQ2_sum", {.accumulates = true});
  right("queries of two kinds", n, "dK", {.target = "a100"});
  right("differential+causal", n, "", {.target = "a100"});
}

TEST_CASE("edge rows 13, 15, 16, 17, 27, on both families: strongly negative scores, a mask and a step of the score together, one query and one key, inputs of 1000, odd lengths") {
  const auto [target, accumulates] = GENERATE(table<const char *, bool>({{"h200", true}, {"h200", false}, {"a100", false}}));
  auto fill = [](Evaluation &in, const char *name, double level, double noise) {
    for (double &x : in.tensors[name].data)
      x = roundTo(level + noise * x, Type::bf16);
  };
  right("plain", {1, 1, 1, 1, 128, 64, 64}, "", {.target = target, .accumulates = accumulates, .change = [&](Evaluation &in) {
    fill(in, "Q", 5, 0);
    fill(in, "K", -5, 0.01);
  }, .slack = 3 * 0x1p-9 * 5 / 8 * 8 / std::sqrt(128)});       // keys that are nearly one: of dQ, roundings of 128 terms that cancel are left
  right("shifted", {1, 1, 1, 193, 193, 64, 64}, "", {.target = target, .accumulates = accumulates});
  right("plain", {1, 1, 1, 1, 1, 16, 16}, "", {.type = Type::f16, .target = target, .accumulates = accumulates, .change = [](Evaluation &in) {
    for (const char *name : {"Q", "K", "V"})
      for (double &x : in.tensors[name].data)
        x = roundTo(3 * x, Type::f16);
    std::fill(in.tensors["dO"].data.begin(), in.tensors["dO"].data.end(), 1.0);
  }, .slack = 0x1p-24 * 2 * 16 * 9 * 9 / 4});      // dO · V and its sum are one and the same; times a key, scaled
  right("plain", {1, 2, 2, 64, 64, 32, 32}, "", {.target = target, .accumulates = accumulates, .change = [&](Evaluation &in) {
    for (const char *name : {"Q", "K", "V"})
      fill(in, name, 1000, 0);
  }, .onlyFinite = true});
  right("plain", {1, 1, 1, 77, 77, 64, 64}, "", {.target = target, .accumulates = accumulates});      // of one head: rows that lie between programs begin at multiples of 16 bytes
}

TEST_CASE("edge rows 16, 36, 74: one of each, groups, no key, no query") {
  for (const VariantShape &n : {VariantShape{1, 1, 1, 1, 1, 64, 64}, VariantShape{1, 4, 1, 36, 20, 64, 64}, VariantShape{1, 2, 1, 8, 0, 64, 64}, VariantShape{1, 2, 1, 0, 5, 64, 64}}) {
    right("causal", n, "dK");
    right("causal", n, "dQ");
  }
}

TEST_CASE("gradients of all variants of the gallery have kernels for GPUs") {
  const VariantShape n{1, 2, 1, 64, 64, 64, 64};
  const Target &target = findTarget(GENERATE("h200", "a100"));
  std::vector<std::string> refused;
  for (const Variant &variant : gallery()) {
    const Program program = makeVariant(variant.name);
    const Gradient made = fitting(program, n, target);
    try {
      for (const Program &each : made.backward)
        (void)compileDevice(each, defaultSchedule(each, target, innerOf(each, n)), target);
    } catch (const std::exception &error) {
      refused.push_back(variant.name);
    }
  }
  CHECK(refused == std::vector<std::string>());   // docs/gallery.md says so
}
