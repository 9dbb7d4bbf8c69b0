// device-check-protocol: rings, barriers and cursors.
//
// A cursor goes round: the producer's from rest to acquired (armed, then filled) and by advancing back to rest; a consumer's from
// rest to held (awaited) to released, and by advancing back to rest. A leading cursor with a trailing one behind it is never
// released: it advances from held, and the trailing one holds every slot that the leading one has passed.
#include "Protocol.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
namespace tw::protocol {
namespace {

std::string quoted(StringRef name) { return ("\"" + name + "\"").str(); }
std::string nameOf(Value cursor) { return quoted(cursor.getDefiningOp<device::CursorOp>().getName()); }
std::string barriersName(Value barriers) { return quoted(barriers.getDefiningOp<device::BarriersOp>().getName()); }

std::string memoryName(Value memory) {
  if (auto ring = memory.getDefiningOp<device::RingOp>())
    return "ring " + quoted(ring.getName());
  return "mailbox " + quoted(memory.getDefiningOp<device::MailboxOp>().getName());
}

int64_t boxBytes(device::TensorMapOp map) {
  int64_t elements = 1;
  for (int64_t length : map.getBox())
    elements *= length;
  return elements * int64_t(map.getElement().getIntOrFloatBitWidth()) / 8;
}

} // namespace

//===--- wiring ------------------------------------------------------------------------------------===//

Condition Condition::of(Value value) {
  bool holds = true;
  while (auto negation = value.getDefiningOp<arith::XOrIOp>()) {
    bool right = matchPattern(negation.getRhs(), m_One()), left = matchPattern(negation.getLhs(), m_One());
    if (!right && !left)
      break;
    value = right ? negation.getLhs() : negation.getRhs();
    holds = !holds;
  }
  return {value, holds};
}

FailureOr<Wiring> wiringOf(device::KernelOp kernel) {
  constexpr int64_t warpsOfWarpgroup = 4;
  Wiring wiring;
  device::ConsumersOp consumers = device::consumersOf(kernel);
  int64_t releases = warpsOfWarpgroup * int64_t(consumers.getWarpgroups());
  DenseMap<Value, Value> producing, following;   // cursors of who fills, and of a producer that is told by a lister
  if (device::listerOf(kernel))
    for (auto cursor : device::producerOf(kernel).getBody().getOps<device::CursorOp>())
      if (!device::fills(cursor))
        following[cursor.getBarriers()];
  for (auto barriers : kernel.getBody().getOps<device::BarriersOp>())
    if (const bool isFollowed = following.contains(barriers); int64_t(barriers.getReleases()) != releases + isFollowed)
      return barriers.emitOpError() << quoted(barriers.getName()) << " take " << barriers.getReleases() << " releases a slot; expected " << releases + isFollowed << ", one for each warp of "
                                    << consumers.getWarpgroups() << " warpgroups" << (isFollowed ? " and one for the producer" : ""), failure();
  following.clear();
  WalkResult walked = kernel.walk([&](Operation *op) {
    auto fills = [&](Value memory, int64_t slots, Value cursor) -> WalkResult {
      Value barriers = device::barriersOf(cursor).getResult();
      auto type = cast<device::BarriersType>(barriers.getType());
      if (slots != type.getSlots())
        return op->emitOpError() << "fills " << memoryName(memory) << " of " << slots << " slots at a cursor of barriers " << barriersName(barriers) << ", which have " << type.getSlots();
      Value &known = wiring.filledUnder[memory];
      if (known && known != barriers)
        return op->emitOpError() << "fills " << memoryName(memory) << " under barriers " << barriersName(barriers) << "; elsewhere it is filled under " << barriersName(known);
      known = barriers;
      return WalkResult::advance();
    };
    if (auto copy = dyn_cast<device::CopyOp>(op))
      return fills(copy.getRing(), copy.getRing().getType().getSlots(), copy.getCursor());
    if (auto publish = dyn_cast<device::PublishOp>(op))
      return fills(publish.getRing(), publish.getRing().getType().getSlots(), publish.getCursor());
    if (auto post = dyn_cast<device::PostOp>(op))
      return fills(post.getMailbox(), post.getMailbox().getType().getSlots(), post.getCursor());
    auto cursor = dyn_cast<device::CursorOp>(op);
    if (!cursor)
      return WalkResult::advance();
    bool produces = device::fills(cursor);
    if (!isa<device::ProducerOp, device::ListerOp, device::ConsumersOp>(op->getParentOp()))
      return op->emitOpError() << quoted(cursor.getName()) << " is declared inside of other operations; a role declares its cursors first, so that they go on from item to item", WalkResult::interrupt();
    const bool follows = !produces && isa<device::ProducerOp>(op->getParentOp());
    if (produces && device::barriersOf(cursor.getResult()).getArrivals())
      wiring.publishing[cursor.getBarriers()] = cursor;
    auto &place = produces ? producing : follows ? following : cursor.getTrailing() ? wiring.trailing : wiring.leading;
    if (!place.insert({cursor.getBarriers(), cursor}).second)
      return op->emitOpError() << "is a second cursor of its role on barriers " << barriersName(cursor.getBarriers()) << "; their phases would turn twice a round", WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return wiring;
}

//===--- cursors -----------------------------------------------------------------------------------===//

Slots::Place &Slots::placeOf(Value cursor) {
  Place &place = places[cursor];
  place.cursor = cursor.getDefiningOp<device::CursorOp>();
  return place;
}

const Slots::Place *Slots::find(Value cursor) const {
  auto found = places.find(cursor);
  return found == places.end() ? nullptr : &found->second;
}

int64_t Slots::behind(Value barriers) const {
  Value leading = wiring->leading.lookup(barriers), trailing = wiring->trailing.lookup(barriers);
  auto number = [&](Value cursor) { const Place *place = cursor ? find(cursor) : nullptr; return place ? place->number : 0; };
  return trailing ? number(leading) - number(trailing) : 0;
}

int64_t Slots::published(Value barriers) const {
  Value filling = wiring->publishing.lookup(barriers), reading = wiring->leading.lookup(barriers);
  auto number = [&](Value cursor) { const Place *place = cursor ? find(cursor) : nullptr; return place ? place->number : 0; };
  return filling ? number(filling) - number(reading) : 0;
}

std::string Slots::describe(Value cursor) const {
  const Place *place = find(cursor);
  switch (place ? place->at : At::rest) {
  case At::rest:
    return "at rest";
  case At::acquired:
    return "at an acquired slot with " + std::to_string(place->copied) + " of " + std::to_string(place->armed) + " bytes copied" + (place->posted ? ", and a number posted" : "");
  case At::held:
    return "at an awaited slot";
  case At::released:
    return "at a released slot";
  case At::perhapsReleased:
    return "at a slot that is released under a condition";
  }
  llvm_unreachable("every case is listed");
}

LogicalResult Slots::acquire(device::AcquireOp op) {
  Place &place = placeOf(op.getCursor());
  if (place.at != At::rest)
    return op.emitOpError() << "takes a slot of " << nameOf(op.getCursor()) << " that it has acquired already; advance first";
  place.at = At::acquired;
  place.armed = int64_t(op.getBytes());
  place.copied = 0;
  place.posted = false;
  return success();
}

LogicalResult Slots::copy(device::CopyOp op) {
  Place &place = placeOf(op.getCursor());
  if (place.at != At::acquired)
    return op.emitOpError() << "writes to a slot of " << nameOf(op.getCursor()) << " that is not acquired; the consumers may be reading it";
  auto map = op.getMap().getDefiningOp<device::TensorMapOp>();
  device::RingType ring = op.getRing().getType();
  constexpr int64_t chunkColumns = 64, chunkRowBytes = 128;
  int64_t bytes = boxBytes(map), at = ring.isVector() ? 0 : int64_t(op.getColumn()) / chunkColumns * ring.rows() * chunkRowBytes;
  if (at + bytes > ring.slotBytes())
    return op.emitOpError() << "copies " << bytes << " bytes to byte " << at << " of a slot of " << memoryName(op.getRing()) << ", which has " << ring.slotBytes();
  place.copied += bytes;
  return success();
}

LogicalResult Slots::post(device::PostOp op) {
  Place &place = placeOf(op.getCursor());
  if (place.at != At::acquired)
    return op.emitOpError() << "writes to a slot of " << nameOf(op.getCursor()) << " that is not acquired; the consumers may be reading it";
  if (place.armed || place.posted)
    return op.emitOpError() << "fills a slot of " << nameOf(op.getCursor()) << (place.posted ? " a second time" : " that was armed for copies; acquire it with 0 bytes");
  place.posted = true;
  return success();
}

LogicalResult Slots::list(device::ListTilesOp op) {
  if (!op.getCursor())
    return op.emitOpError() << "belongs to no slot; device-draw-items gives it one";
  Place &place = placeOf(op.getCursor());
  if (place.at != At::acquired || place.posted)
    return op.emitOpError() << "writes the list of a slot of " << nameOf(op.getCursor()) << " that is " << (place.posted ? "posted already" : "not acquired") << "; the consumers may be reading it";
  return success();
}

LogicalResult Slots::answer(device::SentBackOp op) {
  Place &place = placeOf(op.getCursor());
  if (place.at != At::acquired || place.posted)
    return op.emitOpError() << "looks for the answer to what a slot of " << nameOf(op.getCursor()) << " held before, and it is " << (place.posted ? "filled anew" : "not acquired");
  return success();
}

LogicalResult Slots::reserve(device::ReserveOp op) {
  Place &place = placeOf(op.getCursor());
  if (!device::barriersOf(op.getCursor()).getArrivals())
    return op.emitOpError() << "reserves a slot of " << nameOf(op.getCursor()) << ", which the producer fills";
  if (place.at != At::rest)
    return op.emitOpError() << "takes a slot of " << nameOf(op.getCursor()) << " that it has not left yet; release it and advance first";
  Value barriers = place.cursor.getBarriers();
  if (const int64_t slots = cast<device::BarriersType>(barriers.getType()).getSlots(); published(barriers) >= slots)
    return op.emitOpError() << "takes a slot of " << nameOf(op.getCursor()) << " while this warp has all " << slots << " to read: nobody would ever give it back";
  place.at = At::acquired;
  place.posted = false;
  return success();
}

LogicalResult Slots::publish(device::PublishOp op) {
  Place &place = placeOf(op.getCursor());
  if (place.at != At::acquired || place.posted)
    return op.emitOpError() << "writes to a slot of " << nameOf(op.getCursor()) << (place.posted ? " a second time" : " that is not reserved; others may be reading it");
  place.posted = true;
  return success();
}

LogicalResult Slots::await(device::AwaitOp op) {
  Value cursor = op.getCursor();
  Place &place = placeOf(cursor);
  if (place.cursor.getTrailing())
    return op.emitOpError() << "waits at cursor " << nameOf(cursor) << ", which trails: the leading one waits for both";
  const bool exchanges = bool(device::barriersOf(cursor).getArrivals());
  const bool apart = bool(wiring->publishing.lookup(place.cursor.getBarriers()));
  if (exchanges && (apart ? published(place.cursor.getBarriers()) < 1 : place.at != At::acquired || !place.posted))
    return op.emitOpError() << "waits for a slot of " << nameOf(cursor) << " to which this warp has not published its part: nobody would ever have all of it";
  if ((!exchanges || apart) && place.at != At::rest)
    return op.emitOpError() << "waits twice for a slot of " << nameOf(cursor) << "; release it and advance first";
  Value barriers = place.cursor.getBarriers();
  if (llvm::none_of(wiring->filledUnder, [&](auto &filled) { return filled.second == barriers; }))
    return op.emitOpError() << "waits for barriers " << barriersName(barriers) << ", under which the producer fills nothing";
  int64_t slots = cast<device::BarriersType>(barriers.getType()).getSlots();
  if (behind(barriers) >= slots)
    return op.emitOpError() << "waits for a slot of " << nameOf(cursor) << " while all " << slots << " are held; the producer cannot fill it";
  place.at = At::held;
  return success();
}

LogicalResult Slots::lookAhead(device::LookAheadOp op) {
  Place &place = placeOf(op.getCursor());
  Value barriers = place.cursor.getBarriers();
  if (place.cursor.getTrailing() || device::fills(place.cursor) || device::barriersOf(op.getCursor()).getArrivals() || wiring->trailing.lookup(barriers))
    return op.emitOpError() << "looks ahead of cursor " << nameOf(op.getCursor()) << "; expected the only one at which slots of the producer are read";
  if (op.getCondition() ? place.at != At::held : place.at != At::rest)
    return op.emitOpError() << "looks ahead of cursor " << nameOf(op.getCursor()) << ", which stands " << describe(op.getCursor()) << "; expected " << (op.getCondition() ? "an awaited slot" : "it at rest");
  if (op.getCondition() && cast<device::BarriersType>(barriers.getType()).getSlots() < 2)
    return op.emitOpError() << "waits for a slot of " << nameOf(op.getCursor()) << " while the only one is held; the producer cannot fill it";
  place.lookout = op.getResult();
  return success();
}

SmallVector<Slot> Slots::readAhead(Operation *op, Value memory, device::LookAheadOp ahead) {
  Place &place = placeOf(ahead.getCursor());
  Value barriers = place.cursor.getBarriers();
  if (wiring->filledUnder.lookup(memory) != barriers || place.lookout != ahead.getResult()) {
    op->emitOpError() << "reads " << memoryName(memory) << " ahead of cursor " << nameOf(ahead.getCursor()) << ", which " << (place.lookout ? "is filled under other barriers" : "has moved on since");
    return {};
  }
  if (!ahead.getCondition())
    return {Slot{barriers, place.number}};
  return {Slot{barriers, place.number}, Slot{barriers, place.number + 1}};
}

FailureOr<Slot> Slots::read(Operation *op, Value memory, Value cursor, bool waits) {
  Place &place = placeOf(cursor);
  Value barriers = place.cursor.getBarriers(), filled = wiring->filledUnder.lookup(memory);
  if (!filled)
    return op->emitOpError() << "reads " << memoryName(memory) << ", which the producer never fills", failure();
  if (filled != barriers)
    return op->emitOpError() << "reads " << memoryName(memory) << " at a cursor of barriers " << barriersName(barriers) << "; it is filled under " << barriersName(filled), failure();
  bool reached = place.at == At::held || (waits && place.at == At::rest && behind(barriers) < cast<device::BarriersType>(barriers.getType()).getSlots());
  if (place.cursor.getTrailing()) {
    const Place *leading = find(wiring->leading.lookup(barriers));
    reached = place.at == At::rest && (behind(barriers) > 0 || (leading && leading->at == At::held));
  }
  if (!reached)
    return op->emitOpError() << "reads " << memoryName(memory) << " outside of await and release of cursor " << nameOf(cursor), failure();
  return Slot{barriers, place.number};
}

FailureOr<Slot> Slots::release(device::ReleaseOp op) {
  Value cursor = op.getCursor();
  Place &place = placeOf(cursor);
  Value barriers = place.cursor.getBarriers();
  if (!place.cursor.getTrailing() && wiring->trailing.lookup(barriers))
    return op.emitOpError() << "gives back a slot of " << nameOf(cursor) << ", which cursor " << nameOf(wiring->trailing.lookup(barriers)) << " trails: that one gives it back", failure();
  if (place.at == At::released)
    return op.emitOpError() << "gives back a slot of " << nameOf(cursor) << " twice", failure();
  bool held = place.at == At::held || place.at == At::perhapsReleased || (place.cursor.getTrailing() && place.at == At::rest && behind(barriers) > 0);
  if (!held)
    return op.emitOpError() << "gives back a slot of " << nameOf(cursor) << " that was not awaited", failure();
  std::optional<Condition> condition;
  if (Value value = op.getCondition())
    condition = Condition::of(value);
  if (place.at == At::perhapsReleased) {
    if (condition != place.released.negated())
      return op.emitOpError() << "gives back a slot of " << nameOf(cursor) << " that may have been given back under a condition; expected the opposite of that condition", failure();
    place.at = At::released;
  } else if (condition) {
    place.at = At::perhapsReleased;
    place.released = *condition;
  } else {
    place.at = At::released;
  }
  return Slot{barriers, place.number};
}

LogicalResult Slots::advance(device::AdvanceOp op) {
  Value cursor = op.getCursor();
  Place &place = placeOf(cursor);
  bool produces = device::fills(place.cursor);
  bool led = !place.cursor.getTrailing() && wiring->trailing.lookup(place.cursor.getBarriers());
  if (produces) {
    if (place.at != At::acquired)
      return op.emitOpError() << "leaves a slot of " << nameOf(cursor) << " that was not acquired";
    if (place.armed ? place.copied != place.armed : place.copied || !place.posted) {
      InFlightDiagnostic error = op.emitOpError() << "leaves a slot of " << nameOf(cursor);
      if (place.armed || place.copied)
        return error << " that was armed for " << place.armed << " bytes; the copies bring " << place.copied;
      return error << " that nothing fills: neither copies nor a post";
    }
  } else if (place.at != (led ? At::held : At::released)) {
    return op.emitOpError() << "leaves a slot of " << nameOf(cursor) << (led ? " that was not awaited" : " that was not given back on every path");
  }
  place.at = At::rest;
  place.lookout = {};
  ++place.number;
  return success();
}

//===--- paths -------------------------------------------------------------------------------------===//

void Slots::assume(Condition condition) {
  for (auto &[cursor, place] : places)
    if (place.at == At::perhapsReleased && place.released.value == condition.value)
      place.at = place.released == condition ? At::released : place.cursor.getTrailing() ? At::rest : At::held;
}

std::string Slots::difference(const Slots &other, StringRef first, StringRef second) const {
  SetVector<Value> cursors;
  for (const Slots *side : {this, &other})
    for (auto &[cursor, place] : side->places)
      cursors.insert(cursor);
  for (Value cursor : cursors) {
    std::string one = describe(cursor), two = other.describe(cursor);
    if (one != two)
      return (first + " cursor " + nameOf(cursor) + " stands " + one + ", " + second + " " + two).str();
    Value barriers = cursor.getDefiningOp<device::CursorOp>().getBarriers();
    if (published(barriers) != other.published(barriers))
      return (first + " cursor " + nameOf(wiring->publishing.lookup(barriers)) + " is ahead by " + Twine(published(barriers)) + " slots, " + second + " by " + Twine(other.published(barriers))).str();
    if (behind(barriers) != other.behind(barriers))
      return (first + " cursor " + nameOf(wiring->trailing.lookup(barriers)) + " trails by " + Twine(behind(barriers)) + " slots, " + second + " by " + Twine(other.behind(barriers))).str();
  }
  return {};
}

std::string Slots::unfinished() const {
  for (auto &[cursor, place] : places)
    if (place.at != At::rest)
      return "cursor " + nameOf(cursor) + " stands " + describe(cursor);
  for (auto &[barriers, cursor] : wiring->publishing)
    if (published(barriers))
      return "cursor " + nameOf(cursor) + " is ahead by " + std::to_string(published(barriers)) + " slots";
  for (auto &[barriers, cursor] : wiring->trailing)
    if (behind(barriers))
      return "cursor " + nameOf(cursor) + " trails by " + std::to_string(behind(barriers)) + " slots";
  return {};
}

} // namespace tw::protocol
