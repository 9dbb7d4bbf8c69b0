// Lists of the tiles that items visit: the producer's warp makes them, a tile a lane.
#include "Statements.h"
#include <fmt/format.h>
using namespace mlir;

namespace tw::emit {

// Partial tiles count up from the list's begin, full ones down from its end. What the lanes wrote is the consumers' when the slot is posted: the
// warp's barrier orders it before the lane that posts.
LogicalResult Statements::print(device::ListTilesOp op) {
  auto lists = op.getLists().getDefiningOp<device::ListsOp>();
  const std::string &slot = cursors[op.getCursor()].slot;
  const std::string begin = values.lasting(op.getBegin()).text, end = values.lasting(op.getEnd()).as(Precedence::shift), room = values.textOf(op.getLists());
  const std::string list = names.unique("list"), partial = names.unique("partial"), full = names.unique("full"), all = names.unique("all");
  const std::uint64_t step = op.getStep(), slots = lists.getSlots().value_or(1);
  text.line(fmt::format("const int {} = ((int)blockIdx.x * {}{}) * {};", list, slots, slot.empty() ? "" : " + " + slot, declared.roomOf(lists)));
  text.line(fmt::format("const int {} = ceil_div(max({} - ({}), 0), {});", all, end, begin, step));
  text.line(fmt::format("int {} = 0, {} = {};", partial, full, all));
  values.settleRegisters();
  {
    Scope scope(names);
    const std::string first = names.unique("first"), tile = names.unique(hintFor(op.getClassify().front().getArgument(0), "k"));
    const std::string empty = names.unique("is_empty"), whole = names.unique("is_full"), partials = names.unique("partials"), fulls = names.unique("fulls"), below = names.unique("below");
    const bool keeps = !op.getClassify().getOps<device::RowExtremesOp>().empty() && knownExtremes.contains(*op.getClassify().getOps<device::RowExtremesOp>().begin());
    turn = keeps ? names.unique("turn") : "";
    if (keeps)
      text.line(fmt::format("int {} = 0;", turn));
    text.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3}{4}) {{   // a tile a lane", first, begin, end, 32 * step, keeps ? ", " + turn + "++" : ""));
    text.line(fmt::format("const int {} = {} + lane * {};", tile, first, step));
    text.line(fmt::format("bool {} = true, {} = false;", empty, whole));
    text.open(fmt::format("if ({} < {}) {{", tile, end));
    {
      Scope inner(names);
      values.bind(op.getClassify().front().getArgument(0), {tile});
      if (failed(block(op.getClassify().front())))
        return failure();
      auto classes = cast<device::ClassesOp>(op.getClassify().front().getTerminator());
      text.line(fmt::format("{} = {};", empty, values.textOf(classes.getEmpty())));
      text.line(fmt::format("{} = {};", whole, values.textOf(classes.getFull())));
    }
    text.close();
    text.line(fmt::format("const u32 {} = __ballot_sync(~0u, !{} && !{}), {} = __ballot_sync(~0u, !{} && {});", partials, empty, whole, fulls, empty, whole));
    text.line(fmt::format("const u32 {} = (1u << lane) - 1;", below));
    text.line(fmt::format("if (!{0}) st_global_u32({1} + {2} + ({3} ? {4} - 1 - __popc({5} & {6}) : {7} + __popc({8} & {6})), (u32){9});", empty, room, list, whole, full, fulls, below, partial, partials, tile));
    text.line(fmt::format("{} += __popc({});", partial, partials));
    text.line(fmt::format("{} -= __popc({});", full, fulls));
    text.close();
  }
  text.line("__syncwarp();");
  values.bind(op.getList(), {list});
  values.bind(op.getPartial(), {partial});
  values.bind(op.getFull(), {full});
  values.bind(op.getAll(), {all});
  return success();
}

LogicalResult Statements::print(device::KeptAtOp op) {
  values.declare(op.getResult(), {fmt::format("{}[{} + {}]", values.textOf(op.getLists()), values.textOf(op.getList(), Precedence::sum), values.textOf(op.getAt(), Precedence::sum))}, "k");
  return success();
}

LogicalResult Statements::print(device::RowExtremesOp op) {
  const std::string least = names.unique("least"), most = names.unique("most"), pointer = values.textOf(op.getPointer(), Precedence::sum);
  Type element = op.getPointer().getType().getElement();
  const char *kind = element.isBF16() ? "<BF16>" : element.isF16() ? "<F16>" : "";
  const std::string offset = values.textOf(op.getOffset(), Precedence::sum), stride = values.textOf(op.getStride()), count = values.textOf(op.getCount());
  text.line(fmt::format("{} {}, {};", scalarType(op.getLeast().getType()), least, most));
  const auto known = knownExtremes.find(op);
  const bool isKnown = known != knownExtremes.end(), isOfWarp = !op->getParentOfType<device::ListTilesOp>();     // in a list each lane asks for its own tile's row
  text.line(fmt::format("{}row_extremes{}({} + {}, {}, {}, {}, {}{});", isOfWarp ? "warp_" : isKnown ? "known_" : "", kind, pointer, offset, stride, count, least, most,
                        isOfWarp ? ", lane" : isKnown ? ", " + known->second + ", " + turn : ""));
  values.bind(op.getLeast(), {least});
  values.bind(op.getMost(), {most});
  return success();
}

LogicalResult Statements::print(device::AmongOp op) {
  const std::string list = values.textOf(op.getPointer(), Precedence::sum) + " + " + values.textOf(op.getOffset(), Precedence::sum) + ", " + values.textOf(op.getStride());
  const std::string low = values.textOf(op.getLow()), high = values.textOf(op.getHigh()), few = values.textOf(op.getFew()), many = values.textOf(op.getMany());
  if (op.getLow() == op.getHigh() && op.getAll().use_empty()) {
    values.declare(op.getSome(), {fmt::format("is_among({}, {}, {})", list, many, low)}, "among");
    return success();
  }
  const std::string all = names.unique("all_among"), some = names.unique("some_among");
  text.line(fmt::format("bool {}, {};", all, some));
  text.line(fmt::format("range_among({}, {}, {}, {}, {}, {}, {});", list, few, many, low, high, all, some));
  values.bind(op.getAll(), {all});
  values.bind(op.getSome(), {some});
  return success();
}

// Rows of a table that a list's tiles look at are the same for every item, or change with the free axes: each lane keeps what it found in the first turns.
void Statements::keepExtremes(Operation *role) {
  constexpr int turns = 32;
  role->walk([&](device::RowExtremesOp op) {
    if (!isa<device::ListTilesOp>(op->getParentOp()))
      return;
    std::string &known = knownExtremes[op];
    known = names.unique("known");
    text.line(fmt::format("KnownExtremes<{}> {}[{}];", scalarType(op.getLeast().getType()), known, turns));
    text.line(fmt::format("forget_extremes({});", known));
  });
}

} // namespace tw::emit
