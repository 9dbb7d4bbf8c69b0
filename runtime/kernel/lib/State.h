// What a kernel consists of once it is built.
#pragma once
#include "DeviceKernel.h"
#include "tilewright/artifact/Artifact.h"
#include "tilewright/cpu/HostCode.h"
#include "tilewright/cpu/Launch.h"
#include "tilewright/kernel/Kernel.h"
#include <map>
#include <string>

namespace tw {

struct Kernel::State {
  std::uint64_t id = 0;                        // of this process, from 1; never given twice
  Artifact artifact;
  std::map<std::string, std::int64_t> inner;   // lengths of the inner axes for which it was made
  std::string key;                             // 64 hexadecimal digits

  std::shared_ptr<const DeviceKernel> device;  // for a GPU; else null, and what follows is for the CPU
  std::shared_ptr<const HostCode> code;

  /// The other kernel of the program, where there are two.
  struct Second;
  std::shared_ptr<const Second> second;

  // What a launch needs of the artifact, found once.
  std::size_t scratchArgument = 0;             // the parameter of that kind, or one past the last where there is none
  std::vector<HostAxis> items;                 // item axes in order of their parameters; extents are filled at launch
  std::vector<std::size_t> itemAxes;           // of each of them: which of the artifact's axes

  /// Links the artifact's code into the process; a GPU's is loaded at the first launch, so that no GPU is needed here. Throws
  /// RuntimeError where this machine cannot run it.
  [[nodiscard]] static std::shared_ptr<State> load(Artifact artifact, std::map<std::string, std::int64_t> inner, std::string key);
};

} // namespace tw
