// A stack of its own that runs until it hands control back.
#pragma once
#include <cstddef>

namespace tw::simulated {

/// Made by startFiber; its stack goes back to a pool by freeFiber, whether it ended or not.
struct Fiber {
  void *context = nullptr;
  char *stack = nullptr;   // its guard page, below the stack
  void (*body)() = nullptr;
};

inline constexpr std::size_t guardBytes = 4096, stackBytes = 256 << 10;

/// `body` runs at the first resume and must not return.
[[nodiscard]] Fiber startFiber(void (*body)());
void freeFiber(Fiber &fiber);

/// From the scheduler: runs the fiber until it calls suspendFiber.
void resumeFiber(Fiber &fiber);
/// From within a fiber.
void suspendFiber();

}   // namespace tw::simulated
