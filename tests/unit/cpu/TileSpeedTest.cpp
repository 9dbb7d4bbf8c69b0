// How fast kernels are, beside plain loops: test_tile_kernels [speed]. Hidden, as it takes seconds and judges nothing.
#include "TileKernel.h"
#include "TileNames.h"
#include "TileTensor.h"
#include "plain_loops.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <fmt/core.h>

namespace {
/// Seconds that this thread has used: others may share the processor.
double used() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}
template <class F> double best(F run) {
  double seconds = 1e9;
  for (int i = 0; i < 6; ++i) {
    double start = used();
    run();
    seconds = std::min(seconds, used() - start);
  }
  return seconds;
}
int number(const char *name, int otherwise) {
  const char *given = std::getenv(name);
  return given ? std::atoi(given) : otherwise;
}
} // namespace

TEST_CASE("speed of weighted sums", "[.speed]") {
  std::mt19937 random(1);
  TileShape shape{number("BYTES", 32), number("ROWS", 6), number("VECTORS", 2)};
  int Q = number("Q", 64), K = number("K", 64);
  const std::int64_t S = number("S", 2048), H = 1;
  for (bool causal : {false, true})
    for (std::string type : {"f32", "bf16"})
      for (int D : {64, 128}) {
        const char *file = std::getenv("DUMP");
        double made = used();
        TileKernel kernel("weighted_sum.mlir", names(type, Q, K, D, D, causal), shape, file);
        made = used() - made;
        if (file && !causal && type == "f32" && D == 64)
          for (auto [end, text] : {std::pair(".mlir", &kernel.host), std::pair(".s", &kernel.assembly)})
            fmt::print(std::fopen((file + std::string(end)).c_str(), "w"), "{}", *text);
        TileTensor q(type, {H, S, D}), k(type, {H, S, D}), v(type, {H, S, D}), o(type, {H, S, D}), l("f32", {H, S}), o2(type, {H, S, D});
        for (TileTensor *t : {&q, &k, &v})
          t->fill(random);
        std::int32_t length = S;
        float scale = 0.125f;
        double ours = best([&] {
          kernel.run({q.argument(), k.argument(), v.argument(), o.argument(), l.argument(), &length, &length, &scale, nullptr, nullptr},
                     {{8, H, 1}, {9, S, Q}});
        });
        auto data = [](TileTensor &t) { return reinterpret_cast<void *>(static_cast<std::int64_t *>(t.argument())[1]); };
        tw::bench::PlainProblem plain{1, H, H, S, S, D, D, data(q), data(k), data(v), data(o2),
                                      type == "f32" ? tw::bench::PlainType::f32 : tw::bench::PlainType::bf16, causal, scale, 1};
        double theirs = best([&] { tw::bench::plainLoops(plain); });
        double flops = 4.0 * H * S * S * D / (causal ? 2 : 1);
        fmt::print("{} {} D {}: {:.1f} GFLOP/s, plain loops {:.1f}, ratio {:.2f}; made in {:.0f} ms, scratch {} KiB\n", type, causal ? "causal" : "plain", D,
                   flops / ours * 1e-9, flops / theirs * 1e-9, theirs / ours, made * 1e3, kernel.scratchBytes / 1024);
      }
}
