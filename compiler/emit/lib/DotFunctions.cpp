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

/// The same for all rows of a warp: where the lane's part of step 0 lies. What a step adds does not carry into the swizzled bits.
constexpr const char *leftStart = "const u32 a_own = a + row * 128 + (((lane >> 4) ^ (lane & 7)) << 4);";
constexpr const char *rightStart = "const u32 b_own = b + ((lane & 7) + (lane >> 4) * 8) * 128 + ((((lane >> 3) & 1) ^ (lane & 7)) << 4);";
constexpr const char *transposedStart = "const u32 b_own = b + (lane & 15) * 128 + (((lane >> 4) ^ (lane & 7)) << 4);";

/// The rows of a warp, in blocks of 16: what one instruction multiplies.
struct Warp {
  int64_t blocks;

  explicit Warp(Operation *op) : blocks(int64_t(op->getParentOfType<device::ConsumersOp>().getRows()) / 16) {}
  /// A lane's elements of a fragment.
  int64_t elements(int64_t width) const { return blocks * width / 2; }
  /// x[block]: of step kk, the left operand of each block.
  void loadLeft(Text &body, device::RingType tile) const {
    for (int64_t block = 0; block < blocks; ++block)
      body.line(fmt::format("ldmatrix_x4(x[{}], (a_own ^ (kk & 3) * 32) + (kk >> 2) * {}{});", block, tile.rows() * 128, block ? fmt::format(" + {}", block * 2048) : ""));
  }
  /// Adds x[block] . `words` to eight columns of each block, from d[first] on.
  void multiply(Text &body, Type element, const std::string &words, const std::string &first) const {
    body.line(fmt::format("mma_blocks<{}>(d, {}, x, {});", instructionType(element), first, words));
  }
};

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

// By each warp for its rows, 16 or 32. A lane's words of the operands come from ldmatrix: of the left one 16 x 16 elements for every 16 rows, of the
// right one 16 of the contracted axis by 16 columns, or the last 8, which serve all rows. Steps of a tile are constants, but for
// the swizzle: of the address, bits 4 to 6, in which only the start of a row of 128 bytes and the place in it meet.
std::string DotFunctions::nameOfWarps(device::MultiplyOp op) {
  const int64_t n = op.getAccumulator().getType().getWidth(), depth = int64_t(op.getDepth());
  const Warp warp(op);
  device::RingType right = op.getRight().getType();
  auto leftTile = dyn_cast<device::RingType>(op.getLeft().getType());
  const bool transposed = op.getTransposed();
  Text body;
  const std::string left = leftTile ? "u32 a" : fmt::format("const u32 (&a)[{}]", warp.elements(cast<device::OperandType>(op.getLeft().getType()).getWidth()) / 2);
  body.open(fmt::format("(float (&d)[{}], {}, u32 b, int row, int lane) {{", warp.elements(n), left));
  if (!op.getAccumulate()) {
    body.line("#pragma unroll");
    body.line(fmt::format("for (int i = 0; i < {}; i++) d[i] = 0.f;", warp.elements(n)));
  }
  if (leftTile)
    body.line(leftStart);
  body.line(transposed ? transposedStart : rightStart);
  body.line("#pragma unroll");
  body.open(fmt::format("for (int kk = 0; kk < {}; kk++) {{", depth / 16));
  body.line(fmt::format("u32 x[{}][4];", warp.blocks));
  if (leftTile) {
    warp.loadLeft(body, leftTile);
  } else {
    const int64_t rows = 2 * warp.blocks;   // words of 8 columns
    for (int64_t block = 0; block < warp.blocks; ++block)
      for (int64_t i = 0; i < 4; ++i)
        body.line(fmt::format("x[{}][{}] = a[{} * kk + {}];", block, i, 2 * rows, 2 * block + i % 2 + i / 2 * rows));
  }
  auto columns = [&](const std::string &j, bool pair) {
    const std::string at = transposed ? fmt::format("(b_own ^ ({0} & 3) * 32) + ({0} >> 2) * {1} + kk * 2048", j, right.rows() * 128)
                                      : fmt::format("(b_own ^ (kk & 3) * 32) + (kk >> 2) * {} + {} * 2048", right.rows() * 128, j);
    body.line(fmt::format("u32 y[{}];", pair ? 4 : 2));
    body.line(fmt::format("ldmatrix_x{}{}(y, {});", pair ? 4 : 2, transposed ? "_trans" : "", at));
    for (int half = 0; half < (pair ? 2 : 1); ++half) {
      const std::string words = pair ? fmt::format("y{}", half) : "y", first = fmt::format("{} * (2 * {}{})", 4 * warp.blocks, j, half ? " + 1" : "");
      if (pair)
        body.line(fmt::format("const u32 {}[2] = {{y[{}], y[{}]}};", words, 2 * half, 2 * half + 1));
      warp.multiply(body, right.getElement(), words, first);
    }
  };
  if (n >= 16) {
    body.line("#pragma unroll");
    body.open(fmt::format("for (int j = 0; j < {}; j++) {{", n / 16));
    columns("j", true);
    body.close();
  }
  if (n % 16)
    columns(std::to_string(n / 16), false);
  body.close();
  body.close();
  return named(body.str(), "dot", multiplies, [&] {
    text.line(fmt::format("// {} {} {} . {}, by each warp: {}, {}; `row` is this lane's row of a left tile", shape(16 * warp.blocks, n), op.getAccumulate() ? "+=" : "=", shape(16 * warp.blocks, depth), shape(depth, n),
                          leftTile ? "a tile" : "registers", transposed ? "columns side by side" : "the contracted axis side by side"));
  });
}

std::string DotFunctions::nameOf(device::RepeatOp op) {
  const int64_t n = op.getResult().getType().getWidth(), depth = int64_t(op.getDepth());
  const Warp warp(op);
  device::RingType left = op.getLeft().getType(), right = op.getRight().getType();
  // Eight columns after the other wait for each product that they are made of; four times eight take as long as one. Elsewhere than on Hopper warps have no
  // registers left for that.
  const int64_t several = !device::isHopper(op->getParentOfType<device::KernelOp>()) ? 1 : n % 32 == 0 ? 4 : n % 16 == 0 ? 2 : 1;
  const std::string multiply = fmt::format("mma_{}_16816", right.getElement().isBF16() ? "bf16" : "f16");
  Text body;
  body.open(fmt::format("(float (&d)[{}], u32 a, u32 b, int row, int lane) {{", warp.elements(n)));
  body.line("#pragma unroll");
  body.open(fmt::format("for (int j = 0; j < {}; j++) {{", n / 8 / several));
  for (int64_t block = 0; block < warp.blocks; ++block) {
    if (warp.blocks > 1)
      body.open("{");
    body.line(several > 1 ? fmt::format("float part[{}][4] = {{}};", several) : "float part[4] = {0.f, 0.f, 0.f, 0.f};");
    body.line(fmt::format("const int n = {} * j + (lane & 7);", 8 * several));
    body.line("#pragma unroll 1");
    body.open(fmt::format("for (int kk = 0; kk < {}; kk++) {{", depth / 16));
    body.line("u32 x[4], y[2];");
    body.line(fmt::format("ldmatrix_x4(x, {}{});", leftAddress(left), block ? fmt::format(" + {}", block * 2048) : ""));
    if (several > 1) {
      body.line("#pragma unroll");
      body.open(fmt::format("for (int i = 0; i < {}; i++) {{", several));
    }
    body.line(fmt::format("ldmatrix_x2(y, {}{});", rightAddress(right), several > 1 ? " + 1024 * i" : ""));
    body.line(fmt::format("{}({}, x, y);", multiply, several > 1 ? "part[i]" : "part"));
    if (several > 1)
      body.close();
    body.close();
    if (several > 1) {
      body.line("#pragma unroll");
      body.line(fmt::format("for (int i = 0; i < {0}; i++) d[{0} * j + i] = part[i / 4][i % 4];", 4 * several));
    } else {
      for (int64_t i = 0; i < 4; ++i)
        body.line(fmt::format("d[{} * j{}] = part[{}];", 4 * warp.blocks, 4 * block + i ? fmt::format(" + {}", 4 * block + i) : "", i));
    }
    if (warp.blocks > 1)
      body.close();
  }
  body.close();
  body.close();
  return named(body.str(), "repeat", repeats, [&] {
    text.line(fmt::format("// {} = {} . {}, by one warp: `row` is this lane's row of the left tile", shape(16 * warp.blocks, n), shape(16 * warp.blocks, depth), shape(depth, n)));
  });
}

} // namespace tw::emit
