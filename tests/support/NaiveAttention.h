// The textbook formula in double loops, sharing nothing with the language: what evaluate() is held against.
#pragma once
#include "tilewright/dsl/Evaluate.h"
#include <cmath>
#include <functional>
#include <optional>

namespace tw::tests {

struct NaiveOptions {
  std::optional<double> scale;                // 1/√D without
  double softcap = 0;                         // 0: none
  const Array *slopes = nullptr;              // [H]
  /// Whether query i sees key j, given Sq and Skv.
  std::function<bool(std::int64_t i, std::int64_t j, std::int64_t sq, std::int64_t skv)> keep =
      [](std::int64_t, std::int64_t, std::int64_t, std::int64_t) { return true; };
};

struct NaiveResult {
  Array output, lse;
};

[[nodiscard]] inline NaiveResult naiveAttention(const Array &Q, const Array &K, const Array &V, const NaiveOptions &options = {}) {
  const auto B = Q.shape[0], H = Q.shape[1], Sq = Q.shape[2], D = Q.shape[3];
  const auto Hkv = K.shape[1], Skv = K.shape[2], Dv = V.shape[3];
  const auto group = Hkv ? H / Hkv : 1;
  NaiveResult r{{{B, H, Sq, Dv}, std::vector<double>(std::size_t(B * H * Sq * Dv), 0.0)}, {{B, H, Sq}, {}}};
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < Sq; ++i) {
        std::vector<std::pair<std::int64_t, double>> scores;   // of the keys that are seen
        double top = -INFINITY;
        for (std::int64_t j = 0; j < Skv; ++j) {
          if (!options.keep(i, j, Sq, Skv))
            continue;
          double s = 0;
          for (std::int64_t d = 0; d < D; ++d)
            s += Q.data[std::size_t(((b * H + h) * Sq + i) * D + d)] * K.data[std::size_t(((b * Hkv + h / group) * Skv + j) * D + d)];
          s *= options.scale.value_or(1 / std::sqrt(double(D)));
          if (options.softcap > 0)
            s = options.softcap * std::tanh(s / options.softcap);
          if (options.slopes)
            s += options.slopes->data[std::size_t(h)] * double(j - i - (Skv - Sq));
          scores.push_back({j, s});
          top = s > top || std::isnan(s) ? s : top;
        }
        double total = 0;
        for (auto &[j, s] : scores)
          total += std::exp(s - top);
        r.lse.data.push_back(scores.empty() ? -INFINITY : top + std::log(total));
        for (auto &[j, s] : scores)
          for (std::int64_t e = 0; e < Dv; ++e)
            r.output.data[std::size_t(((b * H + h) * Sq + i) * Dv + e)] +=
                std::exp(s - top) / total * V.data[std::size_t(((b * Hkv + h / group) * Skv + j) * Dv + e)];
      }
  return r;
}

} // namespace tw::tests
