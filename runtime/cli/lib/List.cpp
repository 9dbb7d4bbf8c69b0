// `tilewright list`: the gallery, or the targets.
#include "Commands.h"
#include "GalleryPicture.h"
#include "Output.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/dsl/Gradient.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/Target.h"
#include <fmt/format.h>

namespace tw::cli {
namespace {

/// `[H, 129]`
std::string shapeText(const Capture &capture) { return fmt::format("[{}]", fmt::join(capture.shape, ", ")); }

Json toJson(const Variant &variant) {
  Json captures = Json::array();
  for (const Capture &capture : variant.captures)
    captures.push_back({{"name", capture.name}, {"type", name(capture.type)}, {"shape", capture.shape}, {"meaning", capture.meaning}});
  return {{"name", variant.name}, {"summary", variant.summary}, {"formula", variant.formula}, {"paper", variant.paper}, {"captures", captures}};
}

int listVariants(bool json) {
  if (json) {
    Json list = Json::array();
    for (const Variant &variant : gallery())
      list.push_back(toJson(variant));
    printJson(list);
    return right;
  }
  for (const Variant &variant : gallery()) {
    std::string reads;
    for (const Capture &capture : variant.captures)
      reads += fmt::format("{}{} {}", reads.empty() ? "" : ", ", capture.name, shapeText(capture));
    printText(fmt::format("{:<12} {}\n             {}\n", variant.name, variant.summary, variant.formula) + (reads.empty() ? "" : fmt::format("             reads {}\n", reads)));
  }
  printText("\nVariants combine by +, in the order written: causal+alibi, softcap(30)+window(255,0).\n");
  return right;
}

/// `| alibi | dK, dQ, dV, dslopes | 3 | dtotal [b, h, q], … |`
std::string gradientRow(const Variant &variant) {
  const Gradient made = gradient(makeVariant(variant.name));
  std::vector<std::string> gradients, between;
  for (const auto &[input, tensor] : made.gradients)
    gradients.push_back(tensor);
  for (const Intermediate &each : made.intermediates)
    between.push_back(fmt::format("{} {}", each.tensor.name(), name(each.tensor.type())));
  return fmt::format("| {} | {} | {} | {} |\n", variant.name, fmt::join(gradients, ", "), made.backward.size(), fmt::join(between, ", "));
}

/// docs/gallery.md, which a test holds to this.
int listAsMarkdown() {
  std::string page = "# The gallery\n\n"
                     "Every variant that `makeVariant` and the command line know by name; `tilewright list --markdown` writes this page. Names combine by `+`, in the order written; what stands in\n"
                     "parentheses after a name are numbers. `s` is a score, `w` a weight, `o` an output; `q` and `k` are coordinates where they are compared, vectors in `q·k`; `q′ = q + Skv − Sq`.\n"
                     "Beside Q, K and V a variant reads the tensors that it names; types are those of a variant in bf16, and f32 is f64 beside f64; a length that is divided is rounded up. `tilewright run NAME --shape …` makes numbers\n"
                     "for them, `--capture` reads them from files. A picture shows what masks keep of 256 queries, downwards, and 256 keys, in squares of 16: `#` all, `/` some, `.` nothing; where tables say, of such numbers.\n"
                     "`tilewright mask NAME --shape … -o mask.svg` draws any other.\n";
  for (const Variant &variant : gallery()) {
    page += fmt::format("\n## {}\n\n{}: `{}`\n({})\n", variant.name, variant.summary, variant.formula, variant.paper);
    if (const std::string picture = galleryPicture(variant.name); !picture.empty())
      page += "\n```\n" + picture + "```\n";
    if (!variant.captures.empty())
      page += "\n| reads | | |\n| --- | --- | --- |\n";
    for (const Capture &capture : variant.captures)
      page += fmt::format("| `{}` | {} {} | {} |\n", capture.name, name(capture.type), shapeText(capture), capture.meaning);
  }
  page += "\n## Gradients\n\n"
          "What `gradient()` makes of each ([gradients.md](gradients.md)), for a loss that depends on O and, where it is stored, on lse: gradients of all that is read in float types, by so many backward programs. Kernels of them are built for\n"
          "the CPU and for GPUs.\n\n"
          "| variant | gradients | programs | between them |\n| --- | --- | --- | --- |\n";
  for (const Variant &variant : gallery())
    page += gradientRow(variant);
  printText(page);
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
  auto json = std::make_shared<bool>(false), wantTargets = std::make_shared<bool>(false), markdown = std::make_shared<bool>(false);
  CLI::App *app = program.add_subcommand("list", "List the variants of the gallery, or the known targets");
  app->add_flag("--targets", *wantTargets, "the processors that schedules can be fitted to, with their facts, and whether there is code for them");
  CLI::Option *asJson = app->add_flag("--json", *json, "as JSON");
  app->add_flag("--markdown", *markdown, "the variants as docs/gallery.md has them")->excludes(asJson);
  return {app, [=] { return *wantTargets ? listTargets(*json) : *markdown ? listAsMarkdown() : listVariants(*json); }};
}

} // namespace tw::cli
