// `tilewright list`: the gallery, or the targets.
#include "Commands.h"
#include "Output.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/Target.h"
#include <fmt/format.h>

namespace tw::cli {
namespace {

int listVariants(bool json) {
  Json list = Json::array();
  for (const Variant &variant : gallery()) {
    list.push_back({{"name", variant.name}, {"summary", variant.summary}, {"formula", variant.formula}});
    if (!json)
      printText(fmt::format("{:<9} {}\n          {}\n", variant.name, variant.summary, variant.formula));
  }
  if (json)
    printJson(list);
  else
    printText("\nVariants combine by +, in the order written: causal+alibi, softcap(30)+window(255,0).\n");
  return right;
}

/// Whether GPU 0 of this machine runs the target's code.
bool runsHere(const Target &target) { return !cuda::gpus().empty() && cuda::runs(cuda::gpus().front(), target.arch); }

int listTargets(bool json) {
  Json list = Json::array();
  for (const Target &t : targets()) {
    list.push_back({{"name", t.name}, {"title", t.title}, {"arch", t.arch}, {"multiprocessors", t.sms}, {"shared_bytes_per_block", t.sharedBytesPerBlock}, {"registers_per_multiprocessor", t.registersPerSM},
                    {"l2_bytes", t.l2Bytes}, {"dram_bytes", t.dramBytes}, {"dram_bytes_per_second", t.dramBytesPerSecond}, {"clock_hz", t.clockHz}, {"tensor_flops_f16", t.tensorFlopsF16}, {"runs_here", t.isHost() || runsHere(t)}});
    if (!json)
      printText((list.size() > 1 ? "\n" : "") + describe(t) + fmt::format("  {:<15}{}\n", "kernels", t.isHost() || runsHere(t) ? "can be built, and run here" : "can be built, and run in the simulator"));
  }
  if (json)
    printJson(list);
  return right;
}

} // namespace

Command list(CLI::App &program) {
  auto json = std::make_shared<bool>(false), wantTargets = std::make_shared<bool>(false);
  CLI::App *app = program.add_subcommand("list", "List the variants of the gallery, or the known targets");
  app->add_flag("--targets", *wantTargets, "the processors that schedules can be fitted to, with their facts, and whether there is code for them");
  app->add_flag("--json", *json, "as JSON");
  return {app, [json, wantTargets] { return *wantTargets ? listTargets(*json) : listVariants(*json); }};
}

} // namespace tw::cli
