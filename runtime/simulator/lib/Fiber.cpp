// Fibers by Boost.Context's lowest layer: the higher ones unwind a fiber that is dropped, and its frames are the kernel's.
#include "Fiber.h"
#include "tilewright/artifact/RuntimeError.h"
#include <boost/context/detail/fcontext.hpp>
#include <sys/mman.h>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tw::simulated {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

fcontext_t scheduler = nullptr;
std::vector<char *> freeStacks;

// The address sanitizer is told of every switch, or it takes a fiber's frames for an overflow.
#if defined(__SANITIZE_ADDRESS__)
void *schedulerFrames = nullptr;
const void *schedulerStack = nullptr;
std::size_t schedulerBytes = 0;
void leave(void **frames, const void *stack, std::size_t bytes) { __sanitizer_start_switch_fiber(frames, stack, bytes); }
void enterScheduler() { __sanitizer_finish_switch_fiber(schedulerFrames, nullptr, nullptr); }
void enterFiber() { __sanitizer_finish_switch_fiber(nullptr, &schedulerStack, &schedulerBytes); }
#else
void *schedulerFrames = nullptr;
const void *schedulerStack = nullptr;
std::size_t schedulerBytes = 0;
void leave(void **, const void *, std::size_t) {}
void enterScheduler() {}
void enterFiber() {}
#endif

char *takeStack() {
  if (freeStacks.empty()) {
    void *mapping = mmap(nullptr, guardBytes + stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED || mprotect(mapping, guardBytes, PROT_NONE))
      throw RuntimeError("the simulator cannot map a stack of " + std::to_string(stackBytes) +
                         " bytes for one more thread; launch fewer threads, or fewer resident blocks");
    return static_cast<char *>(mapping);
  }
  char *stack = freeStacks.back();
  freeStacks.pop_back();
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack + guardBytes, stackBytes);
#endif
  return stack;
}

void start(transfer_t from) {
  scheduler = from.fctx;
  enterFiber();
  reinterpret_cast<void (*)()>(from.data)();
}

}   // namespace

Fiber startFiber(void (*body)()) {
  char *stack = takeStack();
  return {make_fcontext(stack + guardBytes + stackBytes, stackBytes, start), stack, body};
}

void freeFiber(Fiber &fiber) {
  if (fiber.stack)
    freeStacks.push_back(fiber.stack);
  fiber = {};
}

void resumeFiber(Fiber &fiber) {
  leave(&schedulerFrames, fiber.stack + guardBytes, stackBytes);
  fiber.context = jump_fcontext(fiber.context, reinterpret_cast<void *>(fiber.body)).fctx;
  enterScheduler();
}

void suspendFiber() {
  void *frames = nullptr;
  leave(&frames, schedulerStack, schedulerBytes);
  scheduler = jump_fcontext(scheduler, nullptr).fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(frames, &schedulerStack, &schedulerBytes);
#endif
}

}   // namespace tw::simulated
