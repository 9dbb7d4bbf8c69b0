#include "CompileRequest.h"
#include "AssembleDevice.h"
#include "BuildLog.h"
#include "Dump.h"
#include "tilewright/emit/EmitCuda.h"
#include "tilewright/kernel/Log.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/Target.h"
#include <chrono>

namespace tw {

Artifact compileRequest(const Program &program, const Request &request, bool assemble) {
  using Clock = std::chrono::steady_clock;
  const auto secondsSince = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto dump = dumpOf(program.name, request.scheduleText, request.key.hex());
  CompileOptions options;
  if (dump)
    options.onStage = [&dump](const Stage &stage) { dump(stage); };   // it counts: no copy may
  options.onRemark = remarkLog(program.name, request.target);
  const Target &target = findTarget(request.target);
  const auto start = Clock::now();
  Artifact artifact = target.isHost() ? compileHost(program, request.schedule, options) : compileDevice(program, request.schedule, target, options);
  CompileTimes times{secondsSince(start)};
  if (!target.isHost() && assemble) {
    const auto assemblyStart = Clock::now();
    assembleDevice(artifact, assembledText(artifact), options.onStage);
    times.assembly = secondsSince(assemblyStart);
  }
  logCompiled(artifact, times);
  return artifact;
}

} // namespace tw
