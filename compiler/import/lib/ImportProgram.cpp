// The frame of a kernel: its arguments, its fold, its stores.
#include "tilewright/import/ImportProgram.h"
#include "ImportValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cctype>

using namespace mlir;

namespace tw {
namespace {

tile::Role roleInIR(Role role) {
  switch (role) {
  case Role::free: case Role::point: return tile::Role::Free;   // a point's coordinate is a loop's, not the item's
  case Role::block: return tile::Role::Block;
  case Role::fold: return tile::Role::Fold;
  case Role::inner: return tile::Role::Inner;
  }
  llvm_unreachable("a role");
}

/// One argument of the kernel before it exists.
struct Argument {
  mlir::Type type;
  StringRef kind;
  std::string name;
  mlir::Location where;
  bool positive = false;
};

class Importer {
public:
  Importer(MLIRContext &context, const Program &program, const Roles &roles, const Schedule &schedule)
      : program(program), roles(roles), schedule(schedule), builder(&context) {
    builder.getContext()->loadDialect<tile::TileDialect>();
  }

  OwningOpRef<ModuleOp> run() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    func::FuncOp function = declare();
    Block *entry = function.addEntryBlock();
    KernelArguments arguments = collect(entry);
    ImportContext shared{roles, schedule, arguments};
    ImportValues values(builder, shared);
    importFold(entry, values);
    builder.setInsertionPointToEnd(entry);
    for (const Store &store : program.stores)
      if (!isOfSteps(store))
        importStore(store, values);
    func::ReturnOp::create(builder, builder.getUnknownLoc());
    return module;
  }

private:
  void need(mlir::Type type, StringRef kind, const std::string &name, tw::Location where, bool positive = false) {
    arguments.push_back({type, kind, name, ImportValues::location(builder, where, name), positive});
  }

  func::FuncOp declare() {
    for (const auto &tensor : tensorsOf(program)) {
      SmallVector<int64_t> dynamic(tensor->rank, ShapedType::kDynamic);
      auto layout = StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, dynamic);
      need(MemRefType::get(dynamic, memoryType(builder, tensor->type), layout), tile::tensorAttrName, tensor->name, tensor->where);
    }
    SmallVector<tile::AxisAttr> axes;
    for (std::size_t i = 0; i < roles.axes.size(); ++i) {
      const Axis &axis = roles.axes[i];
      need(builder.getI32Type(), tile::extentAttrName, axis.name(), axis.where());
      axes.push_back(tile::AxisAttr::get(builder.getContext(), builder.getStringAttr(axis.name()), roleInIR(roles.roles[i]), widthOf(roles, schedule, axis)));
    }
    for (const Tile &scalar : scalarsOf(program))
      need(elementType(builder, scalar.type()), tile::scalarAttrName, scalar.node().label, scalar.where(), scalar.node().positive);
    for (Role role : {Role::free, Role::block})
      for (std::size_t i = 0; i < roles.axes.size(); ++i)
        if (roles.roles[i] == role)
          need(builder.getI32Type(), tile::itemAttrName, roles.axes[i].name(), roles.axes[i].where());

    SmallVector<mlir::Type> types;
    for (const Argument &argument : arguments)
      types.push_back(argument.type);
    auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), kernelName(program), builder.getFunctionType(types, {}));
    function->setAttr(tile::kernelAttrName, tile::KernelAttr::get(builder.getContext(), axes, roles.fold->order == Order::ascending));
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      function.setArgAttr(i, argument.kind, builder.getStringAttr(argument.name));
      if (argument.positive)
        function.setArgAttr(i, tile::positiveAttrName, builder.getUnitAttr());
    }
    return function;
  }

  KernelArguments collect(Block *entry) {
    KernelArguments found;
    for (auto [argument, value] : llvm::zip(arguments, entry->getArguments())) {
      value.setLoc(argument.where);
      if (argument.kind == tile::tensorAttrName)
        found.tensors[argument.name] = value;
      else if (argument.kind == tile::extentAttrName)
        found.extents[argument.name] = value;
      else if (argument.kind == tile::scalarAttrName)
        found.scalars[argument.name] = value;
      else
        found.starts[argument.name] = value;
    }
    return found;
  }

  scf::ForOp openLoop(const Fold &fold, std::int64_t step, ValueRange starts, ImportValues &values) {
    mlir::Location where = ImportValues::location(builder, fold.where, fold.axis.name());
    Value zero = values.integer(0, where), width = values.integer(step, where);
    auto loop = scf::ForOp::create(builder, where, zero, values.extent(fold.axis), width, starts);
    values.enter(fold, loop);
    return loop;
  }

  /// Start values and what does not change from step to step stand before the loop, steps in it. Folds around it are plain
  /// loops over points, in which the fold starts from what they carry.
  void importFold(Block *entry, ImportValues &values) {
    const Fold &fold = *roles.fold;
    builder.setInsertionPointToEnd(entry);
    SmallVector<Value> carried;
    for (const Tile &start : roles.outermost().starts)
      carried.push_back(values.atAxes(start, start.type(), start.axes()));
    std::vector<scf::ForOp> around;
    for (const auto &outer : roles.around) {
      around.push_back(openLoop(*outer, 1, carried, values));
      carried.assign(around.back().getRegionIterArgs().begin(), around.back().getRegionIterArgs().end());
    }
    auto loop = openLoop(fold, widthOf(roles, schedule, fold.axis), carried, values);
    loop->setAttr("tile.fold", builder.getStringAttr(fold.axis.name()));
    SmallVector<Value> yields;
    for (std::size_t i = 0; i < fold.yields.size(); ++i)
      yields.push_back(values.atAxes(fold.yields[i], fold.arguments[i].type(), fold.arguments[i].axes()));
    for (const Store &store : program.stores)
      if (isOfSteps(store))
        importStore(store, values);
    values.leave(yields);
    for (; !around.empty(); around.pop_back()) {
      yields.assign(loop.getResults().begin(), loop.getResults().end());
      values.leave(yields);
      loop = around.back();
    }
  }

  /// Is it what a step of the fold makes?
  bool isOfSteps(const Store &store) const { return contains(store.index, roles.fold->axis); }

  void importStore(const Store &store, ImportValues &values) {
    mlir::Location where = ImportValues::location(builder, store.where, store.tensor.name());
    Axes tiled;
    SmallVector<Value> offsets;
    SmallVector<int64_t> dims;
    for (const Axis &axis : store.index)
      if (roles.isTiled(axis))
        tiled.push_back(axis);
    tiled = values.inTileOrder(tiled);
    for (const Axis &axis : store.index) {
      offsets.push_back(values.startOf(axis, where));
      dims.push_back(values.dimensionOf(tiled, axis));
    }
    if (const Tile *part = addedBySteps(roles, store)) {
      Value value = values.atAxes(*part, store.tensor.type(), tiled);
      tile::AccumulateOp::create(builder, where, value, values.tensor(store.tensor.name()), offsets, dims);
      return;
    }
    Value value = values.atAxes(store.value, store.tensor.type(), tiled);
    value = values.toMemory(value, store.tensor.type(), where);
    tile::StoreOp::create(builder, where, value, values.tensor(store.tensor.name()), offsets, dims);
  }

  const Program &program;
  const Roles &roles;
  const Schedule &schedule;
  OpBuilder builder;
  std::vector<Argument> arguments;
};

} // namespace

std::string kernelName(const Program &program) {
  std::string name;
  for (char c : program.name)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())))
    name.insert(0, "k_");
  return name;
}

OwningOpRef<ModuleOp> importProgram(MLIRContext &context, const Program &program, const Roles &roles, const Schedule &schedule) {
  return Importer(context, program, roles, schedule).run();
}

} // namespace tw
