// What the lanes of a warp do together: the last lane to arrive does it for all.
#pragma once
#include "Machine.h"

namespace tw::simulated {

[[nodiscard]] const char *nameOf(Collective collective);

/// Arrives with `arguments`, which others may read and write until this lane goes on. True in the last lane of the mask: it does the
/// work and then calls releaseLanes. False in the others, once that is done. Stops where lanes are at different operations.
[[nodiscard]] bool collect(Collective collective, std::uint32_t mask, int line, void *arguments = nullptr);
void releaseLanes(Warp *warp, std::uint32_t mask);

/// What a lane arrived with.
template <class Arguments> Arguments &argumentsOf(const Thread *lane) { return *static_cast<Arguments *>(lane->arguments); }

inline constexpr std::uint32_t allLanes = ~0u;

/// The thread has returned from the kernel.
void leaveWarp(Thread *thread);

}   // namespace tw::simulated
