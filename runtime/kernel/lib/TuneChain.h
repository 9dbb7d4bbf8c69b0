// Programs that are tuned one after the other, each on what those before it store.
#pragma once
#include "TuneProblem.h"
#include "tilewright/dsl/Gradient.h"

namespace tw {

struct TuneChain {
  SharedTensors shared;
  std::optional<TuningInputs> small;   // of the small problem, what is known by now
  bool hasBegun = false;

  /// Goes on with the programs of this gradient: of what was stored, tensors of their names are theirs.
  void follow(const Gradient &made);
  /// What the next programs find: of the small problem what evaluate() says, of the other what the default schedule's kernel stored.
  void takeSmall(std::optional<TuningInputs> problem);
  void takeStored(const TuneProblem &timed);

private:
  const Gradient *gradient = nullptr;
};

/// Of a problem of several programs what one of them mentions.
[[nodiscard]] TuningInputs partOf(const Program &program, const TuningInputs &all);

/// Whether the run timed the default schedule.
[[nodiscard]] bool isTimed(const TuningRun &run);

/// tune() as one of a chain, where there is one.
[[nodiscard]] TuningRecord tune(const Program &program, const BuildOptions &options, const TuneOptions &how, TuneChain *chain);

} // namespace tw
