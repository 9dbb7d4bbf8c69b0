#include "Algebra.h"
#include "Numbers.h"
#include <algorithm>
#include <cmath>
#include <sstream>

namespace tw::detail {

const Tile &meant(const Tile &tile) {
  const Node &node = tile.node();
  return node.op == Op::named || node.op == Op::stabiliser ? meant(node.operands.back()) : tile;
}

namespace {

bool isConstant(const Tile &tile) { return meant(tile).node().op == Op::constant; }
bool isConstant(const Tile &tile, double value) { return isConstant(tile) && meant(tile).node().literal == value; }
double literal(const Tile &tile) { return meant(tile).node().literal; }
bool sameValue(const Tile &a, const Tile &b) { return &meant(a).node() == &meant(b).node(); }
bool covers(const Axes &axes, const Axes &others) {
  return std::all_of(others.begin(), others.end(), [&](const Axis &axis) { return contains(axes, axis); });
}

/// What an operation makes of numbers, or nothing where it is better left to whoever runs it.
std::optional<double> computed(const Node &node) {
  std::vector<double> x;
  for (const Tile &operand : node.operands)
    x.push_back(literal(operand));
  const double a = x[0], b = x.size() > 1 ? x[1] : 0;
  const bool floats = isFloat(node.type);
  switch (node.op) {
  case Op::neg: return -a;
  case Op::abs: return std::fabs(a);
  case Op::exp: return std::exp(a);
  case Op::exp2: return std::exp2(a);
  case Op::expm1: return std::expm1(a);
  case Op::log: return std::log(a);
  case Op::log2: return std::log2(a);
  case Op::log1p: return std::log1p(a);
  case Op::tanh: case Op::tanhApproximate: return std::tanh(a);
  case Op::sigmoid: return 1 / (1 + std::exp(-a));
  case Op::sqrt: return std::sqrt(a);
  case Op::rsqrt: return 1 / std::sqrt(a);
  case Op::logicalNot: return double(a == 0);
  case Op::add: return a + b;
  case Op::sub: return a - b;
  case Op::mul: return a * b;
  case Op::div: return floats ? std::optional(a / b) : std::nullopt;
  case Op::min: return std::isnan(a) || a < b ? a : b;
  case Op::max: return std::isnan(a) || a > b ? a : b;
  case Op::lt: return double(a < b);
  case Op::le: return double(a <= b);
  case Op::gt: return double(a > b);
  case Op::ge: return double(a >= b);
  case Op::eq: return double(a == b);
  case Op::ne: return double(a != b);
  case Op::logicalAnd: return double(a != 0 && b != 0);
  case Op::logicalOr: return double(a != 0 || b != 0);
  case Op::cast: return floats ? std::optional(a) : std::nullopt;
  default: return {};
  }
}

bool isElementwise(Op op) { return op >= Op::neg && op < Op::reduceMax; }

} // namespace

bool Algebra::isFinite(const Tile &tile) const {
  const Node &node = meant(tile).node();
  if ((node.op == Op::min || node.op == Op::max) && isFinite(node.operands[0]) && isFinite(node.operands[1]))
    return true;
  return finite.count(&node) || (node.op == Op::constant && std::isfinite(node.literal));
}

Tile Algebra::placeholder(Type type, Axes axes, Location where) {
  return makeTile({.op = Op::scalar, .type = type, .axes = std::move(axes), .where = where, .label = std::string("?").append(std::to_string(++placeholders))});
}

Tile Algebra::make(Node node) {
  node.weak = false;
  if (isElementwise(node.op) || node.op == Op::load || node.op == Op::contains || node.op == Op::named || node.op == Op::stabiliser) {
    node.axes = {};
    for (const Tile &operand : node.operands)
      node.axes = unite(node.axes, operand.axes());
  } else if (node.op >= Op::reduceMax && node.op <= Op::dot) {
    node.axes = node.operands[0].axes();
    if (node.op == Op::dot)
      node.axes = unite(node.axes, node.operands[1].axes());
    node.axes = without(node.axes, node.consumed[0]);
  }
  if (node.op == Op::named)
    node.operands = {node.operands.back()}, node.axes = node.operands[0].axes();
  if (isElementwise(node.op))
    if (auto folded = fold(node))
      return *folded;
  return shared(std::move(node));
}

Tile Algebra::shared(Node node) {
  std::ostringstream text;
  text << int(node.op) << ' ' << int(node.type) << ' ' << shortest(node.literal) << ' ' << node.slot << ' ' << node.positive << ' ' << node.label << '\n' << node.tensor.get() << ' ' << node.fold.get();
  for (const Axes *axes : {&node.axes, &node.consumed}) {
    for (const Axis &axis : *axes)
      text << ' ' << axis.order();
    text << '/';
  }
  for (const Tile &operand : node.operands)
    text << ' ' << &operand.node();
  const std::string key = text.str();
  auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, makeTile(std::move(node))).first->second;
}

std::optional<Tile> Algebra::fold(const Node &node) {
  if (node.op == Op::select)
    return simplifySelect(node);
  auto constant = [&](double value) {
    return shared({.op = Op::constant, .type = node.type, .axes = node.axes, .where = node.where, .literal = value});
  };
  if (std::all_of(node.operands.begin(), node.operands.end(), [](const Tile &operand) { return isConstant(operand); }))
    if (auto value = computed(node))
      return constant(*value);
  if (node.op == Op::neg && meant(node.operands[0]).node().op == Op::neg)
    return meant(node.operands[0]).node().operands[0];
  if (node.op == Op::logicalNot && meant(node.operands[0]).node().op == Op::logicalNot)
    return meant(node.operands[0]).node().operands[0];
  if (node.op == Op::cast && node.operands[0].type() == node.type)
    return node.operands[0];
  if (node.operands.size() == 2)
    if (auto simple = simplifyBinary(node))
      return simple;
  return throughSelect(node);
}

std::optional<Tile> Algebra::simplifyBinary(const Node &node) {
  const Tile &a = node.operands[0], &b = node.operands[1];
  auto constant = [&](double value) {
    return shared({.op = Op::constant, .type = node.type, .axes = node.axes, .where = node.where, .literal = value});
  };
  auto is = [](const Tile &tile, double value) { return isConstant(tile, value); };
  const bool takesA = covers(a.axes(), node.axes), takesB = covers(b.axes(), node.axes);
  const bool infiniteA = isConstant(a) && std::isinf(literal(a)), infiniteB = isConstant(b) && std::isinf(literal(b));
  switch (node.op) {
  case Op::add:
    if (is(b, 0) && takesA)
      return a;
    if (is(a, 0) && takesB)
      return b;
    if ((infiniteA && isFinite(b)) || (infiniteB && isFinite(a)))
      return constant(infiniteA ? literal(a) : literal(b));
    break;
  case Op::sub:
    if (is(b, 0) && takesA)
      return a;
    if (sameValue(a, b) && isFinite(a))
      return constant(0);
    if ((infiniteA && isFinite(b)) || (infiniteB && isFinite(a)))
      return constant(infiniteA ? literal(a) : -literal(b));
    if (meant(b).node().op == Op::neg)
      return make({.op = Op::add, .type = node.type, .axes = {}, .where = node.where, .operands = {a, meant(b).node().operands[0]}});
    if (is(a, 0) && takesB)
      return make({.op = Op::neg, .type = node.type, .axes = {}, .where = node.where, .operands = {b}});
    break;
  case Op::mul:
    if (is(b, 1) && takesA)
      return a;
    if (is(a, 1) && takesB)
      return b;
    break;
  case Op::div:
    if (is(b, 1) && takesA)
      return a;
    break;
  case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne:
    if ((infiniteA && isFinite(b)) || (infiniteB && isFinite(a))) {
      Node numbers = node;
      (infiniteA ? numbers.operands[1] : numbers.operands[0]) = number(0, a.type());
      return constant(*computed(numbers));
    }
    break;
  case Op::logicalAnd: case Op::logicalOr: {
    const double neutral = node.op == Op::logicalAnd;
    if (is(a, neutral) && takesB)
      return b;
    if (is(b, neutral) && takesA)
      return a;
    if (is(a, 1 - neutral) || is(b, 1 - neutral))
      return constant(1 - neutral);
    if (sameValue(a, b))
      return a;
    break;
  }
  default:
    break;
  }
  return {};
}

std::optional<Tile> Algebra::simplifySelect(const Node &node) {
  const Tile &condition = node.operands[0], &then = node.operands[1], &otherwise = node.operands[2];
  if (isConstant(condition))
    return literal(condition) != 0 ? then : otherwise;
  if (sameValue(then, otherwise) && covers(then.axes(), node.axes))
    return then;
  // where(m, where(m, x, _), y) = where(m, x, y)
  const Node &inner = meant(then).node();
  if (inner.op == Op::select && sameValue(inner.operands[0], condition))
    return make({.op = Op::select, .type = node.type, .axes = {}, .where = node.where, .operands = {condition, inner.operands[1], otherwise}});
  return {};
}

/// f(where(m, x, number), y) = where(m, f(x, y), f(number, y)) where the latter is a number: a mask moves outwards.
std::optional<Tile> Algebra::throughSelect(const Node &node) {
  if (!isFloat(node.type))
    return {};
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Node &select = meant(node.operands[i]).node();
    if (select.op != Op::select)
      continue;
    for (std::size_t branch : {1, 2}) {
      if (!isConstant(select.operands[branch]))
        continue;
      Node onNumber = node, onOther = node;
      onNumber.operands[i] = select.operands[branch];
      onOther.operands[i] = select.operands[3 - branch];
      std::optional<Tile> number = fold(onNumber);
      if (!number || !isConstant(*number))
        continue;
      onOther.axes = {};
      Tile other = make(onOther), result = *number;
      return make({.op = Op::select, .type = node.type, .axes = {}, .where = node.where,
                   .operands = {select.operands[0], branch == 1 ? result : other, branch == 1 ? other : result}});
    }
  }
  return {};
}

Tile Algebra::converted(const Tile &a, Type type, Location where) {
  if (a.type() == type)
    return a;
  if (isConstant(a) && isFloat(type))
    return shared({.op = Op::constant, .type = type, .axes = a.axes(), .where = where, .literal = literal(a)});
  return make({.op = Op::cast, .type = type, .axes = {}, .where = where, .operands = {a}});
}

Tile Algebra::unary(Op op, const Tile &a, Type type, Location where) {
  return make({.op = op, .type = type, .axes = {}, .where = where, .operands = {converted(a, type, where)}});
}

Tile Algebra::binary(Op op, const Tile &a, const Tile &b, Type type, Location where) {
  return make({.op = op, .type = type, .axes = {}, .where = where, .operands = {converted(a, type, where), converted(b, type, where)}});
}

Tile Algebra::choose(const Tile &condition, const Tile &then, const Tile &otherwise, Location where) {
  return make({.op = Op::select, .type = then.type(), .axes = {}, .where = where, .operands = {condition, then, converted(otherwise, then.type(), where)}});
}

Tile Algebra::factor(const Tile &a, Type type) {
  if (type == Type::f64)
    return converted(a, type, a.where());
  const Node &node = meant(a).node();
  return node.op == Op::cast && isFloat(node.operands[0].type()) && bytes(node.operands[0].type()) < bytes(node.type) ? node.operands[0] : a;
}

Algebra::Factors Algebra::factors(const Tile &value, const std::function<bool(const Axis &)> &isInner, Type type) {
  auto hasInner = [&](const Tile &tile) { return std::any_of(tile.axes().begin(), tile.axes().end(), isInner); };
  const Node &node = meant(value).node();
  auto times = [&](const std::optional<Tile> &a, const Tile &b) { return a ? binary(Op::mul, *a, b, type, node.where) : converted(b, type, node.where); };
  if (!hasInner(value) || !isFloat(node.type))
    return {value, {}};
  if (node.op == Op::neg) {
    Factors inside = factors(node.operands[0], isInner, type);
    return {inside.tile, inside.factor ? unary(Op::neg, *inside.factor, type, node.where) : number(-1, type)};
  }
  if (node.op != Op::mul && node.op != Op::div)
    return {value, {}};
  for (std::size_t i : {0, 1})
    if (!hasInner(node.operands[1 - i]) && (i == 0 || node.op == Op::mul)) {
      Factors inside = factors(node.operands[i], isInner, type);
      if (node.op == Op::mul)
        return {inside.tile, times(inside.factor, node.operands[1 - i])};
      const Tile over = inside.factor ? *inside.factor : number(1, type);
      return {inside.tile, binary(Op::div, over, node.operands[1], type, node.where)};
    }
  return {value, {}};
}

Tile Algebra::logic(Op op, const std::vector<Tile> &operands, Location where) {
  return make({.op = op, .type = Type::boolean, .axes = {}, .where = where, .operands = operands});
}

Tile Rewriter::operator()(const Tile &tile) {
  if (auto found = known.find(&tile.node()); found != known.end())
    return found->second;
  Node node = tile.node();
  const bool isLeaf = node.operands.empty() && node.op != Op::constant;
  for (Tile &operand : node.operands)
    operand = (*this)(operand);
  Tile made = isLeaf && (node.op == Op::foldArgument || (node.op == Op::scalar && node.label[0] == '?')) ? tile : algebra.make(std::move(node));
  known.emplace(&tile.node(), made);
  return made;
}

} // namespace tw::detail
