// Tries a recipe: builds its program, runs it, and holds what comes out against evaluate().
#pragma once
#include "Recipe.h"

namespace tw::fuzz {

/// Where programs run. A GPU's text runs in the simulator where nothing else is said.
enum class Where { host, simulator, gpu };

struct Attempt {
  Where where = Where::host;
  bool assembles = false;   // in the simulator: have NVRTC make machine code, too
};

struct Outcome {
  enum { right, refused, unexplained, wrong } is = right;
  std::string text;
  [[nodiscard]] bool failed() const { return is >= unexplained; }
};

/// A refusal must say what to do; anything else is a fault of ours.
[[nodiscard]] Outcome tried(const Recipe &recipe, const Attempt &attempt);

/// Does GPU 0 still take work of this process? After some faults its context takes none.
[[nodiscard]] bool takesWork();

/// The smallest recipe found that fails in the same way, and how.
[[nodiscard]] std::pair<Recipe, Outcome> minimised(Recipe recipe, Outcome outcome, int attempts, const Attempt &attempt);

}   // namespace tw::fuzz
