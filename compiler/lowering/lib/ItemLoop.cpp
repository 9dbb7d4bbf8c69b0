// A block's walk over its items, and what an item's number means.
#include "ItemLoop.h"
#include "Parameters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
namespace tw {
namespace {

Location named(OpBuilder &b, Location loc, StringRef name) { return NameLoc::get(b.getStringAttr(name), loc); }

} // namespace

ItemCoordinates makeItemLoop(OpBuilder &b, device::KernelOp kernel, tile::KernelAttr axes, Location loc, bool descending) {
  Parameters parameters(kernel);
  Value items = parameters.count(device::Count::Items), blocks = parameters.count(device::Count::Blocks);
  Value first = device::BlockIndexOp::create(b, loc, b.getI32Type()), step = device::GridSizeOp::create(b, loc, b.getI32Type());
  auto loop = scf::ForOp::create(b, loc, first, items, step);
  loop->setAttr("device.items", b.getUnitAttr());
  b.setInsertionPointToStart(loop.getBody());
  Value item = loop.getInductionVar(), tile, point;
  auto divide = [&](Value x, Value y, StringRef name) -> Value { return arith::DivSIOp::create(b, named(b, loc, name), x, y); };
  auto rest = [&](Value x, Value quotient, Value y, StringRef name) -> Value {
    return arith::SubIOp::create(b, named(b, loc, name), x, arith::MulIOp::create(b, loc, quotient, y));
  };
  if (kernel.getGrouped()) {
    Value groupSize = parameters.count(device::Count::Group), frees = parameters.count(device::Count::Frees);
    Value itemsOfGroup = arith::MulIOp::create(b, loc, blocks, groupSize);
    Value group = divide(item, itemsOfGroup, "group");
    Value inGroup = rest(item, group, itemsOfGroup, "in_group");
    Value start = arith::MulIOp::create(b, loc, group, groupSize);
    Value points = arith::MinSIOp::create(b, loc, groupSize, arith::SubIOp::create(b, loc, frees, start));   // the last group may be smaller
    tile = divide(inGroup, points, "tile");
    point = arith::AddIOp::create(b, named(b, loc, "point"), start, rest(inGroup, tile, points, "in_tile"));
  } else {
    point = divide(item, blocks, "point");
    tile = rest(item, point, blocks, "tile");
  }
  if (descending) {
    Value last = arith::SubIOp::create(b, loc, blocks, arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1)));
    tile = arith::SubIOp::create(b, named(b, loc, "tile"), last, tile);
  }
  ItemCoordinates coordinates;
  tile::AxisAttr block = axes.withRole(tile::Role::Block);
  StringRef blockName = block.getName().getValue();
  coordinates[blockName] = arith::MulIOp::create(b, named(b, loc, blockName.str() + "0"), tile, arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(block.getWidth()))));
  SmallVector<StringRef> frees;
  for (tile::AxisAttr axis : axes.getAxes())
    if (axis.getRole() == tile::Role::Free)
      frees.push_back(axis.getName().getValue());
  for (auto [i, name] : llvm::enumerate(llvm::reverse(frees))) {
    if (i + 1 == frees.size()) {
      coordinates[name] = point;
      break;
    }
    Value length = parameters.extent(name), outer = divide(point, length, "outer");
    coordinates[name] = rest(point, outer, length, name);
    point = outer;
  }
  return coordinates;
}

namespace {
/// Whether a plane of a mask of the fold satisfies `accept(coefficient of the fold axis, of the block axis)`.
bool anyPlane(func::FuncOp kernel, llvm::function_ref<bool(int64_t, int64_t)> accept) {
  auto axes = tile::kernelOf(kernel);
  auto foldAxis = axes.withRole(tile::Role::Fold), blockAxis = axes.withRole(tile::Role::Block);
  bool found = false;
  kernel.walk([&](tile::MaskOp mask) {
    auto names = cast<tile::AxesAttr>(mask.getSource().getType().getEncoding());
    int fold = foldAxis ? names.find(foldAxis.getName().getValue()) : -1, block = blockAxis ? names.find(blockAxis.getName().getValue()) : -1;
    std::size_t rank = names.getNames().size();
    for (std::size_t plane = 0; fold >= 0 && block >= 0 && plane < mask.getRest().size(); ++plane)
      found |= accept(mask.getCoefficients()[plane * rank + unsigned(fold)], mask.getCoefficients()[plane * rank + unsigned(block)]);
  });
  return found;
}
} // namespace

bool boundsDependOnBlock(func::FuncOp kernel) {
  return anyPlane(kernel, [](int64_t fold, int64_t block) { return fold && block; });
}

bool growsWithBlock(func::FuncOp kernel) {
  return anyPlane(kernel, [](int64_t fold, int64_t block) { return fold > 0 && block < 0; });
}

} // namespace tw
