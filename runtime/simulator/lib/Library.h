// A kernel's file, loaded.
#pragma once
#include "tilewright/simulator/Simulator.h"
#include "tilewright/toolchain/Toolchain.h"
#include <optional>

namespace tw {

struct SimulatedKernel::Library {
  std::optional<SharedObject> object;
  std::string text;   // of the kernel
};

}   // namespace tw
