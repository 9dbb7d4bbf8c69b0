// What a kernel consists of once it is built.
#pragma once
#include "DeviceKernel.h"
#include "ReadChecks.h"
#include "tilewright/artifact/Artifact.h"
#include "tilewright/cpu/HostCode.h"
#include "tilewright/cpu/Launch.h"
#include "tilewright/kernel/Kernel.h"
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
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
  std::shared_ptr<const ReadChecks> readChecks;   // of a checked kernel; else null

  /// Of a GPU's kernel that copies in pieces of 16 bytes: builds the one that takes any strides. None where there is no other.
  std::function<std::shared_ptr<const State>()> buildStrided;
  std::string cureWithoutStrided;              // what to do where there is no other
  /// That kernel, built where it is first asked for, which is said: `why` this one does not do. Throws ArgumentError with it where there is no other.
  [[nodiscard]] const State &strided(const std::string &why) const;
  [[nodiscard]] bool hasStrided() const { return stridedKernel.load() != nullptr; }

  // What a launch needs of the artifact, found once.
  std::size_t scratchArgument = 0;             // the parameter of that kind, or one past the last where there is none
  std::vector<HostAxis> items;                 // item axes in order of their parameters; extents are filled at launch
  std::vector<std::size_t> itemAxes;           // of each of them: which of the artifact's axes

  /// Links the artifact's code into the process; a GPU's is loaded at the first launch, so that no GPU is needed here. Throws
  /// RuntimeError where this machine cannot run it.
  [[nodiscard]] static std::shared_ptr<State> load(Artifact artifact, std::map<std::string, std::int64_t> inner, std::string key);

private:
  mutable std::mutex stridedGuard;
  mutable std::shared_ptr<const State> stridedOwner;
  mutable std::atomic<const State *> stridedKernel = nullptr;
};

} // namespace tw
