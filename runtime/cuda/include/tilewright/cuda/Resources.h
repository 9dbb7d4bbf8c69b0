// What a kernel takes of the machine, read from what the assembler said and made.
#pragma once
#include "tilewright/artifact/DeviceFacts.h"
#include <string>
#include <string_view>

namespace tw::cuda {

/// What a cubin itself says of one of its kernels; no GPU is needed to read it.
struct CubinFacts {
  int registers = 0;           // a thread, at launch
  int stackBytes = 0;          // frame of a thread
  int staticSharedBytes = 0;   // without what the system reserves
  int parameterBytes = 0;      // all parameters together, without padding between them
  int threads = 0;             // the most of a block, by __launch_bounds__; 0: not said
};
/// Throws RuntimeError where the bytes are no cubin, are cut short, or hold no such kernel.
[[nodiscard]] CubinFacts readCubin(std::string_view cubin, const std::string &entry);

/// What the log says of kernel `entry`: registers, spills, stack, static shared memory, remarks. Throws RuntimeError where
/// it says nothing of it.
[[nodiscard]] ResourceFacts readLog(const std::string &log, const std::string &entry);

/// The log's, compared with the cubin's. Throws RuntimeError where they differ: then neither is understood.
[[nodiscard]] ResourceFacts resourcesOf(const std::string &log, std::string_view cubin, const std::string &entry);

/// Bounds that a kernel must keep. Spilled registers of more bytes (stores and loads), or any remark that a wgmma was
/// serialised or waits were put in, make a schedule a failure, never a slow kernel.
struct ResourceBounds {
  int spillBytes = 0;
};
/// Throws SlowCodeError naming the program, its schedule, what was found and the cure.
void checkResources(const ResourceFacts &resources, const ResourceBounds &bounds, const std::string &program, const std::string &schedule);

} // namespace tw::cuda
