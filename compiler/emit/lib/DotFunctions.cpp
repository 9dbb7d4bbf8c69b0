// Issues dots as chains of wgmma, 16 elements of the contracted axis each, and repeats them as chains of mma.sync.
#include "DotFunctions.h"
#include <fmt/format.h>
using namespace mlir;

namespace tw::emit {
namespace {

const char *instructionType(Type element) { return element.isBF16() ? "BF16" : "F16"; }

/// What step kk adds to a descriptor, in units of 16 bytes. Contracted along columns: 32 bytes in a row of a chunk, then the next
/// chunk; along rows: 16 rows of 128 bytes.
std::string step(device::RingType tile, bool alongRows) {
  return alongRows ? "kk * 128" : fmt::format("(kk >> 2) * {} + 2 * (kk & 3)", tile.rows() * 8);
}

std::string shape(int64_t rows, int64_t columns) { return fmt::format("[{}, {}]", rows, columns); }

/// The name under which `body` (all after the name) is known; an empty one is to be filled in.
std::string &lookUp(std::vector<std::pair<std::string, std::string>> &known, const std::string &body) {
  for (auto &[text, name] : known)
    if (text == body)
      return name;
  return known.emplace_back(body, "").second;
}

} // namespace

std::string DotFunctions::nameOf(device::MultiplyOp op) {
  const int64_t n = op.getAccumulator().getType().getWidth(), depth = int64_t(op.getDepth());
  device::RingType right = op.getRight().getType();
  auto leftTile = dyn_cast<device::RingType>(op.getLeft().getType());
  const char *type = instructionType(right.getElement());
  const bool transposed = op.getTransposed();
  const std::string on = op.getAccumulate() ? "1" : "kk != 0", b = "b + (" + step(right, transposed) + ")";
  std::string left, call;
  if (leftTile) {
    left = "u64 a";
    call = fmt::format("wgmma_ss<{}, {}, 0, {}>(d, a + ({}), {}, {})", type, n, int(transposed), step(leftTile, false), b, on);
  } else {
    left = fmt::format("const u32 (&a)[{}]", cast<device::OperandType>(op.getLeft().getType()).getWidth() / 4);
    call = fmt::format("wgmma_rs<{}, {}, {}>(d, a[4 * kk], a[4 * kk + 1], a[4 * kk + 2], a[4 * kk + 3], {}, {})", type, n, int(transposed), b, on);
  }
  Text body;
  body.open(fmt::format("(float (&d)[{}], {}, u64 b) {{", n / 2, left));
  body.line("#pragma unroll");
  body.line(fmt::format("for (int kk = 0; kk < {}; kk++)", depth / 16));
  body.line("  " + call + ";");
  body.close();
  std::string &name = lookUp(known, body.str());
  if (name.empty()) {
    name = "dot" + std::to_string(multiplies++);
    used.insert(fmt::format("wgmma_{} {} {} {}", leftTile ? "ss" : "rs", type, n, int(transposed)));
    text.line(fmt::format("// {} {} {} . {}: {}, {}", shape(64, n), op.getAccumulate() ? "+=" : "=", shape(64, depth), shape(depth, n),
                          leftTile ? "a tile" : "registers", transposed ? "columns side by side" : "the contracted axis side by side"));
    text.append("DEV void " + name + body.str());
  }
  return name;
}

std::string DotFunctions::nameOf(device::RepeatOp op) {
  const int64_t n = op.getResult().getType().getWidth(), depth = int64_t(op.getDepth());
  device::RingType left = op.getLeft().getType(), right = op.getRight().getType();
  Text body;
  body.open(fmt::format("(float (&d)[{}], u32 a, u32 b, int row, int lane) {{", n / 2));
  body.line("#pragma unroll");
  body.open(fmt::format("for (int j = 0; j < {}; j++) {{", n / 8));
  body.line("float part[4] = {0.f, 0.f, 0.f, 0.f};");
  body.line("const int n = 8 * j + (lane & 7);");
  body.line("#pragma unroll 1");
  body.open(fmt::format("for (int kk = 0; kk < {}; kk++) {{", depth / 16));
  body.line("u32 x[4], y[2];");
  body.line(fmt::format("ldmatrix_x4(x, a + (kk >> 2) * {} + row * 128 + ((((kk & 3) * 2 + (lane >> 4)) ^ (row & 7)) << 4));", left.rows() * 128));
  body.line(fmt::format("ldmatrix_x2(y, b + (kk >> 2) * {} + n * 128 + ((((kk & 3) * 2 + ((lane >> 3) & 1)) ^ (n & 7)) << 4));", right.rows() * 128));
  body.line(fmt::format("mma_{}_16816(part, x, y);", right.getElement().isBF16() ? "bf16" : "f16"));
  body.close();
  body.line("d[4 * j] = part[0];");
  body.line("d[4 * j + 1] = part[1];");
  body.line("d[4 * j + 2] = part[2];");
  body.line("d[4 * j + 3] = part[3];");
  body.close();
  body.close();
  std::string &name = lookUp(known, body.str());
  if (name.empty()) {
    name = "repeat" + std::to_string(repeats++);
    text.line(fmt::format("// {} = {} . {}, by one warp: `row` is this lane's row of the left tile", shape(16, n), shape(16, depth), shape(depth, n)));
    text.append("DEV void " + name + body.str());
  }
  return name;
}

} // namespace tw::emit
