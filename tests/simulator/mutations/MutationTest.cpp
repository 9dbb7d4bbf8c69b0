// Every bug planted in the text of an emitted kernel is found: reported by the simulator, or seen in the results.
#include "DeviceModule.h"
#include "EmittedKernel.h"
#include "Mutations.h"
#include "support/Arrays.h"
#include "tilewright/artifact/RuntimeError.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

using namespace tw;
using namespace tw::tests;

namespace {

constexpr int heads = 2, queries = 300, keys = 430, depth = 128, blockWidth = 128, foldWidth = 128, stages = 2, blocks = 2;

/// mutations/causal.mlir on random numbers: what it is given, and what it must make of it.
struct CausalProblem {
  Artifact artifact = emitFile(TILEWRIGHT_MUTATIONS "/causal.mlir");
  Evaluation inputs;
  Array expected = zeros({1, heads, queries, depth});

  CausalProblem() {
    artifact.parameters = {{Parameter::Kind::tensor, "Q", "bf16", 4},
                           {Parameter::Kind::tensor, "K", "bf16", 4},
                           {Parameter::Kind::tensor, "V", "bf16", 4},
                           {Parameter::Kind::tensor, "O", "bf16", 4, true}};
    artifact.axes = {{"b", AxisFacts::Role::free, 1, {{"Q", 0}}},
                     {"h", AxisFacts::Role::free, 1, {{"Q", 1}}},
                     {"q", AxisFacts::Role::block, blockWidth, {{"Q", 2}}},
                     {"k", AxisFacts::Role::fold, foldWidth, {{"K", 2}}}};
    inputs.tensors["Q"] = randomArray({1, heads, queries, depth}, 1, Type::bf16);
    inputs.tensors["K"] = randomArray({1, heads, keys, depth}, 2, Type::bf16);
    inputs.tensors["V"] = randomArray({1, heads, keys, depth}, 3, Type::bf16);
    for (int h = 0; h < heads; ++h)
      for (int q = 0; q < queries; ++q)
        solveRow(h, q);
  }

  void solveRow(int h, int q) {
    auto at = [&](const char *tensor, int length, int row) { return &inputs.tensors[tensor].data[std::size_t((h * length + row) * depth)]; };
    double *out = &expected.data[std::size_t((h * queries + q) * depth)], total = 0;
    std::vector<double> scores;
    for (int k = 0; k <= q; ++k) {
      double sum = 0;
      for (int d = 0; d < depth; ++d)
        sum += at("Q", queries, q)[d] * at("K", keys, k)[d];
      scores.push_back(sum / 8);
    }
    const double top = *std::max_element(scores.begin(), scores.end());
    for (int k = 0; k <= q; ++k) {
      const double weight = std::exp2(scores[std::size_t(k)] - top);
      total += weight;
      for (int d = 0; d < depth; ++d)
        out[d] += weight * at("V", keys, k)[d];
    }
    for (int d = 0; d < depth; ++d)
      out[d] /= total;
  }

  /// What is wrong with a kernel under these options; nothing: the empty string.
  [[nodiscard]] std::string verdict(const EmittedKernel &kernel, const SimulatorOptions &options) const {
    const EmittedOutcome outcome = kernel.run(inputs, {{"O", expected.shape}}, options, blocks);
    if (!outcome.simulation.clean())
      return outcome.simulation.text();
    int wrong = 0;
    for (std::size_t i = 0; i < expected.data.size(); ++i)
      wrong += !(std::fabs(outcome.outputs.at("O").data[i] - expected.data[i]) <= 0.03);   // weights and results are rounded to bf16
    return wrong ? std::to_string(wrong) + " wrong results" : "";
  }
};

const CausalProblem &problem() {
  static const CausalProblem problem;
  return problem;
}

/// For each mutation what found it; "" where nothing did, "no place" where the text has none. Compiles on all cores.
std::vector<std::string> tryAll(const std::vector<Mutation> &list) {
  const std::string &text = problem().artifact.source;
  std::vector<std::string> found(list.size());
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i; (i = next++) < list.size();) {
      const auto planted = plant(list[i], text);
      if (!planted) {
        found[i] = "no place";
        continue;
      }
      try {
        const EmittedKernel kernel(problem().artifact, *planted);
        for (auto &options : simulatorSettings(2))
          if (found[i].empty())
            found[i] = problem().verdict(kernel, options);
      } catch (const RuntimeError &error) {
        found[i] = std::string("does not compile: ") + error.what();
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (auto &thread : threads)
    thread.join();
  return found;
}

void checkFound(const std::vector<Mutation> &list) {
  const auto found = tryAll(list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    CAPTURE(list[i].name, list[i].pattern, list[i].occurrence, found[i]);
    CHECK(found[i] != "");
    CHECK(found[i] != "no place");
    CHECK(found[i].rfind("does not compile", 0) == std::string::npos);
  }
}

}   // namespace

TEST_CASE("the kernel as it was emitted is right and clean") {
  // Enough to reuse every slot, to cross from item to item, and to meet empty, partial and full tiles.
  CHECK((keys + foldWidth - 1) / foldWidth >= stages + 2);
  CHECK((queries + blockWidth - 1) / blockWidth * heads >= 2 * blocks);
  CHECK(queries > 2 * foldWidth);   // the last block tile has full tiles before its own, and its own is partial
  CHECK(keys > queries + foldWidth / 2);
  const EmittedKernel kernel(problem().artifact);
  for (auto &options : simulatorSettings(3)) {
    CAPTURE(options.seed);
    CHECK(problem().verdict(kernel, options) == "");
  }
}

TEST_CASE("planted bugs are found") {
  REQUIRE(mutations().size() >= 20);
  checkFound(mutations());
}

TEST_CASE("edge row 89: no synchronisation can be left out") {
  const auto list = deletions(problem().artifact.source);
  CHECK(list.size() >= 20);
  checkFound(list);
}
