// tile-to-device: from the program of an item to the program of a thread block.
//
// The kernel's function is copied twice. The producer's copy keeps scalar arithmetic, loops, and the loads that
// SharedTiles.h finds, which become copies into rings. The consumers' copy keeps everything else.
#include "KeptTiles.h"
#include "NestedFolds.h"
#include "Outline.h"
#include "Parameters.h"
#include "RefuseDoubles.h"
#include "Registers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/lowering/Passes.h"

using namespace mlir;
namespace tw::outline {
namespace {

/// Where a tile is loaded: one that only a mask reads is not in full loops.
SmallVector<Block *> blocksOf(const SharedTile &tile) {
  SmallVector<Block *> blocks;
  for (tile::LoadOp load : tile.loads)
    if (!llvm::is_contained(blocks, load->getBlock()))
      blocks.push_back(load->getBlock());
  llvm::sort(blocks);
  return blocks;
}

/// The axes of which an item has a coordinate or a tile: those that loops around the fold walk point by point are the loops' own.
tile::KernelAttr withoutPoints(func::FuncOp function) {
  tile::KernelAttr kernel = tile::kernelOf(function);
  SmallVector<tile::AxisAttr> axes;
  for (tile::AxisAttr axis : kernel.getAxes())
    if (axis.getRole() != tile::Role::Free || tile::kernelArgument(function, "item", axis.getName().getValue()))
      axes.push_back(axis);
  return tile::KernelAttr::get(function.getContext(), axes, kernel.getOrdered());
}

} // namespace

bool isScalar(Operation &op) {
  return op.getNumRegions() == 0 && op.getNumResults() > 0 && llvm::none_of(op.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); }) &&
         llvm::none_of(op.getOperandTypes(), [](Type type) { return isa<RankedTensorType>(type); });
}

Outline::Outline(func::FuncOp function, Options options) : function(function), options(options), kernelAttr(withoutPoints(function)) {}

//===--- declarations ------------------------------------------------------------------------------===//

LogicalResult Outline::check() {
  tile::AxisAttr block = kernelAttr.withRole(tile::Role::Block);
  if (!block)
    return function.emitError() << "the kernel has no block axis; a GPU's thread blocks each own a tile of one";
  constexpr int64_t fewestRows = 16;         // of a warp
  const int64_t width = block.getWidth(), fewest = fewestRows * warpsOfWarpgroup;
  if (width % fewest)
    return function.emitError() << "the tile of the block axis \"" << block.getName().getValue() << "\" is " << width
                                << " wide; a warpgroup owns 64 rows: make it a multiple of 64";
  warpgroups = options.warpgroups ? options.warpgroups : width / fewest;
  rowsOfWarp = width / (warpsOfWarpgroup * warpgroups);
  if (width != rowsOfWarp * warpsOfWarpgroup * warpgroups)
    return function.emitError() << "the tile of the block axis \"" << block.getName().getValue() << "\" is " << width << " wide, which " << warpgroups << " warpgroups cannot share out";
  return success();
}

/// Of an item's own tile, dots read what shared memory holds, and each thread the elements that it works on from global memory.
void Outline::splitBlockTiles() {
  SmallVector<tile::LoadOp> loads;
  function.walk([&](tile::LoadOp load) {
    if (tile::runsAlong(load.getResult(), kernelAttr.withRole(tile::Role::Block).getName().getValue()) &&
        llvm::any_of(load->getUsers(), [](Operation *user) { return isa<tile::DotOp>(user); }))
      loads.push_back(load);
  });
  for (tile::LoadOp load : loads) {
    tile::LoadOp own;
    for (OpOperand &use : llvm::make_early_inc_range(load->getUses()))
      if (!isa<tile::DotOp>(use.getOwner())) {
        if (!own)
          own = cast<tile::LoadOp>(OpBuilder(load).clone(*load));
        use.set(own.getResult());
      }
  }
}

Value Outline::declareMap(OpBuilder &b, const SharedTile &tile) {
  tile::LoadOp load = tile.loads.front();
  int rank = int(cast<MemRefType>(load.getMemory().getType()).getRank());
  SmallVector<int64_t> dimensions{tile.columnDimension}, chunks{0}, sizes{0}, box{tile.isVector() ? tile.shape[0] : chunkColumns};
  auto add = [&](int64_t dimension, int64_t chunk, int64_t size, int64_t length) {
    dimensions.push_back(dimension);
    chunks.push_back(chunk);
    sizes.push_back(size);
    box.push_back(length);
  };
  if (!tile.isVector())
    add(tile.rowDimension, 0, 0, tile.shape[0]);
  if (tile.columnLength) {
    sizes[0] = chunkColumns;
    add(tile.columnDimension, chunkColumns, tile.columnLength / chunkColumns, tile.columnLength / chunkColumns);
  }
  for (int m = rank - 1; m >= 0; --m)
    if (m != tile.columnDimension && m != tile.rowDimension)
      add(m, 0, 0, 1);
  return device::TensorMapOp::create(b, function.getLoc(), device::MapType::get(b.getContext()), b.getStringAttr(tile.tensor), TypeAttr::get(tile.element),
                                     b.getDenseI64ArrayAttr(dimensions), b.getDenseI64ArrayAttr(chunks), b.getDenseI64ArrayAttr(sizes),
                                     b.getDenseI64ArrayAttr(box), b.getI64IntegerAttr(tile.isVector() ? 0 : 128));
}

int64_t Outline::slotsOf(const SharedTile &tile) {
  if (!tile.nested.empty())
    return tile.loads.front()->getParentOp()->getAttrOfType<IntegerAttr>(nestedStagesAttr).getInt();
  return tile.ofFold ? options.stages : options.blockBuffers;
}

void Outline::declareRings() {
  OpBuilder b = OpBuilder::atBlockEnd(&kernel.getBody().front());
  Location loc = function.getLoc();
  for (const SharedTile &tile : tiles) {
    auto same = [&](const Group &group) {
      return group.ofFold == tile.ofFold && group.nested == tile.nested &&
             (!tile.ofFold || (group.first == tile.first && group.last == tile.last && group.blocks == blocksOf(tile)));
    };
    auto found = llvm::find_if(groups, same);
    if (found == groups.end()) {
      groups.push_back({tile.ofFold, tile.first, tile.last, tile.nested, slotsOf(tile), tile.name, blocksOf(tile), {}, 0});
      found = std::prev(groups.end());
    }
    found->first = std::min(found->first, tile.first);
    found->last = std::max(found->last, tile.last);
    auto type = device::RingType::get(b.getContext(), found->slots, tile.shape, tile.element);
    // What arrives: whole boxes, 64 columns each, or a vector's box.
    found->bytes += tile.isVector() ? tile.shape[0] * int64_t(tile.element.getIntOrFloatBitWidth()) / 8 : type.rows() * type.chunks() * chunkColumns * 2;
    Value ring = device::RingOp::create(b, loc, type, b.getStringAttr(tile.name), IntegerAttr());
    rings.push_back({&tile, declareMap(b, tile), ring, unsigned(found - groups.begin())});
    for (tile::LoadOp load : tile.loads)
      ringOf[load] = unsigned(rings.size() - 1);
  }
  for (Group &group : groups)
    group.barriers = device::BarriersOp::create(b, loc, device::BarriersType::get(b.getContext(), group.slots), b.getStringAttr(group.name),
                                                b.getI64IntegerAttr(warpsOfWarpgroup * warpgroups), IntegerAttr(), IntegerAttr());
}

//===--- what both roles do ------------------------------------------------------------------------===//

void Outline::mapArguments(Role &role, const ItemCoordinates &item) {
  Parameters parameters(kernel);
  for (BlockArgument argument : function.getArguments()) {
    unsigned n = argument.getArgNumber();
    auto name = [&](StringRef kind) { return function.getArgAttrOfType<StringAttr>(n, kind); };
    if (auto axis = name(tile::extentAttrName))
      role.mapping.map(argument, parameters.extent(axis.getValue()));
    else if (auto scalar = name(tile::scalarAttrName))
      role.mapping.map(argument, parameters.scalar(scalar.getValue(), argument.getType()));
    else if (auto axis = name(tile::itemAttrName))
      role.mapping.map(argument, item.lookup(axis.getValue()));
    else if (auto tensor = name(tile::tensorAttrName))
      role.mapping.map(argument, Value());   // by use
  }
}

/// A scalar of a tensor in global memory, 0 outside.
Value Outline::scalarLoad(Role &role, Value memory, ValueRange places, Type element, Location loc) {
  OpBuilder &b = role.builder;
  auto indices = llvm::map_to_vector(places, [&](Value place) { return role.mapping.lookup(place); });
  Type loaded = isa<FloatType>(element) ? Type(b.getF32Type()) : element;
  Value value = Parameters(kernel).load(b, loc, tensorOf(memory), cast<MemRefType>(memory.getType()).getElementType(), indices, loaded);
  return element != loaded ? arith::TruncFOp::create(b, loc, element, value).getResult() : value;
}

LogicalResult Outline::copyScalar(Role &role, Operation &op) {
  Parameters parameters(kernel);
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    role.mapping.map(load.getResult(), scalarLoad(role, load.getMemory(), load.getOffsets(), load.getType(), load.getLoc()));
    return success();
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op); gather && gather.getAmong()) {
    auto indices = llvm::map_to_vector(gather.getIndices(), [&](Value place) { return role.mapping.lookup(place); });
    Type element = cast<MemRefType>(gather.getMemory().getType()).getElementType();
    role.mapping.map(gather.getResult(), parameters.isAmong(role.builder, gather.getLoc(), tensorOf(gather.getMemory()), element, indices));
    return success();
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    role.mapping.map(gather.getResult(), scalarLoad(role, gather.getMemory(), gather.getIndices(), gather.getType(), gather.getLoc()));
    return success();
  }
  if (auto extremes = dyn_cast<tile::ExtremesOp>(op))
    return makeExtremes(role.builder, extremes, tensorOf(extremes.getMemory()), parameters, role.mapping);
  if (auto at = dyn_cast<tile::KeptAtOp>(op)) {
    makeKeptAt(role.builder, at, parameters, role.mapping);
    return success();
  }
  if (isa<memref::DimOp>(op))
    return success();             // by the index_cast that uses it
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    if (auto dim = cast.getIn().getDefiningOp<memref::DimOp>()) {
      role.mapping.map(cast.getOut(), parameters.length(tensorOf(dim.getSource()), *dim.getConstantIndex()));
      return success();
    }
  role.builder.clone(op, role.mapping);
  return success();
}

void Outline::makeCursors(Role &role, int64_t phase) {
  for (const Group &group : groups)
    role.cursors.push_back(device::CursorOp::create(role.builder, function.getLoc(), device::CursorType::get(role.builder.getContext()),
                                                    role.builder.getStringAttr(group.name), group.barriers, role.builder.getI64IntegerAttr(phase), UnitAttr()));
}

//===--- the consumers -----------------------------------------------------------------------------===//

LogicalResult Outline::consume(Role &role, Block &block) {
  OpBuilder &b = role.builder;
  for (Operation &op : block) {
    if (auto load = dyn_cast<tile::LoadOp>(op); load && ringOf.contains(load)) {
      const Ring &ring = rings[ringOf[load]];
      role.mapping.map(load.getResult(), device::TileOp::create(b, load.getLoc(), load.getType(), ring.ring, role.cursors[ring.group],
                                                                   tile::axesOf(load.getResult())[unsigned(load.getDims()[unsigned(ring.tile->columnDimension)])]).getResult());
      continue;
    }
    if (isa<func::ReturnOp>(op) || servingLists.contains(&op))
      continue;
    if (auto kept = dyn_cast<tile::KeptOp>(op)) {
      makeListed(b, kept, role.mapping);
      continue;
    }
    if (isScalar(op)) {
      if (failed(copyScalar(role, op)))
        return failure();
      continue;
    }
    for (Value operand : op.getOperands())
      if (isa<MemRefType>(operand.getType()))
        role.mapping.map(operand, device::MemoryOp::create(b, op.getLoc(), operand.getType(), b.getStringAttr(tensorOf(operand))).getResult());
    Operation *copy = b.cloneWithoutRegions(op, role.mapping);
    for (auto [from, to] : llvm::zip(op.getRegions(), copy->getRegions())) {
      if (from.empty())
        continue;
      OpBuilder::InsertionGuard guard(b);
      Block *inner = b.createBlock(&to);
      for (BlockArgument argument : from.front().getArguments())
        role.mapping.map(argument, inner->addArgument(argument.getType(), argument.getLoc()));
      if (failed(consume(role, from.front())))
        return failure();
    }
  }
  return success();
}

LogicalResult Outline::makeConsumers() {
  OpBuilder b = OpBuilder::atBlockEnd(&kernel.getBody().front());
  auto consumers = device::ConsumersOp::create(b, function.getLoc(), b.getI64IntegerAttr(warpgroups), b.getI64IntegerAttr(device::isHopper(kernel) ? Registers::shared(warpgroups, options.blocksPerSM).consumer : 0),
                                               b.getI64IntegerAttr(rowsOfWarp));
  b.createBlock(&consumers.getBody());
  Role role{b, {}, {}};
  makeCursors(role, 0);
  ItemCoordinates item = makeItemLoop(role.builder, kernel, kernelAttr, function.getLoc(), tile::growsWithBlock(function));
  mapArguments(role, item);
  return consume(role, function.getBody().front());
}

LogicalResult Outline::run() {
  if (failed(check()))
    return failure();
  sinkBlockTiles(function);
  splitBlockTiles();
  auto found = findSharedTiles(function, options.arch == "sm90a");
  if (failed(found))
    return failure();
  if (failed(refuseDoubles(function)))
    return failure();
  tiles = std::move(*found);
  OpBuilder b(function);
  tile::AxisAttr block = kernelAttr.withRole(tile::Role::Block);
  SmallVector<StringRef> frees;
  for (tile::AxisAttr axis : kernelAttr.getAxes())
    if (axis.getRole() == tile::Role::Free)
      frees.push_back(axis.getName().getValue());
  bool grouped = options.grouped && !frees.empty() && tile::boundsDependOnBlock(function);
  kernel = device::KernelOp::create(b, function.getLoc(), function.getSymNameAttr(), b.getStringAttr(options.arch), block.getName(),
                                    b.getI64IntegerAttr(block.getWidth()), b.getStrArrayAttr(frees), grouped ? b.getUnitAttr() : UnitAttr(),
                                    options.strided ? b.getUnitAttr() : UnitAttr(), IntegerAttr(), b.getI64IntegerAttr(options.blocksPerSM));
  kernel.getBody().emplaceBlock();
  declareRings();
  bool first0 = llvm::any_of(tiles, [](const SharedTile &tile) { return tile.ofFold && tile.first == Moment::dots0; });
  bool first1 = llvm::any_of(tiles, [](const SharedTile &tile) { return tile.ofFold && tile.first == Moment::dots1; });
  scf::IfOp peeled;
  scf::ForOp outside;
  function.walk([&](scf::IfOp branch) {
    if (branch->hasAttr(foldAxisAttr))
      peeled = branch;
  });
  function.walk([&](scf::ForOp loop) {
    if (loop->hasAttr(nestedAxisAttr) && !loop->getParentOp()->hasAttr(foldAxisAttr))
      outside = loop;
  });
  if (outside)
    return outside.emitError() << "is a dot over axis \"" << nestedAxis(outside) << "\", which the schedule walks in chunks, outside of the fold; on a GPU a step of the fold has such dots, or the axis lies whole inside a tile";
  // With one slot, a step's tiles of stage 0 would wait for room that only its tiles of stage 1, which follow them, make.
  follows = options.overlap && options.stages > 1 && peeled && first0 && first1 && llvm::none_of(tiles, [](const SharedTile &tile) { return !tile.nested.empty(); });
  if (follows)
    findVarying(*peeled.thenBlock());
  servingLists = tw::servingLists(function);
  if (failed(makeProducer()) || failed(makeConsumers()))
    return failure();
  Parameters(kernel).sort();
  function.erase();
  return success();
}

} // namespace tw::outline

namespace tw {
#define GEN_PASS_DEF_TILETODEVICE
#include "tilewright/lowering/Passes.h.inc"
namespace {

struct TileToDevice : impl::TileToDeviceBase<TileToDevice> {
  using TileToDeviceBase::TileToDeviceBase;
  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (tile::kernelOf(function))
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels)
      if (failed(outline::Outline(kernel, {arch, warpgroups, stages, blockBuffers, overlap, grouped, blocksPerSM, strided}).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tw
