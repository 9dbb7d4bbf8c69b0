#include "tilewright/kernel/DeviceText.h"
#include "BuildKey.h"
#include "Checked.h"
#include "CompileRequest.h"
#include "tilewright/schedule/Target.h"
#include <stdexcept>

namespace tw {

Artifact compileText(const Program &program, const BuildOptions &options) {
  if (findTarget(options.target).isHost())
    throw std::invalid_argument("target 'host' is this machine's CPU, for which no GPU text is made; take a GPU, such as h200");
  return compileRequest(program, complete(program, options, Assembly::none), false);
}

Artifact compileCode(const Program &program, const BuildOptions &options, std::string *ptx) {
  return compileRequest(program, complete(program, options), true, [&](const Stage &stage) {
    if (ptx && stage.name == "ptx")
      *ptx = stage.text;
  });
}

void checkArguments(const Artifact &artifact, const std::map<std::string, std::int64_t> &inner, const Arguments &arguments) {
  if (const Checked checked = check(artifact, inner, arguments); !checked.unfit.empty())
    throw ArgumentError(checked.unfit);
}

} // namespace tw
