#include "tilewright/dsl/Modifiers.h"
#include "Fail.h"
#include "Numbers.h"
#include "Steps.h"
#include <cmath>
#include <optional>

namespace tw {
namespace {

using detail::fail;
using detail::offset;
using detail::step;

} // namespace

Modifier scaled(double factor, Location where) {
  if (!std::isfinite(factor))
    fail(where, "scaled(" + detail::shortest(factor) + "): the factor must be finite");
  return step("scaled", [=](Tile score, const At &) { return score * factor; }, where, true);
}

Modifier scaled(Tile factor, Location where) {
  return step("scaled", [=](Tile score, const At &) { return score * factor; }, where, true);
}

namespace {

void checkCap(const char *step, double cap, Location where) {
  const std::string call = std::string(step) + "(" + detail::shortest(cap) + ")";
  if (!(cap > 0) || !std::isfinite(cap))
    fail(where, call + ": the cap must be positive and finite; leave the step out for none");
  if (cap < 1e-30 || cap > 1e30)
    fail(where, call + ": the cap must lie between 1e-30 and 1e30, so that f32 holds score / cap; leave the step out for none");
}

} // namespace

Modifier softcap(double cap, Location where) {
  checkCap("softcap", cap, where);
  return step("softcap", [=](Tile score, const At &) { return cap * tanh(score / cap); }, where);
}

Modifier softcapApproximate(double cap, Location where) {
  checkCap("softcapApproximate", cap, where);
  return step("softcapApproximate", [=](Tile score, const At &) { return cap * tanhApproximate(score / cap); }, where);
}

Modifier softcap(Tile cap, Location where) {
  return step("softcap", [=](Tile score, const At &) { return cap * tanh(score / cap); }, where);
}

Modifier alibi(Tensor slopes, Location where) {
  return step("alibi", [=](Tile score, const At &at) { return score + slopes(at.head) * (at.key - at.query - offset(at)); }, where);
}

Modifier masked(std::string label, MaskFunction keep, Location where) { return detail::maskStep(std::move(label), std::move(keep), where); }

Modifier causal(Location where) {
  return detail::maskStep("causal", [](const At &at) { return at.key <= at.query + offset(at); }, where);
}

Modifier causalTopLeft(Location where) {
  return detail::maskStep("causalTopLeft", [](const At &at) { return at.key <= at.query; }, where);
}

Modifier slidingWindow(int left, int right, Location where) {
  for (int side : {left, right})
    if (side < -1)
      fail(where, "slidingWindow(" + std::to_string(left) + ", " + std::to_string(right) + "): " + std::to_string(side) +
                      " keys are no width; each side is 0 or more, or -1 for unbounded");
  auto apply = [=](Tile score, const At &at) {
    Tile distance = at.query + offset(at) - at.key;
    std::optional<Tile> keep;
    if (left >= 0)
      keep = distance <= left;
    if (right >= 0)
      keep = keep ? *keep & (distance >= -right) : distance >= -right;
    return keep ? tw::where(*keep, score, -infinity) : score;
  };
  return step("slidingWindow", apply, where);
}

Modifier temperature(Tensor temperatures, Location where) {
  return step("temperature", [=](Tile score, const At &at) { return score / cast(temperatures(at.head), score.type()); }, where);
}

Modifier headScale(Tensor scales, Location where) {
  return step("headScale", [=](Tile score, const At &at) { return score * cast(scales(at.head), score.type()); }, where, true);
}

// Rounded to a multiple of the step of random numbers, the probability is the same number in every type.
Modifier dropout(Tile seed, double probability, Location where) {
  if (!(probability >= 0 && probability < 1))
    fail(where, "dropout(" + detail::shortest(probability) + "): a probability is 0 or more and less than 1");
  const double dropped = std::round(probability * 0x1p24) * 0x1p-24, kept = 1 / (1 - dropped);
  return step("dropout", [=](Tile weight, const At &at) {
    return tw::where(random(seed, at.batch, at.head, at.query, at.key) >= dropped, weight * kept, 0.0);
  }, where);
}

OutputModifier gated(Tensor gates, Location where) {
  return detail::outputStep("gated", [=](Tile output, const AtOutput &at) {
    return output * sigmoid(cast(gates(at.batch, at.head, at.query, at.channel), output.type()));
  }, where);
}

OutputModifier tanhGated(Tensor gates, Location where) {
  return detail::outputStep("tanhGated", [=](Tile output, const AtOutput &at) { return output * tanh(cast(gates(at.head), output.type())); }, where);
}

} // namespace tw
