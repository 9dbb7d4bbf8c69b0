// Global memory: bounds of what primitives touch, and faults of everything else.
#pragma once
#include "Machine.h"

namespace tw::simulated {

/// Stops where the bytes are not all inside one buffer of the launch.
void checkGlobalRange(const void *address, std::size_t bytes, const char *what, int line);

/// While it lives, a fault of a thread (of memory, of arithmetic, or a trap of the kernel's undefined-behaviour checks) is reported, and
/// control goes to the thread's `afterFault`, by siglongjmp. A fault outside any thread is nobody's but ours, and ends the program.
class FaultHandler {
public:
  FaultHandler();
  ~FaultHandler();
  FaultHandler(const FaultHandler &) = delete;
  FaultHandler &operator=(const FaultHandler &) = delete;
};

}   // namespace tw::simulated
