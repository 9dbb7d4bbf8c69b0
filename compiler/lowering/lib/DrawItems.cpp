// Blocks draw their items from a counter: who is done early takes the next one.
//
// The producer draws, works out what an item's number means (its divisions take longest) and posts both to the consumers. Where masks cut tiles, they
// post back: an accumulator that is not finite at an item's end may have met a NaN or an infinity that a mask hides. Such an item is done again, by
// the careful way where tile-walk-folds made one, with `device.scan` and `device.isolate`, which are left out the first time. An item's slot is given
// back when it is done, so that the producer, which finds the answer as it takes the slot again, is never more than `slots` items ahead: two where a lister will
// have nothing else to do, so that it does not draw what another block could begin at once.
//
// Where an item has a list of tiles, the producer makes it before it posts the item, and what it counted are further words of the slot. The list
// belongs to the slot, and so the slot is held until the item is done here too.
#include "DrawAlone.h"
#include "ItemList.h"
#include "ItemWords.h"
#include "Looks.h"
#include "Parameters.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_DRAWITEMS
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

constexpr int64_t warpsOfWarpgroup = 4, counters = 2;
/// A first word: an item's number; with `carefully`, it is done for the second time; `nothing` lets an answer through; `end` is the last.
constexpr int32_t numberBits = 0x3fffffff, carefully = 0x40000000, nothing = numberBits, end = numberBits | carefully;

scf::ForOp itemLoop(Block &role) {
  for (auto loop : role.getOps<scf::ForOp>())
    if (loop->hasAttr("device.items"))
      return loop;
  return {};
}

class Drawing {
public:
  Drawing(device::KernelOp kernel, scf::ForOp produced, scf::ForOp consumed)
      : kernel(kernel), produced(produced), consumed(consumed), producedBy(decodingOf(produced.getInductionVar(), *produced.getBody())),
        consumedBy(decodingOf(consumed.getInductionVar(), *consumed.getBody())), looks(Looks::of(consumed)), list(produced, consumed), slots(looks && !(list && device::isHopper(kernel)) ? 3 : 2) {
    if (looks)
      return;
    for (scf::ForOp items : {produced, consumed}) {       // the usual way looks for itself
      OpBuilder b(items);
      settle(items, arith::ConstantOp::create(b, items.getLoc(), b.getBoolAttr(false)));
    }
  }

  void run() {
    Parameters parameters(kernel);
    counter = parameters.counters(counters);
    OpBuilder b(device::producerOf(kernel));
    const int64_t warps = warpsOfWarpgroup * int64_t(device::consumersOf(kernel).getWarpgroups());
    mailbox = device::MailboxOp::create(b, kernel.getLoc(), device::MailboxType::get(b.getContext(), slots, int64_t(1 + consumedBy.results.size() + list.words())), b.getStringAttr("work"),
                                        looks ? b.getI64IntegerAttr(warps) : IntegerAttr(), IntegerAttr());
    barriers = device::BarriersOp::create(b, kernel.getLoc(), device::BarriersType::get(b.getContext(), slots), b.getStringAttr("work"), b.getI64IntegerAttr(warps), IntegerAttr(), IntegerAttr());
    list.reserve(slots);
    produce();
    consume();
    parameters.sort();
    if (looks || list)
      shareRegisters();
  }

private:
  device::KernelOp kernel;
  scf::ForOp produced, consumed;
  Decoding producedBy, consumedBy;
  std::optional<Looks> looks;
  ItemList list;
  int64_t slots;
  Value counter, mailbox, barriers;

  static Value number(OpBuilder &b, Location loc, int32_t n) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(n)); }
  /// Is the item done for the second time?
  static Value isCareful(OpBuilder &b, Location loc, Value word) {
    return compare(b, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, word, number(b, loc, carefully)), number(b, loc, 0));
  }
  static Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate how, Value x, Value y) { return arith::CmpIOp::create(b, loc, how, x, y); }

  Value cursor(OpBuilder &b, Location loc, int64_t phase) {
    return device::CursorOp::create(b, loc, device::CursorType::get(b.getContext()), b.getStringAttr("work"), barriers, b.getI64IntegerAttr(phase), UnitAttr());
  }

  /// Moves the loop's body to the end of `block`; what decodes the item is replaced by `item` and `results`.
  static void takeBody(Block &block, scf::ForOp loop, const Decoding &decoding, Value item, ValueRange results) {
    for (auto [old, replacement] : llvm::zip_equal(decoding.results, results))
      Value(old).replaceAllUsesWith(replacement);
    for (Operation *op : llvm::reverse(decoding.operations))
      op->erase();
    loop.getInductionVar().replaceAllUsesWith(item);
    auto &ops = loop.getBody()->getOperations();
    block.getOperations().splice(block.end(), ops, ops.begin(), std::prev(ops.end()));
  }

  void produce() {
    Location loc = produced.getLoc();
    OpBuilder b(produced);
    Value place = cursor(b, loc, 1), items = produced.getUpperBound();
    Type i32 = b.getI32Type();
    SmallVector<Value> starts{produced.getLowerBound()};
    if (looks)
      starts.push_back(number(b, loc, 0));     // slots in a row that held nothing new
    const std::size_t meant = 1 + producedBy.results.size(), told = meant + list.words();
    SmallVector<Type> passed(told, i32);                            // the item, what it means, its list
    if (looks)                                                      // the number drawn, the quiet slots, whether to draw and whether the item is done again
      passed.append({i32, i32, b.getI1Type(), b.getI1Type()});
    auto whole = scf::WhileOp::create(b, loc, passed, starts);
    Block *before = b.createBlock(&whole.getBefore(), {}, ValueRange(starts).getTypes(), SmallVector<Location>(starts.size(), loc));
    Value drawn = before->getArgument(0), word = drawn, item = drawn, more, quiet, fresh, again;
    device::AcquireOp::create(b, loc, place, b.getI64IntegerAttr(0));
    Value left = compare(b, loc, arith::CmpIPredicate::slt, drawn, items);
    if (looks) {
      Value back = device::SentBackOp::create(b, loc, i32, mailbox, place);
      again = compare(b, loc, arith::CmpIPredicate::sge, back, number(b, loc, 0));
      Value none = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
      fresh = arith::SelectOp::create(b, loc, again, none, left);
      Value over = compare(b, loc, arith::CmpIPredicate::sge, before->getArgument(1), number(b, loc, int32_t(slots)));
      Value idle = arith::SelectOp::create(b, loc, over, number(b, loc, end), number(b, loc, nothing));
      word = arith::SelectOp::create(b, loc, again, arith::OrIOp::create(b, loc, back, number(b, loc, carefully)), arith::SelectOp::create(b, loc, left, drawn, idle));
      item = arith::AndIOp::create(b, loc, word, number(b, loc, numberBits));
      more = compare(b, loc, arith::CmpIPredicate::ne, word, number(b, loc, end));
      Value busy = arith::OrIOp::create(b, loc, again, left);
      quiet = arith::SelectOp::create(b, loc, busy, number(b, loc, 0), arith::AddIOp::create(b, loc, before->getArgument(1), number(b, loc, 1)));
    } else {
      more = left;
    }
    // A number past the last item means nothing, and must not make a divisor 0.
    Value known = producedBy.operations.empty() && !list ? item : arith::MinSIOp::create(b, loc, item, arith::SubIOp::create(b, loc, items, number(b, loc, 1)));
    SmallVector<Value> posted{word}, handed{item};
    for (Value result : producedBy.results)
      handed.push_back(sameFrom(result, produced.getInductionVar(), known, *before, b));
    for (Value result : consumedBy.results)
      posted.push_back(sameFrom(result, consumed.getInductionVar(), known, *before, b));
    if (list) {
      SmallVector<Value> words = list.make(b, known, compare(b, loc, arith::CmpIPredicate::slt, item, items), place);
      posted.append(words);
      handed.append(words);
    }
    if (looks)
      handed.append({drawn, quiet, fresh, isCareful(b, loc, word)});
    device::PostOp::create(b, loc, posted, mailbox, place);
    device::AdvanceOp::create(b, loc, place);
    scf::ConditionOp::create(b, loc, more, handed);

    Block *after = b.createBlock(&whole.getAfter(), {}, passed, SmallVector<Location>(passed.size(), loc));
    ValueRange arguments(after->getArguments());
    Block *body = after;
    if (looks) {
      auto present = scf::IfOp::create(b, loc, compare(b, loc, arith::CmpIPredicate::slt, arguments[0], items), false);
      present.thenBlock()->getTerminator()->erase();
      body = present.thenBlock();
    }
    list.drop(arguments.slice(meant, list.words()), producedBy.operations);
    takeBody(*body, produced, producedBy, arguments[0], arguments.slice(1, producedBy.results.size()));
    if (looks) {
      settle(whole, arguments.back());
      b.setInsertionPointToEnd(body);
      scf::YieldOp::create(b, loc);
      b.setInsertionPointToEnd(after);
      Value next = arguments[told];
      auto draw = scf::IfOp::create(b, loc, TypeRange{i32}, arguments[arguments.size() - 2], true);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(draw.thenBlock());
        scf::YieldOp::create(b, loc, ValueRange{device::DrawOp::create(b, loc, i32, counter)});
        b.setInsertionPointToStart(draw.elseBlock());
        scf::YieldOp::create(b, loc, ValueRange{next});
      }
      scf::YieldOp::create(b, loc, ValueRange{draw.getResult(0), arguments[told + 1]});
    } else {
      b.setInsertionPointToEnd(after);
      scf::YieldOp::create(b, loc, ValueRange{device::DrawOp::create(b, loc, i32, counter)});
    }
    b.setInsertionPointAfter(whole);
    device::RetireOp::create(b, loc, counter);
    produced.erase();
  }

  void consume() {
    Location loc = consumed.getLoc();
    OpBuilder b(consumed);
    Value place = cursor(b, loc, 0), items = consumed.getUpperBound();
    const std::size_t meant = 1 + consumedBy.results.size();
    SmallVector<Type> words(meant + list.words(), b.getI32Type());
    auto whole = scf::WhileOp::create(b, loc, words, ValueRange{});
    b.createBlock(&whole.getBefore());
    device::AwaitOp::create(b, loc, place);
    auto read = device::ReadPostOp::create(b, loc, words, mailbox, place);
    Value first = read.getWords().front();
    Value more = looks ? compare(b, loc, arith::CmpIPredicate::ne, first, number(b, loc, end)) : compare(b, loc, arith::CmpIPredicate::slt, first, items);
    auto giveBack = [&] {
      device::ReleaseOp::create(b, loc, place, Value());
      device::AdvanceOp::create(b, loc, place);
    };
    const bool holds = looks || list;       // the slot, until its item is done
    if (!holds)
      giveBack();
    scf::ConditionOp::create(b, loc, more, read.getWords());

    Block *after = b.createBlock(&whole.getAfter(), {}, words, SmallVector<Location>(words.size(), loc));
    ValueRange arguments(after->getArguments()), decoded = arguments.slice(1, consumedBy.results.size());
    list.tell(arguments.drop_front(meant));
    if (!looks) {
      takeBody(*after, consumed, consumedBy, arguments[0], decoded);
      b.setInsertionPointToEnd(after);
      if (holds)
        giveBack();
      scf::YieldOp::create(b, loc);
      b.setInsertionPointAfter(whole);
      if (holds)
        giveBack();
      consumed.erase();
      return;
    }
    Value item = arith::AndIOp::create(b, loc, arguments[0], number(b, loc, numberBits));
    Value careful = isCareful(b, loc, arguments[0]);
    if (hasWays(consumed))
      looks->spare();
    else
      look(careful);
    settle(consumed, careful);
    auto present = scf::IfOp::create(b, loc, compare(b, loc, arith::CmpIPredicate::slt, item, items), false);
    present.thenBlock()->getTerminator()->erase();
    // Without an item there is nothing to do again, and no answer is read.
    OpBuilder inside = OpBuilder::atBlockEnd(present.thenBlock());
    takeBody(*present.thenBlock(), consumed, consumedBy, item, decoded);
    SmallVector<Value> found;
    for (auto [fold, accumulator] : looks->accumulators) {
      OpBuilder behind(fold);
      behind.setInsertionPointAfter(fold);
      found.push_back(device::SpoiledOp::create(behind, loc, behind.getI1Type(), accumulator, UnitAttr()));
    }
    inside.setInsertionPointToEnd(present.thenBlock());
    Value spoiled = found.front();
    for (Value other : ArrayRef(found).drop_front())
      spoiled = arith::OrIOp::create(inside, loc, spoiled, other);
    Value again = arith::AndIOp::create(inside, loc, spoiled, arith::XOrIOp::create(inside, loc, careful, arith::ConstantOp::create(inside, loc, inside.getBoolAttr(true))));
    device::SendBackOp::create(inside, loc, mailbox, place, again);
    scf::YieldOp::create(inside, loc);
    b.setInsertionPointToEnd(after);
    giveBack();
    scf::YieldOp::create(b, loc);
    b.setInsertionPointAfter(whole);
    giveBack();
    consumed.erase();
  }

  /// Answers and decoded items are more than fits a producer's smallest share, and what it spills delays every item.
  void shareRegisters() {
    constexpr int64_t enough = 32, more = 40, granule = 8;
    device::ProducerOp producer = device::producerOf(kernel);
    device::ConsumersOp consumers = device::consumersOf(kernel);
    const int64_t present = int64_t(producer.getRegisters()), warpgroups = int64_t(consumers.getWarpgroups());
    if (!present || present >= enough)
      return;
    OpBuilder b(kernel);
    const int64_t less = ((more - present) / warpgroups + granule - 1) / granule * granule;
    producer.setRegistersAttr(b.getI64IntegerAttr(more));
    consumers.setRegistersAttr(b.getI64IntegerAttr(int64_t(consumers.getRegisters()) - less));
  }

  /// Tiles are looked at only where an item is done again.
  void look(Value careful) {
    auto when = [&](OpBuilder &b, Location loc, auto scan) {
      return scf::IfOp::create(b, loc, careful, [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, ValueRange{scan(b)}); },
                               [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, ValueRange{arith::ConstantOp::create(b, loc, b.getBoolAttr(false)).getResult()}); })
          .getResult(0);
    };
    for (device::ScanOp scan : looks->scans) {
      OpBuilder b(scan);
      Value found = when(b, scan.getLoc(), [&](OpBuilder &b) { return b.clone(*scan)->getResult(0); });
      scan.replaceAllUsesWith(found);
      scan.erase();
    }
    for (device::IsolateOp isolate : looks->isolates) {
      if (isolate.getFound())
        continue;
      OpBuilder b(isolate);
      isolate.getFoundMutable().assign(when(b, isolate.getLoc(), [&](OpBuilder &b) -> Value { return device::ScanOp::create(b, isolate.getLoc(), b.getI1Type(), isolate.getRing(), isolate.getCursor()); }));
    }
  }
};

struct DrawItems : impl::DrawItemsBase<DrawItems> {
  using DrawItemsBase::DrawItemsBase;
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>()) {
      device::ProducerOp producer = device::producerOf(kernel);
      device::ConsumersOp consumers = device::consumersOf(kernel);
      scf::ForOp produced = producer ? itemLoop(producer.getBody().front()) : scf::ForOp(), consumed = itemLoop(consumers.getBody().front());
      if (onlyLists && (!produced || produced.getBody()->getOps<device::ListTilesOp>().empty()))
        continue;
      if (produced && consumed)
        Drawing(kernel, produced, consumed).run();
      else if (!producer && consumed && llvm::any_of(consumers.getBody().getOps<device::CursorOp>(), device::fills))
        drawByConsumers(kernel, consumed);
    }
  }
};

} // namespace
} // namespace tw
