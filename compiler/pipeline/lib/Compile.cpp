// The way to the CPU target, and the texts on the ways to all targets.
#include "tilewright/pipeline/Compile.h"
#include "Compilation.h"
#include "DevicePhases.h"
#include "Facts.h"
#include "mlir/Transforms/Passes.h"
#include "tilewright/conversion/HostObject.h"
#include "tilewright/conversion/Passes.h"
#include "tilewright/pipeline/CompilerDigest.h"
#include "tilewright/schedule/Target.h"
#include <algorithm>

using namespace mlir;

namespace tw {
namespace {

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

} // namespace

Artifact compileHost(const Program &program, const Schedule &schedule, const CompileOptions &options) {
  const Target &target = findTarget("host");
  if (options.onStage)
    options.onStage({"program", ".txt", print(program, Locations::print)});
  Compilation compilation(program, schedule, options);
  Artifact artifact;
  addFacts(artifact, program, compilation.roles, schedule);
  compilation.run(tilePhases(schedule, target, bool(options.onRemark)));
  artifact.lists = compilation.lists();
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

std::string emitText(const Program &program, const Schedule &schedule, const Target &target, Emit what, const CompileOptions &options) {
  if (what == Emit::program)
    return print(program);
  Compilation compilation(program, schedule, options);
  compilation.run(tilePhases(schedule, target, bool(options.onRemark)));
  if (what == Emit::host)
    compilation.run(hostPhases(schedule, findTarget("host")));
  if (what == Emit::device)
    compilation.run(devicePhases(schedule, target, options.strided));
  return textOf(*compilation.module);
}

std::string emitText(const Program &program, const Schedule &schedule, Emit what) { return emitText(program, schedule, findTarget("host"), what); }

const std::string &compilerDigest() {
  static const std::string digest = std::string(compilerSources) + "-llvm" LLVM_VERSION_STRING;
  return digest;
}

} // namespace tw
