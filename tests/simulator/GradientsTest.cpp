// Backward programs compiled for an H200 and run in the simulator, against float64.
#include "EmittedKernel.h"
#include "support/Arrays.h"
#include "support/Compare.h"
#include "tilewright/artifact/CompileError.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/Target.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <optional>

using namespace tw;
using namespace tw::tests;

namespace {

struct Lengths {
  std::int64_t b, h, hkv, sq, skv, d, dv;
};

/// All that the programs of a gradient read and store, each in its type.
struct Spoiled {
  std::string tensor;
  std::size_t element;
};

/// `spoiled`: an element that is NaN.
Evaluation everything(const Gradient &made, const Program &program, const Lengths &n, const std::optional<Spoiled> &spoiled) {
  Evaluation in;
  const std::map<std::string, std::vector<std::int64_t>> shapes{{"Q", {n.b, n.h, n.sq, n.d}}, {"K", {n.b, n.hkv, n.skv, n.d}}, {"V", {n.b, n.hkv, n.skv, n.dv}}, {"slopes", {n.h}}, {"O", {n.b, n.h, n.sq, n.dv}}};
  unsigned seed = 0;
  for (const auto &tensor : tensorsOf(program))
    if (tensor->name != "O" && tensor->name != "lse")
      in.tensors[tensor->name] = randomArray(shapes.at(tensor->name), ++seed, tensor->type, tensor->name == "slopes" ? 0.1 : 1);
  in.tensors["dO"] = randomArray(shapes.at("O"), ++seed, Type::bf16);
  if (spoiled)
    in.tensors[spoiled->tensor].data[spoiled->element] = std::numeric_limits<double>::quiet_NaN();
  for (auto &[name, array] : evaluateGradient(made, in, [](double x, Type type) { return roundTo(x, type); }))
    in.tensors[name] = array;
  return in;
}

/// The backward program that stores a tensor, in the simulator against evaluate(); its reports, and how far off.
void right(const std::string &variant, const Lengths &n, const std::string &stored, const std::optional<Spoiled> &spoiled = {}, bool accumulates = false) {
  const Program program = makeVariant(variant, {.type = Type::bf16});
  const Gradient made = gradient(program, {.outputs = {"O"}, .inputs = {}, .accumulates = accumulates});
  const Evaluation all = everything(made, program, n, spoiled);
  for (const Program &each : made.backward) {
    Evaluation in;
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const auto &tensor : tensorsOf(each))
      in.tensors[tensor->name] = all.tensors.at(tensor->name);
    bool wanted = false;
    for (const Store &store : each.stores) {
      wanted |= store.tensor.name() == stored;
      shapes[store.tensor.name()] = all.tensors.at(store.tensor.name()).shape;
    }
    if (!wanted)
      continue;
    const Roles roles = rolesOf(each);
    std::map<std::string, std::int64_t> inner;
    for (const auto &[axis, length] : {std::pair("d", n.d), std::pair("e", n.dv)})
      for (std::size_t i = 0; i < roles.axes.size(); ++i)
        if (roles.axes[i].name() == axis && roles.roles[i] == Role::inner)
          inner[axis] = length;
    const Schedule schedule = defaultSchedule(each, findTarget("h200"), inner);
    INFO(each.name << " under " << print(schedule));
    const EmittedKernel kernel(compileDevice(each, schedule, findTarget("h200")));
    const auto expected = evaluate(each, in);
    Evaluation given = in;
    for (const auto &[name, shape] : shapes)
      given.tensors.erase(name);
    for (const SimulatorOptions &options : simulatorSettings(0)) {
      const EmittedOutcome outcome = kernel.run(given, shapes, options);
      INFO(outcome.simulation.text());
      CHECK(outcome.simulation.clean());
      for (const auto &[name, shape] : shapes) {
        double largest = 0;
        for (double x : expected.at(name).data)
          largest = std::isnan(x) ? largest : std::max(largest, std::abs(x));
        const Comparison compared =
            compare(outcome.outputs.at(name), expected.at(name), {largest * 3 * unitRoundoff(Type::bf16), unitRoundoff(Type::bf16)}, spoiled ? Nans::declared : Nans::refused);
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
  const Lengths n{1, 1, 1, 132, 100, 64, 64};
  right("causal", n, "dK", Spoiled{"dO", std::size_t(40 * n.dv + 5)});      // row 40 sees keys 0 … 8
}

TEST_CASE("dQ summed in memory beside dK and dV, on an H200") {
  right("plain", {1, 2, 1, 72, 140, 64, 64}, "dQ_sum", {}, true);          // halves of 64 columns; the last keys' tile is cut
  right("plain", {1, 2, 2, 132, 136, 128, 128}, "dQ_sum", {}, true);
  right("causal", {1, 2, 1, 132, 136, 128, 128}, "dQ_sum", {}, true);
  right("softcap(20)+window(40,0)", {1, 1, 1, 132, 136, 64, 64}, "dQ_sum", {}, true);
  right("plain", {1, 1, 1, 70, 90, 64, 64}, "dQ", {}, true);
}

TEST_CASE("a NaN that a mask hides reaches no sum in memory, on an H200") {
  const Lengths n{1, 1, 1, 132, 136, 64, 64};
  right("causal", n, "dQ_sum", Spoiled{"K", std::size_t(130 * n.d + 5)}, true);      // rows from 126 on see key 130
  right("causal", n, "dQ_sum", Spoiled{"dO", std::size_t(40 * n.dv + 5)}, true);
}
