// Barriers in shared memory that count arrivals and copied bytes.
#pragma once
#include "Machine.h"

namespace tw::simulated {

/// The mbarrier at this address of the running thread's block; stops where there is none. Reports a use that is not ordered after its
/// initialisation.
[[nodiscard]] Mbarrier *mbarrierAt(Address address, const char *what, int line);

/// A copy of `bytes` into the block, counted on this mbarrier, has landed.
void completeBytes(Block *block, Address mbarrier, std::uint32_t bytes, int line);

}   // namespace tw::simulated
