#include "tilewright/kernel/DeviceText.h"
#include "BuildKey.h"
#include "Checked.h"
#include "CompileRequest.h"
#include "Strided.h"
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

Artifact launchedText(Artifact text, const Program &program, const BuildOptions &options, const Arguments &arguments) {
  const Checked checked = check(text, options.extents, arguments);
  if (checked.unfit.empty() || !checked.hasItems)
    return text;
  if (const std::string cure = cureWithoutStrided(program); !cure.empty())
    throw ArgumentError(checked.unfit + cure);
  sayStrided(text, checked.unfit);
  return compileText(program, stridedOptions(options));
}

} // namespace tw
