// Each scalar alone: is it there, and is it what the program was promised once it has the program's type.
#include "Checked.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/kernel/Nearest.h"
#include <cmath>
#include <fmt/format.h>

namespace tw {
namespace {

template <class... T> [[noreturn]] void refuse(fmt::format_string<T...> format, T &&...values) {
  throw ArgumentError(fmt::format(format, std::forward<T>(values)...));
}

CheckedScalar checkScalar(const Parameter &parameter, double value, std::int64_t limit) {
  const Type type = typeNamed(parameter.type).value();
  if (!std::isfinite(value))
    refuse("scalar '{}' is {}, expected a finite number", parameter.name, value);
  if (parameter.positive && !(value > 0))
    refuse("scalar '{}' is {}, but the program was promised a positive one", parameter.name, value);
  if (type == Type::boolean && value != 0 && value != 1)
    refuse("scalar '{}' is {}, expected 0 or 1: it is a bool", parameter.name, value);
  if (isInteger(type) && rounded(value, type) != value)
    refuse("scalar '{}' is {}, expected a whole number that fits {}", parameter.name, value, parameter.type);
  if (isInteger(type) && std::fabs(value) > double(limit))
    refuse("scalar '{}' is {}, expected a whole number from -{} to {}: positions are compared with it in i32", parameter.name, value, limit, limit);
  const double stored = rounded(value, type);
  if (!std::isfinite(stored))
    refuse("scalar '{}' is {}, more than the largest {}", parameter.name, value, parameter.type);
  if (parameter.positive && stored == 0)
    refuse("scalar '{}' is {}, which {} rounds to 0, but the program was promised a positive one", parameter.name, value, parameter.type);
  CheckedScalar scalar{&parameter, stored};
  putElement(value, type, scalar.element.data());
  return scalar;
}

} // namespace

std::vector<CheckedScalar> checkScalars(const Artifact &artifact, const std::map<std::string, double> &given) {
  std::vector<std::string> names;
  for (const Parameter &parameter : artifact.parameters)
    if (parameter.kind == Parameter::Kind::scalar)
      names.push_back(parameter.name);
  for (const auto &[scalarName, value] : given)
    if (std::find(names.begin(), names.end(), scalarName) == names.end())
      refuse("program '{}' has no scalar '{}'{}; it has {}", artifact.program, scalarName, suggestion(scalarName, names),
             names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  std::vector<CheckedScalar> scalars;
  for (const Parameter &parameter : artifact.parameters) {
    if (parameter.kind != Parameter::Kind::scalar)
      continue;
    auto found = given.find(parameter.name);
    if (found == given.end())
      refuse("scalar '{}' is missing: program '{}' takes it, {}{}; give it in Arguments::scalars", parameter.name, artifact.program,
             parameter.positive ? "a positive " : "any ", parameter.type);
    scalars.push_back(checkScalar(parameter, found->second, artifact.limit));
  }
  return scalars;
}

} // namespace tw
