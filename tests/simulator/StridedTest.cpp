// Kernels for tensors of any strides and alignment, in the simulator: the same numbers as from tensors that lie in pieces of 16 bytes.
#include "EmittedKernel.h"
#include "support/Arrays.h"
#include "support/Captures.h"
#include "support/Compare.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;

namespace {

using Shape = std::vector<std::int64_t>;

/// Rows one element longer than they need be, from an odd element on.
Layout oddRows(const Shape &shape) {
  Layout layout{Shape(shape.size()), 1};
  std::int64_t next = 1;
  for (std::size_t d = shape.size(); d-- > 0; next *= shape[d] + (d + 1 == shape.size()))
    layout.strides[d] = next;
  return layout;
}

/// The last dimension is the slowest of the last two.
Layout transposed(const Shape &shape) {
  Layout layout{Shape(shape.size()), 3};
  std::int64_t next = 1;
  for (std::size_t d = shape.size(); d-- > 0; next *= shape[d])
    layout.strides[d] = next;
  if (shape.size() > 1) {
    layout.strides[shape.size() - 1] = shape[shape.size() - 2];
    layout.strides[shape.size() - 2] = 1;
  } else {
    layout.strides[0] = 2;
  }
  return layout;
}

void check(const std::string &variant, const VariantShape &n, Type type, const char *targetName) {
  const Program program = makeVariant(variant, {.type = type});
  const Target target = withoutCopyEngine(findTarget(targetName));
  Schedule schedule = defaultSchedule(program, target, {{"d", n.d}, {"e", n.dv}});
  schedule.widths["k"] = 32;
  const EmittedKernel kernel(compileDevice(program, schedule, target, {.strided = true}));
  Evaluation inputs{{{"Q", randomArray({n.b, n.h, n.sq, n.d}, 1, type)},
                     {"K", randomArray({n.b, n.hkv, n.skv, n.d}, 2, type)},
                     {"V", randomArray({n.b, n.hkv, n.skv, n.dv}, 3, type)}},
                    {}};
  addCaptures(inputs, variant, n, type);
  std::map<std::string, Shape> shapes{{"O", {n.b, n.h, n.sq, n.dv}}, {"lse", {n.b, n.h, n.sq}}};
  const std::map<std::string, Shape> stored = shapes;
  for (const auto &[name, array] : inputs.tensors)
    shapes[name] = array.shape;
  const auto expected = evaluate(program, inputs);
  std::map<std::string, Array> plain;
  for (int kind = 0; kind < 3; ++kind) {
    std::map<std::string, Layout> layouts;
    for (const auto &[name, shape] : shapes)
      if (kind)
        layouts[name] = kind == 1 ? oddRows(shape) : transposed(shape);
    const EmittedOutcome outcome = kernel.run(inputs, stored, simulatorSettings(0).front(), 2, layouts);
    INFO(variant << " for " << targetName << ", layout " << kind << "\n" << outcome.simulation.text());
    CHECK(outcome.simulation.clean());
    if (!kind)
      plain = outcome.outputs;
    for (const auto &[name, want] : expected) {
      const auto compared = compare(outcome.outputs.at(name), want, roundingOf(name == "O" ? type : Type::f32, 4, double(n.skv + n.d), 40));
      INFO(name << ": " << compared.summary);
      CHECK(compared.ok);
      CHECK(outcome.outputs.at(name).data == plain.at(name).data);
    }
  }
}

}   // namespace

TEST_CASE("edge row 45: odd strides, odd addresses and columns first give the same bits") {
  check("causal", {2, 2, 1, 70, 77, 64, 64}, Type::f16, "h200");
  check("plain", {1, 2, 2, 45, 50, 40, 24}, Type::bf16, "a100");
}

TEST_CASE("edge row 47: vectors and tables of odd lengths and strides") {
  check("forgetting+documents+causal", {2, 2, 1, 43, 43, 64, 64}, Type::bf16, "h200");
  check("bias+padded", {1, 2, 2, 43, 77, 64, 72}, Type::bf16, "l4");
}
