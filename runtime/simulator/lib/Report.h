// What is found wrong: reported once for each pair of lines, or so bad that the launch stops.
#pragma once
#include "Machine.h"
#include <string>

namespace tw::simulated {

/// Thrown by `stop`, through the frames of the kernel, to where the thread was started.
struct Stopped {};

/// Adds a report unless one of this code, line and `other` (a second line or another key) is there.
void report(const char *code, int line, int other, const std::string &text);
/// Reports, and ends the launch.
[[noreturn]] void stop(const char *code, int line, const std::string &text);

/// Collects the reports of a launch from here on; `text` is the kernel's.
void beginReports(SimulationResult &result, int maximum, const std::string &text);

[[nodiscard]] std::string nameOf(const Thread *thread);             // "block 0 warp 2 lane 5"
[[nodiscard]] std::string nameOf(const Block *block, Address at);   // "shared 0x1400 (K+0x400)"
[[nodiscard]] std::string nameOfAgent(int agent);
[[nodiscard]] std::string hex(std::uint64_t value);

}   // namespace tw::simulated
