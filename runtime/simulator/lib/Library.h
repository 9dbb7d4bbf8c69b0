// A kernel's file, loaded.
#pragma once
#include "tilewright/simulator/Simulator.h"

namespace tw {

struct SimulatedKernel::Library {
  void *handle = nullptr;
  std::string text;   // of the kernel
  Library() = default;
  ~Library();
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
};

}   // namespace tw
