#include "BuildLog.h"
#include "Say.h"
#include "tilewright/kernel/Log.h"
#include "tilewright/schedule/Target.h"
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <string_view>

namespace tw {
namespace {

std::string duration(double seconds) { return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds); }

/// Empty for the CPU, and before a text is assembled.
std::string resources(const Artifact &artifact) {
  if (artifact.launch.fields.empty() || artifact.code.empty())
    return "";
  return fmt::format("; {} registers a thread, {} bytes spilled, {} bytes of shared memory a block", artifact.resources.registers, artifact.resources.spillBytes,
                     artifact.launch.sharedBytes + artifact.resources.staticSharedBytes);
}

void sayBuilt(const Artifact &artifact, const std::string &how) {
  say(fmt::format("{} for {}: {}{}; {}", artifact.program, artifact.target, how, resources(artifact), artifact.schedule));
}

} // namespace

bool logs() {
  const char *asked = std::getenv("TILEWRIGHT_LOG");
  return asked && *asked && std::string_view(asked) != "0";
}

std::function<void(const Diagnostic &)> remarkLog(const std::string &program, const std::string &target) {
  if (!logs())
    return {};
  return [program, target, said = std::make_shared<std::set<std::string>>()](const Diagnostic &remark) {
    const std::string line = fmt::format("{} for {}: {}{}", program, target, remark.where.line ? shortName(remark.where) + ": " : "", remark.message);
    if (said->insert(line).second)   // a fold in several parts gives one reason for each
      say(line);
  };
}

void logCompiled(const Artifact &artifact, const CompileTimes &times) {
  if (!logs())
    return;
  const double total = times.text + times.assembly;
  if (findTarget(artifact.target).isHost())
    sayBuilt(artifact, fmt::format("compiled in {}", duration(total)));
  else if (artifact.code.empty())
    sayBuilt(artifact, fmt::format("CUDA text made in {}", duration(total)));
  else
    sayBuilt(artifact, fmt::format("compiled in {}, {} to CUDA text and {} to machine code", duration(total), duration(times.text), duration(times.assembly)));
}

void logRefused(const std::string &why, const Schedule &next) {
  if (logs())
    say(fmt::format("{}; the next one is tried: {}", why, print(next)));
}

void logAlone(const std::string &why) {
  if (logs())
    say(fmt::format("{}; there is no second kernel", why));
}

void logLoaded(const Artifact &artifact, double seconds) {
  if (logs())
    sayBuilt(artifact, fmt::format("found in the cache in {}", duration(seconds)));
}

} // namespace tw
