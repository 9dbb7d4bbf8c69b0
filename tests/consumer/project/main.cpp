// Attention with a bent score and a causal mask, written, built, launched and checked from outside the tree.
#include <tilewright/tilewright.h>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr std::int64_t B = 1, H = 2, Sq = 37, Skv = 53, D = 32;

tw::Program bent() {
  using tw::Tensor, tw::Type;
  tw::Attention attention("bent", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  attention
      .score([](tw::Tile s, const tw::At &at) { return s - 0.1 * log(1.0 + abs(at.query - at.key)); })
      .mask(tw::causal());
  return attention.program();
}

/// The same in plain loops, for one row.
double expected(const std::vector<float> &q, const std::vector<float> &k, const std::vector<float> &v, std::int64_t h, std::int64_t row, std::int64_t e) {
  double total = 0, sum = 0;
  for (std::int64_t key = 0; key <= row + Skv - Sq; ++key) {
    double score = 0;
    for (std::int64_t d = 0; d < D; ++d)
      score += double(q[(h * Sq + row) * D + d]) * k[(h * Skv + key) * D + d];
    double weight = std::exp(score / std::sqrt(double(D)) - 0.1 * std::log(1.0 + std::abs(double(row - key))));
    total += weight;
    sum += weight * v[(h * Skv + key) * D + e];
  }
  return sum / total;
}

std::vector<float> wave(std::int64_t count, double step) {
  std::vector<float> values(count);
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = float(std::sin(step * double(i) + 0.3 * double(i % 7)));
  return values;
}

} // namespace

int main() {
  auto q = wave(B * H * Sq * D, 0.37), k = wave(B * H * Skv * D, 0.23), v = wave(B * H * Skv * D, 0.71);
  std::vector<float> o(B * H * Sq * D, -1.0f);

  tw::BuildOptions options;
  options.extents = {{"d", D}, {"e", D}};
  options.useCache = false;
  tw::Kernel kernel = tw::build(bent(), options);
  auto view = [](std::vector<float> &data, std::int64_t length) { return tw::TensorView{data.data(), tw::Type::f32, {B, H, length, D}, {}}; };
  kernel.launch({{{"Q", view(q, Sq)}, {"K", view(k, Skv)}, {"V", view(v, Skv)}, {"O", view(o, Sq)}}, {}});

  double worst = 0;
  for (std::int64_t h = 0; h < H; ++h)
    for (std::int64_t row = 0; row < Sq; ++row)
      for (std::int64_t e = 0; e < D; ++e)
        worst = std::max(worst, std::abs(o[(h * Sq + row) * D + e] - expected(q, k, v, h, row, e)));
  std::printf("largest error %.2g\n", worst);
  if (!(worst < 1e-5)) {
    std::puts("the result is wrong");
    return 1;
  }

  try {   // what is thrown inside the library is caught outside, by its type
    kernel.launch({{{"Q", view(q, Sq)}}, {}});
  } catch (const tw::ArgumentError &error) {
    std::printf("a missing tensor is refused: %s\n", error.what());
    return 0;
  }
  std::puts("a launch without K, V and O was not refused");
  return 1;
}
