// i32 values as integer linear forms of coordinates, scalars and a constant.
#include "AffineForms.h"
#include "FoldAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
using namespace mlir;

namespace tw {
namespace {
template <class Key>
void addTerms(SmallVectorImpl<std::pair<Key, int64_t>> &terms, ArrayRef<std::pair<Key, int64_t>> others, int64_t factor) {
  for (auto [key, coefficient] : others) {
    auto found = llvm::find_if(terms, [&, k = key](const auto &term) { return term.first == k; });
    if (found == terms.end())
      found = terms.insert(terms.end(), {key, 0});
    found->second += factor * coefficient;
  }
  llvm::erase_if(terms, [](const auto &term) { return term.second == 0; });
}

/// Coefficients beyond this are left to whoever wrote them.
constexpr int64_t largestCoefficient = int64_t(1) << 20;

bool isSmall(const AffineForm &form) {
  return form.weight() <= largestCoefficient && std::abs(form.constant) < (int64_t(1) << 31);
}

std::optional<AffineForm> walk(Value value, Operation *at) {
  value = withoutBroadcasts(value);
  if (!tile::elementOf(value.getType()).isInteger(32))
    return std::nullopt;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return AffineForm{{}, {}, constant.getSExtValue()};
  Operation *op = value.getDefiningOp();
  if (auto positions = dyn_cast_or_null<tile::PositionsOp>(op)) {
    StringAttr axis = tile::axesOf(value)[0];
    auto start = walk(positions.getStart(), at), origin = originForm(at, axis.getValue());
    if (!start || !origin)
      return std::nullopt;
    AffineForm form{{{axis, 1}}, {}, 0};    // start + i = x + (start - origin)
    form.add(*start);
    form.add(*origin, -1);
    return form;
  }
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    auto left = walk(op->getOperand(0), at), right = walk(op->getOperand(1), at);
    if (left && right) {
      AffineForm form;
      if (!isa<arith::MulIOp>(op)) {
        form = *left;
        form.add(*right, isa<arith::AddIOp>(op) ? 1 : -1);
      } else if (left->isConstant()) {
        form.add(*right, left->constant);
      } else if (right->isConstant()) {
        form.add(*left, right->constant);
      } else if (!tile::axesOf(value).empty()) {
        return std::nullopt;
      } else {
        return AffineForm::of(value);
      }
      if (isSmall(form))
        return form;
    }
  }
  if (!tile::axesOf(value).empty())
    return std::nullopt;
  return AffineForm::of(value);
}
} // namespace

void AffineForm::add(const AffineForm &other, int64_t factor) {
  addTerms<StringAttr>(coordinates, other.coordinates, factor);
  addTerms<Value>(scalars, other.scalars, factor);
  constant += factor * other.constant;
}

int64_t AffineForm::along(StringRef axis) const {
  for (auto [name, coefficient] : coordinates)
    if (name.getValue() == axis)
      return coefficient;
  return 0;
}

int64_t AffineForm::times(Value scalar) const {
  for (auto [value, coefficient] : scalars)
    if (value == scalar)
      return coefficient;
  return 0;
}

int64_t AffineForm::weight() const {
  int64_t sum = 0;
  for (auto &term : coordinates)
    sum += std::abs(term.second);
  for (auto &term : scalars)
    sum += std::abs(term.second);
  return sum;
}

std::optional<AffineForm> affineForm(Value value, Operation *at) { return walk(value, at); }

std::optional<AffineForm> originForm(Operation *at, StringRef axis) {
  auto function = at->getParentOfType<func::FuncOp>();
  tile::KernelAttr kernel = function ? tile::kernelOf(function) : tile::KernelAttr();
  tile::AxisAttr known = kernel ? kernel.find(axis) : tile::AxisAttr();
  if (!known)
    return std::nullopt;
  switch (known.getRole()) {
  case tile::Role::Inner:
    return AffineForm{};
  case tile::Role::Fold:
    for (auto loop = at->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
      if (auto name = loop->getAttrOfType<StringAttr>(foldAxisAttr); name && name.getValue() == axis)
        return AffineForm::of(loop.getInductionVar());
    return std::nullopt;
  case tile::Role::Block:
  case tile::Role::Free:
    if (Value item = tile::kernelArgument(function, "item", axis))
      return AffineForm::of(item);
    return std::nullopt;
  }
  return std::nullopt;
}

Value originOf(OpBuilder &builder, Operation *at, StringRef axis) {
  AffineForm form = *originForm(at, axis);
  return materialise(builder, at->getLoc(), form, at);
}

Value extentOf(Operation *at, StringRef axis) {
  auto function = dyn_cast<func::FuncOp>(at);
  if (!function)
    function = at->getParentOfType<func::FuncOp>();
  return tile::kernelArgument(function, "extent", axis);
}

bool variesIn(const AffineForm &form, Operation *loop) {
  return llvm::any_of(form.scalars, [&](auto term) { return loop->isAncestor(term.first.getParentBlock()->getParentOp()); });
}

Value materialise(OpBuilder &builder, Location location, const AffineForm &form, Operation *before) {
  assert(form.coordinates.empty() && "a scalar has no coordinates");
  if (form.constant == 0 && form.scalars.size() == 1 && form.scalars[0].second == 1)
    return form.scalars[0].first;
  while (auto loop = dyn_cast<scf::ForOp>(before->getParentOp())) {
    if (variesIn(form, loop))
      break;
    before = loop;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(before);
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(int32_t(n))); };
  Value sum;                                 // positive terms first, so that 1 - extent needs no negation
  for (bool positive : {true, false}) {
    if (positive ? form.constant > 0 : !sum)
      sum = number(positive || form.constant < 0 ? form.constant : 0);
    for (auto [value, coefficient] : form.scalars) {
      if ((coefficient > 0) != positive)
        continue;
      Value term = value;
      if (int64_t magnitude = std::abs(coefficient); magnitude != 1)
        term = arith::MulIOp::create(builder, location, term, number(magnitude));
      if (!positive)
        sum = arith::SubIOp::create(builder, location, sum, term);
      else
        sum = sum ? arith::AddIOp::create(builder, location, sum, term) : term;
    }
    if (positive && sum && form.constant < 0)
      sum = arith::SubIOp::create(builder, location, sum, number(-form.constant));
  }
  return sum;
}

Value withoutBroadcasts(Value value) {
  while (auto broadcast = value.getDefiningOp<tile::BroadcastOp>())
    value = broadcast.getSource();
  return value;
}

} // namespace tw
