// Cuts a block of the tile program into events: dots on tiles, then phases of rows and elements, then dots that accumulate.
//
// A phase is one loop over rows and one over elements for each width. A value belongs to the first phase in which all
// that it needs is there; what a reduction makes is there in the phase after it.
#include "Distribution.h"
#include "NestedFolds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
namespace tw::distribution {

Space Distributor::spaceOf(Value value) const {
  auto axes = tile::axesOf(value);
  bool row = llvm::any_of(axes, [&](StringAttr axis) { return axis == kernel.getBlockAttr(); });
  if (axes.size() == (row ? 1 : 0))
    return row ? Space::row : Space::scalar;
  return row ? Space::element : Space::column;
}

int64_t Distributor::widthOf(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  for (auto [axis, size] : llvm::zip(tile::axesOf(value), type.getShape()))
    if (axis != kernel.getBlockAttr())
      return size;
  return 0;
}

bool isTileReduction(Operation *op, StringAttr block) {
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  return reduce && reduce.getSource().getType().getRank() == 2 && !tile::runsAlong(reduce.getSource(), block.getValue());
}

void Distributor::forEachUser(Value value, llvm::function_ref<void(Operation *)> visit) {
  for (Operation *user : value.getUsers())
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(user))
      forEachUser(broadcast.getResult(), visit);
    else
      visit(user);
}

void Distributor::findCursorUses() {
  before.walk([&](Operation *op) {
    if (auto axis = op->getAttrOfType<StringAttr>("tile.fold"))
      foldAxis = axis;
  });
  before.walk([&](device::TileOp tile) {
    auto found = llvm::find_if(cursorUses, [&](const CursorUse &use) { return use.cursor == tile.getCursor(); });
    if (found == cursorUses.end()) {
      cursorUses.push_back({tile.getCursor()});
      found = std::prev(cursorUses.end());
    }
    found->nested = nestedAxisOf(tile);
    found->ofFold |= !found->nested.empty();
    found->ofFold |= foldAxis && tile::runsAlong(tile.getResult(), foldAxis.getValue());
    forEachUser(tile.getResult(), [&](Operation *user) {
      auto dot = dyn_cast<tile::DotOp>(user);
      Moment moment = !dot ? Moment::work : dot.getStage().value_or(0) ? Moment::dots1 : Moment::dots0;
      found->first = std::min(found->first, moment);
      found->last = std::max(found->last, moment);
      for (Operation *parent = user->getParentOp(); parent && !parent->isAncestor(tile); parent = parent->getParentOp())
        if (isa<scf::ForOp>(parent) && !parent->hasAttr("tile.fold") && !parent->hasAttr(nestedAxisAttr) && !found->ofFold)
          found->around = parent;
    });
  });
}

namespace {

/// Operations that cost nothing where they stand: they are looked through where they are used.
bool isTransparent(Operation *op) {
  return isa<tile::BroadcastOp, device::TileOp, device::MemoryOp>(op) || (isa<arith::ConstantOp>(op) && isa<RankedTensorType>(op->getResult(0).getType()));
}

/// The phases of a stretch of operations without control flow.
struct Stretch {
  struct Phase {
    SmallVector<Operation *> rows;
    llvm::SmallMapVector<int64_t, SmallVector<Operation *>, 2> elements;   // by width
  };
  std::vector<Phase> phases;
  DenseMap<Value, int> ready;      // the phase from which on a value can be used
  DenseMap<Operation *, int> phaseOf;      // of operations on elements
  SmallVector<Operation *> dots0, tiles, dots1;
  SmallVector<Operation *> exchanged, sums;   // dots over the block axis, and what is added to tensors
  DenseMap<Operation *, Operation *> before;   // of dots that accumulate in one place, the one that goes first
  bool interleave = false;         // each dot is an event of its own
  bool serial = false;             // and those that accumulate are waited for at once

  using Users = function_ref<void(Value, function_ref<void(Operation *)>)>;
  /// Moves what stands on no fragment, coordinates and random numbers say, to the phase that needs it: else each of its elements
  /// would wait there in a register.
  void sink(Users users) {
    const int last = int(phases.size()) - 1;
    for (int phase = last; phase >= 0; --phase)
      for (auto &[width, ops] : phases[std::size_t(phase)].elements) {
        SmallVector<Operation *> stay;
        for (Operation *op : llvm::reverse(ops)) {
          int needed = isa<tile::ReduceOp, tile::MaskOp>(op) || standsOnFragments(op) ? phase : last + 1;
          if (needed > phase)
            users(op->getResult(0), [&](Operation *user) {
              auto known = phaseOf.find(user);
              needed = std::min(needed, known != phaseOf.end() ? known->second : llvm::is_contained(dots1, user) ? last : phase);
            });
          if (needed <= phase || needed > last) {
            stay.push_back(op);
            continue;
          }
          phaseOf[op] = needed;
          phases[std::size_t(needed)].elements[width].push_back(op);
        }
        ops.assign(stay.rbegin(), stay.rend());
      }
    for (Phase &phase : phases)
      for (auto &[width, ops] : phase.elements)
        llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  bool standsOnFragments(Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *made = operand.getDefiningOp();
      while (auto broadcast = dyn_cast_if_present<tile::BroadcastOp>(made))
        made = broadcast.getSource().getDefiningOp();
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!type || type.getRank() < 2 || (made && isa<arith::ConstantOp>(made)))
        return false;
      auto source = made ? dyn_cast<RankedTensorType>(made->getResult(0).getType()) : RankedTensorType();
      if (made && (!source || source.getRank() < 2))
        return false;                        // a row, a column or a scalar, broadcast
      return !made || !phaseOf.contains(made) || standsOnFragments(made);
    });
  }

  void closeInto(Plan &plan, Users users) {
    sink(users);
    auto add = [&](Event::Kind kind, SmallVector<Operation *> ops, int64_t width = 0) {
      if (ops.empty())
        return;
      for (Operation *op : ops)
        plan.eventOf[op] = int(plan.events.size());
      plan.events.push_back({kind, std::move(ops), width});
    };
    auto issue = [&](Event::Kind kind, Operation *dot) {
      add(kind, {dot});
      plan.events.back().inFlight = true;
    };
    auto await = [&](SmallVector<Operation *> dots) { plan.events.push_back({Event::Kind::wait, std::move(dots)}); };
    SmallVector<Operation *> all(dots0);
    all.append(dots1);
    all.append(exchanged);
    SmallVector<Operation *> unpublished(exchanged);
    // As soon as the computed operand of such a dot is there, the warps write their parts of it for each other.
    auto publish = [&](int now) {
      llvm::erase_if(unpublished, [&](Operation *dot) {
        const bool there = llvm::all_of(dot->getOperands(), [&](Value operand) { return ready.lookup(operand) <= now; });
        if (there)
          add(Event::Kind::publish, {dot});
        return there;
      });
    };
    if (interleave)
      for (Operation *dot : dots0)
        issue(Event::Kind::dots0, dot);
    else
      add(Event::Kind::dots0, std::move(dots0));
    SmallVector<Operation *> waiting(dots1);
    DenseSet<Operation *> issued;
    auto accumulate = [&](Operation *dot) {
      issued.insert(dot);
      issue(Event::Kind::dots1, dot);
      if (serial)
        await({dot});
    };
    if (serial)
      await(dots0);
    add(Event::Kind::tiles, std::move(tiles));
    for (auto [i, phase] : llvm::enumerate(phases)) {
      if (interleave && !serial && i < dots0.size())
        await({dots0[i]});
      add(Event::Kind::rows, std::move(phase.rows));
      for (auto &[width, ops] : phase.elements)
        add(Event::Kind::elements, std::move(ops), width);
      if (!serial)
        publish(int(i));
      if (interleave)
        llvm::erase_if(waiting, [&, now = int(i)](Operation *dot) {
          Operation *first = before.lookup(dot);
          const bool there = (!first || issued.contains(first)) && llvm::all_of(dot->getOperands(), [&](Value operand) { return ready.lookup(operand) <= now; });
          if (there)
            accumulate(dot);
          return there;
        });
      // An accumulating dot that is waited for at once needs its operands no more after it: there the addresses of what is published find registers.
      if (serial)
        publish(int(i));
    }
    if (interleave) {
      if (!serial)
        publish(int(phases.size()));
      for (Operation *dot : waiting)
        accumulate(dot);
      publish(int(phases.size()));
      for (Operation *dot : exchanged)
        issue(Event::Kind::exchanged, dot);
      await(all);
      plan.events.back().ends = true;
      for (Operation *sum : sums)
        add(Event::Kind::add, {sum});
    } else {
      add(Event::Kind::dots1, std::move(dots1));
    }
    *this = Stretch();
  }
};

} // namespace

/// Dots of stage 0 in the order in which they are best issued: first those whose results most work can be done on alone, for it runs under the others.
static SmallVector<Operation *> byOwnWork(Block &step) {
  SmallVector<Operation *> dots;
  DenseMap<Value, uint64_t> reads;           // values to the dots that they stand on
  SmallVector<int> own;
  for (Operation &op : step.without_terminator()) {
    uint64_t from = 0;
    for (Value operand : op.getOperands())
      from |= reads.lookup(operand);
    auto dot = dyn_cast<tile::DotOp>(op);
    if (dot && !dot.getStage().value_or(0)) {
      from = uint64_t(1) << dots.size();
      dots.push_back(&op);
      own.push_back(0);
    } else if (llvm::isPowerOf2_64(from) && !dot && !isTransparent(&op)) {
      ++own[llvm::Log2_64(from)];
    }
    for (Value result : op.getResults())
      reads[result] = from;
  }
  SmallVector<int> order = llvm::to_vector(llvm::seq<int>(0, int(dots.size())));
  llvm::stable_sort(order, [&](int a, int b) { return own[unsigned(a)] > own[unsigned(b)]; });
  return llvm::to_vector(llvm::map_range(order, [&](int i) { return dots[unsigned(i)]; }));
}

Distributor::Order Distributor::orderOf(Block &step) const {
  bool first = false, accumulates = false;
  for (Operation &op : step.without_terminator()) {
    if (op.hasAttr("tile.fold"))
      break;                                 // the loops that follow a first step
    if (isa<tile::AttemptOp, scf::IfOp, scf::ForOp>(op))
      return Order::byStage;
    if (auto dot = dyn_cast<tile::DotOp>(op))
      (dot.getStage().value_or(0) ? accumulates : first) = true;
  }
  if (!interleave || !first || !accumulates)
    return Order::byStage;
  // Where items are done again by a careful way, the usual one changes no tile: device-draw-items relies on its accumulators, which tell if nothing
  // else reads them.
  bool usual = false;
  for (Operation *op = step.getParentOp(); op; op = op->getParentOp())
    if (auto ways = dyn_cast_if_present<scf::IfOp>(op->getParentOp()); ways && ways->hasAttr(tile::carefulAttrName))
      usual |= op->getParentRegion() == &ways.getElseRegion();
  const bool tell = llvm::all_of(step.getArguments(), [&](Value carried) { return tile::axesOf(carried).size() < 2 || carried.hasOneUse(); });
  return (usual && tell) || !hidesElements(step, foldAxis) ? Order::interleaved : Order::serial;
}

FailureOr<Plan> Distributor::plan(Block &block) {
  Plan plan;
  Stretch stretch;
  if (Order order = orderOf(block); order != Order::byStage) {
    stretch.interleave = true;
    stretch.serial = order == Order::serial;
    stretch.dots0 = byOwnWork(block);
    for (auto [i, dot] : llvm::enumerate(stretch.dots0))
      stretch.ready[dot->getResult(0)] = int(i);
  }
  auto users = [](Value value, function_ref<void(Operation *)> visit) { forEachUser(value, visit); };
  // Through broadcasts and column vectors, the phase in which the value is there.
  std::function<int(Value)> ready = [&](Value value) {
    if (auto known = stretch.ready.find(value); known != stretch.ready.end())
      return known->second;
    Operation *op = value.getDefiningOp();
    int phase = 0;
    if (op && op->getBlock() == &block && (isa<tile::BroadcastOp>(op) || spaceOf(value) == Space::column))
      for (Value operand : op->getOperands())
        if (!isa<MemRefType>(operand.getType()))
          phase = std::max(phase, ready(operand));
    return phase;
  };
  auto single = [&](Operation *op, Event::Kind kind) {
    stretch.closeInto(plan, users);
    plan.eventOf[op] = int(plan.events.size());
    plan.events.push_back({kind, {op}});
  };
  for (Operation &op : block) {
    if (isTransparent(&op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (isa<scf::ForOp, scf::IfOp>(op)) {
      single(&op, Event::Kind::control);
      continue;
    }
    if (isa<tile::StoreOp>(op)) {
      single(&op, Event::Kind::store);
      continue;
    }
    if (auto load = dyn_cast<tile::LoadOp>(op); load && loadsWhole(load)) {
      single(&op, Event::Kind::load);
      continue;
    }
    if (isa<tile::AttemptOp>(op)) {
      single(&op, Event::Kind::attempt);
      continue;
    }
    if (isa<tile::AccumulateOp>(op)) {
      if (!stretch.interleave)
        return op.emitError() << "adds to a tensor; on a GPU that is for steps that multiply, accumulate and do nothing else, on sm90a, with overlap=no", failure();
      stretch.sums.push_back(&op);
      continue;
    }
    if (auto dot = dyn_cast<tile::DotOp>(op); dot && dot.getStage().value_or(0) == 2) {
      stretch.exchanged.push_back(&op);
      continue;
    }
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      if (dot.getStage().value_or(0) || !stretch.interleave)
        (dot.getStage().value_or(0) ? stretch.dots1 : stretch.dots0).push_back(&op);
      continue;
    }
    if (isTileReduction(&op, kernel.getBlockAttr())) {
      stretch.tiles.push_back(&op);
      continue;
    }
    if (op.getNumRegions() || (op.getNumResults() > 1 && !isa<device::ListedOp, device::AmongOp>(op)))
      return op.emitError() << "'" << op.getName() << "' has no form on a GPU yet; expected tile, arith and math operations, scf.for and scf.if", failure();
    Value result = op.getNumResults() ? op.getResult(0) : Value();
    auto tileOperand = llvm::find_if(op.getOperands(), [](Value operand) { return isa<RankedTensorType>(operand.getType()); });
    auto reduce = dyn_cast<tile::ReduceOp>(op);
    if (!reduce && tileOperand == op.getOperands().end() && (!result || spaceOf(result) == Space::scalar)) {
      plan.eventOf[&op] = int(plan.events.size());      // needs no tile: it may stand before this stretch's phases
      plan.events.push_back({Event::Kind::scalar, {&op}});
      continue;
    }
    // A sum that only accumulates a dot is the dot's own business.
    if (tile::DotOp dot = result ? accumulatedDot(result) : tile::DotOp(); dot && dot.getStage().value_or(0)) {
      for (Value operand : op.getOperands())
        if (tile::DotOp other = accumulatedDot(operand); other && other != dot)
          stretch.before[dot] = other;
      continue;
    }
    if (auto product = dyn_cast<arith::MulFOp>(op); product && spaceOf(result) == Space::element && product->hasOneUse() && !isa<tile::DotOp, tile::StoreOp>(*product->getUsers().begin()) && accumulatedDot(product->getUsers().begin()->getResult(0)))
      continue;
    Space space = spaceOf(reduce ? reduce.getSource() : result);
    if (reduce && space == Space::column && spaceOf(result) == Space::scalar)
      return op.emitError() << "reduces " << reduce.getSource().getType() << " to one number; on a GPU rows of the block axis \"" << kernel.getBlock() << "\" are reduced: let what is reduced run along that axis too", failure();
    if (space == Space::column)
      continue;                                         // computed where it is used
    int phase = 0;
    for (Value operand : op.getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        phase = std::max(phase, ready(operand));
    if (reduce && (spaceOf(reduce.getResult()) != Space::row || space != Space::element))
      return op.emitError() << "reduces over the block axis \"" << kernel.getBlock() << "\"; on a GPU a thread block's rows do not meet: reduce over another axis", failure();
    if (result && cast<RankedTensorType>((reduce ? reduce.getSource() : result).getType()).getRank() > 2)
      return op.emitError() << "makes a tile of more than two axes; on a GPU a tile has at most two: make another axis free, or reduce one first", failure();
    if (stretch.phases.size() <= std::size_t(phase))
      stretch.phases.resize(std::size_t(phase) + 1);
    stretch.ready[result] = phase + (reduce ? 1 : 0);
    if (space == Space::row)
      stretch.phases[std::size_t(phase)].rows.push_back(&op);
    else {
      stretch.phases[std::size_t(phase)].elements[widthOf(reduce ? reduce.getSource() : result)].push_back(&op);
      stretch.phaseOf[&op] = phase;
    }
    if (auto mask = dyn_cast<tile::MaskOp>(op); mask && space == Space::element)
      stretch.phases[std::size_t(phase)].rows.push_back(&op);      // its intervals
  }
  stretch.closeInto(plan, users);
  // A mask stands in two events; what counts is the one that makes its value.
  for (auto [i, event] : llvm::enumerate(plan.events))
    if (event.kind == Event::Kind::elements)
      for (Operation *op : event.ops)
        plan.eventOf[op] = int(i);
  return plan;
}

} // namespace tw::distribution
