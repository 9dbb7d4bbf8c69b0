// Results to global memory.
#include "Statements.h"
#include "mlir/IR/Matchers.h"
#include <fmt/format.h>
#include <functional>
using namespace mlir;

namespace tw::emit {
namespace {

/// `value`, an f32 or i32 register, as an element in memory.
std::string narrowed(const std::string &value, Type from, Type to) {
  if (to.isF16() || to.isBF16())
    return fmt::format("(unsigned short){}({}, 0.f)", packFunction(to), from.isF32() ? value : "(float)" + value);
  if (to.isInteger(1) || to.isInteger(8))
    return value + " != 0";
  return from == to ? value : fmt::format("({}){}", scalarType(to), value);
}

} // namespace

// A thread holds two columns of every eight. Of 32 columns, the quad transposes its words so that each lane has 16 bytes side by side.
LogicalResult Statements::print(device::StoreTileOp op) {
  device::FragmentType type = op.getFragment().getType();
  Type element = op.getPointer().getType().getElement();
  const int64_t width = type.getWidth();
  const std::string &from = registers[op.getFragment()], &offsets = registers[op.getOffsets()], &inside = registers[op.getInside()];
  const std::string pointer = values.textOf(op.getPointer());
  APInt whole;
  const bool takesAll = matchPattern(op.getColumns(), m_ConstantInt(&whole)) && whole.getSExtValue() >= width;
  const std::string columns = values.lasting(op.getColumns()).as(Precedence::shift);
  auto inColumns = [&](const std::string &first) { return takesAll ? "" : " && " + first + " < " + columns; };
  if (!type.getElement().isF32() || !(element.isF32() || element.isF16() || element.isBF16()))
    return op.emitError() << "stores " << type.getElement() << " as " << element << "; expected f32 as f32, bf16 or f16";

  const int64_t besides = 2 * rowsOfThread;   // elements of 8 columns
  const std::string stride = op.getStride() ? values.lasting(op.getStride()).as(Precedence::unary) : "";
  text.line("#pragma unroll");
  text.open(fmt::format("for (int r = 0; r < {}; r++) {{", rowsOfThread));
  text.line(fmt::format("{}* out = {} + {}[r];", memoryType(element), pointer, offsets));
  if (op.getStride()) {
    text.line("#pragma unroll");
    text.open(fmt::format("for (int j = 0; j < {}; j++) {{   // two of eight columns", width / 4));
    text.line("const int c = 8 * (j >> 1) + col + (j & 1);");
    text.line(fmt::format("if ({}[r]{}) out[c * {}] = {};", inside, inColumns("c"), stride,
                          narrowed(fmt::format("{}[{} * (j >> 1) + 2 * r + (j & 1)]", from, besides), type.getElement(), element)));
    text.close();
    text.close();
    return success();
  }
  if (element.isF32()) {
    text.line("#pragma unroll");
    text.line(fmt::format("for (int j = 0; j < {}; j++)", width / 8));
    text.line(fmt::format("  if ({0}[r]{1}) st_global_v2(out + 8 * j + col, __float_as_uint({2}[{3} * j + 2 * r]), __float_as_uint({2}[{3} * j + 2 * r + 1]));",
                          inside, inColumns("8 * j + col"), from, besides));
    text.close();
    return success();
  }
  const int64_t groups = width / 32;
  if (groups) {
    text.line("#pragma unroll");
    text.open(fmt::format("for (int g = 0; g < {}; g++) {{   // 32 columns: four words a lane, turned so that they lie side by side", groups));
    text.line("u32 x[4];");
    text.line("#pragma unroll");
    text.line(fmt::format("for (int j = 0; j < 4; j++) x[j] = {0}({1}[{2} * g + {3} * j + 2 * r], {1}[{2} * g + {3} * j + 2 * r + 1]);", packFunction(element), from,
                          4 * besides, besides));
    text.line("quad_transpose(x, lane);");
    text.line(fmt::format("if ({}[r]{}) st_global_v4(out + 32 * g + 8 * (lane & 3), x[0], x[1], x[2], x[3]);", inside,
                          inColumns("32 * g + 8 * (lane & 3)")));
    text.close();
  }
  if (width % 32) {
    text.line("#pragma unroll");
    text.line(fmt::format("for (int j = {}; j < {}; j++)   // the last {} columns", groups * 4, width / 8, width % 32));
    text.line(fmt::format("  if ({0}[r]{1}) st_global_u32(out + 8 * j + col, {2}({3}[{4} * j + 2 * r], {3}[{4} * j + 2 * r + 1]));", inside,
                          inColumns("8 * j"), packFunction(element), from, besides));
  }
  text.close();
  return success();
}

// Two rows of a warp's 16 are a thread's, and two columns of every eight. 32 columns of 16 rows are what one instruction of the copy engine adds.
LogicalResult Statements::print(device::AddTileOp op) {
  if (!hopper)
    return op.emitOpError() << "has a text on sm90a only";
  constexpr int64_t boxColumns = 32, boxBytes = 16 * 128;
  const int64_t width = op.getFragment().getType().getWidth(), boxes = (width + boxColumns - 1) / boxColumns;
  const std::string &from = registers[op.getFragment()], outbox = declared.stem(op.getOutbox());
  SmallVector<std::string> at;
  for (Value coordinate : op.getCoordinates())
    at.push_back(values.lasting(coordinate).as(Precedence::sum));
  // Of several outboxes the one whose turn it is must be read. A turn without a sum counts too: groups of copies may be empty.
  const int64_t warps = 4 * warpgroups, outboxes = cast<device::RingType>(op.getOutbox().getType()).getSlots() / warps;
  const std::string turn = outboxes > 1 ? outboxTurns[op.getOutbox()] : "";
  text.line(outboxes > 1 ? fmt::format("if (lane == 0) tma_store_wait_read_n<{}>();", outboxes - 1) : "if (lane == 0) tma_store_wait_read();");
  text.line("__syncwarp();");
  text.open("{");
  const std::string slot = outboxes > 1 ? fmt::format("{} * {} + ", turn, warps) : "";
  text.line(fmt::format("const u32 x = sb + {0}_AT + ({1}cw * 4 + (warp & 3)) * {0}_BYTES, e = x + (lane >> 2) * 128 + (lane & 1) * 8;   // the warp's outbox, and this lane's part", outbox, slot));
  // Rows side by side would lie in the same banks, so that those of odd number store the columns of a box in another order.
  const int64_t turned = width / boxColumns * (boxColumns / 8);
  auto store = [&](int64_t from8, int64_t to8, const char *row, const std::function<std::string(int)> &element) {
    if (from8 == to8)
      return;
    text.line("#pragma unroll");
    text.open(fmt::format("for (int j = {}; j < {}; j++) {{", from8, to8));
    text.line(fmt::format("const u32 c = e + (j >> 2) * {} + ((((j & 3) * 2 + ((lane >> 1) & 1)) ^ {}) << 4);", boxBytes, row));
    text.line(fmt::format("st_shared_v2(c, {}, {});", element(0), element(1)));
    text.line(fmt::format("st_shared_v2(c + 8 * 128, {}, {});", element(2), element(3)));
    text.close();
  };
  store(0, turned, "(lane >> 2) ^ (lane & 4)", [&](int i) { return fmt::format("__float_as_uint(lane & 4 ? {0}[4 * (j ^ 2){1}] : {0}[4 * j{1}])", from, i ? fmt::format(" + {}", i) : ""); });
  store(turned, width / 8, "(lane >> 2)", [&](int i) { return fmt::format("__float_as_uint({}[4 * j{}])", from, i ? fmt::format(" + {}", i) : ""); });
  text.line("fence_async_proxy();");
  text.line("__syncwarp();");
  text.open(op.getUnless() ? fmt::format("if (lane == 0 && !{}) {{", values.textOf(op.getUnless(), Precedence::unary)) : "if (lane == 0) {");
  for (int64_t box = 0; box < boxes; ++box) {
    std::string coordinates;
    for (auto [i, start] : llvm::enumerate(at)) {
      std::string place = start;
      if (i == 0)
        place += (op.getShares() ? fmt::format(" + cw * {}", width) : "") + (box ? fmt::format(" + {}", box * boxColumns) : "");
      if (i == 1)
        place += std::string(op.getShares() ? "" : " + cw * 64") + " + (warp & 3) * 16";
      coordinates += ", " + place;
    }
    text.line(fmt::format("tma_reduce_add_{}d({}, x + {}{});", at.size(), declared.map(op.getMap()), box * boxBytes, coordinates));
  }
  if (outboxes > 1) {
    text.close();
    text.line("if (lane == 0) tma_store_commit();");
    text.line(outboxes == 2 ? turn + " ^= 1;" : fmt::format("if (++{0} == {1}) {0} = 0;", turn, outboxes));
  } else {
    text.line("tma_store_commit();");
    text.close();
  }
  text.close();
  return success();
}

LogicalResult Statements::print(device::AddApartOp op) {
  device::RingType left = op.getLeft().getType(), right = op.getRight().getType();
  text.line(fmt::format("add_apart<{}, {}, {}, {}, {}, {}>({}, {}, {} + {}, {}, {}, {}, cw * 128 + (warp & 3) * 32 + lane, {});", left.getElement().isBF16() ? "BF16" : "F16", left.rows(), left.columns(), right.rows(),
                        std::uint64_t(op.getWidth()), op.getTransposed(), slotAddress(op.getLeft(), op.getLeftCursor()), slotAddress(op.getRight(), op.getRightCursor()), values.textOf(op.getPointer()),
                        values.textOf(op.getOffset(), Precedence::sum), values.textOf(op.getStride()), values.textOf(op.getRows()), values.textOf(op.getColumns()), 128 * warpgroups));
  return success();
}

// The same the other way round: all that a lane reads is on its way before it looks at the first of it. Of f32 a lane reads the two columns of every eight
// that are its own, 8 bytes.
LogicalResult Statements::print(device::LoadTileOp op) {
  constexpr int64_t mostOnTheirWay = 16;      // words of 16 bytes
  device::FragmentType type = op.getFragment().getType();
  Type element = op.getPointer().getType().getElement();
  const int64_t width = type.getWidth(), besides = 2 * rowsOfThread, wide = element.isF32() ? 8 : 32, groups = width / wide;
  const std::string &to = registers[op.getFragment()], &offsets = registers[op.getOffsets()], &inside = registers[op.getInside()];
  const std::string pointer = values.textOf(op.getPointer()), columns = values.lasting(op.getColumns()).as(Precedence::shift), stride = values.lasting(op.getStride()).as(Precedence::product);
  if (!type.getElement().isF32() || !(element.isF32() || element.isF16() || element.isBF16()))
    return op.emitError() << "loads " << element << " as " << type.getElement() << "; expected f32, bf16 or f16 as f32";
  const char *unpack = element.isBF16() ? "unpack_bf16" : "unpack_f16";
  auto apart = [&](int64_t from, int64_t end) {      // one by one
    text.line("#pragma unroll");
    text.open(fmt::format("for (int j = {}; j < {}; j++) {{", from / 4, end / 4));
    text.line("const int c = 8 * (j >> 1) + (j & 1) + col;");
    text.line(fmt::format("{0}[{1} * (j >> 1) + 2 * r + (j & 1)] = {2}[r] && c < {3} ? {4} : 0.f;", to, besides, inside, columns, widened(fmt::format("e[c * {}]", stride), element, Float32Type::get(op.getContext()))));
    text.close();
  };
  auto eachRow = [&](auto print) {
    text.line("#pragma unroll");
    text.open(fmt::format("for (int r = 0; r < {}; r++) {{", rowsOfThread));
    text.line(fmt::format("const {}* e = {} + {}[r];", memoryType(element), pointer, offsets));
    print();
    text.close();
  };
  if (element.isF32()) {
    eachRow([&] {
      text.line(fmt::format("if ({} == 1 && ((u64)e & 7) == 0) {{   // side by side", stride));
      text.indent();
      text.line("#pragma unroll");
      text.open(fmt::format("for (int g = 0; g < {}; g++) {{", groups));
      text.line(fmt::format("const u64 x = {}[r] && 8 * g + col + 1 < {} ? *(const u64*)(e + 8 * g + col) : {}[r] && 8 * g + col < {} ? __float_as_uint(e[8 * g + col]) : 0;", inside, columns, inside, columns));
      text.line(fmt::format("{0}[{1} * g + 2 * r] = __uint_as_float((u32)x);", to, besides));
      text.line(fmt::format("{0}[{1} * g + 2 * r + 1] = __uint_as_float((u32)(x >> 32));", to, besides));
      text.close();
      text.close("} else {");
      text.indent();
      apart(0, groups * wide);
      text.close();
      if (width > groups * wide)
        apart(groups * wide, width);
    });
    return success();
  }
  std::string places;
  for (int64_t r = 0; r < rowsOfThread; ++r)
    places += fmt::format("{}(u64)({} + {}[{}])", r ? " | " : "", pointer, offsets, r);
  text.line(fmt::format("if (__all_sync(~0u, {} == 1 && ({} & 7) == 0 && (({}) & 15) == 0)) {{   // side by side", stride, columns, places));
  text.indent();
  const int64_t most = std::max<int64_t>(mostOnTheirWay / rowsOfThread, 1);
  for (int64_t first = 0; first < groups; first += most) {
    const int64_t count = std::min(most, groups - first) * rowsOfThread;
    const std::string begin = first ? fmt::format(" + {}", 32 * first) : "";
    text.open("{");
    text.line(fmt::format("u32 x[{}][4];", count));
    text.line("#pragma unroll");
    text.open(fmt::format("for (int g = 0; g < {}; g++) {{", count));
    text.line(fmt::format("const int r = g % {0}, c = g / {0} * 32 + 8 * (lane & 3){1};", rowsOfThread, begin));
    text.line("x[g][0] = x[g][1] = x[g][2] = x[g][3] = 0;");
    text.line(fmt::format("if ({}[r] && c < {}) ld_global_v4({} + {}[r] + c, x[g]);", inside, columns, pointer, offsets));
    text.close();
    text.line("#pragma unroll");
    text.open(fmt::format("for (int g = 0; g < {}; g++) {{", count));
    text.line("quad_transpose(x[g], lane);");
    text.line("#pragma unroll");
    text.open("for (int j = 0; j < 4; j++) {");
    const std::string at = fmt::format("{}[{} * (g / {}{}) + {} * j + 2 * (g % {})", to, 4 * besides, rowsOfThread, first ? fmt::format(" + {}", first) : "", besides, rowsOfThread);
    text.line(fmt::format("{}] = {}_lo(x[g][j]);", at, unpack));
    text.line(fmt::format("{} + 1] = {}_hi(x[g][j]);", at, unpack));
    text.close();
    text.close();
    text.close();
  }
  text.close("} else {");
  text.indent();
  eachRow([&] { apart(0, groups * wide); });
  text.close();
  if (width > groups * wide)
    eachRow([&] { apart(groups * wide, width); });
  return success();
}

LogicalResult Statements::print(device::StoreRowsOp op) {
  Type from = op.getRows().getType().getElement(), to = op.getPointer().getType().getElement();
  const std::string pointer = values.textOf(op.getPointer());
  if (!memoryType(to))
    return op.emitError() << "stores " << to << ", which device code does not hold";
  text.line("#pragma unroll");
  text.line(fmt::format("for (int r = 0; r < {}; r++)", rowsOfThread));
  text.line(fmt::format("  if ((lane & 3) == 0 && {}[r]) {}[{}[r]] = {};", registers[op.getInside()], pointer, registers[op.getOffsets()],
                        narrowed(registers[op.getRows()] + "[r]", from, to)));
  return success();
}

} // namespace tw::emit
