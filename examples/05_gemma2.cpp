// Gemma 2's local layers: a soft cap on the scores, then a causal window; one kernel for every length,
// launched with a workspace of the caller's.
#include "support/Example.h"
#include <cstdlib>
#include <memory>

int main() {
  using namespace tw;
  Tensor Q("Q", Type::f32, 4), K("K", Type::f32, 4), V("V", Type::f32, 4), O("O", Type::f32, 4);
  Attention gemma("gemma2_local", Q, K, V, O);
  gemma.score(scaled(0.0625))            // in place of 1/√D; steps apply in the order written
      .score(softcap(50.0))
      .mask(slidingWindow(63, 0));       // the model's is 4095; a short one leaves tiles to skip at these lengths
  Program program = gemma.program();

  Kernel kernel = build(program, {.extents = {{"d", 256}, {"e", 256}}});
  int wrong = 0;
  for (std::int64_t length : {1, 64, 333}) {
    auto q = example::Floats::random({1, 4, length, 256}, 1), k = example::Floats::random({1, 2, length, 256}, 2),
         v = example::Floats::random({1, 2, length, 256}, 3), o = example::Floats({1, 4, length, 256});
    Arguments arguments{.tensors = {{"Q", q.view()}, {"K", k.view()}, {"V", v.view()}, {"O", o.view()}}, .scalars = {}};

    // An embedder keeps one workspace and launches without allocating.
    std::size_t bytes = kernel.workspaceBytes(arguments);
    std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(64, (bytes + 63) / 64 * 64), &std::free);
    kernel.launch(hostStream, arguments, {memory.get(), bytes});

    auto expected = evaluate(program, {.tensors = {{"Q", q.array()}, {"K", k.array()}, {"V", v.array()}}});
    wrong += example::compare("O", o, expected.at("O"), 1e-5);
  }
  BuildCounts counts = buildCounts();
  std::printf("kernels compiled or loaded: %llu\n", static_cast<unsigned long long>(counts.compiled + counts.loaded));
  return wrong || counts.compiled + counts.loaded != 1 ? 1 : 0;
}
