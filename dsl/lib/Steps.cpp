#include "Steps.h"
#include <cstring>

namespace tw::detail {
namespace {

/// Calls f; what it complains of in the library's file `here`, or in this one, is reported at the user's line.
template <class F> Tile reportedAt(const std::string &label, Location where, Location here, F f) {
  try {
    return f();
  } catch (ProgramError &error) {
    const char *file = error.diagnostic.where.file;
    if (std::strcmp(file, here.file) != 0 && std::strcmp(file, __FILE__) != 0)
      throw;
    Diagnostic diagnostic = error.diagnostic;
    diagnostic.notes.insert(diagnostic.notes.begin(), {diagnostic.where, "in the library step " + label + "()"});
    diagnostic.where = where;
    throw ProgramError(std::move(diagnostic));
  }
}

} // namespace

Modifier step(std::string label, ScoreFunction apply, Location where, bool setsScale, Location here) {
  auto reported = [label, where, here, apply = std::move(apply)](Tile score, const At &at) {
    return reportedAt(label, where, here, [&] { return apply(std::move(score), at); });
  };
  return {std::move(label), std::move(reported), where, setsScale};
}

Modifier maskStep(std::string label, MaskFunction keep, Location where, Location here) {
  return step(std::move(label), [keep = std::move(keep)](Tile score, const At &at) { return tw::where(keep(at), score, -infinity); }, where, false, here);
}

OutputModifier outputStep(std::string label, OutputFunction apply, Location where, Location here) {
  auto reported = [label, where, here, apply = std::move(apply)](Tile output, const AtOutput &at) {
    return reportedAt(label, where, here, [&] { return apply(std::move(output), at); });
  };
  return {std::move(label), std::move(reported), where};
}

} // namespace tw::detail
