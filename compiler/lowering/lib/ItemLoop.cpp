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

} // namespace tw
