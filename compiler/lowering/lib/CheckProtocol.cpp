// device-check-protocol: walks each role in program order and follows cursors, dots and turns along every path.
//
// Both ways through an `scf.if` must leave the same behind, and a turn of a loop must leave what it found: then one walk of a body
// stands for all its turns. What a fence has ordered may be less at the end of a body than at its start, so bodies are walked twice.
#include "Protocol.h"
#include "Registers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/lowering/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tw {
#define GEN_PASS_DEF_CHECKPROTOCOL
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
using namespace tw::protocol;
namespace {

/// What is known at one place of a role.
struct State {
  Slots slots;
  Dots dots;
  Turns turns;
};

/// Does each warp (or thread) decide for itself what the value is?
bool variesByWarp(Value value, DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar())
      return false;
    unsigned i = argument.getArgNumber() - loop.getNumInductionVars();
    return variesByWarp(loop.getInitArgs()[i], seen) || variesByWarp(loop.getYieldedValues()[i], seen);
  }
  Operation *op = value.getDefiningOp();
  if (isa<device::AnyOp>(op))
    return !op->hasAttr("device.warpgroup");
  if (isa<device::GetOp, device::RowOffsetOp, device::ColumnOffsetOp>(op))
    return true;
  unsigned i = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return variesByWarp(loop.getInitArgs()[i], seen) || variesByWarp(loop.getYieldedValues()[i], seen);
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && (variesByWarp(branch.thenYield().getOperand(i), seen) || variesByWarp(branch.elseYield().getOperand(i), seen)))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return variesByWarp(operand, seen); });
}

class Walk {
public:
  explicit Walk(const Wiring &wiring) : wiring(wiring) {}

  LogicalResult role(Operation *role, Block &body) {
    State state{Slots(wiring), {}, {}};
    if (failed(block(body, state)) || failed(nothingInFlight(state, "at the end of its role")))
      return failure();
    if (std::string rest = state.slots.unfinished(); !rest.empty())
      return role->emitOpError() << "ends while " << rest;
    if (state.turns.taken())
      return role->emitOpError() << "ends with a turn that it has not passed on";
    return success();
  }

private:
  const Wiring &wiring;
  int underWarps = 0;      // enclosing conditions that each warp decides for itself

  LogicalResult block(Block &body, State &state) {
    for (Operation &op : body)
      if (failed(step(op, state)))
        return failure();
    return success();
  }

  LogicalResult step(Operation &op, State &state) {
    if (failed(stands(op)))
      return failure();
    return TypeSwitch<Operation *, LogicalResult>(&op)
        .Case([&](scf::IfOp branch) { return either(branch, state); })
        .Case([&](scf::ForOp loop) { return repeated(loop, state, [&](State &turn) { return block(*loop.getBody(), turn); }); })
        .Case([&](scf::WhileOp loop) {
          State end = state;      // behind the first region, which runs once more than the second
          LogicalResult result = repeated(loop, state, [&](State &turn) {
            if (failed(block(*loop.getBeforeBody(), turn)))
              return failure();
            end = turn;
            return block(*loop.getAfterBody(), turn);
          });
          state = end;
          return result;
        })
        .Case([&](device::TabulateOp table) { return block(table.getBody().front(), state); })
        .Case<device::EachRowOp, device::EachElementOp>([&](auto loop) { return block(loop.getBody().front(), state); })
        .Case([&](device::AcquireOp acquire) { return state.slots.acquire(acquire); })
        .Case([&](device::CopyOp copy) { return state.slots.copy(copy); })
        .Case([&](device::ListTilesOp list) { return state.slots.list(list); })
        .Case([&](device::PostOp post) { return state.slots.post(post); })
        .Case([&](device::ReserveOp reserve) { return state.slots.reserve(reserve); })
        .Case([&](device::PublishOp publish) -> LogicalResult { return failed(state.slots.publish(publish)) ? failure() : state.dots.touch(publish); })
        .Case([&](device::AwaitOp await) { return state.slots.await(await); })
        .Case([&](device::LookAheadOp look) { return state.slots.lookAhead(look); })
        .Case([&](device::AdvanceOp advance) { return state.slots.advance(advance); })
        .Case([&](device::ReleaseOp release) -> LogicalResult {
          auto slot = state.slots.release(release);
          return failed(slot) ? failure() : state.dots.leaveSlot(release, *slot, "gives back");
        })
        .Case([&](device::ScanOp scan) -> LogicalResult { return state.slots.read(scan, scan.getRing(), scan.getCursor(), true); })
        .Case([&](device::IsolateOp isolate) -> LogicalResult {
          auto slot = state.slots.read(isolate, isolate.getRing(), isolate.getCursor(), true);
          if (failed(slot) || failed(state.dots.leaveSlot(isolate, *slot, "changes")))
            return failure();
          return state.dots.touch(isolate);
        })
        .Case([&](device::ReadPostOp read) -> LogicalResult { return state.slots.read(read, read.getMailbox(), read.getCursor()); })
        .Case([&](device::SendBackOp answer) -> LogicalResult { return state.slots.read(answer, answer.getMailbox(), answer.getCursor()); })
        .Case([&](device::SentBackOp answer) { return state.slots.answer(answer); })
        .Case([&](device::LoadColumnOp load) -> LogicalResult {
          return load.getCursor() ? LogicalResult(state.slots.read(load, load.getRing(), load.getCursor())) : success();
        })
        .Case([&](device::ReduceTileOp reduce) -> LogicalResult { return state.slots.read(reduce, reduce.getTile(), reduce.getCursor()); })
        .Case([&](device::AddApartOp sum) -> LogicalResult {
          return failure(failed(state.slots.read(sum, sum.getLeft(), sum.getLeftCursor())) || failed(state.slots.read(sum, sum.getRight(), sum.getRightCursor())));
        })
        .Case([&](device::RepeatOp repeat) -> LogicalResult {
          if (failed(state.slots.read(repeat, repeat.getLeft(), repeat.getLeftCursor())) || failed(state.slots.read(repeat, repeat.getRight(), repeat.getRightCursor())))
            return failure();
          return state.dots.touch(repeat);
        })
        .Case([&](device::MultiplyOp dot) { return multiply(dot, state); })
        .Case([&](device::CommitOp) {
          state.dots.commit();
          return success();
        })
        .Case([&](device::WaitOp wait) { return state.dots.wait(wait); })
        .Case([&](device::FenceOp fence) { return state.dots.fence(fence); })
        .Case([&](device::TurnOp turn) { return state.turns.turn(turn); })
        .Default([&](Operation *other) -> LogicalResult {
          if (other->getNumRegions())
            return other->emitError() << "'" << other->getName() << "' is no control flow of a role; expected scf.if, scf.for or scf.while";
          return state.dots.touch(other);
        });
  }

  /// Is this the role for it, and do all warps of a warpgroup come here that must?
  LogicalResult stands(Operation &op) {
    auto kernel = op.getParentOfType<device::KernelOp>();
    bool lists = bool(op.getParentOfType<device::ListerOp>()), produces = lists || op.getParentOfType<device::ProducerOp>(), alone = !device::producerOf(kernel) && !device::isHopper(kernel);
    bool ofLister = isa<device::PostOp, device::ListTilesOp, device::SentBackOp, device::DrawOp, device::RetireOp>(op), ofProducer = ofLister || isa<device::AcquireOp, device::CopyOp>(op);
    bool ofConsumers = isa<device::AwaitOp, device::LookAheadOp, device::ReleaseOp, device::ReserveOp, device::PublishOp, device::AddTileOp, device::AddApartOp,
                           device::ReadPostOp, device::SendBackOp, device::LoadColumnOp, device::TabulateOp, device::ReduceTileOp, device::MultiplyOp,
                           device::RepeatOp, device::IsolateOp, device::FenceOp, device::CommitOp, device::WaitOp, device::TurnOp>(op);
    if (const bool isTold = produces && !lists && device::listerOf(kernel); isTold && ofLister)
      return op.emitOpError() << "is for the lister, and stands in the producer";
    else if (isTold && isa<device::AwaitOp, device::ReleaseOp, device::ReadPostOp>(op))
      ofConsumers = false;
    if (lists && isa<device::CopyOp>(op))
      return op.emitOpError() << "is for the producer, and stands in the lister";
    if (produces ? ofConsumers : ofProducer && !alone)
      return op.emitOpError() << "is for " << (produces ? "consumers" : "the producer") << ", and stands in the other role";
    if (underWarps && isa<device::MultiplyOp, device::IsolateOp, device::ReduceTileOp, device::TurnOp, device::PublishOp>(op))
      return op.emitOpError() << "stands under a condition that each warp decides for itself; all warps of a warpgroup must come here";
    auto spoiled = dyn_cast<device::SpoiledOp>(op);
    if (underWarps && spoiled && spoiled.getAll())
      return op.emitOpError() << "stands under a condition that each warp decides for itself; all warps must come here";
    if (underWarps && ofProducer)
      return op.emitOpError() << "stands under a condition that each warp decides for itself; all warps that copy must come here";
    if (isa<device::ListedOp>(op))
      return op.emitOpError() << "is told by nobody; device-draw-items hands lists to the consumers";
    return success();
  }

  LogicalResult multiply(device::MultiplyOp dot, State &state) {
    SmallVector<Slot> reads;
    auto read = [&](Value ring, Value cursor) {
      if (auto ahead = cursor.getDefiningOp<device::LookAheadOp>()) {
        SmallVector<Slot> either = state.slots.readAhead(dot, ring, ahead);
        reads.append(either);
        return !either.empty();
      }
      auto slot = state.slots.read(dot, ring, cursor);
      if (succeeded(slot))
        reads.push_back(*slot);
      return succeeded(slot);
    };
    if ((dot.getLeftCursor() && !read(dot.getLeft(), dot.getLeftCursor())) || !read(dot.getRight(), dot.getRightCursor()))
      return failure();
    return state.dots.multiply(dot, reads);
  }

  LogicalResult either(scf::IfOp branch, State &state) {
    Condition condition = Condition::of(branch.getCondition());
    DenseSet<Value> seen;
    bool byWarp = variesByWarp(condition.value, seen);
    State otherwise = state;
    state.slots.assume(condition);
    otherwise.slots.assume(condition.negated());
    underWarps += byWarp;
    if (failed(block(*branch.thenBlock(), state)) || (branch.elseBlock() && failed(block(*branch.elseBlock(), otherwise))))
      return failure();
    underWarps -= byWarp;
    if (std::string difference = state.slots.difference(otherwise.slots, "where its condition holds", "else"); !difference.empty())
      return branch.emitOpError() << "has two ways that end apart: " << difference;
    if (!state.dots.sameInFlight(otherwise.dots))
      return branch.emitOpError() << "has two ways that leave different dots in flight";
    if (state.turns != otherwise.turns)
      return branch.emitOpError() << "has two ways of which only one takes or passes a turn";
    state.dots.meet(otherwise.dots);
    return success();
  }

  LogicalResult nothingInFlight(const State &state, const Twine &where) {
    device::MultiplyOp dot = state.dots.inFlight();
    if (!dot)
      return success();
    return dot.emitOpError() << (state.dots.isCommitted(dot) ? "is in flight " : "is not committed ") << where;
  }

  LogicalResult repeated(Operation *loop, State &state, llvm::function_ref<LogicalResult(State &)> body) {
    if (failed(nothingInFlight(state, "where a loop begins")))
      return failure();
    for (int turn = 0; turn < 2; ++turn) {
      State after = state;
      if (failed(body(after)) || failed(nothingInFlight(after, "at the end of a loop's body")))
        return failure();
      if (std::string difference = state.slots.difference(after.slots, "before it", "behind it"); !difference.empty())
        return loop->emitOpError() << "has a body that does not leave what it found: " << difference;
      if (state.turns != after.turns)
        return loop->emitOpError() << "has a body that takes and passes turns unequally often";
      state.dots.meet(after.dots);
    }
    return success();
  }
};

struct CheckProtocol : impl::CheckProtocolBase<CheckProtocol> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>())
      if (failed(check(kernel)))
        return signalPassFailure();
  }

  /// Consumers wait until the producer has given up as many registers as they take; too few, and they wait forever.
  static LogicalResult registersSuffice(device::KernelOp kernel, device::ConsumersOp consumers) {
    device::ProducerOp producer = device::producerOf(kernel);
    if (!producer || !producer.getRegisters() || !consumers.getRegisters())
      return success();
    const int64_t warpgroups = int64_t(consumers.getWarpgroups()), atLaunch = Registers::atLaunch(warpgroups, int64_t(kernel.getBlocksPerSM()));
    const int64_t given = atLaunch - int64_t(producer.getRegisters()), taken = warpgroups * (int64_t(consumers.getRegisters()) - atLaunch);
    if (taken > given)
      return consumers.emitOpError() << "take " << taken << " registers a thread more than the " << atLaunch << " that a thread starts with, all warpgroups together; the producer gives up " << given;
    return success();
  }

  static LogicalResult check(device::KernelOp kernel) {
    auto wiring = wiringOf(kernel);
    if (failed(wiring))
      return failure();
    if (device::ProducerOp producer = device::producerOf(kernel))
      if (failed(Walk(*wiring).role(producer, producer.getBody().front())))
        return failure();
    if (device::ListerOp lister = device::listerOf(kernel))
      if (failed(Walk(*wiring).role(lister, lister.getBody().front())))
        return failure();
    device::ConsumersOp consumers = device::consumersOf(kernel);
    if (failed(registersSuffice(kernel, consumers)))
      return failure();
    return Walk(*wiring).role(consumers, consumers.getBody().front());
  }
};

} // namespace
} // namespace tw
