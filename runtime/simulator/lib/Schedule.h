// Which thread runs, and when what is asynchronous happens.
#pragma once
#include "Machine.h"

namespace tw::simulated {

/// Runs all threads of the machine to their ends. Throws Stopped where one found what cannot go on, and where none can run.
void runThreads();

/// From a thread: waits in this state until somebody wakes it.
void waitIn(ThreadState state, int line);
/// From a thread: lets others run.
void giveWay(int line);
/// giveWay once in as many calls as the options say.
void maybePreempt(int line);
void wake(Thread *thread);

/// Lets one asynchronous operation happen: any copy into shared memory (`needed`: no thread can run without), or by chance anything whose
/// asynchrony is random. False: there was none.
bool stepAsynchronous(bool needed);

/// Ends the launch with a list of what every thread waits for.
[[noreturn]] void stopWaiting(const char *code, const std::string &head);

}   // namespace tw::simulated
