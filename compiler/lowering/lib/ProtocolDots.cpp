// device-check-protocol: dots between issue and wait, and turns.
//
// Dots complete in groups, oldest first. From issue on, until a wait that covers its group, a dot owns its accumulator, its operand in
// registers, and the slots that it reads.
#include "Protocol.h"

using namespace mlir;
namespace tw::protocol {
namespace {

std::string nameOf(Value registers) {
  auto declaration = registers.getDefiningOp<device::RegistersOp>();
  return ("\"" + (declaration ? declaration.getName() : StringRef("?")) + "\"").str();
}

std::string listOf(ArrayRef<Value> registers) {
  std::string list;
  for (Value value : registers)
    list += (list.empty() ? "" : ", ") + nameOf(value);
  return list.empty() ? "none" : list;
}

bool isOperand(Value left) { return isa<device::OperandType>(left.getType()); }

bool uses(device::MultiplyOp dot, Value registers) { return dot.getAccumulator() == registers || dot.getLeft() == registers; }

} // namespace

device::MultiplyOp Dots::userOf(Value registers) const {
  for (const Group &group : groups)
    for (device::MultiplyOp dot : group)
      if (uses(dot, registers))
        return dot;
  for (device::MultiplyOp dot : issued)
    if (uses(dot, registers))
      return dot;
  return {};
}

SetVector<Value> Dots::registersInFlight() const {
  SetVector<Value> registers;
  auto add = [&](const Group &group) {
    for (device::MultiplyOp dot : group) {
      registers.insert(dot.getAccumulator());
      if (isOperand(dot.getLeft()))
        registers.insert(dot.getLeft());
    }
  };
  llvm::for_each(groups, add);
  add(issued);
  return registers;
}

device::MultiplyOp Dots::inFlight() const {
  if (!issued.empty())
    return issued.front();
  for (const Group &group : groups)
    if (!group.empty())
      return group.front();
  return {};
}

LogicalResult Dots::multiply(device::MultiplyOp op, ArrayRef<Slot> slots) {
  Value accumulator = op.getAccumulator();
  device::MultiplyOp other = userOf(accumulator);
  if (other && !op.getAccumulate()) {
    InFlightDiagnostic error = op.emitOpError() << "overwrites " << nameOf(accumulator) << ", which a dot in flight accumulates; wait for that dot, or accumulate";
    error.attachNote(other.getLoc()) << "issued here";
    return error;
  }
  if (!other && !fenced.contains(accumulator))
    return op.emitOpError() << "accumulates in " << nameOf(accumulator) << ", which no fence names since it was last touched";
  if (isOperand(op.getLeft()) && !fenced.contains(op.getLeft()))
    return op.emitOpError() << "takes operand " << nameOf(op.getLeft()) << ", which no fence names since it was last touched";
  issued.push_back(op);
  reads[op] = SmallVector<Slot>(slots);
  return success();
}

void Dots::commit() {
  groups.push_back(issued);
  issued.clear();
}

LogicalResult Dots::wait(device::WaitOp op) {
  SetVector<Value> before = registersInFlight();
  std::size_t pending = std::size_t(op.getPending());
  if (groups.size() > pending)
    groups.erase(groups.begin(), groups.end() - std::ptrdiff_t(pending));
  SetVector<Value> after = registersInFlight(), done;
  for (Value registers : before)
    if (!after.contains(registers))
      done.insert(registers);
  SetVector<Value> named(op.getRegisters().begin(), op.getRegisters().end());
  if (named.size() != done.size() || llvm::any_of(named, [&](Value registers) { return !done.contains(registers); }))
    return op.emitOpError() << "names " << listOf(named.getArrayRef()) << "; the dots that it waits for free " << listOf(done.getArrayRef());
  return success();
}

LogicalResult Dots::fence(device::FenceOp op) {
  if (failed(touch(op)))
    return failure();
  fenced.insert(op.getRegisters().begin(), op.getRegisters().end());
  return success();
}

LogicalResult Dots::touch(Operation *op) {
  for (Value operand : op->getOperands()) {
    if (!isa<device::FragmentType, device::OperandType>(operand.getType()))
      continue;
    if (device::MultiplyOp dot = userOf(operand)) {
      InFlightDiagnostic error = op->emitOpError() << "touches " << nameOf(operand) << ", which a dot in flight " << (operand == dot.getLeft() ? "reads" : "accumulates") << "; wait for it first";
      error.attachNote(dot.getLoc()) << "issued here";
      return error;
    }
    fenced.erase(operand);
  }
  return success();
}

LogicalResult Dots::leaveSlot(Operation *op, Slot slot, StringRef does) const {
  auto check = [&](const Group &group) -> LogicalResult {
    for (device::MultiplyOp dot : group)
      for (const Slot &read : reads.lookup(dot))
        if (read.barriers == slot.barriers && read.number == slot.number) {
          InFlightDiagnostic error = op->emitOpError() << does << " a slot that a dot in flight reads; wait for it first";
          error.attachNote(dot.getLoc()) << "issued here";
          return error;
        }
    return success();
  };
  for (const Group &group : groups)
    if (failed(check(group)))
      return failure();
  return check(issued);
}

LogicalResult Turns::turn(device::TurnOp op) {
  if (op.getFirst()) {
    if (started)
      return op.emitOpError() << "starts the round of turns a second time";
    started = true;
    return success();
  }
  if (!started)
    return op.emitOpError() << (op.getPass() ? "passes" : "waits for") << " a turn before device.turn first: nobody would ever have one";
  if (op.getPass() != mine)
    return op.emitOpError() << (mine ? "waits for a turn that it has not passed on" : "passes a turn on that it has not waited for");
  mine = !mine;
  return success();
}

} // namespace tw::protocol
