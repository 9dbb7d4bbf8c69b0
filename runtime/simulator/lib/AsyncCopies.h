// cp.async, and the arrivals on mbarriers that follow them.
#pragma once
#include "Machine.h"

namespace tw::simulated {

/// Lets an arrival of the thread at this index of Machine::copyArrivals happen, the first one of that thread.
void landArrival(std::size_t index);

/// Reports copies of a thread that ends before it, or anybody, could know that they are complete.
void leaveCopies(const Thread &thread);

}   // namespace tw::simulated
