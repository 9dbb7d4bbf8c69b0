// device-distribute-tiles: dots, what they accumulate, and stores.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
namespace tw::distribution {

tile::DotOp accumulatedDot(Value value) {
  auto dotOf = [](Value x) {
    auto dot = x.getDefiningOp<tile::DotOp>();
    return dot && dot.getStage().value_or(0) == 1 ? dot : tile::DotOp();
  };
  if (auto fma = value.getDefiningOp<math::FmaOp>())
    return dotOf(fma.getC());
  if (auto sum = value.getDefiningOp<arith::AddFOp>()) {
    tile::DotOp right = dotOf(sum.getRhs());
    return right ? right : dotOf(sum.getLhs());
  }
  return dotOf(value);
}

FailureOr<Distributor::Accumulation> Distributor::accumulationOf(tile::DotOp dot) {
  Accumulation found{dot, {}, {}};
  Value sum = dot.getResult();
  if (Operation *user = dot->hasOneUse() ? *dot->getUsers().begin() : nullptr; user && user->getNumResults() == 1 && accumulatedDot(user->getResult(0)) == dot)
    sum = user->getResult(0);
  found.accumulator = carriers.lookup(sum);
  if (!found.accumulator)
    return dot.emitError() << "is of stage 1, but its sum is no carried value", failure();
  // argument · factor + dot: a factor of an argument that is 0 does not matter
  auto takeFactor = [&](Value argument, Value factor) {
    if (!matchPattern(argument, m_AnyZeroFloat()) && !matchPattern(factor, m_OneFloat()))
      found.factor = factor;
  };
  if (auto fma = sum.getDefiningOp<math::FmaOp>()) {
    takeFactor(fma.getA(), fma.getB());
  } else if (auto add = sum.getDefiningOp<arith::AddFOp>()) {
    Value other = add.getLhs() == dot.getResult() ? add.getRhs() : add.getLhs();
    if (auto product = other.getDefiningOp<arith::MulFOp>()) {
      bool leftHeld = registers.lookup(product.getLhs()) == found.accumulator || matchPattern(product.getLhs(), m_AnyZeroFloat());
      takeFactor(leftHeld ? product.getLhs() : product.getRhs(), leftHeld ? product.getRhs() : product.getLhs());
    }
  }
  return found;
}

device::TileOp Distributor::sharedOperand(Value operand) { return operand.getDefiningOp<device::TileOp>(); }

/// Is a tile of the cursor read in the step that a block is, or is part of? One that only a mask reads is not in full ones.
static bool isInStep(Block *step, Value cursor) {
  while (!step->getParentOp()->hasAttr("tile.fold"))
    step = step->getParentOp()->getBlock();
  for (Operation &op : *step)
    if (!op.hasAttr("tile.fold") && op.walk([&](device::TileOp tile) { return tile.getCursor() == cursor ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted())
      return true;
  return false;
}

void Distributor::await(Moment moment) {
  for (const CursorUse &use : cursorUses)
    if (use.ofFold && use.nested.empty() && use.first == moment && isInStep(frames.back().block, use.cursor))
      device::AwaitOp::create(b, before.getLoc(), scalars.lookupOrDefault(use.cursor));
}

void Distributor::release(Moment moment) {
  for (const CursorUse &use : cursorUses)
    if (use.ofFold && use.nested.empty() && use.last == moment && isInStep(frames.back().block, use.cursor)) {
      device::ReleaseOp::create(b, before.getLoc(), scalars.lookupOrDefault(use.cursor), Value());
      device::AdvanceOp::create(b, before.getLoc(), scalars.lookupOrDefault(use.cursor));
    }
}

LogicalResult Distributor::writeRescale(const Accumulation &accumulation) {
  if (!accumulation.factor)
    return success();
  tile::DotOp dot = accumulation.dot;
  Location loc = dot.getLoc();
  auto loop = device::EachElementOp::create(b, loc, b.getI64IntegerAttr(device::widthOf(accumulation.accumulator.getType())));
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBody());
  local.clear();
  auto factor = resolve(accumulation.factor);
  if (failed(factor))
    return failure();
  Value old = device::GetOp::create(b, loc, b.getF32Type(), accumulation.accumulator);
  device::SetOp::create(b, loc, arith::MulFOp::create(b, loc, old, *factor), accumulation.accumulator);
  local.clear();
  return success();
}

bool hidesElements(Block &step, StringAttr foldAxis) {
  if (!foldAxis)
    return false;
  for (Operation &op : step) {
    if (op.hasAttr("tile.fold"))
      break;                                       // the loops that follow a first step
    WalkResult found = op.walk([&](tile::MaskOp mask) {
      auto lengthOf = [&](Value value) {
        auto extent = value.getDefiningOp<device::ExtentOp>();
        return extent ? extent.getAxis() : StringRef();
      };
      return tile::hidesMoreThanEnds(mask, lengthOf) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return true;
  }
  return false;
}

/// Is it a fold's first step? Its tiles of both stages come one after the other, so that those of stage 1 can be looked at while the dots of stage 0 run.
static bool looksEarly(Block &step) { return isa<scf::IfOp>(step.getParentOp()) && step.getParentOp()->hasAttr("tile.fold"); }

void Distributor::scanEarly(Block &step) {
  scans.clear();
  llvm::MapVector<std::pair<Value, Value>, Location> later;
  DenseSet<std::pair<Value, Value>> now;
  for (Operation &op : step) {
    if (op.hasAttr("tile.fold"))
      break;                                       // the loops that follow
    auto dot = dyn_cast<tile::DotOp>(op);
    for (Value operand : dot ? SmallVector<Value>(dot->getOperands()) : SmallVector<Value>())
      if (device::TileOp tile = sharedOperand(operand)) {
        const std::pair<Value, Value> slot(scalars.lookupOrDefault(tile.getRing()), scalars.lookupOrDefault(tile.getCursor()));
        if (dot.getStage().value_or(0) == 0)
          now.insert(slot);
        else
          later.insert({slot, dot.getLoc()});
      }
  }
  for (auto &[slot, loc] : later)
    if (!now.contains(slot))
      scans[slot] = device::ScanOp::create(b, loc, slot.first, slot.second);
}

/// What to do about a width along that axis.
std::string Distributor::widthFor(StringRef axis) const {
  return foldAxis && axis == foldAxis.getValue() ? "give axis \"" + axis.str() + "\" such a width in the schedule" : "make axis \"" + axis.str() + "\" so long";
}

FailureOr<Distributor::Operands> Distributor::operandsOf(tile::DotOp dot) {
  auto runs = [&](Value value) { return tile::runsAlong(value, kernel.getBlock()); };
  Value left = dot.getLhs(), right = dot.getRhs();
  if (!runs(left))
    std::swap(left, right);
  if (!runs(left) || runs(right))
    return dot.emitError() << "multiplies " << dot.getLhs().getType() << " by " << dot.getRhs().getType() << "; on a GPU one operand of a dot runs along the block axis \"" << kernel.getBlock()
                           << "\", and the dot contracts another axis", failure();
  Operands found{left, sharedOperand(left), sharedOperand(right)};
  if (!found.rightTile)
    return dot.emitError() << "has a computed operand that lacks the block axis \"" << kernel.getBlock() << "\"; on a GPU it must be loaded from a tensor", failure();
  auto axes = tile::axesOf(left);
  found.length = cast<RankedTensorType>(left.getType()).getDimSize(axes.size() == 2 && axes[1].getValue() == dot.getAxis() ? 1 : 0);
  found.transposed = found.rightTile.getColumns() != dot.getAxis();
  const int64_t rows = cast<device::RingType>(found.rightTile.getRing().getType()).rows();
  if (found.transposed && rows % Operands::deepest)
    return dot.emitError() << "contracts " << rows << " rows of a tile; expected a multiple of 16: " << widthFor(dot.getAxis()), failure();
  if (found.leftTile && found.leftTile.getColumns() != dot.getAxis())
    return dot.emitError() << "contracts axis \"" << dot.getAxis() << "\", which is not the last dimension of its left operand's tensor; store that tensor with this axis last", failure();
  return found;
}

Value Distributor::sourceOf(Value operand) const {
  for (auto round = operand.getDefiningOp<arith::TruncFOp>(); round && !registers.lookup(operand); round = operand.getDefiningOp<arith::TruncFOp>())
    operand = round.getIn();
  return operand;
}

Value Distributor::operandRegisters(Type type, std::size_t first) {
  std::size_t place = first;
  auto isRounded = [&](Value operand) { return llvm::any_of(rounded, [&](auto &known) { return known.second == operand; }); };
  while (operandPool.size() <= place || operandPool[place].getType() != type || isInFlight(operandPool[place]) || isRounded(operandPool[place])) {
    if (operandPool.size() <= place)
      operandPool.push_back(declare(type, Value(), "operand"));
    else
      ++place;
  }
  return operandPool[place];
}

LogicalResult Distributor::writeDots(const Event &event, Moment moment) {
  Location loc = event.ops.front()->getLoc();
  Block *written = b.getInsertionBlock();
  struct Issue {
    Value accumulator, left, leftCursor, weights;   // weights: what the left operand is rounded from
    device::TileOp right;
    int64_t depth;
    bool transposed, accumulate;
  };
  SmallVector<Issue> issues;
  llvm::SmallSetVector<Value, 8> held;        // registers in flight
  llvm::SmallMapVector<Value, Value, 2> packed;
  SmallVector<Accumulation> accumulations;
  if (moment == Moment::dots1 && !event.inFlight &&
      llvm::any_of(cursorUses, [](const CursorUse &use) { return use.ofFold && use.last == Moment::work; }))
    release(Moment::work);
  for (Operation *op : event.ops) {
    auto dot = cast<tile::DotOp>(op);
    auto operands = operandsOf(dot);
    if (failed(operands))
      return failure();
    auto [left, leftTile, rightTile, length, transposed] = *operands;
    Issue issue{{}, {}, {}, {}, rightTile, operands->depth(), transposed, moment == Moment::dots1};
    auto rightRing = cast<device::RingType>(rightTile.getRing().getType());
    int64_t n = cast<RankedTensorType>(dot.getType()).getNumElements() / int64_t(kernel.getWidth());
    if (leftTile) {
      issue.left = scalars.lookupOrDefault(leftTile.getRing());
      issue.leftCursor = scalars.lookupOrDefault(leftTile.getCursor());
    } else {
      if (moment == Moment::dots0)
        return dot.emitError() << "the dot over axis \"" << dot.getAxis() << "\" multiplies a computed operand, and is not accumulated into a carried tile; on a GPU such a dot must accumulate: in the fold's step add it, as it is, to a carried value "
                                  "that starts at 0 and is at most scaled by row, and apply everything else to the fold's result";
      if (length % Operands::deepest)
        return dot.emitError() << "contracts " << length << " computed elements; expected a multiple of 16: " << widthFor(dot.getAxis());
      Value source = sourceOf(left);
      if (!registers.lookup(source))
        return dot.emitError() << "has a left operand that no registers hold";
      if (Value there = rounded.lookup(source)) {
        issue.left = there;
        held.insert(there);
      } else {
        Value &operand = packed[source];
        if (!operand)
          operand = operandRegisters(device::OperandType::get(b.getContext(), length, rightRing.getElement()), packed.size() - 1);
        issue.left = operand;
      }
      issue.weights = registers.lookup(source);
    }
    if (moment == Moment::dots1) {
      auto accumulation = accumulationOf(dot);
      if (failed(accumulation))
        return failure();
      issue.accumulator = accumulation->accumulator;
      accumulations.push_back(*accumulation);
    } else {
      issue.accumulator = fragmentFor(dot.getResult());
      if (leftTile && !issue.transposed)
        repeatable[dot] = {issue.left, issue.leftCursor, scalars.lookupOrDefault(rightTile.getRing()), scalars.lookupOrDefault(rightTile.getCursor())};
    }
    if (cast<device::FragmentType>(issue.accumulator.getType()).getWidth() != n)
      return dot.emitError() << "makes " << n << " columns for registers of another width";
    held.insert(issue.accumulator);
    issues.push_back(issue);
  }
  auto pack = [&] {
    for (auto &[source, operand] : packed) {
      device::PackOp::create(b, loc, registers.lookup(source), operand);
      held.insert(operand);
    }
  };
  const bool isolates = moment == Moment::dots1 && hidesElements(*frames.back().block, foldAxis);
  if (!isolates)
    pack();
  for (const Accumulation &accumulation : accumulations)
    if (failed(writeRescale(accumulation)))
      return failure();
  if (isolates) {
    // The last dot of a tile clears it; a tile that a dot of tiles reads as well stays.
    auto sharesTile = [](const Issue &one, const Issue &other) { return device::TileOp(one.right).getCursor() == device::TileOp(other.right).getCursor() && device::TileOp(one.right).getRing() == device::TileOp(other.right).getRing(); };
    for (auto [i, issue] : llvm::enumerate(issues)) {
      if (llvm::any_of(issues, [&](const Issue &other) { return !other.weights && sharesTile(issue, other); }))
        continue;
      bool keep = llvm::any_of(ArrayRef(issues).drop_front(i + 1), [&](const Issue &later) { return sharesTile(issue, later); });
      device::TileOp right = issue.right;
      Value ring = scalars.lookupOrDefault(right.getRing()), cursor = scalars.lookupOrDefault(right.getCursor());
      device::IsolateOp::create(b, loc, issue.accumulator, issue.weights, ring, cursor, looksEarly(*frames.back().block) ? scans.lookup({ring, cursor}) : Value(), b.getI64IntegerAttr(issue.depth),
                                issue.transposed ? b.getUnitAttr() : UnitAttr(), keep ? b.getUnitAttr() : UnitAttr());
    }
    pack();
  }
  Operation *lastWork = b.getInsertionPoint() == written->begin() ? nullptr : &*std::prev(b.getInsertionPoint());
  const Frame &frame = frames.back();
  auto isSame = [&](const Event &other) { return other.kind == event.kind; };
  if (llvm::none_of(ArrayRef(frame.plan.events).take_front(std::size_t(frame.now)), isSame) || !event.inFlight)
    await(moment);                            // the first of its stage
  // What a dot in flight accumulates, this one goes on with.
  device::FenceOp::create(b, loc, llvm::to_vector(llvm::make_filter_range(held, [&](Value registers) { return !isa<device::FragmentType>(registers.getType()) || !isInFlight(registers); })));
  for (const Issue &issue : issues) {
    device::TileOp right = issue.right;
    device::MultiplyOp::create(b, loc, issue.accumulator, issue.left, issue.leftCursor, scalars.lookupOrDefault(right.getRing()), scalars.lookupOrDefault(right.getCursor()), b.getI64IntegerAttr(issue.depth),
                               issue.transposed ? b.getUnitAttr() : UnitAttr(), issue.accumulate ? b.getUnitAttr() : UnitAttr(), UnitAttr());
  }
  device::CommitOp::create(b, loc);
  if (event.inFlight) {
    inFlight.push_back({event.ops.front(), moment, held.takeVector()});
    if (moment == Moment::dots0 && frame.plan.events[std::size_t(frame.now) + 1].kind != Event::Kind::dots0)
      await(Moment::work);
    return success();
  }
  if (moment == Moment::dots0 && looksEarly(*frames.back().block) && hidesElements(*frames.back().block, foldAxis))
    scanEarly(*frames.back().block);
  device::WaitOp::create(b, loc, b.getI64IntegerAttr(0), held.getArrayRef());
  // An attempt may read the tiles of its step once more.
  Block *step = frames.back().block;
  if (moment == Moment::dots1 || step->getOps<tile::AttemptOp>().empty())
    release(moment);
  for (auto op = lastWork ? std::next(lastWork->getIterator()) : written->begin(); op != b.getInsertionPoint(); ++op)
    op->setAttr("device.stage", b.getI64IntegerAttr(moment == Moment::dots1 ? 1 : 0));
  if (moment == Moment::dots0)
    await(Moment::work);
  return success();
}

bool Distributor::isInFlight(Value registers) const {
  return llvm::any_of(inFlight, [&](const Group &group) { return llvm::is_contained(group.held, registers); });
}

void Distributor::writeWait(const Event &event) {
  auto hasDots = [&](Moment moment) { return llvm::any_of(inFlight, [&](const Group &group) { return group.moment == moment; }); };
  const bool first = hasDots(Moment::dots0);
  std::size_t done = 0;
  llvm::SetVector<Value> freed;
  for (auto [i, group] : llvm::enumerate(inFlight))
    if (llvm::is_contained(event.ops, group.dot))
      done = i + 1;
  for (const Group &group : ArrayRef(inFlight).take_front(done))
    freed.insert(group.held.begin(), group.held.end());
  for (const Group &group : ArrayRef(inFlight).drop_front(done))
    for (Value registers : group.held)
      freed.remove(registers);
  if (event.ends)
    release(Moment::work);                    // lanes read vectors no more
  if (done)
    device::WaitOp::create(b, event.ops.front()->getLoc(), b.getI64IntegerAttr(int64_t(inFlight.size() - done)), freed.getArrayRef());
  inFlight.erase(inFlight.begin(), inFlight.begin() + std::ptrdiff_t(done));
  if (first && !hasDots(Moment::dots0))
    release(Moment::dots0);
  if (!event.ends)
    return;
  release(Moment::dots1);
  rounded.clear();
}

//===--- stores ------------------------------------------------------------------------------------===//

Distributor::RowPlaces Distributor::rowPlaces(StringRef tensor, ValueRange places, int rowDimension, int columnDimension, Location loc, bool anywhere) {
  // Where each row lies, and whether it is inside.
  OpBuilder top = OpBuilder::atBlockBegin(body);
  auto context = b.getContext();
  Value offsets = device::RegistersOp::create(top, loc, device::RowsType::get(context, b.getI64Type()), tensor.str() + "_at");
  Value insides = device::RegistersOp::create(top, loc, device::RowsType::get(context, b.getI1Type()), tensor.str() + "_inside");
  Value columns, firstColumn;              // null for the tensor's first
  if (columnDimension >= 0)
    columns = parameters.length(tensor, columnDimension);
  if (Value at = columnDimension < 0 ? Value() : places[unsigned(columnDimension)]; at && !matchPattern(at, m_Zero())) {
    firstColumn = scalars.lookupOrDefault(at);
    columns = arith::SubIOp::create(b, loc, columns, firstColumn);
  }
  auto rows = device::EachRowOp::create(b, loc);
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&rows.getBody());
    Value offset = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)), inside;
    for (auto [m, at] : llvm::enumerate(places)) {
      Value index = scalars.lookupOrDefault(at);
      if (int(m) == rowDimension) {
        index = rowPosition(index, loc);
        Value before = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, parameters.length(tensor, int64_t(m)));
        inside = inside ? arith::AndIOp::create(b, loc, inside, before).getResult() : before;
      }
      if (int(m) == columnDimension) {
        if (firstColumn) {
          Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), firstColumn);
          if (anywhere || kernel.getStrided())      // else columns lie side by side
            wide = arith::MulIOp::create(b, loc, wide, parameters.stride(tensor, columnDimension));
          offset = arith::AddIOp::create(b, loc, offset, wide);
        }
        continue;
      }
      if (anywhere) {
        auto holds = [&](arith::CmpIPredicate how, Value bound) {
          Value condition = arith::CmpIOp::create(b, loc, how, index, bound);
          inside = inside ? arith::AndIOp::create(b, loc, inside, condition).getResult() : condition;
        };
        holds(arith::CmpIPredicate::sge, integer(0, loc));
        if (int(m) != rowDimension)
          holds(arith::CmpIPredicate::slt, parameters.length(tensor, int64_t(m)));
      }
      Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), index);
      offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, wide, parameters.stride(tensor, int64_t(m))));
    }
    device::SetOp::create(b, loc, offset, offsets);
    device::SetOp::create(b, loc, inside, insides);
  }
  return {offsets, insides, columns};
}

bool Distributor::loadsWhole(tile::LoadOp load) {
  Type element = tile::elementOf(load.getType());
  if (spaceOf(load.getResult()) != Space::element || !(element.isF32() || element.isF16() || element.isBF16()) || load.getDims().back() < 0 || tile::axesOf(load.getResult())[unsigned(load.getDims().back())] == kernel.getBlockAttr())
    return false;
  // From the tensor's first column on, or from that of a tile.
  Value at = load.getOffsets().back();
  auto isCounted = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner()->getParentOp()->hasAttr("tile.fold");
  };
  auto down = at.getDefiningOp<arith::SubIOp>();
  auto last = at.getDefiningOp<arith::MulIOp>();
  if (!matchPattern(at, m_Zero()) && !isCounted(at) && !(down && isCounted(down.getRhs())) && !(last && last.getLhs().getDefiningOp<arith::FloorDivSIOp>()))
    return false;
  return !before.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

LogicalResult Distributor::writeLoad(tile::LoadOp load) {
  Location loc = load.getLoc();
  StringRef tensor = load.getMemory().getDefiningOp<device::MemoryOp>().getTensor();
  const int columnDimension = int(load.getDims().size()) - 1;
  int rowDimension = -1;
  for (auto [m, dim] : llvm::enumerate(load.getDims()))
    if (dim >= 0 && int(m) != columnDimension)
      rowDimension = int(m);
  const RowPlaces places = rowPlaces(tensor, load.getOffsets(), rowDimension, columnDimension, loc, true);
  Value pointer = parameters.pointer(tensor, cast<MemRefType>(load.getMemory().getType()).getElementType());
  device::LoadTileOp::create(b, loc, fragmentFor(load.getResult()), pointer, places.offsets, places.insides, places.columns, parameters.stride(tensor, columnDimension));
  return success();
}

LogicalResult Distributor::writeStore(tile::StoreOp store) {
  Location loc = store.getLoc();
  auto memory = store.getMemory().getDefiningOp<device::MemoryOp>();
  StringRef tensor = memory.getTensor();
  Value value = store.getValue();
  Space space = spaceOf(value);
  if (space != Space::row && space != Space::element)
    return store.emitError() << "writes " << value.getType() << " to tensor \"" << tensor << "\"; on a GPU a kernel stores values over the block axis \"" << kernel.getBlock() << "\"";
  auto axes = tile::axesOf(value);
  int rowDimension = -1, columnDimension = -1;
  for (auto [m, dim] : llvm::enumerate(store.getDims()))
    if (dim >= 0)
      (axes[unsigned(dim)] == kernel.getBlockAttr() ? rowDimension : columnDimension) = int(m);
  if (Type element = tile::elementOf(value.getType()); space == Space::element && !isa<FloatType>(element))
    return store.emitError() << "writes " << value.getType() << " to tensor \"" << tensor << "\"; on a GPU a stored tile of two axes holds f16, bf16 or f32: store it as one of them, with cast(x, Type::f32)";
  if (space == Space::element && columnDimension != int(store.getDims().size()) - 1)
    return store.emitError() << "writes tensor \"" << tensor << "\" along axis \"" << kernel.getBlock() << "\" in its last dimension; store it with that axis before the last";
  const RowPlaces places = rowPlaces(tensor, store.getOffsets(), rowDimension, columnDimension, loc, false);
  Value pointer = parameters.pointer(tensor, cast<MemRefType>(store.getMemory().getType()).getElementType());
  while (auto round = value.getDefiningOp<arith::TruncFOp>()) {
    if (registers.lookup(value))
      break;
    value = round.getIn();
  }
  Value held = registers.lookup(value);
  if (!held) {       // a constant
    Type type = space == Space::row ? Type(device::RowsType::get(b.getContext(), scalarType(tile::elementOf(value.getType()))))
                                    : Type(device::FragmentType::get(b.getContext(), widthOf(value), scalarType(tile::elementOf(value.getType()))));
    held = declare(type, value, "stored");
    if (failed(assign(held, value, loc)))
      return failure();
  }
  if (space == Space::row)
    device::StoreRowsOp::create(b, loc, held, pointer, places.offsets, places.insides);
  else
    device::StoreTileOp::create(b, loc, held, pointer, places.offsets, places.insides, places.columns,
                                kernel.getStrided() ? parameters.stride(tensor, columnDimension) : Value());
  return success();
}

} // namespace tw::distribution
