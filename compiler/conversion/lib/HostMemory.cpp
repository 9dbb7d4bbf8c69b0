// Rectangles of memory to and from scratch: whole vectors where elements are contiguous one way or the other, one
// by one for any other strides; zeros for what lies outside.
#include "HostLowering.h"
using namespace mlir;

namespace tw::host {

/// A rectangle with its place in memory worked out. All values are of index type.
struct Lowering::Placed {
  Value flat;                       // memref<?xT>, the memory without its strides
  Value origin;                     // of the rectangle's first element in that
  Value rowStride, columnStride;
  Value rowLow, rowHigh, columnLow, columnHigh;   // the part inside
  int64_t rows, columns;
};

namespace {
/// Arithmetic on indices. None of it carries flags: strides may be negative.
struct IndexWriter {
  OpBuilder &b;
  Location loc;
  Value constant(int64_t value) const { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) const { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) const { return arith::MulIOp::create(b, loc, x, y); }
  Value min(Value x, Value y) const { return arith::MinSIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) const { return arith::MaxSIOp::create(b, loc, x, y); }
  Value both(Value x, Value y) const { return arith::AndIOp::create(b, loc, x, y); }
  Value equal(Value x, int64_t y) const { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, constant(y)); }
  Value atLeast(Value x, Value y) const { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, x, y); }
  Value below(Value x, Value y) const { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y); }
  Value all(Value low, Value high, int64_t count) const { return both(equal(low, 0), equal(high, count)); }
  Value choose(Value c, Value x, Value y) const { return arith::SelectOp::create(b, loc, c, x, y); }
};

/// for i in [from, to): carried = body(i, carried). `carried` may be null.
Value loop(OpBuilder &b, Location loc, Value from, Value to, Value step, Value carried, llvm::function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, step, carried ? ValueRange(carried) : ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), carried ? loop.getRegionIterArg(0) : Value());
  if (!carried)
    return {};
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

/// if condition: yes(carried) else: no(carried)
Value branch(OpBuilder &b, Location loc, Value condition, Value carried, llvm::function_ref<Value(Value)> yes, llvm::function_ref<Value(Value)> no) {
  auto branch = scf::IfOp::create(b, loc, carried ? TypeRange(carried.getType()) : TypeRange(), condition, /*withElse=*/bool(no));
  auto fill = [&](Block *block, llvm::function_ref<Value(Value)> body) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    Value next = body(carried);
    if (carried)
      scf::YieldOp::create(b, loc, next);
  };
  fill(branch.thenBlock(), yes);
  if (no)
    fill(branch.elseBlock(), no);
  return carried ? branch.getResult(0) : Value();
}

/// Transposes a square of which row i holds the first halves of rows i and i + n/2, row i + n/2 the second halves: what
/// loads of half vectors give. Other blocks change places down to four lanes, where pairs of rows are interleaved, by
/// pairs of single lanes and then of two: each of these is one instruction of every vector unit.
void transposeHalves(OpBuilder &b, Location loc, SmallVectorImpl<Value> &rows) {
  int64_t lanes = rows.size();
  auto swap = [&](int64_t i, int64_t j, llvm::function_ref<int64_t(int64_t)> low, llvm::function_ref<int64_t(int64_t)> high) {
    SmallVector<int64_t> lower, upper;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      lower.push_back(low(lane));
      upper.push_back(high(lane));
    }
    Value x = rows[i], y = rows[j];
    rows[i] = vector::ShuffleOp::create(b, loc, x, y, lower);
    rows[j] = vector::ShuffleOp::create(b, loc, x, y, upper);
  };
  for (int64_t distance = lanes / 4; distance >= (lanes < 8 ? 1 : 4); distance /= 2)
    for (int64_t i = 0; i < lanes; ++i)
      if (!(i & distance))
        swap(i, i + distance, [&](int64_t lane) { return lane & distance ? lanes + lane - distance : lane; },
             [&](int64_t lane) { return lane & distance ? lanes + lane : lane + distance; });
  for (int64_t i = 0; i < lanes && lanes >= 8; i += 4) {
    for (int64_t j : {i, i + 2})
      swap(j, j + 1, [&](int64_t lane) { return (lane & ~3) + (lane & 3) / 2 + (lane & 1) * lanes; },
           [&](int64_t lane) { return (lane & ~3) + (lane & 3) / 2 + 2 + (lane & 1) * lanes; });
    for (int64_t j : {i, i + 1})
      swap(j, j + 2, [&](int64_t lane) { return (lane & ~3) + (lane & 1) + (lane & 2 ? lanes : 0); },
           [&](int64_t lane) { return (lane & ~3) + (lane & 1) + 2 + (lane & 2 ? lanes : 0); });
    std::swap(rows[i + 1], rows[i + 2]);
  }
}
} // namespace

void Lowering::describeMemory(Value memory) {
  Location loc = memory.getLoc();
  auto type = cast<MemRefType>(memory.getType());
  auto facts = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  auto flat = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
  Memory &description = memories[memory];
  description.flat = memref::ReinterpretCastOp::create(b, loc, flat, facts.getBaseBuffer(), b.getIndexAttr(0),
                                                       ArrayRef<OpFoldResult>{index(loc, int64_t(1) << 56)}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  description.offset = facts.getOffset();
  description.sizes.assign(facts.getSizes().begin(), facts.getSizes().end());
  description.strides.assign(facts.getStrides().begin(), facts.getStrides().end());
}

Value Lowering::insideAt(Location loc, Value memory, ValueRange indices) {
  IndexWriter w{b, loc};
  Value inside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (auto [at, size] : llvm::zip(indices, memories[memory].sizes))
    inside = w.both(inside, w.both(w.atLeast(at, w.constant(0)), w.below(at, size)));
  return inside;
}

Value Lowering::linear(Location loc, Value memory, ValueRange indices) {
  IndexWriter w{b, loc};
  const Memory &description = memories[memory];
  Value place = description.offset;
  for (auto [at, stride] : llvm::zip(indices, description.strides))
    place = w.add(place, w.mul(at, stride));
  return place;
}

Value Lowering::loadOne(Location loc, Value memory, ValueRange indices) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(cast<MemRefType>(memory.getType()).getElementType()));
  return branch(b, loc, insideAt(loc, memory, indices), zero, [&](Value) -> Value {
    return memref::LoadOp::create(b, loc, memories[memory].flat, linear(loc, memory, indices));
  }, [](Value outside) { return outside; });
}

void Lowering::lowerScalarStore(tile::StoreOp op) {
  Location loc = op.getLoc();
  Value memory = scalars.lookup(op.getMemory());
  SmallVector<Value> indices;
  for (Value offset : op.getOffsets())
    indices.push_back(toIndex(scalars.lookup(offset)));
  branch(b, loc, insideAt(loc, memory, indices), {}, [&](Value) {
    memref::StoreOp::create(b, loc, scalars.lookup(op.getValue()), memories[memory].flat, linear(loc, memory, indices));
    return Value();
  }, nullptr);
}

Rectangle Lowering::rectangle(Value memory, ValueRange offsets, ArrayRef<int64_t> dims, RankedTensorType tile, bool turned) {
  Rectangle result;
  result.memory = scalars.lookup(memory);
  for (Value offset : offsets)
    result.offsets.push_back(toIndex(scalars.lookup(offset)));
  int64_t rank = tile.getRank(), rowDim = rank == 2 ? (turned ? 1 : 0) : -1, columnDim = rank == 2 && turned ? 0 : rank - 1;
  for (auto [m, d] : llvm::enumerate(dims)) {
    if (d == -1)
      continue;
    (d == rowDim ? result.rowDimension : result.columnDimension) = int64_t(m);
    (d == rowDim ? result.rows : result.columns) = tile.getDimSize(d);
  }
  (void)columnDim;
  return result;
}

Lowering::Placed Lowering::place(Location loc, const Rectangle &from) {
  IndexWriter w{b, loc};
  const Memory &memory = memories[from.memory];
  Value zero = w.constant(0), one = w.constant(1), inside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  Placed placed{memory.flat, linear(loc, from.memory, from.offsets), zero, one, zero, one, zero, one, from.rows, from.columns};
  for (auto [m, offset] : llvm::enumerate(from.offsets)) {
    Value size = memory.sizes[m];
    bool isRow = int64_t(m) == from.rowDimension;
    if (!isRow && int64_t(m) != from.columnDimension) {
      inside = w.both(inside, w.both(w.atLeast(offset, zero), w.below(offset, size)));
      continue;
    }
    Value low = w.max(zero, w.sub(zero, offset)), high = w.min(w.constant(isRow ? from.rows : from.columns), w.sub(size, offset));
    (isRow ? placed.rowLow : placed.columnLow) = low;
    (isRow ? placed.rowHigh : placed.columnHigh) = high;
    (isRow ? placed.rowStride : placed.columnStride) = memory.strides[m];
  }
  placed.rowHigh = w.choose(inside, placed.rowHigh, zero);
  return placed;
}

// The routine stands outside the kernel: the folds into which one is split share it, and LLVM is quicker with several
// functions than with one.
void Lowering::load(Location loc, const Rectangle &from, Value into, Value *finite) {
  Placed at = place(loc, from);
  auto type = cast<MemRefType>(into.getType());
  std::string name;
  llvm::raw_string_ostream(name) << "load_" << at.rows << "x" << at.columns << "_" << cast<MemRefType>(at.flat.getType()).getElementType() << "_into_"
                                 << type.getDimSize(0) << "x" << type.getDimSize(1) << "x" << type.getDimSize(2) << "_" << type.getElementType()
                                 << (finite ? "_watched" : "");
  SmallVector<Value> arguments{at.flat, at.origin, at.rowStride, at.columnStride, at.rowLow, at.rowHigh, at.columnLow, at.columnHigh, into};
  auto module = host->getParentOfType<ModuleOp>();
  auto routine = module.lookupSymbol<func::FuncOp>(name);
  if (!routine) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(host);
    routine = func::FuncOp::create(b, loc, name, b.getFunctionType(TypeRange(ValueRange(arguments)), finite ? TypeRange(b.getI1Type()) : TypeRange()));
    routine.setPrivate();
    routine->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
    Block *entry = routine.addEntryBlock();
    b.setInsertionPointToStart(entry);
    auto given = entry->getArguments();
    Placed inside{given[0], given[1], given[2], given[3], given[4], given[5], given[6], given[7], at.rows, at.columns};
    Value allFinite = loadPlaced(loc, inside, given[8], finite);
    func::ReturnOp::create(b, loc, finite ? ValueRange(allFinite) : ValueRange());
  }
  auto call = func::CallOp::create(b, loc, routine, arguments);
  if (finite)
    *finite = call.getResult(0);
}

/// Three ways: rows of whole vectors, squares that are transposed, element by element. Returns, if `watched`, whether
/// all elements are finite.
Value Lowering::loadPlaced(Location loc, const Placed &at, Value into, bool watched) {
  IndexWriter w{b, loc};
  auto type = cast<MemRefType>(into.getType());
  int64_t panels = type.getDimSize(0), width = type.getDimSize(2), n = lanes(type.getElementType());
  Type element = type.getElementType(), source = cast<MemRefType>(at.flat.getType()).getElementType();
  auto vectorType = VectorType::get({n}, element), sourceVector = VectorType::get({n}, source);
  Value zero = w.constant(0), one = w.constant(1), step = w.constant(n);
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  // Zero times an element is zero if that is finite, else NaN: so is the sum of these.
  auto watch = [&](Value seen, Value x) -> Value {
    if (!seen)
      return {};
    return vector::FMAOp::create(b, loc, isa<VectorType>(x.getType()) ? x : spread(loc, x, n), zeros, seen);
  };
  auto convert = [&](Value x) -> Value {
    if (source == element)
      return x;
    return arith::ExtFOp::create(b, loc, isa<VectorType>(x.getType()) ? Type(vectorType) : element, x);
  };
  auto one_ = [&](Value i, Value j, Value seen) {
    Value x = convert(memref::LoadOp::create(b, loc, at.flat, w.add(at.origin, w.add(w.mul(i, at.rowStride), w.mul(j, at.columnStride)))));
    Value panel = panels == 1 ? zero : arith::DivUIOp::create(b, loc, j, w.constant(width)).getResult();
    Value column = panels == 1 ? j : arith::RemUIOp::create(b, loc, j, w.constant(width)).getResult();
    memref::StoreOp::create(b, loc, x, into, ValueRange{panel, i, column});
    return watch(seen, x);
  };
  auto oneByOne = [&](Value rowFrom, Value rowTo, Value columnFrom, Value columnTo, Value seen) {
    return loop(b, loc, rowFrom, rowTo, one, seen, [&](Value i, Value seenRows) {
      return loop(b, loc, columnFrom, columnTo, one, seenRows, [&](Value j, Value s) { return one_(i, j, s); });
    });
  };
  Value allRows = w.all(at.rowLow, at.rowHigh, at.rows), allColumns = w.all(at.columnLow, at.columnHigh, at.columns);
  int64_t wholeColumns = at.columns / n * n, wholeRows = at.rows / n * n;

  auto nothing = [](Value x) { return x; };
  branch(b, loc, w.both(allRows, allColumns), {}, nothing, [&](Value) {
    loop(b, loc, zero, w.constant(panels), one, {}, [&](Value p, Value) {
      return loop(b, loc, zero, w.constant(at.rows), one, {}, [&](Value i, Value) {
        return loop(b, loc, zero, w.constant(width), step, {}, [&](Value j, Value) {
          vector::StoreOp::create(b, loc, zeros, into, ValueRange{p, i, j});
          return Value();
        });
      });
    });
    return Value();
  });

  auto alongRows = [&](Value seen) {
    return loop(b, loc, at.rowLow, at.rowHigh, one, seen, [&](Value i, Value seenRow) {
      Value row = w.add(at.origin, w.mul(i, at.rowStride));
      auto move = [&](Value panel, Value column, Value j, Value s) {
        Value x = convert(vector::LoadOp::create(b, loc, sourceVector, at.flat, ValueRange{w.add(row, j)}));
        vector::StoreOp::create(b, loc, x, into, ValueRange{panel, i, column});
        return watch(s, x);
      };
      if (panels == 1) {
        seenRow = loop(b, loc, zero, w.constant(wholeColumns), step, seenRow, [&](Value j, Value s) { return move(zero, j, j, s); });
      } else {
        seenRow = loop(b, loc, zero, w.constant(wholeColumns / width), one, seenRow, [&](Value p, Value s) {
          Value here = s ? zeros : s;
          for (int64_t column = 0; column < width; column += n)
            here = move(p, w.constant(column), w.add(w.mul(p, w.constant(width)), w.constant(column)), here);
          return s ? arith::AddFOp::create(b, loc, s, here).getResult() : s;
        });
        for (int64_t j = wholeColumns / width * width; j < wholeColumns; j += n)
          seenRow = move(w.constant(j / width), w.constant(j % width), w.constant(j), seenRow);
      }
      if (wholeColumns < at.columns)
        seenRow = loop(b, loc, w.constant(wholeColumns), w.constant(at.columns), one, seenRow, [&](Value j, Value s) { return one_(i, j, s); });
      return seenRow;
    });
  };
  auto alongColumns = [&](Value seen) {
    Value whole = w.mul(arith::DivUIOp::create(b, loc, at.columnHigh, step), step);
    seen = loop(b, loc, zero, whole, step, seen, [&](Value j, Value seenColumn) {
      Value panel = panels == 1 ? zero : arith::DivUIOp::create(b, loc, j, w.constant(width)).getResult();
      Value column = panels == 1 ? j : arith::RemUIOp::create(b, loc, j, w.constant(width)).getResult();
      SmallVector<Value> starts;
      for (int64_t k = 0; k < n; ++k)
        starts.push_back(w.add(at.origin, w.mul(w.add(j, w.constant(k)), at.columnStride)));
      return loop(b, loc, zero, w.constant(wholeRows), step, seenColumn, [&](Value i, Value s) {
        SmallVector<Value> square;
        SmallVector<int64_t> inOrder(n);
        std::iota(inOrder.begin(), inOrder.end(), 0);
        auto half = VectorType::get({n / 2}, source);
        auto halfOf = [&](int64_t row, int64_t from) -> Value {
          return vector::LoadOp::create(b, loc, half, at.flat, ValueRange{w.add(starts[row], w.add(i, w.constant(from)))});
        };
        for (int64_t k = 0; k < n; ++k) {
          int64_t row = k % (n / 2), from = k / (n / 2) * (n / 2);
          square.push_back(convert(vector::ShuffleOp::create(b, loc, halfOf(row, from), halfOf(row + n / 2, from), inOrder)));
        }
        if (s) {
          Value odd = arith::MulFOp::create(b, loc, square[0], zeros), even = arith::MulFOp::create(b, loc, square[1], zeros);
          for (int64_t k = 2; k < n; ++k)
            (k % 2 ? odd : even) = watch(k % 2 ? odd : even, square[k]);
          s = arith::AddFOp::create(b, loc, s, arith::AddFOp::create(b, loc, odd, even));
        }
        transposeHalves(b, loc, square);
        for (int64_t k = 0; k < n; ++k)
          vector::StoreOp::create(b, loc, square[k], into, ValueRange{panel, w.add(i, w.constant(k)), column});
        return s;
      });
    });
    seen = oneByOne(w.constant(wholeRows), w.constant(at.rows), zero, whole, seen);
    return oneByOne(zero, w.constant(at.rows), whole, at.columnHigh, seen);
  };
  Value rowsWhole = w.both(allColumns, w.equal(at.columnStride, 1));
  Value columnsWhole = w.both(w.both(allRows, w.equal(at.columnLow, 0)), w.equal(at.rowStride, 1));
  columnsWhole = w.both(columnsWhole, w.atLeast(at.columnHigh, zero));
  Value seen = branch(b, loc, rowsWhole, watched ? zeros : Value(), alongRows, [&](Value seen) {
    auto any = [&](Value s) { return oneByOne(at.rowLow, at.rowHigh, at.columnLow, at.columnHigh, s); };
    if (at.rows == 1)
      return any(seen);
    return branch(b, loc, columnsWhole, seen, alongColumns, any);
  });
  if (!watched)
    return {};
  Value good = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, seen, seen);
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, good);
}

void Lowering::store(Location loc, const Buffer &from, const Rectangle &into) {
  IndexWriter w{b, loc};
  Placed at = place(loc, into);
  auto type = cast<MemRefType>(from.memory.getType());
  int64_t n = lanes(type.getElementType()), whole = at.columns / n * n;
  Value zero = w.constant(0), one = w.constant(1);
  auto one_ = [&](Value i, Value j) {
    Value x = memref::LoadOp::create(b, loc, from.memory, ValueRange{i, j});
    memref::StoreOp::create(b, loc, x, at.flat, w.add(at.origin, w.add(w.mul(i, at.rowStride), w.mul(j, at.columnStride))));
    return Value();
  };
  loop(b, loc, at.rowLow, at.rowHigh, one, {}, [&](Value i, Value) {
    Value contiguous = w.both(w.all(at.columnLow, at.columnHigh, at.columns), w.equal(at.columnStride, 1));
    return branch(b, loc, contiguous, {}, [&](Value) {
      Value row = w.add(at.origin, w.mul(i, at.rowStride));
      loop(b, loc, zero, w.constant(whole), w.constant(n), {}, [&](Value j, Value) {
        Value x = vector::LoadOp::create(b, loc, VectorType::get({n}, type.getElementType()), from.memory, ValueRange{i, j});
        vector::StoreOp::create(b, loc, x, at.flat, ValueRange{w.add(row, j)});
        return Value();
      });
      return loop(b, loc, w.constant(whole), w.constant(at.columns), one, {}, [&](Value j, Value) { return one_(i, j); });
    }, [&](Value) {
      return loop(b, loc, at.columnLow, at.columnHigh, one, {}, [&](Value j, Value) { return one_(i, j); });
    });
  });
}

void Lowering::accumulate(Location loc, const Buffer &from, const Rectangle &into) {
  IndexWriter w{b, loc};
  Placed at = place(loc, into);
  Value one = w.constant(1);
  loop(b, loc, at.rowLow, at.rowHigh, one, {}, [&](Value i, Value) {
    return loop(b, loc, at.columnLow, at.columnHigh, one, {}, [&](Value j, Value) {
      Value x = memref::LoadOp::create(b, loc, from.memory, ValueRange{i, j}), place = w.add(at.origin, w.add(w.mul(i, at.rowStride), w.mul(j, at.columnStride)));
      memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addf, x, at.flat, place);
      return Value();
    });
  });
}

Buffer Lowering::loadRows(tile::LoadOp op, Type element) {
  Location loc = op.getLoc();
  auto type = tileOf(op.getResult());
  Buffer buffer = allocate(tile::withElement(type, element), loc);
  Value into = view(loc, buffer.extent, {1, buffer.rows, buffer.length}, element);
  load(loc, rectangle(op.getMemory(), op.getOffsets(), op.getDims(), type, false), into, nullptr);
  return buffer;
}

} // namespace tw::host
