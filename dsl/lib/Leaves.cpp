// Values that stand on no other value: numbers, coordinates, lengths, launch scalars.
#include "Fail.h"
#include "Names.h"
#include "Numbers.h"
#include <cmath>

namespace tw {
namespace {

using detail::fail;

/// Refuses a number that the type cannot hold.
double checkedLiteral(double value, Type type, Location where) {
  if (isFloat(type))
    return value;
  std::string number = detail::shortest(value);
  if (type == Type::boolean && value != 0 && value != 1)
    fail(where, "constant " + number + " is no bool; write 0 or 1, or compare: x != 0");
  if (std::trunc(value) != value)
    fail(where, "constant " + number + " is no " + name(type) + "; give it a float type: constant(" + number + ", Type::f32)");
  double limit = type == Type::i32 ? 2147483648.0 : 9007199254740992.0;   // i64: what a literal holds exactly
  if (value < -limit || value > limit || (type == Type::i32 && value == limit))
    fail(where, "constant " + number + " is out of range for " + name(type) +
                    (type == Type::i32 ? "; use Type::i64" : ": literals are exact up to 2^53"));
  return value;
}

Tile literal(double value, Type type, Location where, bool weak) {
  return makeTile({.op = Op::constant, .type = type, .axes = {}, .where = where, .literal = checkedLiteral(value, type, where), .weak = weak});
}

Tile integerLiteral(long long value, Location where) {
  bool wide = value < -2147483648LL || value > 2147483647LL;
  if (value < -9007199254740992LL || value > 9007199254740992LL)
    fail(where, "literal " + std::to_string(value) + " is out of range: literals are exact up to 2^53; pass it as a scalar()");
  return literal(double(value), wide ? Type::i64 : Type::i32, where, true);
}

} // namespace

Operand::Operand(const Axis &axis, Location where) : tile(index(axis, where)), where(where) {}
Operand::Operand(int value, Location where) : tile(integerLiteral(value, where)), where(where) {}
Operand::Operand(long value, Location where) : tile(integerLiteral(value, where)), where(where) {}
Operand::Operand(long long value, Location where) : tile(integerLiteral(value, where)), where(where) {}
Operand::Operand(unsigned value, Location where) : tile(integerLiteral(value, where)), where(where) {}
Operand::Operand(unsigned long value, Location where)
    : tile(integerLiteral(value > 9223372036854775807UL ? 9223372036854775807LL : static_cast<long long>(value), where)), where(where) {}
Operand::Operand(float value, Location where) : tile(literal(value, Type::f32, where, true)), where(where) {}
Operand::Operand(double value, Location where) : tile(literal(value, Type::f32, where, true)), where(where) {}
Tile Operand::truth(bool value, Location where) { return literal(value, Type::boolean, where, true); }

Tile constant(double value, Type type, Location where) { return literal(value, type, where, false); }

Tile full(double value, Axes axes, Type type, Location where) {
  axes = sorted(std::move(axes));
  for (std::size_t i = 1; i < axes.size(); ++i)
    if (same(axes[i - 1], axes[i]))
      fail(where, "full() names the axis '" + axes[i].name() + "' twice; name each axis once");
  return makeTile({.op = Op::constant, .type = type, .axes = std::move(axes), .where = where, .literal = checkedLiteral(value, type, where)});
}

Tile index(const Axis &axis, Location where) {
  return makeTile({.op = Op::index, .type = Type::i32, .axes = {axis}, .where = where, .consumed = {axis}});
}

Tile extent(const Axis &axis, Location where) {
  return makeTile({.op = Op::extent, .type = Type::i32, .axes = {}, .where = where, .consumed = {axis}});
}

Tile scalar(std::string name, Type type, Sign sign, Location where) {
  detail::checkName("a scalar", name, where);
  if (type == Type::boolean && sign == Sign::positive)
    fail(where, "scalar '" + name + "' is a bool and has no sign; leave Sign::positive out");
  return makeTile({.op = Op::scalar, .type = type, .axes = {}, .where = where, .label = std::move(name), .positive = sign == Sign::positive});
}

} // namespace tw
