// One compilation: a module on its way through phases.
#include "Compilation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "tilewright/import/ImportProgram.h"
#include "tilewright/ir/Tile.h"
#include "tilewright/transforms/Passes.h"
#include <algorithm>
#include <limits>

using namespace mlir;

namespace tw {

std::int64_t mostElementsOf(const Target &target) { return target.isHost() ? 4096 : 512; }

std::vector<Phase> tilePhases(const Schedule &schedule, const Target &target, bool explain) {
  LinearFormsOptions forms;
  forms.foldExponents = !target.isHost();   // a CPU has the time to be right near the lowest number
  ClassifyTilesOptions classes;
  classes.explain = explain;
  classes.perItem = !target.isHost();       // a GPU's consumers are told of the lists with the item
  classes.mostElements = mostElementsOf(target);
  BoundFoldsOptions bounds;
  bounds.explain = explain;
  HoldStabiliserOptions hold;
  hold.explain = explain;
  std::vector<Phase> phases = {
      {"simplify", [](OpPassManager &pm) { pm.addPass(createCanonicalizerPass()); pm.addPass(createCSEPass()); }},
      {"form-masks", [](OpPassManager &pm) { pm.addPass(createFormMasks()); }},
      {"linear-forms", [=](OpPassManager &pm) { pm.addPass(createLinearForms(forms)); pm.addPass(createCSEPass()); }},
      {"neutral-masks", [](OpPassManager &pm) { pm.addPass(createNeutralMasks()); }},
      {"assign-stages", [](OpPassManager &pm) { pm.addPass(createAssignStages()); }},
      {"classify-tiles", [=](OpPassManager &pm) { pm.addPass(createClassifyTiles(classes)); pm.addPass(createCSEPass()); }},
      {"bound-folds", [=](OpPassManager &pm) { pm.addPass(createBoundFolds(bounds)); }},
  };
  if (!target.isHost())                     // a CPU has a quick tanh
    phases.push_back({"absolute-tangents", [](OpPassManager &pm) { pm.addPass(createAbsoluteTangents()); pm.addPass(createCSEPass()); }});
  if (schedule.stabilised)
    phases.push_back({"hold-stabiliser", [=](OpPassManager &pm) { pm.addPass(createHoldStabiliser(hold)); }});
  phases.push_back({"tile", [](OpPassManager &pm) { pm.addPass(createDropStabilisers()); pm.addPass(createCanonicalizerPass()); pm.addPass(createCSEPass()); }});
  if (!schedule.nested.empty()) {
    SmallVector<std::string> axes;
    SmallVector<std::int64_t> widths, stages;
    for (const auto &[axis, chunks] : schedule.nested) {
      axes.push_back(axis);
      widths.push_back(chunks.width);
      stages.push_back(chunks.stages);
    }
    for (const auto &[axis, chunks] : schedule.nested)
      phases.push_back({"split-passes", [axis = axis, width = chunks.width](OpPassManager &pm) {
                          SplitPassesOptions split;
                          split.axis = axis;
                          split.width = width;
                          pm.addPass(createSplitPasses(split));
                        }});
    phases.push_back({"nest-folds", [=](OpPassManager &pm) {
                        NestFoldsOptions nest;
                        nest.axes = axes;
                        nest.widths = widths;
                        nest.stages = stages;
                        pm.addPass(createNestFolds(nest));
                        pm.addPass(createCanonicalizerPass());
                        pm.addPass(createCSEPass());
                      }});
  }
  return phases;
}

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

Compilation::Compilation(const Program &program, const Schedule &schedule, const CompileOptions &options)
    : program(program), schedule(schedule), options(options), context(MLIRContext::Threading::DISABLED), refusals(context, options.onRemark) {
  verify(program);
  roles = rolesOf(program, schedule.block);
  checkSchedule();
  module = importProgram(context, program, roles, schedule);
  show("import");
}

void Compilation::run(const std::vector<Phase> &phases) {
  for (const Phase &phase : phases) {
    PassManager pm(&context, "builtin.module");
    auto &nested = phase.ofModule ? static_cast<OpPassManager &>(pm) : pm.nest<func::FuncOp>();
    phase.add(nested);
    if (failed(pm.run(*module)))
      refusals.raise("the phase '" + std::string(phase.name) + "' refused program '" + program.name + "'");
    show(phase.name);
  }
}

std::int64_t Compilation::limit() {
  std::int64_t smallest = std::numeric_limits<std::int32_t>::max();
  for (func::FuncOp function : module->getOps<func::FuncOp>())
    if (auto limit = function->getAttrOfType<IntegerAttr>("tile.limit"))
      smallest = std::min(smallest, limit.getInt());
  return smallest;
}

std::vector<ListFacts> Compilation::lists() {
  std::vector<ListFacts> lists;
  module->walk([&](tile::KeptOp kept) {
    tile::AxisAttr fold = tile::kernelOf(kept->getParentOfType<func::FuncOp>()).withRole(tile::Role::Fold);
    lists.push_back({fold.getName().str(), int(kept.getStep())});
  });
  return lists;
}

bool Compilation::heaviestLast() {
  return llvm::any_of(module->getOps<func::FuncOp>(), [](func::FuncOp function) { return tile::kernelOf(function) && tile::growsWithBlock(function); });
}

void Compilation::show(const char *name) {
  if (options.onStage)
    options.onStage({name, ".mlir", textOf(*module)});
}

void Compilation::checkSchedule() {
  constexpr int widest = 4096, mostRegisters = 32;
  for (auto [field, value] : {std::pair{"registerRows", schedule.registerRows}, std::pair{"registerVectors", schedule.registerVectors}})
    if (value < 1 || value > mostRegisters)
      throw std::invalid_argument("the schedule's " + std::string(field) + " is " + std::to_string(value) + "; expected 1 to " + std::to_string(mostRegisters));
  for (const auto &[axis, width] : schedule.widths) {
    bool known = false, tiled = false;
    for (std::size_t i = 0; i < roles.axes.size(); ++i)
      if (roles.axes[i].name() == axis) {
        known = true;
        tiled = roles.isTiled(roles.axes[i]);
      }
    if (tiled && (width < 1 || (width > widest && !schedule.nested.contains(axis))))
      throw std::invalid_argument("the schedule gives axis '" + axis + "' a width of " + std::to_string(width) + "; a tile is 1 to " + std::to_string(widest) + " wide");
    if (!tiled)
      throw std::invalid_argument("the schedule gives axis '" + axis + "' a width of " + std::to_string(width) + ", but " +
                                  (known ? "an item has one value of it: leave it out" : "program '" + program.name + "' has no such axis"));
  }
  for (const auto &[axis, chunks] : schedule.nested) {
    const auto width = schedule.widths.find(axis);
    const auto found = std::find_if(roles.axes.begin(), roles.axes.end(), [&, &name = axis](const Axis &other) { return other.name() == name; });
    if (found == roles.axes.end() || roles.of(*found) != Role::inner)
      throw std::invalid_argument("the schedule walks axis '" + axis + "' in chunks, which is no inner axis of program '" + program.name + "'; leave it out");
    if (width == schedule.widths.end() || width->second % chunks.width)
      throw std::invalid_argument("the schedule walks axis '" + axis + "' in chunks of " + std::to_string(chunks.width) + "; give it a width that is a multiple of that");
  }
}

std::vector<Parameter> parametersOf(const Program &program, const Roles &roles) {
  std::vector<Parameter> parameters;
  for (const auto &tensor : tensorsOf(program)) {
    bool stored = llvm::any_of(program.stores, [&](const Store &store) { return store.tensor.name() == tensor->name; });
    bool summed = llvm::any_of(program.stores, [&](const Store &store) { return store.tensor.name() == tensor->name && addedBySteps(roles, store); });
    parameters.push_back({Parameter::Kind::tensor, tensor->name, name(tensor->type), int(tensor->rank), stored, false, summed});
  }
  for (const Axis &axis : roles.axes)
    parameters.push_back({Parameter::Kind::extent, axis.name(), "i32", 0, false, false});
  for (const Tile &scalar : scalarsOf(program))
    parameters.push_back({Parameter::Kind::scalar, scalar.node().label, name(scalar.type()), 0, false, scalar.node().positive});
  for (Role role : {Role::free, Role::block})
    for (std::size_t i = 0; i < roles.axes.size(); ++i)
      if (roles.roles[i] == role)
        parameters.push_back({Parameter::Kind::item, roles.axes[i].name(), "i32", 0, false, false});
  parameters.push_back({Parameter::Kind::scratch, "scratch", "", 1, true, false});
  return parameters;
}

} // namespace tw
