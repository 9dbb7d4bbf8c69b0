// The one list of passes, and the one place where diagnostics become exceptions.
#include "tilewright/pipeline/Compile.h"
#include "Facts.h"
#include "Refusals.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tilewright/conversion/HostObject.h"
#include "tilewright/conversion/Passes.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/import/ImportProgram.h"
#include "tilewright/pipeline/CompilerDigest.h"
#include "tilewright/schedule/Target.h"
#include "tilewright/transforms/Passes.h"
#include <algorithm>
#include <limits>

using namespace mlir;

namespace tw {
namespace {

/// Passes that make one step which a person may want to see.
struct Phase {
  const char *name;
  std::function<void(OpPassManager &)> add;
  bool ofModule = false;   // its passes run on the module, not on each kernel
};

/// From what the importer makes to the tile module that every target lowers.
std::vector<Phase> tilePhases(const Schedule &schedule) {
  // A CPU has the time to be right near the lowest number; a GPU target decides with its guards.
  LinearFormsOptions forms;
  forms.foldExponents = false;
  std::vector<Phase> phases = {
      {"simplify", [](OpPassManager &pm) { pm.addPass(createCanonicalizerPass()); pm.addPass(createCSEPass()); }},
      {"form-masks", [](OpPassManager &pm) { pm.addPass(createFormMasks()); }},
      {"linear-forms", [=](OpPassManager &pm) { pm.addPass(createLinearForms(forms)); pm.addPass(createCSEPass()); }},
      {"neutral-masks", [](OpPassManager &pm) { pm.addPass(createNeutralMasks()); }},
      {"assign-stages", [](OpPassManager &pm) { pm.addPass(createAssignStages()); }},
      {"bound-folds", [](OpPassManager &pm) { pm.addPass(createBoundFolds()); }},
  };
  if (schedule.stabilised)
    phases.push_back({"hold-stabiliser", [](OpPassManager &pm) { pm.addPass(createHoldStabiliser()); }});
  phases.push_back({"tile", [](OpPassManager &pm) { pm.addPass(createDropStabilisers()); pm.addPass(createCanonicalizerPass()); pm.addPass(createCSEPass()); }});
  return phases;
}

/// From the tile module to loops over vectors of this machine.
std::vector<Phase> hostPhases(const Schedule &schedule, const Target &target) {
  return {{"host", [&](OpPassManager &pm) {
             TileToHostOptions options;
             options.vectorBytes = target.vectorBytes;
             options.registerRows = schedule.registerRows;
             options.registerVectors = schedule.registerVectors;
             pm.addPass(createTileToHost(options));
             pm.addPass(createCanonicalizerPass());
             pm.addPass(createCSEPass());
           },
           true}};
}

/// From loops over vectors to LLVM's dialect.
std::vector<Phase> machinePhases() { return {{"llvm-dialect", buildHostToLLVMPipeline, true}}; }

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

/// One compilation: a context of its own, so that any number of threads may compile.
class Compilation {
public:
  Compilation(const Program &program, const Schedule &schedule, const CompileOptions &options)
      : program(program), schedule(schedule), options(options), context(MLIRContext::Threading::DISABLED), refusals(context) {
    verify(program);
    roles = rolesOf(program, schedule.block);
    checkSchedule();
    module = importProgram(context, program, roles, schedule);
    show("import");
  }

  void run(const std::vector<Phase> &phases) {
    for (const Phase &phase : phases) {
      PassManager pm(&context, "builtin.module");
      auto &nested = phase.ofModule ? static_cast<OpPassManager &>(pm) : pm.nest<func::FuncOp>();
      phase.add(nested);
      if (failed(pm.run(*module)))
        refusals.raise("the phase '" + std::string(phase.name) + "' refused program '" + program.name + "'");
      show(phase.name);
    }
  }

  /// What the passes ask of every extent and every integer scalar.
  std::int64_t limit() {
    std::int64_t smallest = std::numeric_limits<std::int32_t>::max();
    for (func::FuncOp function : module->getOps<func::FuncOp>())
      if (auto limit = function->getAttrOfType<IntegerAttr>("tile.limit"))
        smallest = std::min(smallest, limit.getInt());
    return smallest;
  }

  /// Whether a mask keeps more of the fold the further the item's tile of the block axis lies: c · fold - b · block <= rest.
  bool heaviestLast() {
    bool found = false;
    module->walk([&](tile::MaskOp mask) {
      auto kernel = tile::kernelOf(mask->getParentOfType<func::FuncOp>());
      auto axes = cast<tile::AxesAttr>(mask.getSource().getType().getEncoding());
      int fold = axes.find(kernel.withRole(tile::Role::Fold).getName().getValue()), block = axes.find(kernel.withRole(tile::Role::Block).getName().getValue());
      std::size_t rank = axes.getNames().size();
      for (std::size_t plane = 0; fold >= 0 && block >= 0 && plane < mask.getRest().size(); ++plane)
        found |= mask.getCoefficients()[plane * rank + unsigned(fold)] > 0 && mask.getCoefficients()[plane * rank + unsigned(block)] < 0;
    });
    return found;
  }

  void show(const char *name) {
    if (options.onStage)
      options.onStage({name, ".mlir", textOf(*module)});
  }

  const Program &program;
  const Schedule &schedule;
  const CompileOptions &options;
  MLIRContext context;
  Refusals refusals;
  Roles roles;
  OwningOpRef<ModuleOp> module;

private:
  void checkSchedule() {
    constexpr int widest = 4096, mostRegisters = 32;
    for (auto [field, value] : {std::pair{"registerRows", schedule.registerRows}, std::pair{"registerVectors", schedule.registerVectors}})
      if (value < 1 || value > mostRegisters)
        throw std::invalid_argument("the schedule's " + std::string(field) + " is " + std::to_string(value) + "; expected 1 to " + std::to_string(mostRegisters));
    for (const auto &[axis, width] : schedule.widths) {
      bool known = false, tiled = false;
      for (std::size_t i = 0; i < roles.axes.size(); ++i)
        if (roles.axes[i].name() == axis) {
          known = true;
          tiled = roles.roles[i] != Role::free;
        }
      if (tiled && (width < 1 || width > widest))
        throw std::invalid_argument("the schedule gives axis '" + axis + "' a width of " + std::to_string(width) + "; a tile is 1 to " + std::to_string(widest) + " wide");
      if (!tiled)
        throw std::invalid_argument("the schedule gives axis '" + axis + "' a width of " + std::to_string(width) + ", but " +
                                    (known ? "an item has one value of it: leave it out" : "program '" + program.name + "' has no such axis"));
    }
  }
};

std::vector<Parameter> parametersOf(const Program &program, const Roles &roles) {
  std::vector<Parameter> parameters;
  for (const auto &tensor : tensorsOf(program)) {
    bool stored = llvm::any_of(program.stores, [&](const Store &store) { return store.tensor.name() == tensor->name; });
    parameters.push_back({Parameter::Kind::tensor, tensor->name, name(tensor->type), int(tensor->rank), stored, false});
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

} // namespace

Artifact compileHost(const Program &program, const Schedule &schedule, const CompileOptions &options) {
  const Target &target = findTarget("host");
  if (options.onStage)
    options.onStage({"program", ".txt", print(program, Locations::print)});
  Compilation compilation(program, schedule, options);
  Artifact artifact;
  addFacts(artifact, program, compilation.roles, schedule);
  compilation.run(tilePhases(schedule));
  artifact.limit = std::min(artifact.limit, compilation.limit());
  artifact.heaviestLast = compilation.heaviestLast();
  compilation.run(hostPhases(schedule, target));
  compilation.run(machinePhases());
  HostCodegenOptions codegen;
  codegen.wantText = bool(options.onStage);
  auto object = emitHostObject(*compilation.module, codegen);
  if (failed(object))
    compilation.refusals.raise("LLVM refused program '" + program.name + "'");
  if (options.onStage) {
    options.onStage({"llvm", ".ll", object->llvmText});
    options.onStage({"assembly", ".s", object->assembly});
  }
  artifact.target = target.name;
  artifact.parameters = parametersOf(program, compilation.roles);
  artifact.entry = object->entry;
  artifact.scratchBytes = object->scratchBytes;
  artifact.code = std::move(object->bytes);
  return artifact;
}

std::string emitText(const Program &program, const Schedule &schedule, Emit what) {
  if (what == Emit::program)
    return print(program);
  const CompileOptions quiet;
  Compilation compilation(program, schedule, quiet);
  compilation.run(tilePhases(schedule));
  if (what == Emit::host)
    compilation.run(hostPhases(schedule, findTarget("host")));
  return textOf(*compilation.module);
}

const std::string &compilerDigest() {
  static const std::string digest = std::string(compilerSources) + "-llvm" LLVM_VERSION_STRING;
  return digest;
}

} // namespace tw
