// The list of an item's tiles in the roles of a thread block.
#include "KeptTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <limits>

using namespace mlir;
namespace tw {
namespace {

/// What extremes are computed with: i64, or f32.
struct Ends {
  OpBuilder &b;
  Location loc;
  Type type;

  bool isFloat() const { return isa<FloatType>(type); }
  Value number(bool above) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    TypedAttr n = isFloat() ? TypedAttr(b.getF32FloatAttr(float(above ? infinity : -infinity)))
                            : TypedAttr(b.getI64IntegerAttr(above ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min()));
    return arith::ConstantOp::create(b, loc, n);
  }
  Value zero() { return arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type))); }
  Value wide(Value x) { return x.getType() == type ? x : arith::ExtSIOp::create(b, loc, type, x).getResult(); }
  Value lesser(Value x, Value y) { return isFloat() ? arith::MinimumFOp::create(b, loc, x, y).getResult() : arith::MinSIOp::create(b, loc, x, y).getResult(); }
  Value greater(Value x, Value y) { return isFloat() ? arith::MaximumFOp::create(b, loc, x, y).getResult() : arith::MaxSIOp::create(b, loc, x, y).getResult(); }
};

} // namespace

DenseSet<Operation *> servingLists(func::FuncOp function) {
  DenseSet<Operation *> serving;
  Block &body = function.getBody().front();
  bool lists = false;
  for (Operation &op : llvm::reverse(body)) {
    lists |= isa<tile::KeptOp>(op);
    if (!lists || op.getNumRegions() || op.use_empty() || !isMemoryEffectFree(&op))
      continue;
    if (llvm::all_of(op.getUsers(), [&](Operation *user) {
          Operation *above = body.findAncestorOpInBlock(*user);
          return isa<tile::KeptOp>(above) || serving.contains(above);
        }))
      serving.insert(&op);
  }
  return serving;
}

/// Loops over all dimensions in which there are several lists.
static void makeSearch(OpBuilder &b, tile::ExtremesOp op, StringRef tensor, Parameters &parameters, IRMapping &mapping) {
  Location loc = op.getLoc();
  auto truth = [&](bool holds) -> Value { return arith::ConstantOp::create(b, loc, b.getBoolAttr(holds)); };
  const std::size_t lists = op.getLow().size() - 2;
  auto low = [&](std::size_t i) { return mapping.lookup(op.getLow()[i]); };
  auto high = [&](std::size_t i) { return mapping.lookup(op.getHigh()[i]); };
  SmallVector<Value> found{truth(true), truth(false)}, places;
  SmallVector<scf::ForOp> loops;
  OpBuilder::InsertionGuard guard(b);
  for (std::size_t d = 0; d < lists; ++d) {
    if (op.getLow()[d] == op.getHigh()[d]) {
      places.push_back(low(d));
      continue;
    }
    Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1)), end = arith::AddIOp::create(b, loc, high(d), one);
    loops.push_back(scf::ForOp::create(b, loc, low(d), end, one, found));
    b.setInsertionPointToStart(loops.back().getBody());
    places.push_back(loops.back().getInductionVar());
    found.assign(loops.back().getRegionIterArgs().begin(), loops.back().getRegionIterArgs().end());
  }
  auto here = parameters.search(b, loc, tensor, cast<MemRefType>(op.getMemory().getType()).getElementType(), places, low(lists), high(lists), low(lists + 1), high(lists + 1));
  found = loops.empty() ? SmallVector<Value>{here.getAll(), here.getSome()}
                        : SmallVector<Value>{arith::AndIOp::create(b, loc, found[0], here.getAll()), arith::OrIOp::create(b, loc, found[1], here.getSome())};
  for (scf::ForOp loop : llvm::reverse(loops)) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, loc, found);
    found.assign(loop.getResults().begin(), loop.getResults().end());
    b.setInsertionPointAfter(loop);
  }
  for (auto [result, truth] : llvm::zip_equal(op->getResults(), found))
    mapping.map(result, arith::ExtUIOp::create(b, loc, b.getI64Type(), truth).getResult());
}

LogicalResult makeExtremes(OpBuilder &b, tile::ExtremesOp op, StringRef tensor, Parameters &parameters, IRMapping &mapping) {
  Location loc = op.getLoc();
  Type element = cast<MemRefType>(op.getMemory().getType()).getElementType();
  if (element.isF64())
    return op.emitError() << "tensor \"" << tensor << "\" holds elements of f64, in which a GPU's kernel does not compute; make it f32, or run on the CPU (target host)";
  if (op.getAmong()) {
    makeSearch(b, op, tensor, parameters, mapping);
    return success();
  }
  Ends ends{b, loc, op.getLeast().getType()};
  Value pointer = parameters.pointer(tensor, element), first = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)), one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
  auto compare = [&](arith::CmpIPredicate how, Value x, Value y) -> Value { return arith::CmpIOp::create(b, loc, how, x, y); };
  auto both = [&](Value x, Value y) -> Value { return arith::AndIOp::create(b, loc, x, y); };
  auto load = [&](ArrayRef<Value> places, Value inside) {
    Value offset = first;
    for (auto [m, place] : llvm::enumerate(places))
      offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, place, parameters.stride(tensor, int64_t(m))));
    Type loaded = isa<FloatType>(element) ? Type(b.getF32Type()) : element;
    return ends.wide(device::LoadOp::create(b, loc, loaded, pointer, offset, inside));
  };
  SmallVector<Value> low, high, lengths;
  Value inside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  bool isPoint = true;
  for (auto [m, from, to] : llvm::enumerate(op.getLow(), op.getHigh())) {
    isPoint &= from == to;
    low.push_back(mapping.lookup(from));
    high.push_back(mapping.lookup(to));
    lengths.push_back(arith::ExtSIOp::create(b, loc, b.getI64Type(), parameters.length(tensor, int64_t(m))));
    inside = both(inside, both(compare(arith::CmpIPredicate::sge, low.back(), first), compare(arith::CmpIPredicate::slt, high.back(), lengths.back())));
  }
  if (isPoint) {
    Value only = load(low, inside);
    mapping.map(op.getLeast(), only);
    mapping.map(op.getMost(), only);
    return success();
  }
  // Loops over all dimensions but the last, whose elements are looked at in one go, and those in which the box is a point.
  SmallVector<Value> carried{arith::SelectOp::create(b, loc, inside, ends.number(true), ends.zero()), arith::SelectOp::create(b, loc, inside, ends.number(false), ends.zero())};
  OpBuilder::InsertionGuard guard(b);
  SmallVector<scf::ForOp> loops;
  Value offset = first, present;
  for (auto [m, from, to, length] : llvm::enumerate(low, high, lengths)) {
    Value stride = parameters.stride(tensor, int64_t(m));
    auto step = [&](Value place) { offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, place, stride)); };
    if (from == to && m + 1 < low.size()) {
      Value there = both(compare(arith::CmpIPredicate::sge, from, first), compare(arith::CmpIPredicate::slt, from, length));
      present = present ? both(present, there) : there;
      step(from);
      continue;
    }
    Value begin = arith::MaxSIOp::create(b, loc, from, first), end = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, to, one), length);
    if (m + 1 == low.size()) {
      step(begin);
      Value count = arith::SubIOp::create(b, loc, end, begin);
      if (present)
        count = arith::SelectOp::create(b, loc, present, count, first);
      auto row = device::RowExtremesOp::create(b, loc, ends.type, ends.type, pointer, offset, stride, count);
      carried = {ends.lesser(carried[0], row.getLeast()), ends.greater(carried[1], row.getMost())};
      break;
    }
    loops.push_back(scf::ForOp::create(b, loc, begin, end, one, carried));
    b.setInsertionPointToStart(loops.back().getBody());
    step(loops.back().getInductionVar());
    carried.assign(loops.back().getRegionIterArgs().begin(), loops.back().getRegionIterArgs().end());
  }
  for (scf::ForOp loop : llvm::reverse(loops)) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, loc, carried);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  mapping.map(op.getLeast(), carried[0]);
  mapping.map(op.getMost(), carried[1]);
  return success();
}

static Value listsOf(tile::KeptOp op, Parameters &parameters) {
  tile::AxisAttr fold = tile::kernelOf(op->getParentOfType<func::FuncOp>()).withRole(tile::Role::Fold);
  return parameters.lists(fold.getName().getValue(), int64_t(op.getStep()));
}

static void mapResults(tile::KeptOp op, ValueRange results, IRMapping &mapping) {
  for (auto [old, made] : llvm::zip_equal(op->getResults(), results))
    mapping.map(old, made);
}

LogicalResult makeList(OpBuilder &b, tile::KeptOp op, Parameters &parameters, IRMapping &mapping, llvm::function_ref<LogicalResult(Operation &)> copyScalar) {
  Location loc = op.getLoc();
  Type i32 = b.getI32Type();
  auto list = device::ListTilesOp::create(b, loc, i32, i32, i32, i32, listsOf(op, parameters), mapping.lookup(op.getBegin()), mapping.lookup(op.getEnd()), op.getStepAttr(), Value());
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&list.getClassify(), {}, i32, loc);
    mapping.map(op.getTile(), body->getArgument(0));
    for (Operation &inner : op.getClassify().front().without_terminator())
      if (failed(copyScalar(inner)))
        return failure();
    auto classes = cast<tile::ClassesOp>(op.getClassify().front().getTerminator());
    Value empty = arith::ConstantOp::create(b, loc, b.getBoolAttr(false)), full = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    for (auto [isEmpty, isFull] : llvm::zip(classes.getEmpty(), classes.getFull())) {
      empty = b.createOrFold<arith::OrIOp>(loc, empty, mapping.lookup(isEmpty));
      full = b.createOrFold<arith::AndIOp>(loc, full, mapping.lookup(isFull));
    }
    device::ClassesOp::create(b, loc, empty, full);
  }
  mapResults(op, list->getResults(), mapping);
  return success();
}

void makeKeptAt(OpBuilder &b, tile::KeptAtOp op, Parameters &parameters, IRMapping &mapping) {
  Value lists = listsOf(op.getList().getDefiningOp<tile::KeptOp>(), parameters);
  mapping.map(op.getResult(), device::KeptAtOp::create(b, op.getLoc(), b.getI32Type(), lists, mapping.lookup(op.getList()), mapping.lookup(op.getAt())).getResult());
}

void makeListed(OpBuilder &b, tile::KeptOp op, IRMapping &mapping) {
  Type i32 = b.getI32Type();
  mapResults(op, device::ListedOp::create(b, op.getLoc(), i32, i32, i32, i32)->getResults(), mapping);
}

} // namespace tw
