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

/// A block has as many rows as its warpgroups own.
static void requireWarpgroups(const Compilation &compilation) {
  constexpr int rowsOfWarpgroup = 64;
  const Schedule &schedule = compilation.schedule;
  for (std::size_t i = 0; i < compilation.roles.axes.size(); ++i) {
    const std::string axis = compilation.roles.axes[i].name();
    const auto width = schedule.widths.find(axis);
    if (compilation.roles.roles[i] != Role::block || width == schedule.widths.end() || width->second == rowsOfWarpgroup * schedule.warpgroups)
      continue;
    const std::string otherwise = width->second % rowsOfWarpgroup ? "" : fmt::format(" or warpgroups={}", width->second / rowsOfWarpgroup);
    throw CompileError(fmt::format("the schedule has {0}={1} and warpgroups={2}; a warpgroup owns {3} rows of a block: take {0}={4}{5}. The schedule: {6}", axis, width->second, schedule.warpgroups,
                                   rowsOfWarpgroup, rowsOfWarpgroup * schedule.warpgroups, otherwise, print(schedule)));
  }
}

Artifact compileDevice(const Program &program, const Schedule &schedule, const Target &target, const CompileOptions &options) {
  if (target.isHost())
    throw CompileError(fmt::format("{} is no GPU; compileHost makes code for it", target.title));
  if (options.onStage)
    options.onStage({"program", ".txt", print(program, Locations::print)});
  Compilation compilation(program, schedule, options);
  requireWarpgroups(compilation);
  Artifact artifact;
  addFacts(artifact, program, compilation.roles, schedule);
  requireWidths(artifact);
  compilation.run(tilePhases(schedule, target, bool(options.onRemark)));
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
