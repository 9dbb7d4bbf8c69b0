// The way to a GPU: the device module, and its text.
#include "DevicePhases.h"
#include "Facts.h"
#include "mlir/Transforms/Passes.h"
#include "tilewright/artifact/CompileError.h"
#include "tilewright/emit/EmitCuda.h"
#include "tilewright/ir/Device.h"
#include "tilewright/lowering/Passes.h"
#include <cassert>
#include <fmt/format.h>

using namespace mlir;

namespace tw {

std::vector<Phase> devicePhases(const Schedule &schedule, const Target &target) {
  auto tidy = [](OpPassManager &pm) { pm.addPass(createCanonicalizerPass()); pm.addPass(createCSEPass()); };
  return {{"walk-folds",
           [&](OpPassManager &pm) {
             WalkFoldsOptions options;
             options.peel = schedule.overlap || schedule.stabilised;   // no vote can hold in an item's first step
             options.careful = schedule.drawn;                         // only items that are drawn can be done again
             pm.addPass(createWalkFolds(options));
             tidy(pm);
           }},
          {"roles",
           [&](OpPassManager &pm) {
             TileToDeviceOptions options;
             options.arch = target.arch;
             options.stages = schedule.stages;
             options.blockBuffers = schedule.blockBuffers;
             options.overlap = schedule.overlap;
             pm.addPass(createTileToDevice(options));
             tidy(pm);
           },
           true},
          {"registers", [=](OpPassManager &pm) { pm.addPass(createDistributeTiles()); tidy(pm); }, true},
          {"overlap",
           [&](OpPassManager &pm) {
             if (schedule.overlap)
               pm.addPass(createOverlapStages());
             if (schedule.turns)
               pm.addPass(createTakeTurns());
           },
           true},
          {"device",
           [&](OpPassManager &pm) {
             pm.addPass(createLoopInvariantCodeMotionPass());     // what is the same for all items, before an item stands under conditions
             if (schedule.drawn)
               pm.addPass(createDrawItems());
             LayOutMemoryOptions memory;
             memory.limit = target.sharedBytesPerBlock;
             pm.addPass(createLayOutMemory(memory));
             pm.addPass(createLoopInvariantCodeMotionPass());
             tidy(pm);
             pm.addPass(createCheckProtocol());
           },
           true}};
}

/// A GPU's kernel is made for the exact length of each inner axis.
static void requireWidths(Artifact &artifact) {
  for (const AxisFacts &axis : artifact.axes)
    if (axis.role == AxisFacts::Role::inner) {
      Expression length{"extent", 0, axis.name}, width{"constant", double(axis.width)};
      artifact.requirements.push_back({Expression{"eq", 0, {}, 0, {length, width}}, fmt::format("axis '{}' must be {} long: this kernel was made for that length", axis.name, axis.width)});
    }
}

Artifact compileDevice(const Program &program, const Schedule &schedule, const Target &target, const CompileOptions &options) {
  if (target.isHost())
    throw CompileError(fmt::format("{} is no GPU; compileHost makes code for it", target.title));
  if (!target.isHopper() && schedule.overlap && schedule.stages < 2)
    throw CompileError(fmt::format("the schedule has overlap=yes and stages=1: on {} a step's tiles would wait for each other; take stages=2 or overlap=no. The schedule: {}", target.title, print(schedule)));
  if (options.onStage)
    options.onStage({"program", ".txt", print(program, Locations::print)});
  Compilation compilation(program, schedule, options);
  Artifact artifact;
  addFacts(artifact, program, compilation.roles, schedule);
  requireWidths(artifact);
  compilation.run(tilePhases(schedule, true, bool(options.onRemark)));
  artifact.limit = std::min(artifact.limit, compilation.limit());
  artifact.heaviestLast = compilation.heaviestLast();
  compilation.run(devicePhases(schedule, target));
  auto kernels = compilation.module->getOps<device::KernelOp>();
  assert(llvm::hasSingleElement(kernels));   // a launch runs one
  auto text = emitCuda(*kernels.begin());
  if (failed(text))
    compilation.refusals.raise("program '" + program.name + "' has no CUDA text");
  artifact.target = target.name;
  artifact.parameters = parametersOf(program, compilation.roles);
  artifact.entry = text->entry;
  artifact.launch = std::move(text->launch);
  artifact.instructions = std::move(text->instructions);
  artifact.source = std::move(text->source);
  return artifact;
}

} // namespace tw
