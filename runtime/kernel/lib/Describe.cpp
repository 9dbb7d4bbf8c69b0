// A kernel for a person to read.
#include "Second.h"
#include "State.h"
#include "tilewright/dsl/Schedule.h"
#include <fmt/format.h>

namespace tw {
namespace {

const char *text(AxisFacts::Role role) {
  switch (role) {
  case AxisFacts::Role::free: return "free";
  case AxisFacts::Role::block: return "block";
  case AxisFacts::Role::fold: return "fold";
  case AxisFacts::Role::inner: return "inner";
  }
  return "";
}

} // namespace

const std::string &Kernel::name() const { return state->artifact.program; }

Schedule Kernel::schedule() const { return parseSchedule(state->artifact.schedule); }

std::string Kernel::describe() const {
  const Artifact &a = state->artifact;
  std::string out = fmt::format("kernel {}\n  target    {}\n  key       {}\n  schedule  {}\n  code      {} bytes, ", a.program, a.target, state->key, a.schedule, a.code.size());
  if (!state->device)
    out += fmt::format("{} bytes of scratch an item\n", a.scratchBytes);
  else
    out += fmt::format("entry {}\n  resources {} threads a block, {} registers a thread, {} bytes spilled, {} bytes of shared memory a block\n", a.entry, a.launch.threads, a.resources.registers,
                       a.resources.spillBytes, a.launch.sharedBytes + a.resources.staticSharedBytes);
  if (state->second)
    out += fmt::format("  second    {}, for launches of which the cost model promises that it is faster\n", state->second->kernel->artifact.schedule);
  out += fmt::format("  launch    {} kernel{}\n", kernelsPerLaunch,
                     a.launch.strided      ? ", for tensors of any strides, element by element"
                     : state->hasStrided() ? "; another one for tensors that cannot be copied in pieces of 16 bytes"
                                           : "");
  for (const Parameter &p : a.parameters)
    if (p.kind == Parameter::Kind::tensor)
      out += fmt::format("  {:<9} {} {}[{}]\n", p.summed ? "adds to" : p.stored ? "stores" : "loads", p.name, p.type, p.rank);
    else if (p.kind == Parameter::Kind::scalar)
      out += fmt::format("  scalar    {} {}{}\n", p.name, p.type, p.positive ? ", positive" : "");
  for (const AxisFacts &axis : a.axes) {
    out += fmt::format("  axis      {} {}", axis.name, text(axis.role));
    if (axis.role != AxisFacts::Role::free)
      out += fmt::format(", {} wide", axis.width);
    if (auto built = state->inner.find(axis.name); built != state->inner.end())
      out += fmt::format(", {} long", built->second);
    for (std::size_t i = 0; i < axis.bindings.size(); ++i)
      out += fmt::format("{} dimension {} of {}", i ? "," : ":", axis.bindings[i].dimension, axis.bindings[i].tensor);
    out += "\n";
  }
  return out;
}

} // namespace tw
