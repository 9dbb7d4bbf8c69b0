// What a build is asked for, completed and named by content.
#pragma once
#include "tilewright/cache/Digest.h"
#include "tilewright/kernel/Tune.h"
#include "tilewright/schedule/Target.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw {

/// A build with nothing left open.
struct Request {
  std::string target;
  bool strided = false;
  std::int64_t sharedLimit = 0;                // bytes of a block, where fewer are allowed than the target has; else 0
  Schedule schedule;
  std::string scheduleText;
  std::vector<Schedule> others;                // where none was asked for: what to try in turn where the assembler's code would be slow
  std::optional<Schedule> second;              // of the program's other kernel
  bool isSecond = false;                       // it is that one
  std::map<std::string, std::int64_t> inner;   // of every inner axis
  ScheduleOrigin origin = ScheduleOrigin::rules;
  std::string assembler;                       // what the key says of it
  cache::Digest key;
};

/// All that the code of a kernel depends on. No path, no time, no location is among it.
struct KeyParts {
  std::string program;     // its text
  std::string schedule;    // its text
  std::string target;
  std::string processor;   // name and features; of a GPU's kernel: what assembles it, and the templates
  std::string compiler;    // its digest
  std::map<std::string, std::int64_t> inner;
  std::int64_t sharedLimit = 0;
};
[[nodiscard]] cache::Digest keyOf(const KeyParts &parts);

/// What becomes machine code of a kernel. A GPU's text needs none, so no NVRTC is looked for.
enum class Assembly { ofTarget, none };

/// The target as the request's limit leaves it.
[[nodiscard]] Target targetOf(const Request &request);
[[nodiscard]] Target targetOf(const BuildOptions &options);

/// Checks the program and the options, chooses the schedule where none is given, and makes the key. Throws as build() does.
[[nodiscard]] Request complete(const Program &program, const BuildOptions &options, Assembly assembly = Assembly::ofTarget);

/// The request for its second kernel. Where the assembler's code would be slow there is none.
[[nodiscard]] Request secondOf(const Program &program, const BuildOptions &options, const Request &first);

/// Bytes that differ wherever the results of `complete` may differ in this process, made much more quickly.
[[nodiscard]] std::string quickKey(const Program &program, const BuildOptions &options);

} // namespace tw
