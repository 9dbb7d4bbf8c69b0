#include "tilewright/dsl/Variant.h"
#include <functional>

namespace tw::detail {
namespace {

std::string answer(const std::function<Program()> &make) {
  const std::string head = "// tilewright " TILEWRIGHT_VERSION "\n";
  try {
    return head + print(make(), Locations::print);
  } catch (const std::exception &error) {
    return head + "error\n" + error.what();
  }
}

Type typeOf(const char *name) {
  for (Type type : {Type::f16, Type::bf16, Type::f32, Type::f64})
    if (std::string(tw::name(type)) == name)
      return type;
  throw std::invalid_argument("type '" + std::string(name) + "' is no float of 16 to 64 bits");
}

}   // namespace

std::string variantAnswer(const char *name, const char *typeName, bool lse, void (*describe)(Attention &), Location where) {
  return answer([&] {
    const Type type = typeOf(typeName);
    Attention attention(name, Tensor("Q", type, 4, where), Tensor("K", type, 4, where), Tensor("V", type, 4, where), Tensor("O", type, 4, where),
                        where);
    describe(attention);
    if (lse && attention.hasLogSumExp())
      attention.lse(Tensor("lse", type == Type::f64 ? Type::f64 : Type::f32, 3, where), where);
    return attention.program();
  });
}

std::string programAnswer(const char *type, Program (*make)(Type)) {
  return answer([&] { return make(typeOf(type)); });
}

}   // namespace tw::detail
