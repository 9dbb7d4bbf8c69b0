// Issues dots as chains of wgmma, or of mma.sync, 16 elements of the contracted axis each, and repeats them as chains of mma.sync.
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

/// Where a lane's row of step kk lies for ldmatrix, in tiles contracted along their columns: `row` of the left one at a, `n` of the right one at b.
std::string leftAddress(device::RingType tile) { return fmt::format("a + (kk >> 2) * {} + row * 128 + ((((kk & 3) * 2 + (lane >> 4)) ^ (row & 7)) << 4)", tile.rows() * 128); }
std::string rightAddress(device::RingType tile) { return fmt::format("b + (kk >> 2) * {} + n * 128 + ((((kk & 3) * 2 + ((lane >> 3) & 1)) ^ (n & 7)) << 4)", tile.rows() * 128); }

/// The name under which `body` (all after the name) is known; an empty one is to be filled in.
std::string &lookUp(std::vector<std::pair<std::string, std::string>> &known, const std::string &body) {
  for (auto &[text, name] : known)
    if (text == body)
      return name;
  return known.emplace_back(body, "").second;
}

} // namespace

template <class Describe> std::string DotFunctions::named(const std::string &body, const char *stem, int &count, Describe describe) {
  std::string &name = lookUp(known, body);
  if (name.empty()) {
    name = stem + std::to_string(count++);
    describe();
    text.append("DEV void " + name + body);
  }
  return name;
}

std::string DotFunctions::nameOf(device::MultiplyOp op) {
  if (!device::isHopper(op->getParentOfType<device::KernelOp>()))
    return nameOfWarps(op);
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
  return named(body.str(), "dot", multiplies, [&] {
    used.insert(fmt::format("wgmma_{} {} {} {}", leftTile ? "ss" : "rs", type, n, int(transposed)));
    text.line(fmt::format("// {} {} {} . {}: {}, {}", shape(64, n), op.getAccumulate() ? "+=" : "=", shape(64, depth), shape(depth, n),
                          leftTile ? "a tile" : "registers", transposed ? "columns side by side" : "the contracted axis side by side"));
  });
}

// By each warp for its 16 rows. A lane's words of the operands come from ldmatrix: of the left one 16 x 16 elements, of the right one 16 of
// the contracted axis by 16 columns, or the last 8.
std::string DotFunctions::nameOfWarps(device::MultiplyOp op) {
  const int64_t n = op.getAccumulator().getType().getWidth(), depth = int64_t(op.getDepth());
  device::RingType right = op.getRight().getType();
  auto leftTile = dyn_cast<device::RingType>(op.getLeft().getType());
  const char *product = right.getElement().isBF16() ? "mma_bf16_16816" : "mma_f16_16816";
  const bool transposed = op.getTransposed();
  Text body;
  const std::string left = leftTile ? "u32 a" : fmt::format("const u32 (&a)[{}]", cast<device::OperandType>(op.getLeft().getType()).getWidth() / 4);
  body.open(fmt::format("(float (&d)[{}], {}, u32 b, int row, int lane) {{", n / 2, left));
  if (!op.getAccumulate()) {
    body.line("#pragma unroll");
    body.line(fmt::format("for (int i = 0; i < {}; i++) d[i] = 0.f;", n / 2));
  }
  body.line("#pragma unroll");
  body.open(fmt::format("for (int kk = 0; kk < {}; kk++) {{", depth / 16));
  if (leftTile) {
    body.line("u32 x[4];");
    body.line(fmt::format("ldmatrix_x4(x, {});", leftAddress(leftTile)));
  } else {
    body.line("const u32 x[4] = {a[4 * kk], a[4 * kk + 1], a[4 * kk + 2], a[4 * kk + 3]};");
  }
  // `pair`: the columns of two matrices; the lanes from 16 on give the second one's rows.
  auto load = [&](bool pair) {
    const std::string address =
        transposed ? fmt::format("b + (piece >> 3) * {} + k * 128 + (((piece & 7) ^ (k & 7)) << 4)", right.rows() * 128)
                   : rightAddress(right);
    const std::string at = pair ? "2 * j" : std::to_string(n / 8 - 1);
    if (transposed)
      body.line(fmt::format("const int piece = {}{}, k = 16 * kk + (lane & 15);", at, pair ? " + (lane >> 4)" : ""));
    else
      body.line(fmt::format("const int n = 8 * ({}{}) + (lane & 7);", at, pair ? " + (lane >> 4)" : ""));
    body.line(fmt::format("u32 y[{0}];", pair ? 4 : 2));
    body.line(fmt::format("ldmatrix_x{}{}(y, {});", pair ? 4 : 2, transposed ? "_trans" : "", address));
  };
  if (n >= 16) {
    body.line("#pragma unroll");
    body.open(fmt::format("for (int j = 0; j < {}; j++) {{", n / 16));
    load(true);
    body.line("const u32 y0[2] = {y[0], y[1]}, y1[2] = {y[2], y[3]};");
    body.line("float c0[4] = {d[8 * j], d[8 * j + 1], d[8 * j + 2], d[8 * j + 3]}, c1[4] = {d[8 * j + 4], d[8 * j + 5], d[8 * j + 6], d[8 * j + 7]};");
    body.line(fmt::format("{0}(c0, x, y0); {0}(c1, x, y1);", product));
    body.line("#pragma unroll");
    body.line("for (int i = 0; i < 4; i++) d[8 * j + i] = c0[i], d[8 * j + 4 + i] = c1[i];");
    body.close();
  }
  if (n % 16) {
    load(false);
    body.line(fmt::format("float c[4] = {{d[{}], d[{}], d[{}], d[{}]}};", n / 2 - 4, n / 2 - 3, n / 2 - 2, n / 2 - 1));
    body.line(fmt::format("{}(c, x, y);", product));
    body.line("#pragma unroll");
    body.line(fmt::format("for (int i = 0; i < 4; i++) d[{} + i] = c[i];", n / 2 - 4));
  }
  body.close();
  body.close();
  return named(body.str(), "dot", multiplies, [&] {
    text.line(fmt::format("// {} {} {} . {}, by each warp: {}, {}; `row` is this lane's row of a left tile", shape(16, n), op.getAccumulate() ? "+=" : "=", shape(16, depth), shape(depth, n),
                          leftTile ? "a tile" : "registers", transposed ? "columns side by side" : "the contracted axis side by side"));
  });
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
  body.line(fmt::format("ldmatrix_x4(x, {});", leftAddress(left)));
  body.line(fmt::format("ldmatrix_x2(y, {});", rightAddress(right)));
  body.line(fmt::format("mma_{}_16816(part, x, y);", right.getElement().isBF16() ? "bf16" : "f16"));
  body.close();
  body.line("d[4 * j] = part[0];");
  body.line("d[4 * j + 1] = part[1];");
  body.line("d[4 * j + 2] = part[2];");
  body.line("d[4 * j + 3] = part[3];");
  body.close();
  body.close();
  return named(body.str(), "repeat", repeats, [&] {
    text.line(fmt::format("// {} = {} . {}, by one warp: `row` is this lane's row of the left tile", shape(16, n), shape(16, depth), shape(depth, n)));
  });
}

} // namespace tw::emit
