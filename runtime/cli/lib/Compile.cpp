// `tilewright compile`: what becomes of a variant, as text.
#include "Commands.h"
#include "Options.h"
#include "Output.h"
#include "Variant.h"
#include "tilewright/artifact/Artifact.h"
#include "tilewright/emit/EmitCuda.h"
#include "tilewright/kernel/DeviceText.h"
#include "tilewright/kernel/Log.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SecondSchedule.h"
#include "tilewright/schedule/SharedLimit.h"
#include <fmt/format.h>
#include <optional>

namespace tw::cli {
namespace {

struct Options {
  std::string variant, target = "host", dtype = "bf16", headDim, emit = "tile", out = "-", schedule, sharedLimit;
  bool noLse = false, json = false;
};

/// Refuses head dims as build() does, before a schedule is made of them.
void checkHeadDims(const HeadDims &dims) {
  for (std::int64_t d : {dims.d, dims.dv})
    if (d % 8 != 0 || d < 8 || d > 1024)
      throw std::invalid_argument(fmt::format("--head-dim: {} is out of range; head dims are multiples of 8 from 8 to 1024{}", d, d > 0 && d < 1024 ? ": pad with zeros and state the scale" : ""));
}

/// Of the kernel that a build makes besides, where the schedule is the default one.
std::optional<Schedule> secondOf(const Options &options, const Program &program, const Target &target, const Schedule &schedule) {
  if (!options.schedule.empty() || target.isHost())
    return {};
  const HeadDims dims = parseHeadDims(options.headDim);
  return secondSchedule(program, target, {{"d", dims.d}, {"e", dims.dv}}, schedule);
}

std::string textOf(const Options &options, const Program &program, const Schedule &schedule, const Target &target) {
  if (options.emit == "program")
    return print(program);
  if (options.emit == "schedule") {
    std::string text = print(schedule) + "\n";
    if (const auto second = secondOf(options, program, target, schedule))
      text += "second " + print(*second) + "\n";
    return text;
  }
  CompileOptions compile;
  compile.onRemark = remarkLog(program.name, target.name);
  if (options.emit == "tile")
    return emitText(program, schedule, target, Emit::tile, compile);
  if (options.emit == "host") {
    if (!target.isHost())
      throw std::invalid_argument(fmt::format("--emit host --target {}: the host code is what the CPU target makes; emit device, cuda, ptx or cubin for {}, or take --target host", target.name, target.title));
    return emitText(program, schedule, target, Emit::host, compile);
  }
  if (target.isHost())
    throw std::invalid_argument(fmt::format("--emit {0} --target host: {0} is what a GPU target makes; emit host for this machine's CPU, or take --target h200", options.emit));
  if (options.emit == "device")
    return emitText(program, schedule, target, Emit::device, compile);
  if (options.emit == "cuda")
    return assembledText(compileDevice(program, schedule, target, compile));
  // As a build makes it: with another schedule where the assembler's code for the default one would be slow.
  const HeadDims dims = parseHeadDims(options.headDim);
  BuildOptions build;
  build.target = target.name;
  build.extents = {{"d", dims.d}, {"e", dims.dv}};
  if (!options.schedule.empty())
    build.schedule = schedule;
  build.sharedLimit = parseSharedLimit(options.sharedLimit);
  std::string ptx;
  Artifact artifact = compileCode(program, build, &ptx);
  return options.emit == "ptx" ? ptx : std::move(artifact.code);
}

int compileVariant(const Options &options) {
  const auto limit = parseSharedLimit(options.sharedLimit);
  const Target target = limit ? withSharedLimit(findTarget(options.target), *limit) : findTarget(options.target);
  checkChoice("--emit", options.emit, {"program", "schedule", "tile", "host", "device", "cuda", "ptx", "cubin"});
  const Program program = programOf(trimmed(options.variant), {.type = parseFloatType(options.dtype), .lse = !options.noLse});
  Schedule schedule;
  if (options.emit != "program") {
    if (options.headDim.empty())
      throw std::invalid_argument(fmt::format("--emit {} needs --head-dim D[,Dv]: a kernel is made for one head dim", options.emit));
    const HeadDims dims = parseHeadDims(options.headDim);
    checkHeadDims(dims);
    schedule = options.schedule.empty() ? defaultSchedule(program, target, {{"d", dims.d}, {"e", dims.dv}}) : parseSchedule(options.schedule);
  }
  std::string text = textOf(options, program, schedule, target);
  if (options.emit != "cubin" && !text.ends_with('\n'))
    text += '\n';
  if (options.json && options.emit == "cubin")
    throw std::invalid_argument("--json --emit cubin: machine code is no text; leave --json out, and name a file with --out");
  if (options.json) {
    Json json = {{"variant", options.variant}, {"target", target.name}, {"dtype", options.dtype}, {"emit", options.emit}};
    if (options.emit != "program")
      json.update({{"schedule", print(schedule)}, {"kernels_per_launch", kernelsPerLaunch}});
    if (const auto second = options.emit != "program" ? secondOf(options, program, target, schedule) : std::nullopt)
      json["second_schedule"] = print(*second);
    if (limit)
      json["shared_limit"] = *limit;
    json["text"] = text;
    text = json.dump(2) + "\n";
  }
  if (options.out == "-")
    printText(text);
  else
    writeFile(options.out, text);
  return right;
}

} // namespace

Command compile(CLI::App &program) {
  auto options = std::make_shared<Options>();
  CLI::App *app = program.add_subcommand("compile", "Print what becomes of a variant: its program, its tile module, its host or device code");
  addVariant(*app, options->variant);
  app->add_option("--target", options->target, "the processor: host (this machine's CPU), or a GPU of `tilewright list --targets`; host if left out")->type_name("NAME");
  addDtype(*app, options->dtype);
  app->add_option("--head-dim", options->headDim, "the head dims of Q and K, and of V if that differs; needed for all but --emit program")->type_name("D[,Dv]");
  app->add_option("--emit", options->emit,
                  "program: the variant in the DSL's text form\n"
                  "schedule: tile widths, from the target's SRAM and registers\n"
                  "tile: the tile module after all its passes\n"
                  "host: what the CPU target makes of it, before LLVM\n"
                  "device: the program of one thread block (GPU targets)\n"
                  "cuda: the whole text that is assembled (GPU targets)\n"
                  "ptx, cubin: what NVRTC makes of that; needs no GPU")
      ->type_name("WHAT");
  addSchedule(*app, options->schedule);
  addSharedLimit(*app, options->sharedLimit);
  app->add_flag("--no-lse", options->noLse, "leave the lse output out");
  app->add_option("-o,--out", options->out, "a file, written as a whole or not at all; - is stdout")->type_name("FILE");
  addCompiler(*app);
  app->add_flag("--json", options->json, "the text inside JSON, beside what it was made for");
  refuseEmpty(*app);
  app->footer("Every stage of a build, LLVM IR and assembly included: TILEWRIGHT_DUMP=folder tilewright run ...");
  return {app, [options] { return compileVariant(*options); }};
}

} // namespace tw::cli
