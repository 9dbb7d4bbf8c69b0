// Products: the right operand packed into panels, and register blocks of fused multiply-adds over them.
#include "HostLowering.h"
using namespace mlir;

namespace tw::host {

struct Lowering::Product {
  Location loc;
  Buffer left;               // rows along the result's first axis, or along the contracted one
  bool contractedLast;       // left[row, k], else left[k, row]
  Value panels;              // [panel][k][column]
  int64_t rows, columns, depth;
  int64_t lanes, panelWidth;
  Value added;               // what the product is added to; null for nothing
  ArrayRef<StringAttr> axes; // of the result
  Buffer target;

  Value leftAt(OpBuilder &b, Value row, Value k) const {
    return memref::LoadOp::create(b, loc, left.memory, contractedLast ? ValueRange{row, k} : ValueRange{k, row});
  }
};

Panels Lowering::pack(Value operand, StringRef contracted, Type element) {
  Location loc = operand.getLoc();
  auto type = tileOf(operand);
  bool turned = tile::axesOf(operand)[1].getValue() == contracted;   // its rows run along the other axis
  Rectangle from;
  if (tile::LoadOp behind = loadBehind(operand)) {
    from = rectangle(behind.getMemory(), behind.getOffsets(), behind.getDims(), type, turned);
  } else {
    const Buffer &buffer = buffers.lookup(operand);
    describeMemory(buffer.memory);
    from = {buffer.memory, {index(loc, 0), index(loc, 0)}, turned ? 1 : 0, turned ? 0 : 1, type.getDimSize(turned), type.getDimSize(!turned)};
  }
  int64_t width = panelWidth(element), panels = (from.columns + width - 1) / width;
  Panels result;
  result.extent = scratch.allocate(panels * from.rows * width * element.getIntOrFloatBitWidth() / 8);
  result.memory = view(loc, result.extent, {panels, from.rows, width}, element);
  load(loc, from, result.memory, &result.finite);
  return result;
}

void Lowering::lowerDot(tile::DotOp dot, Value result, Value added, Buffer target) {
  Location loc = dot.getLoc();
  auto type = tileOf(result);
  Type element = type.getElementType();
  Buffer left = buffers.lookup(dot.getLhs());
  bool ownLeft = false;
  if (tile::LoadOp behind = loadBehind(dot.getLhs())) {
    left = widened.lookup(dot.getLhs());
    if (!left) {
      left = loadRows(behind, element);
      ownLeft = true;
    }
  }
  auto known = packed.find({dot.getRhs(), dot.getAxisAttr()});
  Panels right = known != packed.end() ? known->second : pack(dot.getRhs(), dot.getAxis(), element);
  bool contractedLast = tile::axesOf(dot.getLhs())[1].getValue() == dot.getAxis();
  Product product{loc, left, contractedLast, right.memory, type.getDimSize(0), type.getDimSize(1), tileOf(dot.getLhs()).getDimSize(contractedLast),
                  lanes(element), panelWidth(element), added, tile::axesOf(result), target};
  auto branch = scf::IfOp::create(b, loc, TypeRange(), right.finite, /*withElse=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    int64_t whole = product.columns / product.panelWidth, rest = product.columns % product.panelWidth;
    if (whole) {
      auto panels = scf::ForOp::create(b, loc, index(loc, 0), index(loc, whole), index(loc, 1));
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(panels.getBody());
      emitPanel(product, panels.getInductionVar(), shape.registerVectors);
    }
    if (rest)
      emitPanel(product, index(loc, whole), (rest + product.lanes - 1) / product.lanes);
    b.setInsertionPointToStart(branch.elseBlock());
    emitCareful(product);
  }
  if (ownLeft)
    scratch.release(left.extent);
  if (known == packed.end())
    scratch.release(right.extent);
}

/// All rows of one panel's columns.
void Lowering::emitPanel(const Product &product, Value panel, int64_t vectors) {
  int64_t whole = product.rows / shape.registerRows * shape.registerRows;
  if (whole) {
    auto blocks = scf::ForOp::create(b, product.loc, index(product.loc, 0), index(product.loc, whole), index(product.loc, shape.registerRows));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(blocks.getBody());
    emitBlock(product, blocks.getInductionVar(), panel, shape.registerRows, vectors);
  }
  if (whole < product.rows)
    emitBlock(product, index(product.loc, whole), panel, product.rows - whole, vectors);
}

// acc[r, v] += left[row + r, k] · right[k, v] for all k, with every acc in a register.
void Lowering::emitBlock(const Product &product, Value firstRow, Value panel, int64_t rows, int64_t vectors) {
  Location loc = product.loc;
  auto type = VectorType::get({product.lanes}, cast<MemRefType>(product.panels.getType()).getElementType());
  SmallVector<Value> row, column, start;
  for (int64_t r = 0; r < rows; ++r)
    row.push_back(arith::AddIOp::create(b, loc, firstRow, index(loc, r)));
  Value first = arith::MulIOp::create(b, loc, panel, index(loc, product.panelWidth));
  for (int64_t v = 0; v < vectors; ++v)
    column.push_back(arith::AddIOp::create(b, loc, first, index(loc, v * product.lanes)));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      start.push_back(startAt(product, row[r], column[v]));
  auto add = [&](Value k, SmallVectorImpl<Value> &sums) {
    SmallVector<Value> right;
    for (int64_t v = 0; v < vectors; ++v)
      right.push_back(vector::LoadOp::create(b, loc, type, product.panels, ValueRange{panel, k, index(loc, v * product.lanes)}));
    for (int64_t r = 0; r < rows; ++r) {
      Value left = spread(loc, product.leftAt(b, row[r], k), product.lanes);
      for (int64_t v = 0; v < vectors; ++v)
        sums[r * vectors + v] = vector::FMAOp::create(b, loc, left, right[v], sums[r * vectors + v]);
    }
  };
  int64_t steps = rows == shape.registerRows ? depthSteps : 1, whole = product.depth / steps * steps;
  SmallVector<Value> sums(start);
  if (whole) {
    auto depth = scf::ForOp::create(b, loc, index(loc, 0), index(loc, whole), index(loc, steps), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(depth.getBody());
    sums.assign(depth.getRegionIterArgs().begin(), depth.getRegionIterArgs().end());
    for (int64_t i = 0; i < steps; ++i)
      add(arith::AddIOp::create(b, loc, depth.getInductionVar(), index(loc, i)), sums);
    scf::YieldOp::create(b, loc, sums);
    sums.assign(depth.getResults().begin(), depth.getResults().end());
  }
  for (int64_t k = whole; k < product.depth; ++k)
    add(index(loc, k), sums);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      vector::StoreOp::create(b, loc, sums[r * vectors + v], product.target.memory, ValueRange{row[r], column[v]});
}

Value Lowering::startAt(const Product &product, Value row, Value column) {
  auto type = VectorType::get({product.lanes}, cast<MemRefType>(product.panels.getType()).getElementType());
  if (!product.added)
    return arith::ConstantOp::create(b, product.loc, b.getZeroAttr(type));
  llvm::DenseMap<Value, Value> elements;
  Point point{product.axes, {row, column}, product.lanes, &elements, nullptr, nullptr};
  return evaluate(product.added, point);
}

// The right operand holds NaN or an infinity: a left element that is 0 is passed over. Seldom runs.
void Lowering::emitCareful(const Product &product) {
  Location loc = product.loc;
  auto type = VectorType::get({product.lanes}, cast<MemRefType>(product.panels.getType()).getElementType());
  Value zero = index(loc, 0), one = index(loc, 1), step = index(loc, product.lanes);
  Value end = index(loc, (product.columns + product.lanes - 1) / product.lanes * product.lanes);
  Value width = index(loc, product.panelWidth);
  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, loc, zero, index(loc, product.rows), one);
  b.setInsertionPointToStart(rows.getBody());
  Value row = rows.getInductionVar();
  {
    OpBuilder::InsertionGuard inside(b);
    auto columns = scf::ForOp::create(b, loc, zero, end, step);
    b.setInsertionPointToStart(columns.getBody());
    Value column = columns.getInductionVar();
    vector::StoreOp::create(b, loc, startAt(product, row, column), product.target.memory, ValueRange{row, column});
  }
  auto depth = scf::ForOp::create(b, loc, zero, index(loc, product.depth), one);
  b.setInsertionPointToStart(depth.getBody());
  Value k = depth.getInductionVar(), left = product.leftAt(b, row, k);
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(left.getType()));
  auto counts = scf::IfOp::create(b, loc, arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, left, none), /*withElse=*/false);
  b.setInsertionPointToStart(counts.thenBlock());
  auto columns = scf::ForOp::create(b, loc, zero, end, step);
  b.setInsertionPointToStart(columns.getBody());
  Value column = columns.getInductionVar();
  Value panel = arith::DivUIOp::create(b, loc, column, width), within = arith::RemUIOp::create(b, loc, column, width);
  Value right = vector::LoadOp::create(b, loc, type, product.panels, ValueRange{panel, k, within});
  Value sum = vector::LoadOp::create(b, loc, type, product.target.memory, ValueRange{row, column});
  sum = vector::FMAOp::create(b, loc, spread(loc, left, product.lanes), right, sum);
  vector::StoreOp::create(b, loc, sum, product.target.memory, ValueRange{row, column});
}

} // namespace tw::host
