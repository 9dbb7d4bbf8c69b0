// Work on registers: loops over a thread's rows and elements, reductions, vectors along columns.
#include "Statements.h"
#include "llvm/Support/MathExtras.h"
#include <fmt/format.h>
using namespace mlir;

namespace tw::emit {
namespace {

/// The expression that combines two texts.
std::string combined(device::Combine kind, const std::string &a, const std::string &b, Type type) {
  if (kind == device::Combine::Sum)
    return a + " + " + b;
  const std::string function = kind == device::Combine::Max ? "max" : "min";
  return function + (type.isF32() ? "_nan(" : "(") + a + ", " + b + ")";
}

/// Statements by which `name`, one number a lane, becomes what the quad has.
void printQuad(Text &text, device::Combine kind, const std::string &name, Type type) {
  for (int distance : {1, 2})
    text.line(name + " = " + combined(kind, name, fmt::format("__shfl_xor_sync(~0u, {}, {})", name, distance), type) + ";");
}

template <typename Op> bool holds(Operation *loop, llvm::function_ref<bool(Op)> test = [](Op) { return true; }) {
  return loop->walk([&](Op op) { return test(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

bool usesRow(device::EachElementOp op) {
  auto ofRows = [](Value value) { return isa<device::RowsType>(value.getType()); };
  return holds<device::RowOp>(op) || holds<device::LookUpOp>(op) || holds<device::GetOp>(op, [&](device::GetOp get) { return ofRows(get.getRegisters()); }) ||
         holds<device::SetOp>(op, [&](device::SetOp set) { return ofRows(set.getRegisters()); });
}

bool usesFragment(device::EachElementOp op) {
  auto ofFragment = [](Value value) { return isa<device::FragmentType>(value.getType()); };
  return holds<device::GetOp>(op, [&](device::GetOp get) { return ofFragment(get.getRegisters()); }) ||
         holds<device::SetOp>(op, [&](device::SetOp set) { return ofFragment(set.getRegisters()); }) || holds<device::LoadColumnOp>(op);
}

} // namespace

std::string Statements::present(Value value) const {
  return registers.find(value)->second + (isa<device::RowsType>(value.getType()) ? "[r]" : "[i]");
}

LogicalResult Statements::print(device::RegistersOp op) {
  Type type = op.getResult().getType();
  std::string &name = registers[op.getResult()] = names.unique(op.getName());
  const int64_t width = device::widthOf(type);
  if (isa<device::RowsType>(type))
    text.line(fmt::format("{} {}[{}];", scalarType(device::elementOf(type)), name, rowsOfThread));
  else if (isa<device::OperandType>(type))
    text.line(fmt::format("u32 {}[{}];   // {} columns, two elements a register", name, elementsOf(width) / 2, width));
  else
    text.line(fmt::format("{} {}[{}];   // {} columns", scalarType(device::elementOf(type)), name, elementsOf(width), width));
  return success();
}

LogicalResult Statements::print(device::FillOp op) {
  values.settle(op.getRegisters());
  const std::string &name = registers[op.getRegisters()], value = values.lasting(op.getValue()).text;
  const int64_t width = device::widthOf(op.getRegisters().getType());
  if (!width) {
    std::string all;
    for (int64_t r = 0; r < rowsOfThread; ++r)
      all += fmt::format("{}[{}] = ", name, r);
    text.line(all + value + ";");
    return success();
  }
  text.line("#pragma unroll");
  text.line(fmt::format("for (int i = 0; i < {}; i++) {}[i] = {};", elementsOf(width), name, value));
  return success();
}

LogicalResult Statements::print(device::EachRowOp op) {
  values.settleRegisters();
  Scope scope(names);
  text.line("#pragma unroll");
  text.open(fmt::format("for (int r = 0; r < {}; r++) {{", rowsOfThread));
  if (failed(block(op.getBody().front())))
    return failure();
  text.close();
  return success();
}

LogicalResult Statements::print(device::EachElementOp op) {
  const bool ofOneRow = bool(op->getParentOfType<device::EachRowOp>());
  values.settleRegisters();
  auto inPlace = [&](Operation *part) { return part->getParentOp() == op.getOperation(); };
  if (holds<device::CombineOp>(op, [&](device::CombineOp part) { return !inPlace(part); }) ||
      holds<device::LoadColumnOp>(op, [&](device::LoadColumnOp part) { return !inPlace(part); }))
    return op.emitError() << "has a device.combine or device.load_column in a nested region; they stand for every element alike";
  // Reductions run in chains side by side, each of elements of one row.
  const int64_t count = ofOneRow ? op.getWidth() / 4 : elementsOf(op.getWidth()), besides = 2 * rowsOfThread;   // elements of 8 columns
  const int64_t chainCount = std::min<int64_t>(ofOneRow ? 4 : besides, count);
  for (auto combine : op.getBody().getOps<device::CombineOp>()) {
    if (chains.contains(combine.getRows()))
      return combine.emitError() << "combines into rows that this loop combines into already";
    const std::string chain = chains[combine.getRows()] = names.unique(registers[combine.getRows()] + "_e");
    text.line(fmt::format("{} {}[{}];", scalarType(combine.getValue().getType()), chain, chainCount));
  }
  for (auto load : op.getBody().getOps<device::LoadColumnOp>()) {
    const unsigned bits = load.getRing().getType().getElement().getIntOrFloatBitWidth();
    std::string &pair = registers[load.getResult()] = names.unique(declared.stem(load.getRing()) + "_pair");
    text.line(fmt::format("u32 {}{};   // of two columns side by side", pair, bits == 64 ? "[4]" : bits == 32 ? "[2]" : ""));
  }
  declareDistances(op);
  Scope scope(names);
  text.line("#pragma unroll");
  text.open(fmt::format("for (int {0} = 0; {0} < {1}; {0}++) {{", ofOneRow ? "e" : "i", count));
  std::string present;
  auto add = [&](bool isUsed, const std::string &what) {
    if (isUsed)
      present += (present.empty() ? "const int " : ", ") + what;
  };
  if (ofOneRow) {
    add(usesFragment(op), fmt::format("i = {} * (e >> 1) + 2 * r + (e & 1)", besides));
    add(holds<device::ColumnOp>(op) || holds<device::LoadColumnOp>(op), "c = 8 * (e >> 1) + (e & 1)");
  } else {
    add(usesRow(op), fmt::format("r = (i >> 1) & {}", rowsOfThread - 1));
    add(holds<device::ColumnOp>(op) || holds<device::LoadColumnOp>(op) || holds<device::LookUpOp>(op), fmt::format("c = 8 * (i >> {}) + (i & 1)", llvm::Log2_64(std::uint64_t(besides))));
  }
  if (!present.empty())
    text.line(present + ";");
  if (failed(block(op.getBody().front())))
    return failure();
  text.close();

  auto joinChains = [&] {
    for (auto combine : op.getBody().getOps<device::CombineOp>()) {
      const std::string &chain = chains[combine.getRows()], rows = registers[combine.getRows()] + "[r]";
      Type type = combine.getValue().getType();
      auto join = [&](const std::string &a, const std::string &b) { return combined(combine.getKind(), a, b, type); };
      std::string joined = !ofOneRow ? join(chain + "[2 * r]", chain + "[2 * r + 1]") : join(chain + "[0]", chain + "[1]");
      if (ofOneRow && chainCount == 4)
        joined = join(combine.getKind() == device::Combine::Sum ? "(" + joined + ")" : joined,
                      combine.getKind() == device::Combine::Sum ? "(" + join(chain + "[2]", chain + "[3]") + ")" : join(chain + "[2]", chain + "[3]"));
      text.line(rows + " = " + joined + ";");
      if (!combine.getLanes())
        printQuad(text, combine.getKind(), rows, type);
    }
  };
  if (!op.getBody().getOps<device::CombineOp>().empty()) {
    if (ofOneRow) {
      joinChains();
    } else {
      text.line("#pragma unroll");
      text.open(fmt::format("for (int r = 0; r < {}; r++) {{", rowsOfThread));
      joinChains();
      text.close();
    }
  }
  for (auto combine : op.getBody().getOps<device::CombineOp>())
    chains.erase(combine.getRows());
  return success();
}

LogicalResult Statements::print(device::RowOp op) {
  values.define(op.getResult(), {"8 * r", Precedence::product}, "row_");
  return success();
}

LogicalResult Statements::print(device::ColumnOp op) {
  values.bind(op.getResult(), {"c"});
  return success();
}

LogicalResult Statements::print(device::GetOp op) {
  values.define(op.getResult(), {present(op.getRegisters()), Precedence::primary, {op.getRegisters()}}, registers[op.getRegisters()]);
  return success();
}

LogicalResult Statements::print(device::SetOp op) {
  const std::string value = values.textOf(op.getValue());
  values.settle(op.getRegisters());
  text.line(present(op.getRegisters()) + " = " + value + ";");
  return success();
}

LogicalResult Statements::print(device::CombineOp op) {
  const bool ofOneRow = bool(op->getParentOfType<device::EachRowOp>());
  auto loop = op->getParentOfType<device::EachElementOp>();
  const int64_t chainCount = ofOneRow ? std::min<int64_t>(4, loop.getWidth() / 4) : 2 * rowsOfThread;
  const std::string index = ofOneRow ? "e" : "i", chain = chains[op.getRows()] + fmt::format("[{} & {}]", index, chainCount - 1);
  const Expression element = values.repeatable(op.getValue());
  text.line(fmt::format("{} = {} < {} ? {} : {};", chain, index, chainCount, element.text, combined(op.getKind(), chain, element.text, op.getValue().getType())));
  return success();
}

LogicalResult Statements::print(device::JoinOp op) {
  values.settleRegisters();
  text.line("#pragma unroll");
  text.open(fmt::format("for (int r = 0; r < {}; r++) {{", rowsOfThread));
  printQuad(text, op.getKind(), registers[op.getRows()] + "[r]", op.getRows().getType().getElement());
  text.close();
  return success();
}

// Of a thread's elements in 8 columns, two stand side by side in one row and the others below them: one load serves them all.
LogicalResult Statements::print(device::LoadColumnOp op) {
  const bool ofOneRow = bool(op->getParentOfType<device::EachRowOp>());
  Type element = op.getRing().getType().getElement(), result = op.getResult().getType();
  const unsigned bits = element.getIntOrFloatBitWidth();
  const std::string &pair = registers[op.getResult()];
  const std::string address = slotAddress(op.getRing(), op.getCursor()) + (bits == 8 ? " + col + c" : fmt::format(" + {} * (col + c)", bits / 8));
  const std::string first = ofOneRow ? "if ((e & 1) == 0) " : fmt::format("if ((i & {}) == 0) ", 2 * rowsOfThread - 1);
  std::string value;
  switch (bits) {
  case 64:
    if (isa<FloatType>(element))
      return op.emitError() << "loads " << element << " from shared memory; expected f32, bf16, f16, i64, i32 or i8";
    text.line(fmt::format("{}ld_shared_v4({}, {});", first, address, pair));
    value = fmt::format("(i64)({0}[2 * (i & 1)] | (u64){0}[2 * (i & 1) + 1] << 32)", pair);
    break;
  case 32:
    text.line(fmt::format("{}ld_shared_v2({}, {});", first, address, pair));
    value = fmt::format("{}{}[i & 1]{}", element.isF32() ? "__uint_as_float(" : "(int)", pair, element.isF32() ? ")" : "");
    break;
  case 16: {
    const char *unpack = element.isBF16() ? "unpack_bf16" : "unpack_f16";
    if (!isa<FloatType>(element))
      return op.emitError() << "loads " << element << " from shared memory; expected f32, bf16, f16, i64, i32 or i8";
    text.line(fmt::format("{}{} = ld_shared_u32({});", first, pair, address));
    value = fmt::format("(i & 1 ? {0}_hi({1}) : {0}_lo({1}))", unpack, pair);
    break;
  }
  case 8:
    text.line(fmt::format("{}{} = ld_shared_u16({});", first, pair, address));
    value = fmt::format("(int)({} >> 8 * (i & 1) & 0xff)", pair);
    break;
  default:
    return op.emitError() << "loads " << element << " from shared memory; expected f32, bf16, f16, i64, i32 or i8";
  }
  if (isa<FloatType>(element) != result.isF32())
    value = std::string(result.isF32() ? "(float)" : "(int)") + value;
  values.declare(op.getResult(), {value}, declared.stem(op.getRing()));
  return success();
}

LogicalResult Statements::print(device::ReduceTileOp op) {
  values.settleRegisters();
  device::RingType tile = op.getTile().getType();
  Scope scope(names);
  const std::string element = names.unique("x");
  text.open(fmt::format("reduce_tile<{}, {}, {}>({}, {}, cw, warp, lane, [](float a, float b) {{ return {}; }}, [&](float {}) {{",
                        tile.getElement().isBF16() ? "BF16" : "F16", tile.rows(), int64_t(op.getColumns()), slotAddress(op.getTile(), op.getCursor()),
                        slotAddress(op.getVector(), Value()), combined(op.getKind(), "a", "b", Float32Type::get(op.getContext())), element));
  Block &body = op.getBody().front();
  values.bind(body.getArgument(0), {element});
  if (failed(block(body)))
    return failure();
  text.line("return " + values.textOf(cast<device::YieldOp>(body.getTerminator()).getValue()) + ";");
  text.close("});");
  return success();
}

LogicalResult Statements::print(device::LoadOp op) {
  Type element = op.getPointer().getType().getElement(), result = op.getResult().getType();
  const std::string pointer = values.textOf(op.getPointer());
  const std::string offset = values.textOf(op.getOffset()), inside = values.textOf(op.getInside(), Precedence::either);
  const std::string value = widened(pointer + "[" + offset + "]", element, result);
  values.declare(op.getResult(), {inside == "true" ? value : inside + " ? " + value + (result.isF32() ? " : 0.f" : " : 0")},
                 pointer.substr(pointer.find('.') + 1));
  return success();
}

LogicalResult Statements::print(device::AnyOp op) {
  const std::string &rows = registers[op.getRows()];
  std::string any = rows + "[0]";
  for (int64_t r = 1; r < rowsOfThread && !op.getUniform(); ++r)
    any += fmt::format(" || {}[{}]", rows, r);
  constexpr int own = 5;      // the named barriers of a warpgroup: see scan
  const std::string vote = op->hasAttr("device.warpgroup") ? fmt::format("bar_any({} + cw, 128, ", own) : "__any_sync(~0u, ";
  values.declare(op.getResult(), {op.getUniform() ? any : vote + any + ")"}, "any");
  return success();
}

LogicalResult Statements::print(device::SpoiledOp op) {
  const std::string &fragment = registers[op.getFragment()];
  const int64_t width = op.getFragment().getType().getWidth();
  const std::string own = fmt::format("!(zero_times<{}>({}) == 0.f)", elementsOf(width), fragment);
  constexpr int common = 9;   // the named barrier of all consumers: see isolate
  values.declare(op.getResult(), {op.getAll() ? fmt::format("bar_any({}, {}, {})", common, 128 * warpgroups, own) : "__any_sync(~0u, " + own + ")"}, "spoiled");
  return success();
}

} // namespace tw::emit
