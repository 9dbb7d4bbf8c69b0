// Tables of what a step computes from the distance between an element's row and its column.
//
// Of the elements in 8 columns those in the thread's next row down have the distances of its elements 8 columns before: each distance is read once.
#include "Statements.h"
#include "llvm/Support/MathExtras.h"
#include <fmt/format.h>
using namespace mlir;

namespace tw::emit {

std::string Statements::tableOfWarp(Value table) const {
  const std::string &stem = declared.stem(table);
  return fmt::format("sb + {0}_AT + ({1}(warp & 3)) * {0}_BYTES", stem, warpgroups > 1 ? "4 * cw + " : "");
}

LogicalResult Statements::print(device::TabulateOp op) {
  values.settleRegisters();
  Scope scope(names);
  const int64_t width = int64_t(op.getWidth()), distances = rowsOfWarp + width - 1;
  const std::string at = names.unique("at"), distance = names.unique("distance");
  text.line("__syncwarp();   // all lanes have read what was there before");
  text.line("#pragma unroll");
  text.open(fmt::format("for (int {0} = lane; {0} < {1}; {0} += 32) {{", at, distances));
  text.line(fmt::format("const int {} = row - (lane >> 2) - {} + {};", distance, width - 1, at));
  Block &body = op.getBody().front();
  values.bind(body.getArgument(0), {distance});
  if (failed(block(body)))
    return failure();
  Value made = cast<device::YieldOp>(body.getTerminator()).getValue();
  const std::string value = values.textOf(made);
  text.line(fmt::format("st_shared_u32({} + 4 * {}, {});", tableOfWarp(op.getTable()), at,
                        made.getType().isF32() ? "__float_as_uint(" + value + ")" : "(u32)(" + value + ")"));
  text.close();
  text.line("__syncwarp();");
  return success();
}

void Statements::declareDistances(device::EachElementOp loop) {
  for (auto look : loop.getBody().getOps<device::LookUpOp>()) {
    std::string &known = registers[look.getResult()] = names.unique(declared.stem(look.getTable()) + "_of");
    text.line(
        fmt::format("u32 {}[{}];   // of the distances of the thread's elements", known, 2 * (int64_t(loop.getWidth()) / 8 + rowsOfThread - 1)));
  }
}

LogicalResult Statements::print(device::LookUpOp op) {
  auto loop = op->getParentOfType<device::EachElementOp>();
  const std::string &known = registers[op.getResult()];
  const int64_t besides = 2 * rowsOfThread, last = rowsOfThread - 1;   // elements of 8 columns
  const std::string index = fmt::format("{}[2 * ((i >> {}) - r + {}) + (i & 1)]", known, llvm::Log2_64(std::uint64_t(besides)), last);
  text.line(fmt::format("if (i < {0} || (i & {1}) < 2) {2} = ld_shared_u32({3} + 4 * ((lane >> 2) + 8 * r - col - c + {4}));", besides, besides - 1,
                        index, tableOfWarp(op.getTable()), int64_t(loop.getWidth()) - 1));
  const Type type = op.getResult().getType();
  values.define(op.getResult(),
                type.isF32()        ? Expression{"__uint_as_float(" + index + ")"}
                : type.isInteger(1) ? Expression{index + " != 0", Precedence::either}
                                    : Expression{"(int)" + index, Precedence::unary},
                declared.stem(op.getTable()));
  return success();
}

} // namespace tw::emit
