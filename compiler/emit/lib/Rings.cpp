// Rings, barriers, items and turns: who waits for whom.
#include "Statements.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
using namespace mlir;

namespace tw::emit {

std::string Statements::barrier(Value cursor, const char *which) const {
  const std::string &slot = cursors.find(cursor)->second.slot;
  return "sb + " + declared.stem(device::barriersOf(cursor).getResult()) + which + (slot.empty() ? "" : " + 8 * " + slot);
}

std::string Statements::slotAddress(Value ring, Value cursor) const {
  const std::string slot = cursor                                                  ? cursors.find(cursor)->second.slot
                           : cast<device::RingType>(ring.getType()).getSlots() > 1 ? "cw"
                                                                                   : "",
                    &stem = declared.stem(ring);
  return "sb + " + stem + "_AT" + (slot.empty() ? "" : " + " + slot + " * " + stem + "_BYTES");
}

LogicalResult Statements::print(device::CursorOp op) {
  const bool hasSlot = op.getBarriers().getType().getSlots() > 1, hasPhase = !op.getTrailing();
  const std::string stem = names.uniqueStem(op.getName(), {"_slot", "_phase"});
  Cursor &cursor = cursors[op.getResult()];
  std::string declaration;
  if (hasSlot)
    declaration = (cursor.slot = stem + "_slot") + " = 0";
  if (hasPhase)
    declaration += (hasSlot ? ", " : "") + (cursor.phase = stem + "_phase") + " = " + std::to_string(op.getPhase());
  if (!declaration.empty())
    text.line("int " + declaration + ";");
  return success();
}

LogicalResult Statements::print(device::AcquireOp op) {
  text.line(fmt::format("mbar_wait({}, {});", barrier(op.getCursor(), "_EMPTY"), cursors[op.getCursor()].phase));
  if (op.getBytes() && hopper)
    text.line(fmt::format("{}mbar_expect_tx({}, {});", oneThread ? "" : "if (lane == 0) ", barrier(op.getCursor(), "_FULL"), std::uint64_t(op.getBytes())));
  return success();
}

LogicalResult Statements::print(device::CopyOp op) {
  device::RingType ring = op.getRing().getType();
  const int64_t column = int64_t(op.getColumn()), chunkColumns = 64, chunkRowBytes = 128;
  const int64_t before = ring.isVector() ? column * int64_t(ring.getElement().getIntOrFloatBitWidth()) / 8 : column / chunkColumns * ring.rows() * chunkRowBytes;
  std::string coordinates;
  for (Value coordinate : op.getCoordinates())
    coordinates += ", " + values.textOf(coordinate);
  if (!hopper) {
    auto map = op.getMap().getDefiningOp<device::TensorMapOp>();
    SmallVector<int64_t> box(map.getBox());
    box[0] *= int64_t(map.getElement().getIntOrFloatBitWidth()) / 8;
    box.resize(5, 1);
    for (std::size_t i = op.getCoordinates().size(); i < 5; ++i)
      coordinates += ", 0";
    const int64_t divisor = int64_t(op.getDivisor()), unit = std::min<int64_t>(divisor, 4);
    const bool isStrided = op->getParentOfType<device::KernelOp>().getStrided();
    const std::string copies = isStrided       ? fmt::format("copy_strided_box<{}, ", map.getElement().getIntOrFloatBitWidth() / 8)
                               : divisor == 16 ? "copy_box<"
                                               : fmt::format("copy_shifted_box<{}, ", unit);
    const std::string threads = declared.copyingThreads() == 32 ? "" : fmt::format(", {}", declared.copyingThreads());
    text.line(fmt::format("{}{}, {}{}>({}{}, {}{}, {});", copies, fmt::join(box, ", "), int64_t(map.getSwizzle()), threads, slotAddress(op.getRing(), op.getCursor()),
                          before ? " + " + std::to_string(before) : "", declared.map(op.getMap()), coordinates, copier));
    return success();
  }
  text.line(fmt::format("{}tma_load_{}d({}{}, {}, {}{});", oneThread ? "" : "if (lane == 0) ", op.getCoordinates().size(), slotAddress(op.getRing(), op.getCursor()),
                        before ? " + " + std::to_string(before) : "", declared.map(op.getMap()), barrier(op.getCursor(), "_FULL"), coordinates));
  return success();
}

LogicalResult Statements::print(device::AdvanceOp op) {
  const Cursor &cursor = cursors[op.getCursor()];
  if (device::fills(op.getCursor().getDefiningOp<device::CursorOp>())) {
    Value barriers = device::barriersOf(op.getCursor()).getResult();
    if (declared.arrivedAtByLanes(barriers))
      text.line(fmt::format("cp_async_mbar_arrive({});", barrier(op.getCursor(), "_FULL")));
    if (declared.storedByLanes(barriers))      // an arrival for cp.async says nothing of what a lane stores itself
      text.line(fmt::format("mbar_arrive({});", barrier(op.getCursor(), "_FULL")));
  }
  const std::string turn = cursor.phase.empty() ? "" : cursor.phase + " ^= 1;";
  if (cursor.slot.empty()) {
    if (!turn.empty())
      text.line(turn);
    return success();
  }
  const int64_t slots = device::barriersOf(op.getCursor()).getResult().getType().getSlots();
  if (turn.empty())
    text.line(fmt::format("if (++{0} == {1}) {0} = 0;", cursor.slot, slots));
  else
    text.line(fmt::format("if (++{0} == {1}) {{ {0} = 0; {2} }}", cursor.slot, slots, turn));
  return success();
}

LogicalResult Statements::print(device::AwaitOp op) {
  text.line(fmt::format("mbar_wait({}, {});", barrier(op.getCursor(), "_FULL"), cursors[op.getCursor()].phase));
  return success();
}

// Without a condition the cursor is at rest, and its own slot is the next. Else the place is found where it is needed, and waits in no register.
LogicalResult Statements::print(device::LookAheadOp op) {
  const Cursor &cursor = cursors[op.getCursor()];
  const std::string full = "sb + " + declared.stem(device::barriersOf(op.getCursor()).getResult()) + "_FULL";
  Cursor &ahead = cursors[op.getResult()];
  if (!op.getCondition()) {                  // where the cursor itself stands
    ahead.slot = cursor.slot;
    text.line(fmt::format("mbar_wait({}, {});", barrier(op.getCursor(), "_FULL"), cursor.phase));
    return success();
  }
  const int64_t slots = device::barriersOf(op.getCursor()).getResult().getType().getSlots();
  const std::string more = values.lasting(op.getCondition()).as(Precedence::either), last = fmt::format("{} == {}", cursor.slot, slots - 1);
  ahead.slot = names.unique(cursor.slot + "_ahead");
  text.line(fmt::format("const int {} = {} ? ({} ? 0 : {} + 1) : {};", ahead.slot, more, last, cursor.slot, cursor.slot));
  text.line(fmt::format("if ({}) mbar_wait({} + 8 * {}, {} ^ ({}));", more, full, ahead.slot, cursor.phase, last));
  return success();
}

/// Does a loop that may have no step stand between a wait and its release, and no product outside of it? Then nothing proves that all lanes saw the slot filled.
static bool mayRunAhead(device::ReleaseOp op) {
  bool hasLoop = false;
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (isa<device::MultiplyOp>(before))
      return false;
    if (auto await = dyn_cast<device::AwaitOp>(before); await && device::barriersOf(await.getCursor()) == device::barriersOf(op.getCursor()))
      break;
    hasLoop |= isa<scf::ForOp>(before);
  }
  return hasLoop;
}

// Where lanes read the slot themselves, all of them must have before the one that speaks for the warp says so. And none may still wait for it to be filled: it
// might come round twice before that lane looks. A producer's lanes read an item's list.
LogicalResult Statements::print(device::ReleaseOp op) {
  const std::string condition = op.getCondition() ? values.textOf(op.getCondition(), Precedence::both) + " && " : "";
  if (!hopper || op->getParentOfType<device::ProducerOp>() || readByLanes.contains(device::barriersOf(op.getCursor()).getResult()) || mayRunAhead(op))
    text.line("__syncwarp();");
  text.line(fmt::format("if ({}lane == 0) mbar_arrive({});", condition, barrier(op.getCursor(), "_EMPTY")));
  return success();
}

// A cursor that waits for full slots finds empty ones one phase behind.
LogicalResult Statements::print(device::ReserveOp op) {
  const bool fills = device::fills(op.getCursor().getDefiningOp<device::CursorOp>());
  text.line(fmt::format("mbar_wait({}, {}{});", barrier(op.getCursor(), "_EMPTY"), cursors[op.getCursor()].phase, fills ? "" : " ^ 1"));
  return success();
}

// Words 4 i … 4 i + 3 of the operand are 16 of its columns, as four 8x8 matrices: two blocks of rows, then two of columns.
LogicalResult Statements::print(device::PublishOp op) {
  if (!hopper)
    return op.emitOpError() << "has a text on sm90a only";
  const int64_t width = op.getOperand().getType().getWidth(), chunkRowBytes = 128, columnsOfMatrices = 16;
  text.open("{");
  text.line(fmt::format("const u32 x = {} + cw * {} + ((lane >> 4) * 8 + (lane & 7)) * 128 + ((((warp & 3) * 2 + ((lane >> 3) & 1)) ^ (lane & 7)) << 4);", slotAddress(op.getRing(), op.getCursor()), width * chunkRowBytes));
  text.line("#pragma unroll");
  text.line(fmt::format("for (int i = 0; i < {0}; i++) stmatrix_x4_trans(x + i * {1}, {2}[4 * i], {2}[4 * i + 1], {2}[4 * i + 2], {2}[4 * i + 3]);", width / columnsOfMatrices, columnsOfMatrices * chunkRowBytes,
                        registers[op.getOperand()]));
  text.close();
  text.line("fence_async_proxy();");
  text.line("__syncwarp();");
  text.line(fmt::format("if (lane == 0) mbar_arrive({});", barrier(op.getCursor(), "_FULL")));
  return success();
}

LogicalResult Statements::print(device::DrawOp op) {
  const std::string drawn = "atomicAdd(" + values.textOf(op.getCounters()) + ", 1) + (int)gridDim.x";
  if (oneThread) {
    values.declare(op.getResult(), {drawn}, "item");
    return success();
  }
  const std::string name = names.unique(hintFor(op.getResult(), "item"));
  text.line("int " + name + " = 0;");
  text.line(fmt::format("if ({}) {} = {};", first, name, drawn));
  if (device::producerOf(op->getParentOfType<device::KernelOp>()))
    text.line(fmt::format("{0} = __shfl_sync(~0u, {0}, 0);", name));
  values.bind(op.getResult(), {name});
  return success();
}

LogicalResult Statements::print(device::RetireOp op) {
  const std::string counters = values.textOf(op.getCounters());
  text.open(fmt::format("if ({}atomicAdd({} + 1, 1) == (int)gridDim.x - 1) {{   // the last block: ready for the next launch", oneThread ? "" : first + " && ", counters));
  text.line(counters + "[0] = 0;");
  text.line(counters + "[1] = 0;");
  text.close();
  return success();
}

/// The address of a word of a mailbox's slot.
std::string Statements::word(Value mailbox, Value cursor, int64_t n) {
  const int64_t words = cast<device::MailboxType>(mailbox.getType()).getWords();
  const std::string &slot = cursors[cursor].slot;
  return fmt::format("sb + {}_AT{}{}", declared.stem(mailbox), slot.empty() ? "" : fmt::format(" + {} * {}", 4 * words, slot), n ? fmt::format(" + {}", 4 * n) : "");
}

LogicalResult Statements::print(device::PostOp op) {
  if (!oneThread)
    text.open("if (" + first + ") {");
  for (auto [i, value] : llvm::enumerate(op.getValues()))
    text.line(fmt::format("st_shared_u32({}, {});", word(op.getMailbox(), op.getCursor(), int64_t(i)), values.textOf(value)));
  text.line(fmt::format("mbar_arrive({});", barrier(op.getCursor(), "_FULL")));
  if (!oneThread)
    text.close();
  return success();
}

LogicalResult Statements::print(device::ReadPostOp op) {
  // All are read before the first is handed round: a shuffle waits for what it hands.
  std::vector<std::string> read;
  for (Value result : op.getWords()) {
    read.push_back(names.unique(hintFor(result, "item")));
    values.bind(result, {read.back()});
  }
  text.line(fmt::format("int {} = 0;", fmt::join(read, " = 0, ")));
  if (read.size() > 1)
    text.open("if (lane == 0) {");
  for (auto [i, name] : llvm::enumerate(read))
    text.line(fmt::format("{}{} = (int)ld_shared_u32({});", read.size() > 1 ? "" : "if (lane == 0) ", name, word(op.getMailbox(), op.getCursor(), int64_t(i))));
  if (read.size() > 1)
    text.close();
  for (const std::string &name : read)
    text.line(fmt::format("{0} = __shfl_sync(~0u, {0}, 0);", name));
  return success();
}

/// The address of the answers for a slot.
std::string Statements::answers(Value mailbox, Value cursor) {
  const std::string &slot = cursors[cursor].slot;
  return fmt::format("sb + {}_BACK{}", declared.stem(mailbox), slot.empty() ? "" : fmt::format(" + {} * {}", 4 * *mailbox.getDefiningOp<device::MailboxOp>().getAnswers(), slot));
}

LogicalResult Statements::print(device::SendBackOp op) {
  text.line(fmt::format("if (lane == 0) st_shared_u32({} + 4 * (cw * 4 + (warp & 3)), {});", answers(op.getMailbox(), op.getCursor()), values.textOf(op.getAgain())));
  return success();
}

LogicalResult Statements::print(device::SentBackOp op) {
  const std::string name = names.unique(hintFor(op.getResult(), "back")), any = names.unique("answer");
  text.line("int " + name + " = -1;");
  text.open(oneThread ? "{" : "if (lane == 0) {");
  const std::string at = answers(op.getMailbox(), op.getCursor());
  text.line(fmt::format("u32 {}[4] = {{0, 0, 0, 0}};", any));
  text.open(fmt::format("for (int i = 0; i < {}; i += 4) {{", *op.getMailbox().getDefiningOp<device::MailboxOp>().getAnswers()));
  text.line("u32 x[4];");
  text.line(fmt::format("ld_shared_v4({} + 4 * i, x);", at));
  text.line(fmt::format("for (int j = 0; j < 4; j++) {}[j] |= x[j];", any));
  text.line(fmt::format("st_shared_v4({} + 4 * i, 0, 0, 0, 0);   // a slot without an item gets no answer", at));
  text.close();
  text.line(fmt::format("if ({0}[0] | {0}[1] | {0}[2] | {0}[3]) {1} = (int)ld_shared_u32({2});", any, name, word(op.getMailbox(), op.getCursor(), 0)));
  text.close();
  if (!oneThread)
    text.line(fmt::format("{0} = __shfl_sync(~0u, {0}, 0);", name));
  values.bind(op.getResult(), {name});
  return success();
}

LogicalResult Statements::print(device::TurnOp op) {
  if (warpgroups < 2)
    return op.emitError() << "passes a turn round " << warpgroups << " warpgroup; at least two are expected";
  if (op.getFirst())
    text.line(fmt::format("if (cw == {}) bar_arrive(TURN, 256);", warpgroups - 1));
  else if (op.getPass())
    text.line(fmt::format("bar_arrive(TURN + (cw == {} ? 0 : cw + 1), 256);", warpgroups - 1));
  else
    text.line("bar_sync(TURN + cw, 256);");
  return success();
}

} // namespace tw::emit
