// Masks that are no half planes, on GPUs: the producer lists an item's tiles while the consumers work on another's.
#include "EmittedKernel.h"
#include "programs/Masks.h"
#include "support/Compare.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/Target.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

using namespace tw;
using namespace tw::tests;
using programs::MaskedProgram;
using programs::MaskedSizes;

namespace {

const MaskedProgram &masked(const std::vector<MaskedProgram> &all, const std::string &name) {
  auto found = std::find_if(all.begin(), all.end(), [&](const MaskedProgram &one) { return one.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

Evaluation inputsOf(const MaskedProgram &masked, const MaskedSizes &n, std::int64_t columns) {
  Evaluation inputs{masked.tables, {}};
  inputs.tensors["Q"] = randomArray({n.b, n.h, n.sq, n.d}, 1, Type::bf16);
  inputs.tensors["K"] = randomArray({n.b, n.h, n.skv, n.d}, 2, Type::bf16);
  inputs.tensors["V"] = randomArray({n.b, n.h, n.skv, columns}, 3, Type::bf16);
  return inputs;
}
Evaluation inputsOf(const MaskedProgram &masked, const MaskedSizes &n) { return inputsOf(masked, n, n.d); }

/// Under every setting, against evaluate(); each block must go on to another item, whose list comes into another slot.
void right(const MaskedProgram &masked, const Evaluation &inputs, const MaskedSizes &n, const std::string &target, const std::string &schedule) {
  const Artifact artifact = compileDevice(masked.program, parseSchedule(schedule), findTarget(target));
  INFO(masked.name << " for " << target << " under " << schedule);
  CHECK(artifact.launch.listSlots > 0);
  const EmittedKernel kernel(artifact);
  const std::map<std::string, std::vector<std::int64_t>> stored{{"O", {n.b, n.h, n.sq, inputs.tensors.at("V").shape[3]}}, {"lse", {n.b, n.h, n.sq}}};
  Evaluation measured = inputs;
  for (const auto &[name, shape] : stored)
    measured.tensors[name] = zeros(shape);
  const auto expected = evaluate(masked.program, measured);
  for (const SimulatorOptions &options : simulatorSettings(0)) {
    const EmittedOutcome outcome = kernel.run(inputs, stored, options);
    INFO(outcome.simulation.text());
    CHECK(outcome.simulation.clean());
    CHECK(outcome.countersAreZero);
    CHECK(outcome.items >= 2 * outcome.blocks);
    for (const auto &[name, shape] : stored) {
      const auto compared = compare(outcome.outputs.at(name), expected.at(name), roundingOf(Type::bf16, 4, double(n.skv + n.d), 8), Nans::declared);
      INFO(name << ": " << compared.summary);
      CHECK(compared.ok);
    }
  }
}

const std::string narrow = "block=q d=64 e=64 k=32 q=64 warpgroups=1 stages=2 blockBuffers=1 overlap=no turns=no drawn=no stabilised=no",
                  held = "block=q d=64 e=64 k=32 q=64 warpgroups=1 stages=2 blockBuffers=1 overlap=no turns=no drawn=yes stabilised=yes",
                  overlapped = "block=q d=64 e=64 k=32 q=128 warpgroups=2 stages=3 blockBuffers=1 overlap=yes turns=yes drawn=yes stabilised=yes",
                  tall = "block=q d=64 e=64 k=32 q=128 warpgroups=1 stages=2 blockBuffers=1 overlap=no turns=no drawn=yes stabilised=yes",
                  passes = "block=q d=64 e=272 k=32 q=64 warpgroups=1 stages=2 blockBuffers=1 overlap=no turns=no drawn=no stabilised=no nested=e:136x1";

} // namespace

TEST_CASE("lists of tiles in the simulator, for an H200") {
  const MaskedSizes n{2, 1, 170, 300, 64};
  const auto all = programs::masks(Type::bf16, n);
  for (const char *name : {"sink_window", "two_bands"})
    right(masked(all, name), inputsOf(masked(all, name), n), n, "h200", narrow);
  for (const char *name : {"documents", "documents_causal", "packed", "prefix", "events", "blocks", "block_lists", "row_bounds", "chosen_batches"})
    right(masked(all, name), inputsOf(masked(all, name), n), n, "h200", overlapped);
}

TEST_CASE("lists of tiles in the simulator, where warps copy") {
  const MaskedSizes n{2, 1, 170, 300, 64};
  const auto all = programs::masks(Type::bf16, n);
  for (const char *name : {"not_window", "relative", "padded_lists", "row_bounds", "chosen_batches"})
    right(masked(all, name), inputsOf(masked(all, name), n), n, "a100", held);
  right(masked(all, "documents"), inputsOf(masked(all, "documents"), n), n, "a100", tall);
  right(masked(all, "packed_causal"), inputsOf(masked(all, "packed_causal"), n), n, "a100", tall);
  right(masked(all, "dilated_blocks"), inputsOf(masked(all, "dilated_blocks"), n), n, "a100", narrow);
}

TEST_CASE("lists of tiles in the simulator: what a mask hides spoils nothing, and spoilt items are listed again") {
  const MaskedSizes n{1, 2, 130, 200, 64};
  const auto all = programs::masks(Type::bf16, n);
  const MaskedProgram &documents = masked(all, "documents");
  Evaluation inputs = inputsOf(documents, n);
  std::fill_n(inputs.tensors["V"].data.begin() + 100 * n.d, n.d, std::numeric_limits<double>::quiet_NaN());
  right(documents, inputs, n, "h200", overlapped);
  right(documents, inputs, n, "a100", held);
}

TEST_CASE("lists of tiles in the simulator, where all passes of an item walk one") {
  const MaskedSizes n{2, 1, 170, 300, 64};
  const auto all = programs::masks(Type::bf16, n);
  for (auto [name, target] : {std::pair("documents_causal", "h200"), {"prefix", "h200"}, {"documents", "a100"}}) {
    Evaluation inputs = inputsOf(masked(all, name), n, 264);
    // In a column of the first pass: the accumulators of the last one do not tell of it.
    inputs.tensors["V"].data[100 * 264 + 5] = std::numeric_limits<double>::quiet_NaN();
    right(masked(all, name), inputs, n, target, passes);
  }
}
