// Barriers in shared memory that count arrivals and copied bytes.
#pragma once
#include "Machine.h"

namespace tw::simulated {

/// The mbarrier at this address of the running thread's block; stops where there is none. Reports a use that is not ordered after its
/// initialisation.
[[nodiscard]] Mbarrier *mbarrierAt(Address address, const char *what, int line);

/// The mbarrier at this address, on which something of this line that was in flight lands; null, and a report, where it was invalidated.
[[nodiscard]] Mbarrier *landingOn(Block *block, Address address, const char *what, int line);

/// An arrival of the thread in flight lands: whoever waits for this phase comes after the copies of the thread that are complete.
void arriveAfterCopies(Mbarrier &mbarrier, const Thread &thread, int line);

/// A copy of `bytes` into the block, counted on this mbarrier, has landed.
void completeBytes(Block *block, Address mbarrier, std::uint32_t bytes, int line);

}   // namespace tw::simulated
