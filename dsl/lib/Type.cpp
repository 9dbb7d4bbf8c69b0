#include "tilewright/dsl/Type.h"
#include <algorithm>
#include <array>

namespace tw {
namespace {

struct Facts {
  const char *name;
  int bytes;
};
/// In the order of the enumerators.
constexpr std::array<Facts, 7> facts{{{"bool", 1}, {"i32", 4}, {"i64", 8}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}}};

} // namespace

const char *name(Type type) { return facts[std::size_t(type)].name; }
int bytes(Type type) { return facts[std::size_t(type)].bytes; }

std::optional<Type> typeNamed(std::string_view name) {
  for (std::size_t i = 0; i < facts.size(); ++i)
    if (name == facts[i].name)
      return Type(i);
  return std::nullopt;
}

Type arithmeticType(Type a, Type b) {
  Type wider = std::max(a, b);
  return wider == Type::f16 || wider == Type::bf16 ? Type::f32 : wider;
}

} // namespace tw
