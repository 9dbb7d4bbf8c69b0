#include "Captures.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tw::detail {
namespace {

std::int64_t lengthOf(const std::string &text, const VariantShape &s) {
  const std::map<std::string, std::int64_t> named{{"B", s.b}, {"H", s.h}, {"Hkv", s.hkv}, {"Sq", s.sq}, {"Skv", s.skv}, {"D", s.d}, {"Dv", s.dv}};
  if (auto found = named.find(text); found != named.end())
    return found->second;
  const auto slash = text.find(" / ");   // rounded up
  if (slash != std::string::npos)
    if (const std::int64_t length = lengthOf(text.substr(0, slash), s), by = std::stoll(text.substr(slash + 3)); by > 0)
      return (length + by - 1) / by;
  return std::stoll(text);
}

} // namespace

std::vector<std::int64_t> lengthsOf(const std::vector<std::string> &shape, const VariantShape &of) {
  std::vector<std::int64_t> lengths;
  for (const std::string &text : shape)
    lengths.push_back(lengthOf(text, of));
  return lengths;
}

double uniform(Random &random, double from, double to) { return from + (to - from) * double(random() >> 11) * 0x1p-53; }
std::int64_t whole(Random &random, std::int64_t from, std::int64_t to) { return from + std::int64_t(random() % std::uint64_t(to - from + 1)); }
double normal(Random &random) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(random, 0, 1))), angle = 2 * 3.14159265358979323846 * uniform(random, 0, 1);
  return radius * std::cos(angle);
}

double largest(const Array &array) {
  double most = 0;
  for (double x : array.data)
    if (std::isfinite(x))
      most = std::max(most, std::abs(x));
  return most;
}
double smallest(const Array &array) {
  double least = INFINITY;
  for (double x : array.data)
    if (std::isfinite(x))
      least = std::min(least, std::abs(x));
  return std::isfinite(least) ? least : 0;
}

Capture each(std::string name, Type type, std::vector<std::string> shape, std::string meaning, std::function<double(Random &)> make) {
  auto fill = [shape, make = std::move(make)](const VariantShape &s, Random &random) {
    Array array{lengthsOf(shape, s), {}};
    std::int64_t points = 1;
    for (std::int64_t length : array.shape)
      points *= length;
    for (std::int64_t i = 0; i < points; ++i)
      array.data.push_back(make(random));
    return array;
  };
  return {std::move(name), type, std::move(shape), std::move(meaning), std::move(fill)};
}

Capture byPlace(std::string name, Type type, std::vector<std::string> shape, std::string meaning, std::function<double(std::int64_t row, std::int64_t place)> make) {
  auto fill = [shape, make = std::move(make)](const VariantShape &s, Random &) {
    Array array{lengthsOf(shape, s), {}};
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < array.shape.size(); ++d)
      rows *= array.shape[d];
    const std::int64_t shift = shape.back() == "Sq" ? s.skv - s.sq : 0;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < array.shape.back(); ++i)
        array.data.push_back(make(row, std::max<std::int64_t>(i + shift, 0)));
    return array;
  };
  return {std::move(name), type, std::move(shape), std::move(meaning), std::move(fill)};
}

Capture slopes(Type type) {
  return {"slopes", type, {"H"}, "a slope for each head", [](const VariantShape &s, Random &) {
            Array array{{s.h}, {}};
            for (std::int64_t h = 0; h < s.h; ++h)
              array.data.push_back(std::exp2(-8.0 * double(h + 1) / double(s.h)));
            return array;
          }};
}

// Document n of batch b begins at 40·n + a part of 40 that looks random.
std::int64_t documentStart(std::int64_t batch, std::int64_t document) { return document <= 0 ? 0 : 40 * document + (document * 29 + batch * 17) % 31; }

std::int64_t documentAt(std::int64_t batch, std::int64_t place) {
  std::int64_t document = place / 40;
  while (documentStart(batch, document) > place)
    --document;
  return document;
}

} // namespace tw::detail
