// The key of a kernel is a digest of all that its code depends on, and of nothing else.
#include "BuildKey.h"
#include "AssembleDevice.h"
#include "ChooseSchedule.h"
#include "Fingerprint.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/kernel/Machine.h"
#include "tilewright/kernel/Nearest.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SecondSchedule.h"
#include "tilewright/schedule/SharedLimit.h"
#include "tilewright/templates/Templates.h"
#include "tilewright/schedule/Target.h"
#include <algorithm>
#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <stdexcept>

namespace tw {
namespace {

/// The name and the features of this CPU: host code is made for them.
const std::string &processor() {
  static const std::string text = [] {
    std::vector<std::string> features;
    for (const auto &[name, offered] : llvm::sys::getHostCPUFeatures())
      if (offered)
        features.push_back(name.str());
    std::sort(features.begin(), features.end());
    return fmt::format("{} {}", llvm::sys::getHostCPUName().str(), fmt::join(features, ","));
  }();
  return text;
}

/// The lengths of the program's inner axes, every one and no other.
std::map<std::string, std::int64_t> innerOf(const Program &program, const Roles &roles, const BuildOptions &options) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < roles.axes.size(); ++i)
    if (roles.roles[i] == Role::inner)
      names.push_back(roles.axes[i].name());
  for (const auto &[name, length] : options.extents) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      continue;
    bool known = std::any_of(roles.axes.begin(), roles.axes.end(), [&](const Axis &axis) { return axis.name() == name; });
    throw std::invalid_argument(fmt::format("BuildOptions::extents gives a length to '{}', {}{}; {}", name,
                                            known ? "whose length is given at launch by the shapes of tensors" : fmt::format("which is no axis of program '{}'", program.name),
                                            known ? "" : suggestion(name, names),
                                            names.empty() ? "no axis of it is made for one length" : fmt::format("a kernel is made for the lengths of {}", fmt::join(names, ", "))));
  }
  for (const std::string &name : names)
    if (!options.extents.count(name))
      throw std::invalid_argument(fmt::format("axis '{}' of program '{}' lies whole inside a tile, so a kernel is made for one length of it; give it: BuildOptions::extents = {{{{\"{}\", 64}}}}",
                                              name, program.name, name));
  return options.extents;
}

/// Requirements that mention nothing but the lengths known now.
void checkRequirements(const Program &program, const std::map<std::string, std::int64_t> &inner) {
  const ExpressionScope scope{[&](const Expression &leaf) -> std::optional<Interval> {
    auto known = leaf.op == "extent" ? inner.find(leaf.name) : inner.end();
    if (known == inner.end())
      return {};
    return Interval{double(known->second), double(known->second)};
  }};
  for (const RequirementFacts &requirement : requirementsOf(program))
    if (auto truth = range(requirement.condition, scope); truth && truth->high <= 0) {
      std::vector<std::string> lengths;
      for (const auto &[name, length] : inner)
        lengths.push_back(fmt::format("extent({}) = {}", name, length));
      throw std::invalid_argument(fmt::format("program '{}': {} (here {})", program.name, requirement.message, fmt::join(lengths, ", ")));
    }
}

/// What assembles for a GPU: NVRTC, with the templates. Where there is none, what is wrong with the program is said first.
std::string deviceAssembler(const Program &program, const Schedule &schedule, const Target &target, bool strided) {
  try {
    return assemblerText(findTarget(target.name).arch) + " " + std::string(templatesDigest());
  } catch (const RuntimeError &) {
    (void)compileDevice(program, schedule, target, {.strided = strided});
    throw;
  }
}

void setKey(Request &request, const std::string &programText) {
  std::string schedules = request.scheduleText + (request.isSecond ? " or none" : request.others.empty() ? "" : " or another");
  if (request.second)
    schedules += " and " + print(*request.second);
  request.key = keyOf({programText, schedules, request.target + (request.strided ? " strided" : ""), request.assembler, compilerDigest(), request.inner, request.sharedLimit});
}

} // namespace

cache::Digest keyOf(const KeyParts &parts) {
  cache::Hasher hasher;
  hasher.field("tilewright kernel 1").field(parts.program).field(parts.schedule).field(parts.target).field(parts.processor).field(parts.compiler);
  for (const auto &[name, length] : parts.inner)
    hasher.field(name).field(std::to_string(length));
  hasher.field(std::to_string(parts.sharedLimit));
  return hasher.finish();
}

Target targetOf(const Request &request) {
  const Target target = request.strided ? withoutCopyEngine(findTarget(request.target)) : findTarget(request.target);
  return request.sharedLimit ? withSharedLimit(target, request.sharedLimit) : target;
}

Target targetOf(const BuildOptions &options) {
  const Target &named = findTarget(options.target == "gpu" ? gpuTarget() : options.target);
  if (options.strided && named.isHost())
    throw std::invalid_argument("BuildOptions::strided goes with a GPU; the CPU's kernels take any strides: leave it out");
  const Target whole = options.strided ? withoutCopyEngine(named) : named;
  return options.sharedLimit ? withSharedLimit(whole, *options.sharedLimit) : whole;
}

Request complete(const Program &program, const BuildOptions &options, Assembly assembly) {
  const Target target = targetOf(options);
  const Target &whole = findTarget(target.name);
  verify(program);
  Request request;
  request.strided = options.strided;
  request.sharedLimit = target.sharedBytesPerBlock < whole.sharedBytesPerBlock ? target.sharedBytesPerBlock : 0;
  const Roles roles = rolesOf(program, options.schedule ? options.schedule->block : std::string());
  request.inner = innerOf(program, roles, options);
  checkRequirements(program, request.inner);
  const std::string programText = print(program);
  std::string assembler = assembly == Assembly::none ? "text" : target.isHost() ? processor() : "";
  if (options.schedule) {
    if (!target.isHost())
      checkSchedule(program, *options.schedule, target, request.inner);
    request.schedule = *options.schedule;
    request.origin = ScheduleOrigin::given;
  } else {
    constexpr std::size_t mostTried = 8;
    request.others = fittingSchedules(program, target, request.inner, target.isHost() ? 1 : mostTried);
    request.schedule = request.others.front();
    request.others.erase(request.others.begin());
    if (!target.isHost() && !options.strided)
      request.second = secondSchedule(program, target, request.inner, request.schedule);
  }
  for (const auto &[axis, length] : request.inner)
    if (auto width = request.schedule.widths.find(axis); width != request.schedule.widths.end() && width->second < length)
      throw std::invalid_argument(fmt::format("the schedule's tiles are {} wide along axis '{}', which is {} long and lies whole inside a tile; make {} at least {}",
                                              width->second, axis, length, axis, length));
  if (assembler.empty())
    assembler = deviceAssembler(program, request.schedule, target, options.strided);
  // A text that is not assembled is what it is everywhere, whatever was measured here; kernels for any strides are not timed.
  if (!options.schedule && !options.strided && assembly == Assembly::ofTarget)
    if (auto better = betterSchedule({program, programText, target, request.sharedLimit, request.inner, assembler, options}); better && better->schedule != request.schedule) {
      if (better->origin == ScheduleOrigin::tuned)
        request.others.clear();   // it was built and timed
      else
        request.others.insert(request.others.begin(), request.schedule);   // should the assembler's code be slow
      request.schedule = better->schedule;
      request.origin = better->origin;
      request.second.reset();   // what was chosen is for lengths that are known
    }
  request.scheduleText = print(request.schedule);
  request.target = target.name;
  request.assembler = assembler;
  setKey(request, programText);
  return request;
}

Request secondOf(const Program &program, const BuildOptions &options, const Request &first) {
  BuildOptions own = options;
  own.schedule = first.second;
  Request request = complete(program, own);
  request.isSecond = true;
  setKey(request, print(program));
  return request;
}

std::string quickKey(const Program &program, const BuildOptions &options) {
  std::string bytes;
  bytes.reserve(4096);
  appendField(bytes, options.target + (options.strided ? " strided" : ""));
  appendField(bytes, options.schedule ? print(*options.schedule) : "");
  appendField(bytes, std::to_string(int(options.tune)));
  appendField(bytes, std::to_string(options.shapes.size()));
  for (const auto &[name, shape] : options.shapes) {
    appendField(bytes, name);
    for (std::int64_t length : shape)
      appendField(bytes, std::to_string(length));
    appendField(bytes, "");
  }
  if (!options.shapes.empty() && !options.schedule)   // what was chosen before a tuning may be another schedule now
    appendField(bytes, std::to_string(tuning::runsAdded()));
  appendField(bytes, options.sharedLimit ? std::to_string(*options.sharedLimit) : "");
  appendField(bytes, std::to_string(options.extents.size()));
  for (const auto &[name, length] : options.extents) {
    appendField(bytes, name);
    appendField(bytes, std::to_string(length));
  }
  appendFingerprint(bytes, program);
  return bytes;
}

} // namespace tw
