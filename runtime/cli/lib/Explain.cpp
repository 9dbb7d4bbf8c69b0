// `tilewright explain`: which schedule a variant gets, what the cost model expects of it, and why others lose.
#include "Commands.h"
#include "Explanation.h"
#include "Options.h"
#include "Output.h"
#include "VariantLaunch.h"
#include "tilewright/kernel/Tune.h"
#include "tilewright/schedule/SharedLimit.h"
#include <fmt/format.h>

namespace tw::cli {
namespace {

struct Options {
  std::string variant, target = "h200", dtype = "bf16", shape, pass = "forward", schedule, sharedLimit;
  bool noLse = false, all = false, sweep = false, json = false;
};

Target targetOf(const Options &options, std::optional<std::int64_t> limit) {
  const Target &whole = findTarget(options.target);
  if (whole.isHost())
    throw std::invalid_argument(fmt::format("--target {}: the cost model is of GPUs; take one of `tilewright list --targets`, such as h200", options.target));
  return limit ? withSharedLimit(whole, *limit) : whole;
}

int explainVariant(const Options &options) {
  checkChoice("--pass", options.pass, {"forward", "backward"});
  const bool backward = options.pass == "backward";
  if (backward && !options.schedule.empty())
    throw std::invalid_argument("--schedule --pass backward: the kernels of a gradient have a schedule each; leave one of the two out");
  const Type type = parseFloatType(options.dtype);
  const Shape shape = parseShape(options.shape);
  const std::string variant = trimmed(options.variant);
  const auto sharedLimit = parseSharedLimit(options.sharedLimit);
  const Target target = targetOf(options, sharedLimit);
  const VariantProgram forward = forwardProgram(variant, type, shape, !options.noLse);
  checkMultiplied(forward.program, target);
  checkShapes(forward.program, {.extents = {{"d", shape.d}, {"e", shape.dv}}, .shapes = forward.shape.tensors});
  const auto programs = backward ? backwardPrograms(variant, type, shape, !options.noLse, options.target, sharedLimit)
                                 : std::vector{forward};
  std::optional<Schedule> given;
  if (!options.schedule.empty())
    given = parseSchedule(options.schedule);

  Json list = Json::array();
  std::string text;
  if (!options.json)
    text = fmt::format("{} {} for {}: B {}, H {}, Hkv {}, Sq {}, Skv {}, D {}, Dv {}\n", variant, options.dtype, target.name, shape.b, shape.h, shape.hkv, shape.sq, shape.skv, shape.d, shape.dv);
  for (const VariantProgram &each : programs) {
    if (programs.size() > 1)
      text += fmt::format("\n{}\n", each.program.name);
    if (options.sweep) {
      const auto points = sweepSram(each.program, findTarget(options.target), each.shape);
      text += sweepText(points);
      list.push_back({{"program", each.program.name}, {"sram", sweepJson(points)}});
      continue;
    }
    const Explanation explanation = explain(each.program, target, each.shape, given, sharedLimit);
    text += explanationText(explanation, target);
    list.push_back(explanationJson(explanation, options.all));
  }
  if (options.json)
    printJson({{"variant", variant}, {"dtype", options.dtype}, {"target", target.name}, {"shape", {shape.b, shape.h, shape.hkv, shape.sq, shape.skv, shape.d, shape.dv}},
               {"shared_bytes_per_block", target.sharedBytesPerBlock}, {"pass", options.pass}, {"programs", list}});
  else
    printText(text);
  return right;
}

} // namespace

Command explain(CLI::App &program) {
  auto options = std::make_shared<Options>();
  CLI::App *app = program.add_subcommand("explain", "Say which schedule a variant gets on a GPU, what bounds it by the cost model, and why others lose; nothing is compiled or run");
  addVariant(*app, options->variant);
  app->add_option("--shape", options->shape, "the lengths")->required()->type_name(shapeForm);
  app->add_option("--target", options->target, "a GPU of `tilewright list --targets`, which need not be here; h200 if left out")->type_name("NAME");
  addDtype(*app, options->dtype);
  app->add_option("--pass", options->pass, "forward, or backward: each kernel of the gradients of all inputs; forward if left out")->type_name("PASS");
  addSchedule(*app, options->schedule);
  addSharedLimit(*app, options->sharedLimit);
  addCompiler(*app);
  app->add_flag("--no-lse", options->noLse, "leave the lse output out");
  app->add_flag("--sram-sweep", options->sweep, "instead: bytes moved, and the default schedule, for sizes of shared memory from 16 to 227 KiB");
  app->add_flag("--all", options->all, "with --json: every schedule of the search space, the fastest prediction first");
  app->add_flag("--json", options->json, "as JSON");
  refuseEmpty(*app);
  app->footer("docs/cost-model.md says how each figure is made. Examples:\n"
              "  tilewright explain causal --target a100 --shape 4,32,8,4096,4096,128\n"
              "  tilewright explain alibi --shape 4,16,16,4096,4096,128 --pass backward");
  return {app, [options] { return explainVariant(*options); }};
}

} // namespace tw::cli
