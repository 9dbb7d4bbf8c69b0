// Literals, types and conversions as C++ writes them.
#include "Expression.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tilewright/ir/Device.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdio>
#include <cstdlib>
using namespace mlir;

namespace tw::emit {

bool Expression::readsRegisters() const {
  return llvm::any_of(reads, [](Value read) { return isa<device::FragmentType, device::OperandType, device::RowsType>(read.getType()); });
}

const char *scalarType(Type type) {
  if (type.isF32() || type.isF16() || type.isBF16())
    return "float";
  return type.isInteger(1) ? "bool" : type.isInteger(8) || type.isInteger(32) ? "int" : type.isInteger(64) ? "i64" : nullptr;
}

const char *memoryType(Type type) {
  if (type.isF16() || type.isBF16())
    return "unsigned short";
  return type.isInteger(1) || type.isInteger(8) ? "unsigned char" : scalarType(type);
}

Expression literal(const APFloat &number) {
  if (number.isNaN())
    return {"__int_as_float(0x7fffffff)"};
  if (number.isInfinity())
    return number.isNegative() ? Expression{"neg_inf()"} : Expression{"-neg_inf()", Precedence::unary};
  bool lost = false;
  APFloat single = number;
  single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
  const float value = single.convertToFloat();
  char text[32];
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, double(value));
    if (std::strtof(text, nullptr) == value)
      break;
  }
  std::string shown = text;
  shown += shown.find_first_of(".e") == shown.npos ? ".f" : "f";
  return {shown, number.isNegative() ? Precedence::unary : Precedence::primary};
}

Expression literal(const APInt &number, Type type) {
  if (type.isInteger(1))
    return {number.isZero() ? "false" : "true"};
  const std::string suffix = type.isInteger(64) ? "ll" : "";
  if (number.isMinSignedValue())   // its digits alone do not fit
    return {"(-" + std::to_string((number + 1).abs().getZExtValue()) + suffix + " - 1)"};
  return {std::to_string(number.getSExtValue()) + suffix, number.isNegative() ? Precedence::unary : Precedence::primary};
}

const char *packFunction(Type element) { return element.isBF16() ? "pack_bf16" : "pack_f16"; }

std::string widened(const std::string &value, Type from, Type to) {
  std::string wide = from.isBF16() ? "unpack_bf16_lo(" + value + ")" : from.isF16() ? "unpack_f16_lo(" + value + ")" : value;
  const bool isFloat = isa<FloatType>(from);
  if (isFloat == to.isF32() && (isFloat || (from == to && !from.isInteger(8))))
    return wide;
  return "(" + std::string(scalarType(to)) + ")" + wide;
}

} // namespace tw::emit
