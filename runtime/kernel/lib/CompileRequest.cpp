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

namespace {

Artifact compileWith(const Schedule &schedule, const Program &program, const Request &request, bool assemble, const StageSink &sink) {
  using Clock = std::chrono::steady_clock;
  const auto secondsSince = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto dump = dumpOf(program.name, print(schedule), request.key.hex());
  CompileOptions options;
  if (dump || sink)
    options.onStage = [&](const Stage &stage) {
      if (dump)
        dump(stage);   // it counts: no copy may
      if (sink)
        sink(stage);
    };
  if (!request.isSecond)   // the first one says the same of the program
    options.onRemark = remarkLog(program.name, request.target);
  const Target target = targetOf(request);
  options.strided = request.strided;
  const auto start = Clock::now();
  Artifact artifact = target.isHost() ? compileHost(program, schedule, options) : compileDevice(program, schedule, target, options);
  CompileTimes times{secondsSince(start)};
  if (!target.isHost() && assemble) {
    const auto assemblyStart = Clock::now();
    assembleDevice(artifact, assembledText(artifact), options.onStage);
    times.assembly = secondsSince(assemblyStart);
  }
  logCompiled(artifact, times);
  return artifact;
}

} // namespace

Artifact compileRequest(const Program &program, const Request &request, bool assemble, const StageSink &sink) {
  const Schedule *schedule = &request.schedule;
  for (auto next = request.others.begin();; schedule = &*next++)
    try {
      return compileWith(*schedule, program, request, assemble, sink);
    } catch (const SlowCodeError &error) {
      if (next == request.others.end())
        throw;
      logRefused(error.what(), *next);
    }
}

} // namespace tw
