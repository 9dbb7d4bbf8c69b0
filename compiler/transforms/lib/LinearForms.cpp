// tile-linear-forms: scales and offsets move to where they cost least.
//
//   top = max(m, max(x·c over k)),  w = exp(x·c - top)
//     =>  top' = max(m', max(x over k)),  w = exp2(fma(x, c·log2 e, top'·(-c·log2 e))),  c > 0
//
// The function is built anew, in order, with a Form for each old value; what a form stands for is made where an operation needs it.
#include "Evaluator.h"
#include "LinearForm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilewright/transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

namespace tw {
#define GEN_PASS_DEF_LINEARFORMS
#include "tilewright/transforms/Passes.h.inc"

using namespace mlir;
namespace {

bool isLinear(Type type) { return tile::elementOf(type).isF32() || tile::elementOf(type).isF64(); }

struct FormRebuilder {
  FormRebuilder(func::FuncOp function, Block &old, Block &made, bool foldExponents)
      : make(function, &made), forms(make, foldExponents) {
    for (auto [a, b] : llvm::zip(old.getArguments(), made.getArguments()))
      known[a] = {b};
  }

  void rebuild(Block &old) {
    for (Operation &op : old) {
      make.where = op.getLoc();
      rebuild(&op);
    }
  }

private:
  Form form(Value old) { return known.at(old); }
  Value narrow(Value old) { return forms.value(form(old)); }
  /// The value over the axes that it had.
  Value whole(Value old) { return make.broadcast(narrow(old), old.getType()); }

  void rebuild(Operation *op);
  std::optional<Form> rule(Operation *op);
  void copy(Operation *op);

  std::optional<Form> select(arith::SelectOp op);
  template <class Op> std::optional<Form> extremum(Op op);
  std::optional<Form> compare(arith::CmpFOp op);
  Form mask(tile::MaskOp op);
  Form reduce(tile::ReduceOp op);
  std::optional<Form> coordinate(arith::SIToFPOp op);
  /// value = scale · x + rest, x the position in the tile along `axis`, rest not running along it.
  struct Coordinate { int64_t scale; Value rest; };
  std::optional<Coordinate> coordinate(Value value, StringAttr axis);

  void loop(scf::ForOp op);
  Value unit(Value yielded, Value argument);
  bool keepsUnits(const Form &start);

  Expressions make;
  Forms forms;
  llvm::DenseMap<Value, Form> known;
};

//===--- operations ------------------------------------------------------------------------------===//

void FormRebuilder::rebuild(Operation *op) {
  if (auto found = dyn_cast<scf::ForOp>(op))
    return loop(found);
  if (auto splat = dyn_cast<arith::ConstantOp>(op)) {
    if (auto numbers = dyn_cast<SplatElementsAttr>(splat.getValue())) {
      OpBuilder b(op->getContext());
      auto scalar = arith::ConstantOp::create(b, op->getLoc(), cast<TypedAttr>(numbers.getSplatValue<Attribute>()));
      known[op->getResult(0)] = {make.placed(scalar)->getResult(0)};
      return;
    }
  } else if (auto repeated = dyn_cast<tile::BroadcastOp>(op)) {
    Form source = form(repeated.getSource());
    known[repeated] = source;
    return;
  } else if (op->getNumResults() == 1 && isLinear(op->getResult(0).getType())) {
    if (auto found = rule(op)) {
      known[op->getResult(0)] = *found;
      return;
    }
  }
  if (auto comparison = dyn_cast<arith::CmpFOp>(op))
    if (auto found = compare(comparison)) {
      known[comparison] = *found;
      return;
    }
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1) {
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value v) { return narrow(v); });
    known[op->getResult(0)] = {make.copy(op, operands)};
    return;
  }
  copy(op);
}

/// Anything else keeps its operands' types.
void FormRebuilder::copy(Operation *op) {
  IRMapping mapping;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (known.contains(operand) && !mapping.contains(operand))
        mapping.map(operand, whole(operand));
  });
  Operation *made = make.placed(op->clone(mapping));
  for (auto [before, after] : llvm::zip(op->getResults(), made->getResults()))
    known[before] = {after};
}

std::optional<Form> FormRebuilder::rule(Operation *op) {
  using Result = std::optional<Form>;
  auto in = [&](unsigned i) { return form(op->getOperand(i)); };
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddFOp) { return forms.add(in(0), in(1)); })
      .Case([&](arith::SubFOp) { return forms.subtract(in(0), in(1)); })
      .Case([&](arith::MulFOp) { return forms.multiply(in(0), in(1)); })
      .Case([&](arith::DivFOp) { return forms.divide(in(0), in(1)); })
      .Case([&](arith::NegFOp) { return forms.negate(in(0)); })
      .Case([&](math::FmaOp) { return forms.add(forms.multiply(in(0), in(1)), in(2)); })
      .Case([&](math::ExpOp) { return forms.exponential(in(0)); })
      .Case([&](math::LogOp) { return forms.logarithm(in(0)); })
      .Case([&](math::AbsFOp) { return forms.absolute(in(0)); })
      .Case<arith::MaximumFOp, arith::MinimumFOp>([&](auto op) { return extremum(op); })
      .Case([&](arith::SelectOp op) { return select(op); })
      .Case([&](tile::MaskOp op) { return mask(op); })
      .Case([&](tile::ReduceOp op) { return reduce(op); })
      .Case([&](arith::SIToFPOp op) { return coordinate(op); })
      .Case([&](tile::StabiliserOp op) {
        Form source = in(0);
        OpBuilder b(op.getContext());
        return Form{make.placed(tile::StabiliserOp::create(b, make.where, source.core.getType(), source.core))->getResult(0), source.factor, source.offset};
      })
      .Default([](Operation *) { return Result(); });
}

template <class Op> std::optional<Form> FormRebuilder::extremum(Op op) {
  if (auto s = forms.shared(form(op.getLhs()), form(op.getRhs()), true))
    return Form{make.make<Op>({s->a, s->b}), s->factor, s->offset};
  return {};
}

std::optional<Form> FormRebuilder::compare(arith::CmpFOp op) {
  auto s = forms.shared(form(op.getLhs()), form(op.getRhs()), true);
  if (!s || s->offset || !isLinear(op.getLhs().getType()))
    return {};
  return Form{make.copy(op, {s->a, s->b})};
}

std::optional<Form> FormRebuilder::select(arith::SelectOp op) {
  Form yes = form(op.getTrueValue()), no = form(op.getFalseValue());
  if (auto s = forms.shared(yes, no, false))
    return Form{make.copy(op, {narrow(op.getCondition()), s->a, s->b}), s->factor, s->offset};
  return {};
}

Form FormRebuilder::mask(tile::MaskOp op) {
  Form source = forms.around(form(op.getSource()), cast<FloatAttr>(op.getOtherwise()).getValueAsDouble());
  IRMapping mapping;
  mapping.map(op.getSource(), make.broadcast(source.core, op.getType()));
  for (Value scalar : op.getOrigin())
    mapping.map(scalar, narrow(scalar));
  for (Value scalar : op.getRest())
    mapping.map(scalar, narrow(scalar));
  if (Value condition = op.getCondition())
    mapping.map(condition, whole(condition));
  return {make.placed(op->clone(mapping))->getResult(0), source.factor, source.offset};
}

Form FormRebuilder::reduce(tile::ReduceOp op) {
  Form source = form(op.getSource());
  auto uniform = [&](Value v) { return !v || !tile::runsAlong(v, op.getAxis()); };
  bool sum = op.getKind() == tile::Combine::Sum;
  bool passes = uniform(source.factor) && uniform(source.offset) && (sum ? !source.offset : !source.factor || isPositive(source.factor));
  if (!passes)
    source = {forms.value(source)};

  auto old = cast<RankedTensorType>(op.getSource().getType());
  StringAttr axis = op.getAxisAttr();
  OpBuilder b(op.getContext());
  Type type = source.core.getType();
  if (!tile::runsAlong(type, axis)) {   // a value repeated along the axis
    int64_t width = old.getDimSize(cast<tile::AxesAttr>(old.getEncoding()).find(axis));
    type = make.joined({source.core, make.ramp(axis, width, tile::elementOf(type))}, tile::elementOf(type));
  }
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> shape;
  for (auto [name, width] : llvm::zip(tile::axesOf(type), cast<RankedTensorType>(type).getShape()))
    if (name != axis) {
      axes.push_back(name);
      shape.push_back(width);
    }
  auto reduced = tile::ReduceOp::create(b, make.where, tile::tileType(tile::elementOf(type), shape, axes), op.getKind(), make.broadcast(source.core, type), axis);
  return {make.placed(reduced)->getResult(0), source.factor, source.offset};
}

//===--- coordinates -----------------------------------------------------------------------------===//

std::optional<FormRebuilder::Coordinate> FormRebuilder::coordinate(Value value, StringAttr axis) {
  using Result = std::optional<Coordinate>;
  if (!tile::runsAlong(value, axis))
    return Coordinate{0, value};
  OpBuilder b(value.getContext());
  auto number = [&](int64_t n) { return make.placed(arith::ConstantOp::create(b, make.where, b.getI32IntegerAttr(n)))->getResult(0); };
  auto both = [&]<class Op>(Op op, int64_t sign) -> Result {
    auto x = coordinate(op.getLhs(), axis), y = coordinate(op.getRhs(), axis);
    if (!x || !y)
      return {};
    return Coordinate{x->scale + sign * y->scale, make.make<Op>({x->rest, y->rest})};
  };
  return TypeSwitch<Operation *, Result>(value.getDefiningOp())
      .Case([&](tile::PositionsOp op) { return Coordinate{1, op.getStart()}; })
      .Case([&](tile::BroadcastOp op) { return coordinate(op.getSource(), axis); })
      .Case([&](arith::AddIOp op) { return both(op, 1); })
      .Case([&](arith::SubIOp op) { return both(op, -1); })
      .Case([&](arith::MulIOp op) -> Result {
        for (auto [a, c] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
          APInt times;
          auto x = coordinate(a, axis);
          if (x && matchPattern(c, m_ConstantInt(&times)))
            return Coordinate{x->scale * times.getSExtValue(), make.make<arith::MulIOp>({x->rest, number(times.getSExtValue())})};
        }
        return {};
      })
      .Default([](Operation *) { return Result(); });
}

/// float(k - q), q along the block axis  =  ramp(k) · 1 + float(k0 - q): no conversion per element.
std::optional<Form> FormRebuilder::coordinate(arith::SIToFPOp op) {
  Value in = narrow(op.getIn());
  tile::AxisAttr block = make.kernel.withRole(tile::Role::Block);
  StringAttr along;
  for (StringAttr axis : tile::axesOf(in))
    if (!block || axis != block.getName()) {
      if (along)
        return {};
      along = axis;
    }
  if (!along || !tile::elementOf(in.getType()).isInteger(32))
    return {};
  auto split = coordinate(in, along);
  if (!split)
    return {};
  auto type = cast<RankedTensorType>(in.getType());
  Type element = tile::elementOf(op.getType());
  Value ramp = make.ramp(along, type.getDimSize(cast<tile::AxesAttr>(type.getEncoding()).find(along)), element);
  return Form{ramp, split->scale == 1 ? Value() : make.constant(double(split->scale), element), make.make<arith::SIToFPOp>({split->rest}, element)};
}

//===--- the fold --------------------------------------------------------------------------------===//

/// A start value that a change of unit leaves as it is.
bool FormRebuilder::keepsUnits(const Form &start) {
  auto number = constantOf(start.core);
  return number && start.plain() && (*number == 0 || std::isinf(*number));
}

/// The unit u > 0, the same in every step, if `yielded` is a maximum (or a minimum) of the argument and of x · u.
Value FormRebuilder::unit(Value yielded, Value argument) {
  bool reached = false;
  Value found;
  std::function<void(Value, Operation *)> visit = [&](Value value, Operation *parent) {
    Operation *op = value.getDefiningOp();
    reached |= value == argument;
    if (isa_and_nonnull<tile::StabiliserOp>(op))
      return visit(op->getOperand(0), parent);
    if (isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(op) && (!parent || parent->getName() == op->getName())) {
      visit(op->getOperand(0), op);
      visit(op->getOperand(1), op);
    } else if (auto product = dyn_cast_or_null<arith::MulFOp>(op); product && parent) {
      Value factor = product.getRhs();
      if (auto repeated = factor.getDefiningOp<tile::BroadcastOp>())
        factor = repeated.getSource();
      SplatElementsAttr splat;
      if (matchPattern(factor, m_Constant(&splat)))
        factor = make.constant(splat.getSplatValue<APFloat>().convertToDouble(), factor.getType());
      if (!found && !rankOf(factor) && make.outside(factor) && isPositive(factor))
        found = factor;
    }
  };
  visit(yielded, nullptr);
  return reached ? found : Value();
}

/// The loop is built with every carried value as it is, to see in which unit it could be kept; then again with
/// argument = kept · unit, unless some yield turns out not to have its unit.
void FormRebuilder::loop(scf::ForOp op) {
  OpBuilder b(op.getContext());
  SmallVector<Value> starts = llvm::map_to_vector(op.getInitArgs(), [&](Value v) { return whole(v); });
  SmallVector<Value> units(starts.size());
  Block &old = *op.getBody();
  for (bool searched = false;; searched = true) {
    auto loop = scf::ForOp::create(b, op.getLoc(), narrow(op.getLowerBound()), narrow(op.getUpperBound()), narrow(op.getStep()), starts, nullptr,
                                   op.getUnsignedCmp());
    loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    make.placed(loop);
    Block &body = *loop.getBody();
    if (!body.empty())
      body.getTerminator()->erase();
    for (auto [before, after] : llvm::zip(old.getArguments(), body.getArguments())) {
      known[before] = {after};
      after.setLoc(before.getLoc());
    }
    for (auto [argument, unit] : llvm::zip(op.getRegionIterArgs(), units))
      known[argument].factor = unit;

    make.enter(&body);
    for (Operation &inner : old.without_terminator()) {
      make.where = inner.getLoc();
      rebuild(&inner);
    }
    make.where = old.getTerminator()->getLoc();

    bool again = false;
    for (auto [i, yielded] : llvm::enumerate(op.getYieldedValues())) {
      Form end = form(yielded);
      if (!searched && isLinear(yielded.getType()) && keepsUnits(form(op.getInitArgs()[i])) && end.plain()) {
        units[i] = unit(end.core, loop.getRegionIterArg(i));
        again |= bool(units[i]);
      } else if (units[i] && (end.factor != units[i] || end.offset)) {
        units[i] = {};
        again = true;
      }
    }
    if (!again) {
      SmallVector<Value> yields;
      for (auto [yielded, unit] : llvm::zip(op.getYieldedValues(), units))
        yields.push_back(make.broadcast(unit ? form(yielded).core : narrow(yielded), yielded.getType()));
      auto yield = scf::YieldOp::create(b, make.where, yields);
      body.push_back(yield);
      make.leave();
      for (auto [before, after, unit] : llvm::zip(op.getResults(), loop.getResults(), units))
        known[before] = {after, unit};
      return;
    }
    make.leave();
    loop.erase();
  }
}

//===--- the pass --------------------------------------------------------------------------------===//

struct LinearForms : impl::LinearFormsBase<LinearForms> {
  using LinearFormsBase::LinearFormsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!tile::kernelOf(function))
      return;
    Block &old = function.getBody().front();
    Block *made = new Block;
    for (BlockArgument argument : old.getArguments())
      made->addArgument(argument.getType(), argument.getLoc());
    function.getBody().push_back(made);
    FormRebuilder(function, old, *made, foldExponents).rebuild(old);
    old.erase();
    function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
};

} // namespace
} // namespace tw
