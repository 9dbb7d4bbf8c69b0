// Terms of a score that depend on where it sits.
#include "Fail.h"
#include "Steps.h"
#include <cmath>

namespace tw {
namespace {

using detail::fail;
using detail::position;
using detail::step;

/// The smallest distances of the buckets from `exact` on: those of a distance by its logarithm, between `exact` and `farthest`.
std::vector<int> thresholds(int exact, int buckets, int farthest) {
  std::vector<int> list;
  for (int i = 1; i < buckets - exact; ++i) {
    const double from = exact * std::pow(double(farthest) / exact, double(i) / (buckets - exact));
    list.push_back(int(std::ceil(from - 1e-9 * from)));   // a power that is whole stays whole
  }
  return list;
}

} // namespace

// Each of the first `exact` distances has a bucket of its own; where a distance passes a threshold it is one further. Whole numbers
// throughout, so that no rounding decides.
Modifier t5Bias(Tensor table, int buckets, int farthest, bool isBidirectional, Location where) {
  const int side = isBidirectional ? buckets / 2 : buckets, exact = side / 2;
  if (exact < 1 || farthest <= exact)
    fail(where, "t5Bias(): " + std::to_string(buckets) + " buckets up to distance " + std::to_string(farthest) + "; there are at least " + (isBidirectional ? "4" : "2") +
                    " buckets, and the farthest distance is beyond the " + std::to_string(std::max(exact, 1)) + " that have one each");
  return step("t5Bias", [=](Tile score, const At &at) {
    const Tile behind = position(at) - at.key, distance = isBidirectional ? abs(behind) : max(behind, 0);
    Tile bucket = min(distance, exact);
    for (int threshold : thresholds(exact, side, farthest))
      bucket = bucket + tw::where(distance >= threshold, 1, 0);
    if (isBidirectional)
      bucket = bucket + tw::where(behind < 0, side, 0);
    return score + cast(table(bucket, at.head), score.type());
  }, where);
}

Modifier relativeBias(Tensor table, int radius, Location where) {
  if (radius < 0)
    fail(where, "relativeBias(): a radius of " + std::to_string(radius) + "; it is 0 or more");
  return step("relativeBias", [=](Tile score, const At &at) {
    return score + cast(table(at.head, clamp(at.key - position(at), -radius, radius) + radius), score.type());
  }, where);
}

Modifier denseBias(Tensor bias, std::string_view axes, Location where) {
  const std::string letters(axes);
  for (char c : letters)
    if (std::string_view("bhqk").find(c) == std::string_view::npos)
      fail(where, "denseBias(): '" + letters + "' names no axes; write one of b, h, q and k for each dimension of the bias");
  if (letters.size() != bias.rank())
    fail(where, "denseBias(): '" + bias.name() + "' has " + std::to_string(bias.rank()) + " dimensions and '" + letters + "' names " + std::to_string(letters.size()) + " axes; name one for each",
         {{bias.info->where, "the tensor is declared here"}});
  return step("denseBias", [=](Tile score, const At &at) {
    std::vector<Operand> indices;
    for (char c : letters)
      indices.emplace_back(c == 'b' ? at.batch : c == 'h' ? at.head : c == 'q' ? at.query : at.key);
    return score + cast(bias.at(std::move(indices)), score.type());
  }, where);
}

Modifier kerple(Tensor strengths, Tensor rates, Location where) {
  return step("kerple", [=](Tile score, const At &at) {
    auto number = [&](const Tensor &tensor) { return cast(tensor(at.head), score.type()); };
    return score - number(strengths) * log1p(number(rates) * abs(position(at) - at.key));
  }, where);
}

Modifier forgetting(Tensor ofQueries, Tensor ofKeys, Location where) {
  return step("forgetting", [=](Tile score, const At &at) {
    return score + (cast(ofQueries(at.batch, at.head, at.query), score.type()) - cast(ofKeys(at.batch, at.head, at.key), score.type()));
  }, where);
}

Modifier retention(Tensor decays, Location where) {
  return step("retention", [=](Tile score, const At &at) {
    const Tile distance = position(at) - at.key;
    return tw::where(distance >= 0, score * exp2(log2(cast(decays(at.head), score.type())) * max(distance, 0)), -infinity);
  }, where);
}

} // namespace tw
