#include "tilewright/dsl/Variant.h"
#include "tilewright/dsl/Diagnostic.h"
#include <functional>

namespace tw::detail {
namespace {

/// What is wrong with a program says its line itself; what the user's own code throws is said to come from `where`.
std::string answer(const Location &where, const std::function<Program()> &make) {
  const std::string head = "// tilewright " TILEWRIGHT_VERSION "\n", wrong = head + "error\n";
  const auto thrown = [&](const std::string &what) { return wrong + ProgramError({where, "an exception left the variant: " + what}).what(); };
  try {
    return head + print(make(), Locations::print);
  } catch (const ProgramError &error) {
    return wrong + error.what();
  } catch (const std::exception &error) {
    return thrown(error.what());
  } catch (...) {
    return thrown("no std::exception");
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
  return answer(where, [&] {
    const Type type = typeOf(typeName);
    Attention attention(name, Tensor("Q", type, 4, where), Tensor("K", type, 4, where), Tensor("V", type, 4, where), Tensor("O", type, 4, where),
                        where);
    describe(attention);
    if (lse && attention.hasLogSumExp())
      attention.lse(Tensor("lse", type == Type::f64 ? Type::f64 : Type::f32, 3, where), where);
    return attention.program();
  });
}

std::string programAnswer(const char *type, Program (*make)(Type), Location where) {
  return answer(where, [&] { return make(typeOf(type)); });
}

}   // namespace tw::detail
