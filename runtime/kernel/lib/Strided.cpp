// The kernel of launches whose tensors the usual one cannot copy in pieces.
#include "Strided.h"
#include "Say.h"
#include "tilewright/artifact/Artifact.h"
#include <fmt/format.h>

namespace tw {

BuildOptions stridedOptions(BuildOptions options) {
  options.strided = true;
  options.schedule.reset();
  return options;
}

void sayStrided(const Artifact &usual, const std::string &why) {
  say(fmt::format("kernel '{}' for {}: {}. One more kernel is built, which takes any strides, element by element; it is slower", usual.program, usual.target, why));
}

} // namespace tw
