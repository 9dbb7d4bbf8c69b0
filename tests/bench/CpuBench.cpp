// bench_cpu: the CPU target against the same algorithm as plain C++ loops, in one process, interleaved.
//
//   bench_cpu [--json] [--repeat N]
//
// Exit status 1 if a ratio is below 2, the least that the CPU target owes.
#include "plain_loops.h"
#include "tilewright/tilewright.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <cstdio>
#include <functional>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

namespace {

double secondsOf(const std::function<void()> &work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + std::ptrdiff_t(times.size() / 2), times.end());
  return times[times.size() / 2];
}

struct Row {
  const char *variant;
  std::int64_t d;
  double ours, loops, gflops, ratio;
};

Row measure(bool causal, std::int64_t d, int repeat) {
  const std::int64_t B = 1, H = 8, S = 2048;
  std::vector<float> q(std::size_t(B * H * S * d)), k(q.size()), v(q.size()), o(q.size()), lse(std::size_t(B * H * S)), other(q.size());
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (auto *tensor : {&q, &k, &v})
    for (float &x : *tensor)
      x = normal(generator);

  tw::Program program = tw::makeVariant(causal ? "causal" : "plain", {.type = tw::Type::f32});
  tw::Kernel kernel = tw::build(program, {.extents = {{"d", d}, {"e", d}}});
  std::vector<std::int64_t> shape{B, H, S, d};
  tw::Arguments arguments{.tensors = {{"Q", {q.data(), tw::Type::f32, shape, {}}}, {"K", {k.data(), tw::Type::f32, shape, {}}},
                                      {"V", {v.data(), tw::Type::f32, shape, {}}}, {"O", {o.data(), tw::Type::f32, shape, {}}},
                                      {"lse", {lse.data(), tw::Type::f32, {B, H, S}, {}}}}, .scalars = {}};
  tw::bench::PlainProblem problem{};
  problem.B = B;
  problem.H = problem.Hkv = H;
  problem.Sq = problem.Skv = S;
  problem.D = problem.Dv = d;
  problem.q = q.data();
  problem.k = k.data();
  problem.v = v.data();
  problem.out = other.data();
  problem.causal = causal;
  problem.scale = 1 / std::sqrt(float(d));
  problem.threads = int(std::max(1l, std::strtol(std::getenv("TILEWRIGHT_THREADS") ? std::getenv("TILEWRIGHT_THREADS") : "0", nullptr, 10)));
  if (!std::getenv("TILEWRIGHT_THREADS"))
    problem.threads = int(std::thread::hardware_concurrency());

  std::vector<double> ours, loops;
  auto first = [&] { ours.push_back(secondsOf([&] { kernel.launch(arguments); })); };
  auto second = [&] { loops.push_back(secondsOf([&] { tw::bench::plainLoops(problem); })); };
  kernel.launch(arguments);
  tw::bench::plainLoops(problem);
  for (int i = 0; i < repeat; ++i)     // whoever comes first may be better off: take turns
    if (i % 2) {
      first();
      second();
    } else {
      second();
      first();
    }
  double worst = 0;
  for (std::size_t i = 0; i < o.size(); ++i)
    worst = std::max(worst, double(std::abs(o[i] - other[i])));
  if (!(worst < 1e-4)) {
    std::fprintf(stderr, "bench_cpu: the two sides differ by %g\n", worst);
    std::exit(1);
  }
  double pairs = double(B * H) * (causal ? double(S) * double(S + 1) / 2 : double(S) * double(S));
  double mine = median(ours), theirs = median(loops);
  return {causal ? "causal" : "plain", d, mine * 1e3, theirs * 1e3, 4 * pairs * double(d) / mine / 1e9, theirs / mine};
}

} // namespace

int main(int argc, char **argv) {
  bool json = false;
  int repeat = 11;
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--json"))
      json = true;
    else if (!std::strcmp(argv[i], "--repeat") && i + 1 < argc && std::atoi(argv[i + 1]) > 0)
      repeat = std::atoi(argv[++i]);
    else {
      std::fprintf(stderr, "bench_cpu: '%s' is no option; known are --json and --repeat N\n", argv[i]);
      return 2;
    }
  std::vector<Row> rows;
  for (bool causal : {false, true})
    for (std::int64_t d : {64, 128})
      rows.push_back(measure(causal, d, repeat));
  if (json)
    std::printf("[");
  else
    std::printf("B 1, H 8, S 2048, f32, medians of %d, interleaved\n%-8s %4s %12s %12s %10s %6s\n", repeat, "variant", "D", "ours ms", "loops ms", "GFLOP/s", "ratio");
  bool enough = true;
  for (const Row &row : rows) {
    if (json)
      std::printf("%s{\"variant\": \"%s\", \"d\": %ld, \"ours_ms\": %.3f, \"loops_ms\": %.3f, \"gflops\": %.1f, \"ratio\": %.3f}", &row == rows.data() ? "" : ", ", row.variant, long(row.d), row.ours, row.loops, row.gflops, row.ratio);
    else
      std::printf("%-8s %4ld %12.1f %12.1f %10.1f %6.2f\n", row.variant, long(row.d), row.ours, row.loops, row.gflops, row.ratio);
    enough &= row.ratio >= 2;
  }
  std::printf(json ? "]\n" : "");
  return enough ? 0 : 1;
}
