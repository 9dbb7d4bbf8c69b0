// The way to a GPU: the device module, and its text.
#include "DevicePhases.h"
#include "Facts.h"
#include "ScheduleFields.h"
#include "mlir/Transforms/Passes.h"
#include "tilewright/artifact/CompileError.h"
#include "tilewright/emit/EmitCuda.h"
#include "tilewright/ir/Device.h"
#include "tilewright/lowering/Passes.h"
#include <cassert>
#include <fmt/format.h>

using namespace mlir;

namespace tw {

std::vector<Phase> devicePhases(const Schedule &schedule, const Target &target, bool strided) {
  auto tidy = [](OpPassManager &pm) { pm.addPass(createCanonicalizerPass()); pm.addPass(createCSEPass()); };
  return {{"walk-folds",
           [&](OpPassManager &pm) {
             WalkFoldsOptions options;
             options.peel = schedule.overlap || (schedule.stabilised && !target.isHopper());
             // Only items that are drawn can be done again; where consumers copy for themselves a second way costs more registers than it spares.
             options.careful = schedule.drawn && schedule.producer;
             pm.addPass(createWalkFolds(options));
             tidy(pm);
           }},
          {"roles",
           [&](OpPassManager &pm) {
             TileToDeviceOptions options;
             options.arch = target.arch;
             options.warpgroups = schedule.warpgroups;
             options.blocksPerSM = schedule.blocksPerSM;
             options.stages = schedule.stages;
             options.blockBuffers = schedule.blockBuffers;
             options.overlap = schedule.overlap;
             options.strided = strided;
             pm.addPass(createTileToDevice(options));
             tidy(pm);
           },
           true},
          {"registers",
           [&, tidy](OpPassManager &pm) {
             DistributeTilesOptions options;
             options.interleave = !schedule.overlap && target.isHopper();    // elsewhere a warp waits for its own products
             options.exchangeBuffers = schedule.exchangeBuffers;
             options.outboxBuffers = schedule.outboxBuffers;
             pm.addPass(createDistributeTiles(options));
             tidy(pm);
           },
           true},
          {"overlap",
           [&](OpPassManager &pm) {
             if (schedule.overlap)
               pm.addPass(createOverlapStages());
             if (schedule.delayed)
               pm.addPass(createDelaySums());
             if (schedule.ahead)
               pm.addPass(createIssueAhead());
             if (schedule.stabilised && target.isHopper()) {      // elsewhere warps wait for their own dots, and registers are few
               LeaveAttemptsOptions leave;
               leave.steps = schedule.votes;
               leave.first = schedule.firstVote ? schedule.firstVote : schedule.votes;
               leave.observe = schedule.observed;
               pm.addPass(createLeaveAttempts(leave));
             }
             if (schedule.turns)
               pm.addPass(createTakeTurns());
             if (!schedule.producer)
               pm.addPass(createMergeRoles());
           },
           true},
          {"device",
           [&, tidy](OpPassManager &pm) {
             pm.addPass(createShareLoads());
             TabulateDistancesOptions tables;
             tables.limit = target.sharedBytesOfBlock(schedule.blocksPerSM);
             pm.addPass(createTabulateDistances(tables));
             pm.addPass(createRollCareful());
             pm.addPass(createLoopInvariantCodeMotionPass());     // what is the same for all items, before an item stands under conditions
             DrawItemsOptions draw;
             draw.onlyLists = !schedule.drawn;
             pm.addPass(createDrawItems(draw));
             pm.addPass(createListAhead());
             LayOutMemoryOptions memory;
             memory.limit = target.sharedBytesOfBlock(schedule.blocksPerSM);
             pm.addPass(createLayOutMemory(memory));
             pm.addPass(createLoopInvariantCodeMotionPass());
             tidy(pm);
             pm.addPass(createCountRegisters());
             pm.addPass(createCheckProtocol());
           },
           true}};
}

/// A GPU's kernel is made for the exact length of each inner axis; of one that is walked in chunks, for as many chunks.
static void requireWidths(Artifact &artifact, const Schedule &schedule) {
  for (const AxisFacts &axis : artifact.axes)
    if (axis.role == AxisFacts::Role::inner) {
      Expression length{"extent", 0, axis.name}, width{"constant", double(axis.width)};
      if (schedule.nested.contains(axis.name)) {
        artifact.requirements.push_back({Expression{"le", 0, {}, 0, {length, width}}, fmt::format("axis '{}' must be at most {} long: this kernel was made for as many chunks", axis.name, axis.width)});
        continue;
      }
      artifact.requirements.push_back({Expression{"eq", 0, {}, 0, {length, width}}, fmt::format("axis '{}' must be {} long: this kernel was made for that length", axis.name, axis.width)});
    }
}

/// Lists are the producer's.
static void requireProducer(Compilation &compilation, const Schedule &schedule, const Target &target) {
  if (!schedule.producer && !compilation.lists().empty())
    throw CompileError(fmt::format("the schedule has producer=no: on {} the producer lists the tiles that the mask of program '{}' keeps; take producer=yes. The schedule: {}", target.title,
                                   compilation.program.name, print(schedule)));
}

/// Who draws items sends some of them back, whole.
static void requireItems(Compilation &compilation, const Schedule &schedule) {
  if (!schedule.drawn)
    return;
  compilation.module->walk([&](Operation *loop) {
    if (auto axis = loop->getAttrOfType<StringAttr>("tile.pass"))
      throw CompileError(fmt::format("the schedule has drawn=yes: items of '{}' take several passes, each a part of axis '{}', and are not drawn; take drawn=no. The schedule: {}",
                                     compilation.program.name, axis.getValue().str(), print(schedule)));
  });
}

Artifact compileDevice(const Program &program, const Schedule &schedule, const Target &target, const CompileOptions &options) {
  if (target.isHost())
    throw CompileError(fmt::format("{} is no GPU; compileHost makes code for it", target.title));
  requireFields(schedule, target);
  if (options.onStage)
    options.onStage({"program", ".txt", print(program, Locations::print)});
  Compilation compilation(program, schedule, options);
  requireWarpgroups(compilation.roles, schedule, target);
  Artifact artifact;
  addFacts(artifact, program, compilation.roles, schedule);
  requireWidths(artifact, schedule);
  compilation.run(tilePhases(schedule, target, bool(options.onRemark)));
  requireProducer(compilation, schedule, target);
  artifact.limit = std::min(artifact.limit, compilation.limit());
  artifact.heaviestLast = compilation.heaviestLast();
  requireItems(compilation, schedule);
  compilation.run(devicePhases(schedule, target, options.strided));
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
