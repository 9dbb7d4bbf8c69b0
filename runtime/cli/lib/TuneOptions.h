// What `tune` and `bench` are asked for.
#pragma once
#include "Options.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/kernel/Tune.h"
#include <string>
#include <vector>

namespace tw::cli {

struct TuneCommand {
  std::string variant, target, dtype = "bf16", pass = "forward", budget = "30s", gpus, report, table, sharedLimit;
  std::vector<std::string> shapes;
  int candidates = 12;
  bool deterministic = false, offline = false, noCache = false, json = false;
};

/// One problem to tune for.
struct TuneTask {
  Program program;
  std::string variant, dtype;
  Shape shape;
  bool isBackward = false;   // it is for every kernel of the gradients
  BuildOptions build;   // with its target, head dims and shapes
  TuneOptions how;      // with what its variant reads besides
};

/// `30s`, `2m`, `500ms`, `30`: seconds. Throws std::invalid_argument naming the option.
[[nodiscard]] double parseSeconds(std::string_view option, const std::string &text);

/// Throws std::invalid_argument where a launch or a build would refuse it.
[[nodiscard]] TuneTask taskFor(const TuneCommand &command, const std::string &shape, const BuildOptions &build, std::string_view option = "--shapes");

/// The target to tune for, and the GPUs that are one: the one that was asked for, else what GPU 0 is, else the CPU. No GPU, for the CPU and where
/// none is such a GPU, or none is to be used.
struct TunePlace {
  std::string target;
  std::vector<int> gpus;
  std::string whyNoGpu;   // of a GPU's target
};
/// `gpus`: ordinals joined by commas, or `all`; empty: the first.
[[nodiscard]] TunePlace tunePlace(const std::string &target, const std::string &gpus, bool offline);

} // namespace tw::cli
