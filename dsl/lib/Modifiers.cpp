#include "tilewright/dsl/Modifiers.h"
#include "Fail.h"
#include "Numbers.h"
#include <cmath>
#include <cstring>
#include <optional>

namespace tw {
namespace {

using detail::fail;

/// A step of this library. What is wrong in it is wrong at the line on which the user asked for it.
Modifier step(std::string label, ScoreFunction apply, Location where, bool setsScale = false) {
  auto reported = [label, where, apply = std::move(apply)](Tile score, const At &at) {
    try {
      return apply(std::move(score), at);
    } catch (ProgramError &error) {
      if (std::strcmp(error.diagnostic.where.file, __FILE__) != 0)
        throw;
      Diagnostic diagnostic = error.diagnostic;
      diagnostic.notes.insert(diagnostic.notes.begin(), {diagnostic.where, "in the library step " + label + "()"});
      diagnostic.where = where;
      throw ProgramError(std::move(diagnostic));
    }
  };
  return {std::move(label), std::move(reported), where, setsScale};
}

Tile offset(const At &at) { return at.keys - at.queries; }

} // namespace

Modifier scaled(double factor, Location where) {
  if (!std::isfinite(factor))
    fail(where, "scaled(" + detail::shortest(factor) + "): the factor must be finite");
  return step("scaled", [=](Tile score, const At &) { return score * factor; }, where, true);
}

Modifier scaled(Tile factor, Location where) {
  return step("scaled", [=](Tile score, const At &) { return score * factor; }, where, true);
}

Modifier softcap(double cap, Location where) {
  if (!(cap > 0) || !std::isfinite(cap))
    fail(where, "softcap(" + detail::shortest(cap) + "): the cap must be positive and finite; leave the step out for none");
  if (cap < 1e-30 || cap > 1e30)
    fail(where, "softcap(" + detail::shortest(cap) + "): the cap must lie between 1e-30 and 1e30, so that f32 holds score / cap; leave the step out for none");
  return step("softcap", [=](Tile score, const At &) { return cap * tanh(score / cap); }, where);
}

Modifier softcap(Tile cap, Location where) {
  return step("softcap", [=](Tile score, const At &) { return cap * tanh(score / cap); }, where);
}

Modifier alibi(Tensor slopes, Location where) {
  return step("alibi", [=](Tile score, const At &at) { return score + slopes(at.head) * (at.key - at.query - offset(at)); }, where);
}

Modifier masked(std::string label, MaskFunction keep, Location where) {
  return step(std::move(label), [keep = std::move(keep)](Tile score, const At &at) { return tw::where(keep(at), score, -infinity); }, where);
}

Modifier causal(Location where) {
  return masked("causal", [](const At &at) { return at.key <= at.query + offset(at); }, where);
}

Modifier causalTopLeft(Location where) {
  return masked("causalTopLeft", [](const At &at) { return at.key <= at.query; }, where);
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

} // namespace tw
