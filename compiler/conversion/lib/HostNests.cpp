// Loop nests over a domain: one or two axes, vectors along the last one, every sink of the domain at once.
#include "HostLowering.h"
using namespace mlir;

namespace tw::host {

Value Lowering::neutral(Location loc, tile::Combine kind, Type type) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr value;
  if (auto real = dyn_cast<FloatType>(element)) {
    auto infinity = llvm::APFloat::getInf(real.getFloatSemantics(), kind == tile::Combine::Max);
    value = kind == tile::Combine::Sum ? b.getFloatAttr(real, 0.0) : b.getFloatAttr(real, infinity);
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    value = b.getIntegerAttr(element, kind == tile::Combine::Sum   ? llvm::APInt::getZero(width)
                                      : kind == tile::Combine::Max ? llvm::APInt::getSignedMinValue(width)
                                                                   : llvm::APInt::getSignedMaxValue(width));
  }
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(b, loc, value);
}

Value Lowering::combine(Location loc, tile::Combine kind, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType()))) {
    auto zeros = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::nsz);
    switch (kind) {
    case tile::Combine::Sum: return arith::AddFOp::create(b, loc, x, y);
    case tile::Combine::Max: return arith::MaximumFOp::create(b, loc, x, y, zeros);
    case tile::Combine::Min: return arith::MinimumFOp::create(b, loc, x, y, zeros);
    }
  }
  switch (kind) {
  case tile::Combine::Sum: return arith::AddIOp::create(b, loc, x, y);
  case tile::Combine::Max: return arith::MaxSIOp::create(b, loc, x, y);
  case tile::Combine::Min: return arith::MinSIOp::create(b, loc, x, y);
  }
  llvm_unreachable("a combine is one of three");
}

// Halves the vector until so many lanes are left; a single one is no vector.
Value Lowering::acrossLanes(Location loc, tile::Combine kind, Value vector, int64_t left) {
  for (int64_t half = cast<VectorType>(vector.getType()).getDimSize(0) / 2; half >= std::max<int64_t>(left, 2); half /= 2) {
    SmallVector<int64_t> low(half), high(half);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), half);
    vector = combine(loc, kind, vector::ShuffleOp::create(b, loc, vector, vector, low),
                     vector::ShuffleOp::create(b, loc, vector, vector, high));
  }
  if (left > 1)
    return vector;
  auto lane = [&](int64_t i) -> Value { return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{i}); };
  return combine(loc, kind, lane(0), lane(1));
}

namespace {
bool alongLast(Sink sink, RankedTensorType domain) {
  return sink.reduction && tile::axesOf(domain).back().getValue() == sink.reduction.getAxis();
}
} // namespace

/// All sinks at one point. `partials` holds what reductions along the last axis have combined so far; lanes from
/// `valid` on lie past the end of the axis.
void Lowering::emitElements(Location loc, RankedTensorType domain, ArrayRef<Sink> sinks, Point &point, int64_t valid,
                            SmallVectorImpl<Value> &partials) {
  SmallVector<Value> values;
  for (Sink sink : sinks)
    values.push_back(evaluate(sink.value, point));
  size_t partial = 0;
  for (auto [given, value] : llvm::zip(sinks, values)) {
    Sink sink = given;
    SmallVector<Value, 2> at(point.indices);
    if (at.size() == 1)
      at.insert(at.begin(), index(loc, 0));
    if (!sink.reduction) {
      Buffer target = targets.lookup(sink.value);
      if (value.getType() == laneType(b.getI1Type(), point.lanes))
        value = arith::ExtUIOp::create(b, loc, laneType(b.getI8Type(), point.lanes), value);
      vector::StoreOp::create(b, loc, value, target.memory, at);
      continue;
    }
    auto kind = sink.reduction.getKind();
    if (alongLast(sink, domain)) {
      if (valid < point.lanes) {
        SmallVector<bool> in(point.lanes);
        std::fill_n(in.begin(), valid, true);
        Value inside = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(VectorType::get({point.lanes}, b.getI1Type()), in));
        value = arith::SelectOp::create(b, loc, inside, value, neutral(loc, kind, value.getType()));
      }
      int64_t lanes = cast<VectorType>(partials[partial].getType()).getDimSize(0);
      partials[partial] = combine(loc, kind, partials[partial], acrossLanes(loc, kind, value, lanes));
      ++partial;
      continue;
    }
    Buffer sums = targets.lookup(sink.reduction.getResult());
    SmallVector<Value, 2> column{index(loc, 0), point.indices[1]};
    Value before = vector::LoadOp::create(b, loc, cast<VectorType>(value.getType()), sums.memory, column);
    vector::StoreOp::create(b, loc, combine(loc, kind, before, value), sums.memory, column);
  }
}

/// One row of the nest (the only one if `row` is null), and what reductions along it give.
void Lowering::emitColumns(Location loc, RankedTensorType domain, ArrayRef<Sink> sinks, Value row) {
  int64_t width = domain.getShape().back(), lanes = nestLanes();
  SmallVector<Sink> along;
  for (Sink sink : sinks)
    if (alongLast(sink, domain))
      along.push_back(sink);
  SmallVector<Value> partials;
  llvm::DenseMap<Value, Value> rowValues;
  Operation *rowCodeBefore = nullptr;
  auto emitAt = [&](Value column, int64_t lanes, int64_t valid) {
    llvm::DenseMap<Value, Value> elements;
    Point point{tile::axesOf(domain), {}, lanes, &elements, &rowValues, rowCodeBefore};
    if (row)
      point.indices.push_back(row);
    point.indices.push_back(column);
    emitElements(loc, domain, sinks, point, valid, partials);
  };
  for (Sink sink : along)
    partials.push_back(neutral(loc, sink.reduction.getKind(), VectorType::get({lanes}, tile::elementOf(sink.value.getType()))));
  int64_t done = 0;
  for (int64_t step : {row ? lanes * nestVectors : lanes, lanes}) {
    int64_t end = done + (width - done) / step * step;
    if (end == done)
      continue;
    auto loop = scf::ForOp::create(b, loc, index(loc, done), index(loc, end), index(loc, step), partials);
    if (row && !rowCodeBefore)
      rowCodeBefore = loop;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    partials.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    emitAt(loop.getInductionVar(), step, step);
    if (!partials.empty())
      scf::YieldOp::create(b, loc, partials);
    partials.assign(loop.getResults().begin(), loop.getResults().end());
    done = end;
  }
  if (done < width)
    emitAt(index(loc, done), lanes, width - done);
  for (auto [sink, partial] : llvm::zip(along, partials)) {
    Value total = acrossLanes(loc, sink.reduction.getKind(), partial, 1);
    if (row)
      memref::StoreOp::create(b, loc, total, targets.lookup(sink.reduction.getResult()).memory, ValueRange{index(loc, 0), row});
    else
      scalars.map(sink.reduction.getResult(), total);
  }
}

void Lowering::emitNest(Location loc, RankedTensorType domain, ArrayRef<Sink> sinks) {
  if (domain.getRank() == 1)
    return emitColumns(loc, domain, sinks, nullptr);
  for (Sink sink : sinks) {   // sums over rows grow in memory
    if (!sink.reduction || alongLast(sink, domain))
      continue;
    Buffer sums = targets.lookup(sink.reduction.getResult());
    auto type = VectorType::get({nestLanes()}, tile::elementOf(sink.value.getType()));
    for (int64_t column = 0; column < sums.length; column += nestLanes())
      vector::StoreOp::create(b, loc, neutral(loc, sink.reduction.getKind(), type), sums.memory, ValueRange{index(loc, 0), index(loc, column)});
  }
  auto rows = scf::ForOp::create(b, loc, index(loc, 0), index(loc, domain.getShape()[0]), index(loc, 1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  emitColumns(loc, domain, sinks, rows.getInductionVar());
}

// Element by element: a place outside is not read.
Buffer Lowering::lowerGather(tile::GatherOp op) {
  Location loc = op.getLoc();
  auto type = tileOf(op.getResult());
  Buffer target = allocate(type, loc);
  SmallVector<Value, 2> at;
  OpBuilder::InsertionGuard guard(b);
  for (int64_t width : type.getShape()) {
    auto loop = scf::ForOp::create(b, loc, index(loc, 0), index(loc, width), index(loc, 1));
    b.setInsertionPointToStart(loop.getBody());
    at.push_back(loop.getInductionVar());
  }
  llvm::DenseMap<Value, Value> elements;
  Point point{tile::axesOf(type), at, 1, &elements, nullptr, nullptr};
  SmallVector<Value> places;
  for (Value given : op.getIndices())
    places.push_back(evaluate(given, point));
  Value memory = scalars.lookup(op.getMemory()), value;
  if (op.getAmong())
    value = arith::ExtUIOp::create(b, loc, storedType(b.getI1Type()), isAmong(loc, memory, places));
  else
    value = loadOne(loc, memory, llvm::map_to_vector(places, [&](Value place) { return toIndex(place); }));
  if (at.size() == 1)
    at.insert(at.begin(), index(loc, 0));
  memref::StoreOp::create(b, loc, value, target.memory, at);
  return target;
}

} // namespace tw::host
