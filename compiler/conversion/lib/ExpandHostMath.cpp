// See Passes.td. For exp and exp2:
//
//   2^x = 2^n · 2^f,  n = round(x), f = x − n in [−½, ½];  e^x = 2^n · e^r,  n = round(x / ln 2), r = x − n·ln 2.
//
// n is found by adding 1.5·2^23, whose unit in the last place is 1, and the bias of exponents less 1: the sum's low bits,
// shifted into a float's exponent, are 2^(n−1). The polynomial gives twice the value, so that n = 128, where x is just below
// 128, still is a float. x is held in [−125, 128], where n = 128, f = 0 overflows to infinity. Comparisons are such that a
// NaN is passed on, and none hits the integers alone. What outlives the polynomial is the power only: the fewer registers,
// the more elements are worked on at once.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"
#include "tilewright/conversion/Passes.h"
#include <array>
#include <limits>

namespace tw {
#define GEN_PASS_DEF_EXPANDHOSTMATH
#include "tilewright/conversion/Passes.h.inc"
namespace {
using namespace mlir;

/// Builds elementwise arithmetic on one scalar or vector type and its integer twin.
struct Elementwise {
  PatternRewriter &rewriter;
  Location where;
  Type type;

  static Type withElement(Type like, Type element) {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type integer() const {
    return withElement(type, rewriter.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth()));
  }
  Value constant(Type like, TypedAttr value) const {
    if (auto vector = dyn_cast<VectorType>(like))
      return arith::ConstantOp::create(rewriter, where, DenseElementsAttr::get(vector, Attribute(value)));
    return arith::ConstantOp::create(rewriter, where, value);
  }
  Value real(double value) const { return constant(type, rewriter.getFloatAttr(getElementTypeOrSelf(type), value)); }
  Value bits(std::int64_t value) const {
    return constant(integer(), rewriter.getIntegerAttr(getElementTypeOrSelf(integer()), value));
  }
  template <class Op, class... Arguments>
  Value make(Arguments &&...arguments) const {
    return Op::create(rewriter, where, std::forward<Arguments>(arguments)...);
  }
  template <class Op>
  Value cast(Type to, Value from) const {
    return Op::create(rewriter, where, TypeRange(to), ValueRange(from));
  }
  Value fma(Value left, Value right, Value added) const { return make<math::FmaOp>(left, right, added); }
  Value asBits(Value value) const { return make<arith::BitcastOp>(integer(), value); }
  Value asReal(Value value) const { return make<arith::BitcastOp>(type, value); }
  Value select(arith::CmpFPredicate predicate, Value left, Value right, Value yes, Value no) const {
    return make<arith::SelectOp>(make<arith::CmpFOp>(predicate, left, right), yes, no);
  }
  /// value, held in [low, high]; a NaN stays one.
  Value clamp(Value value, double low, double high) const {
    Value least = real(low), most = real(high);
    value = select(arith::CmpFPredicate::OGT, least, value, least, value);
    return select(arith::CmpFPredicate::OLT, most, value, most, value);
  }
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value sum = real(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, real(coefficient));
    return sum;
  }
};

constexpr double roundingUnit = 12582912.0 + 126;                 // 1.5·2^23, and the exponent of 2^-1

/// 2^(n−1), where n + 126 is in the low bits of `shifted`. Powers of finite numbers are held at 2^-125 at least: only
/// -infinity, which is what masks make, gives 0. So a weight that is too small for its type still shows a NaN that it
/// multiplies, and a masked one hides it.
Value powerOf(const Elementwise &e, Value x, Value shifted) {
  Value power = e.asReal(e.make<arith::ShLIOp>(e.asBits(shifted), e.bits(23)));
  return e.select(arith::CmpFPredicate::OEQ, x, e.real(-std::numeric_limits<double>::infinity()), e.real(0), power);
}

struct ExpandExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Elementwise e{rewriter, op.getLoc(), op.getType()};
    // 2·2^f, near-minimax of degree 6 with 2^0 = 1 exact: relative error 8.3e-9.
    constexpr std::array twicePower = {2.0, 0x1.62e43p+0, 0x1.ebfbep-2, 0x1.c6af6cp-4, 0x1.3b2a54p-6, 0x1.5f089p-9, 0x1.44138ap-12};
    Value x = e.clamp(op.getOperand(), -125.0, 128.0), unit = e.real(roundingUnit);
    Value shifted = e.make<arith::AddFOp>(x, unit);
    Value fraction = e.make<arith::SubFOp>(x, e.make<arith::SubFOp>(shifted, unit));
    Value power = powerOf(e, op.getOperand(), shifted);
    rewriter.replaceOp(op, e.make<arith::MulFOp>(e.polynomial(fraction, twicePower), power));
    return success();
  }
};

struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Elementwise e{rewriter, op.getLoc(), op.getType()};
    // 2·e^r on |r| ≤ ln 2 / 2, near-minimax of degree 6: relative error 9.2e-9.
    constexpr std::array twiceExp = {2.0, 2.0, 1.0, 0x1.5554dcp-2, 0x1.55551ap-4, 0x1.120b9p-6, 0x1.6d112cp-9};
    constexpr double ln2High = 0.6931471824645996, ln2Low = -1.904654299957768e-09;
    Value x = e.clamp(op.getOperand(), -125.0 * ln2High, 89.0), unit = e.real(roundingUnit);
    Value shifted = e.fma(x, e.real(1.4426950408889634), unit);
    Value n = e.make<arith::SubFOp>(shifted, unit);
    Value rest = e.fma(n, e.real(-ln2Low), e.fma(n, e.real(-ln2High), x));
    Value power = powerOf(e, op.getOperand(), shifted);
    rewriter.replaceOp(op, e.make<arith::MulFOp>(e.polynomial(rest, twiceExp), power));
    return success();
  }
};

/// e^x − 1 by Kahan: with u the rounded e^x, (u − 1) · (x / log u) is right however near to 1 u is, since both factors of
/// (u − 1) / log u are then off alike.
struct ExpandExpM1 : OpRewritePattern<math::ExpM1Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpM1Op op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return failure();
    Elementwise e{rewriter, op.getLoc(), op.getType()};
    using P = arith::CmpFPredicate;
    Value x = op.getOperand(), u = e.make<math::ExpOp>(x), one = e.real(1), less = e.make<arith::SubFOp>(u, one);
    Value corrected = e.make<arith::MulFOp>(less, e.make<arith::DivFOp>(x, e.make<math::LogOp>(u)));
    // where log u says nothing: u is 1, so e^x − 1 is x; u is infinite, or x is so low that it is u − 1 anyway
    Value result = e.select(P::OLT, x, e.real(-40), less, corrected);
    result = e.select(P::OEQ, u, e.real(std::numeric_limits<double>::infinity()), u, result);
    rewriter.replaceOp(op, e.select(P::OEQ, u, one, x, result));
    return success();
  }
};

bool isSixteenBits(Type type) { return isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(type)); }

/// f16, bf16 → f64 by way of f32: exact.
struct ExtendThroughF32 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!isSixteenBits(op.getIn().getType()) || !getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    Elementwise e{rewriter, op.getLoc(), Elementwise::withElement(op.getType(), rewriter.getF32Type())};
    rewriter.replaceOp(op, e.cast<arith::ExtFOp>(op.getType(), e.cast<arith::ExtFOp>(e.type, op.getIn())));
    return success();
  }
};

/// Integers → f16, bf16 by way of f32, which no function of a library is needed for.
template <class Op>
struct IntegerThroughF32 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isSixteenBits(op.getType()))
      return failure();
    Elementwise e{rewriter, op.getLoc(), Elementwise::withElement(op.getType(), rewriter.getF32Type())};
    rewriter.replaceOp(op, e.cast<arith::TruncFOp>(op.getType(), e.cast<Op>(e.type, op.getIn())));
    return success();
  }
};

/// f64 → f16, bf16. Rounded to odd, the f32 in between is the exact value cut off, with its last bit set if anything was cut
/// off: no tie of the shorter format that was none before.
struct TruncateThroughF32 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Value wide = op.getIn();
    if (!isSixteenBits(op.getType()) || !getElementTypeOrSelf(wide.getType()).isF64())
      return failure();
    Elementwise e{rewriter, op.getLoc(), Elementwise::withElement(op.getType(), rewriter.getF32Type())};
    Value near = e.cast<arith::TruncFOp>(e.type, wide);
    Value back = e.cast<arith::ExtFOp>(wide.getType(), near);
    Value bits = e.asBits(near), one = e.bits(1);
    Value tooLong = e.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, e.make<math::AbsFOp>(back), e.make<math::AbsFOp>(wide));
    Value inexact = e.make<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, wide);
    bits = e.make<arith::SelectOp>(tooLong, e.make<arith::SubIOp>(bits, one), bits);
    bits = e.make<arith::SelectOp>(inexact, e.make<arith::OrIOp>(bits, one), bits);
    rewriter.replaceOp(op, e.cast<arith::TruncFOp>(op.getType(), e.asReal(bits)));
    return success();
  }
};

template <class Op>
void ignoreSignOfZero(Op op) {
  op.setFastmath(op.getFastmath() | arith::FastMathFlags::nsz);
}

struct ExpandHostMath : impl::ExpandHostMathBase<ExpandHostMath> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<arith::MaximumFOp, arith::MinimumFOp, vector::ReductionOp>(
          [](auto extremum) { ignoreSignOfZero(extremum); });
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp2, ExpandExp, ExpandExpM1, ExtendThroughF32, TruncateThroughF32, IntegerThroughF32<arith::SIToFPOp>,
                 IntegerThroughF32<arith::UIToFPOp>>(&getContext(), /*benefit=*/2);
    populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained({"math.tanh", "math.log", "math.log2", "math.log1p", "math.erf"}, name);
    });
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tw
