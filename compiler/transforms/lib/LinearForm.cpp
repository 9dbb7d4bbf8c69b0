// The arithmetic of linear forms.
#include "LinearForm.h"
#include "Evaluator.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numbers>
using namespace mlir;

namespace tw {

Value Forms::value(const Form &form) {
  if (!form.factor)
    return form.offset ? make.add(form.core, form.offset) : form.core;
  return form.offset ? make.fma(form.core, form.factor, form.offset) : make.multiply(form.core, form.factor);
}

bool Forms::isBlock(Value value) const {
  tile::AxisAttr block = make.kernel.withRole(tile::Role::Block);
  return block && rankOf(value) == 1 && tile::axesOf(value)[0] == block.getName();
}

//===--- what is known of a value ----------------------------------------------------------------===//

bool Forms::finite(Value value) const {
  if (isPositive(value))
    return true;
  if (auto number = constantOf(value))
    return std::isfinite(*number);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp() == make.function;
  auto all = [&](Operation *op) { return llvm::all_of(op->getOperands(), [&](Value v) { return finite(v); }); };
  return TypeSwitch<Operation *, bool>(value.getDefiningOp())
      .Case<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, math::FmaOp, math::TanhOp, math::AbsFOp, arith::ExtFOp,
            tile::BroadcastOp>(all)
      .Case([&](arith::DivFOp op) { return finite(op.getLhs()) && (isPositive(op.getRhs()) || (!rankOf(op.getRhs()) && finite(op.getRhs()))); })
      .Case([&](arith::ConstantOp op) {
        auto numbers = dyn_cast<DenseFPElementsAttr>(op.getValue());
        return numbers && llvm::all_of(numbers, [](const APFloat &x) { return x.isFinite(); });
      })
      .Case([](arith::SIToFPOp) { return true; })
      .Case<tile::LoadOp, tile::GatherOp>([&](Operation *op) { return !rankOf(op->getResult(0)) && make.kernel.withRole(tile::Role::Block); })
      .Default([](Operation *) { return false; });
}

std::optional<Forms::Shared> Forms::shared(const Form &a, const Form &b, bool ordered) const {
  if (a.factor == b.factor && a.offset == b.offset) {
    if (ordered && a.factor && !isPositive(a.factor))
      return {};
    return Shared{a.core, b.core, a.factor, a.offset};
  }
  auto fits = [&](const Form &constant, const Form &other) {
    auto number = constantOf(constant.core);
    if (!number || !constant.plain())
      return false;
    if (ordered && other.factor && !isPositive(other.factor))
      return false;
    if (*number == 0)
      return !other.offset && (!other.factor || finite(other.factor));
    return std::isinf(*number) && (!other.factor || isPositive(other.factor)) && (!other.offset || finite(other.offset));
  };
  if (fits(a, b))
    return Shared{a.core, b.core, b.factor, b.offset};
  if (fits(b, a))
    return Shared{a.core, b.core, a.factor, a.offset};
  return {};
}

Form Forms::around(const Form &a, double constant) {
  bool passes = a.plain();
  if (constant == 0)
    passes |= !a.offset && (!a.factor || finite(a.factor));
  else if (std::isinf(constant))
    passes |= (!a.factor || isPositive(a.factor)) && (!a.offset || finite(a.offset));
  return passes ? a : Form{value(a)};
}

//===--- sums ------------------------------------------------------------------------------------===//

Form Forms::negate(const Form &a) {
  if (a.plain() && make.joinedRank(a.core) < 2)
    return {make.negate(a.core)};
  Value factor = a.factor ? make.negate(a.factor) : make.constant(-1, a.core.getType());
  return {a.core, factor, a.offset ? make.negate(a.offset) : Value()};
}

/// A sum over two axes at least. Of all terms, those over at most one axis stay apart: a row becomes the offset, a
/// column is added in the element's own multiply-add where there is a row too:
///   (s·a + column) + row  =  core · 1 + row,  core = fma(s, a, column)
Form Forms::addElements(const Form &a, const Form &b) {
  SmallVector<Form, 2> elements;
  Form column;
  Value scalar, row;
  auto term = [&](Value core, Value factor) {
    if (!core)
      return;
    size_t rank = make.joinedRank({core, factor});
    if (rank == 0)
      scalar = sum(scalar, product(core, factor));
    else if (rank == 1 && (isBlock(core) || isBlock(factor)))
      row = sum(row, product(core, factor));
    else if (rank == 1 && !column.core)
      column = {core, factor};
    else if (rank == 1 && make.joinedRank({column.core, column.factor, core, factor}) == 1)
      column = {sum(value(column), product(core, factor))};
    else
      elements.push_back({core, factor});
  };
  for (const Form &form : {a, b}) {
    term(form.core, form.factor);
    term(form.offset, {});
  }
  if (row || !column.core)
    row = sum(row, scalar);
  else if (scalar)
    column = {value({column.core, column.factor, scalar})};

  if (elements.empty())
    return {column.core, column.factor, row};
  if (elements.size() == 1) {
    auto [core, factor, none] = elements[0];
    if (!row || !column.core)
      return {core, factor, row ? row : column.core ? value(column) : Value()};
    return {value({core, factor, value(column)}), {}, row};
  }
  if (!elements[0].factor)
    std::swap(elements[0], elements[1]);
  Value rest = value(elements[1]);
  if (column.core && (row || elements[1].factor))
    rest = value({elements[1].core, elements[1].factor, value(column)}), column = {};
  Value core = elements[0].factor ? make.fma(elements[0].core, elements[0].factor, rest) : make.add(elements[0].core, rest);
  for (const Form &more : ArrayRef(elements).drop_front(2))
    core = make.add(core, value(more));
  return {core, {}, row ? row : column.core ? value(column) : Value()};
}

/// The same factor on both, and no row to one of them that would better be an offset.
bool Forms::bothScaled(const Form &a, const Form &b) {
  return a.factor && a.factor == b.factor && !a.offset && !b.offset && (rank(a) > 1) == (rank(b) > 1);
}

Form Forms::add(Form a, Form b) {
  if (constantOf(a.core) == 0.0 && a.plain())
    return b;
  if (constantOf(b.core) == 0.0 && b.plain())
    return a;
  if (bothScaled(a, b))
    return {make.add(a.core, b.core), a.factor};
  if (make.joinedRank({a.core, a.factor, a.offset, b.core, b.factor, b.offset}) > 1)
    return addElements(a, b);
  if (a.factor && !a.offset)
    return {make.fma(a.core, a.factor, value(b))};
  if (b.factor && !b.offset)
    return {make.fma(b.core, b.factor, value(a))};
  return {make.add(value(a), value(b))};
}

Form Forms::subtract(Form a, Form b) {
  if (constantOf(b.core) == 0.0 && b.plain())
    return a;
  if (bothScaled(a, b))
    return {make.subtract(a.core, b.core), a.factor};
  bool elements = make.joinedRank({a.core, a.factor, a.offset, b.core, b.factor, b.offset}) > 1;
  // Elements minus what may be their own maximum: exactly 0 there, if both are taken in one unit or as they are.
  if (!foldExponents && elements && rank(b) < 2) {
    if (auto units = shared(a, b, false); units && !units->offset)
      return {make.subtract(units->a, units->b), units->factor};
    return {make.subtract(value(a), value(b))};
  }
  if (a.plain() && b.plain() && (!elements || (rank(a) > 1 && rank(b) > 1)))
    return {make.subtract(a.core, b.core)};
  return add(a, negate(b));
}

//===--- products --------------------------------------------------------------------------------===//

std::optional<Form> Forms::times(const Form &a, Value y) {
  if (make.joinedRank({a.factor, y}) > 1)
    return {};
  if (a.offset && (make.joinedRank({a.offset, y}) > 1 || !finite(y)))
    return {};
  return Form{a.core, product(a.factor, y), a.offset ? make.multiply(a.offset, y) : Value()};
}

Form Forms::multiply(Form a, Form b) {
  if (rank(a) < rank(b) || (rank(a) == rank(b) && isBlock(a.core) && !isBlock(b.core)))
    std::swap(a, b);
  size_t both = make.joinedRank({a.core, a.factor, a.offset, b.core, b.factor, b.offset});
  if (both < 2) {   // scalars leave a row without an offset, to meet others
    if (rank(a) == 1 && rank(b) == 0 && !a.offset)
      return {a.core, product(a.factor, value(b))};
    return {make.multiply(value(a), value(b))};
  }
  if (rank(b) < 2) {
    Value y = value(b);
    if (auto form = times(a, y))
      return *form;
    if (!a.offset && isBlock(a.factor))
      return {make.multiply(a.core, y), a.factor};
    return {value(a), y};
  }
  if (a.offset)
    a = {value(a)};
  if (b.offset)
    b = {value(b)};
  if (make.joinedRank({a.factor, b.factor}) > 1)
    b = {value(b)};
  return {make.multiply(a.core, b.core), product(a.factor, b.factor)};
}

Form Forms::divide(Form a, Form b) {
  if (rank(b) > 1) {
    if (a.offset)
      a = {value(a)};
    return {make.divide(a.core, value(b)), a.factor};
  }
  Value y = value(b);
  if (rank(a) > rank(b) || make.joinedRank({a.core, a.factor, a.offset, y}) > 1 || constantOf(y))
    return multiply(a, {make.reciprocal(y)});
  return {make.divide(value(a), y)};
}

//===--- functions -------------------------------------------------------------------------------===//

Form Forms::exponential(const Form &a) {
  Value log2e = make.constant(std::numbers::log2e, a.core.getType());
  if (a.offset && !foldExponents)
    return {make.make<math::Exp2Op>(make.multiply(value(a), log2e))};
  return {make.make<math::Exp2Op>(value(*times(a, log2e)))};
}

Form Forms::logarithm(const Form &a) {
  return {make.make<math::Log2Op>(value(a)), make.constant(std::numbers::ln2, a.core.getType())};
}

Form Forms::absolute(const Form &a) {
  if (a.factor && !a.offset && isPositive(a.factor))
    return {make.make<math::AbsFOp>(a.core), a.factor};
  return {make.make<math::AbsFOp>(value(a))};
}

} // namespace tw
