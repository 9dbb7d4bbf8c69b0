#include "Held.h"
#include "EmittedKernel.h"
#include "support/Arrays.h"
#include "tilewright/pipeline/Compile.h"

namespace tw::tests {

Schedule changed(const Schedule &schedule, std::string_view fields) {
  std::string text(1, ' ');
  text += print(schedule);
  while (!fields.empty()) {
    const std::size_t end = std::min(fields.find(' '), fields.size());
    const std::string field(fields.substr(0, end));
    std::string name(1, ' ');
    name += field.substr(0, field.find('=') + 1);
    fields.remove_prefix(std::min(end + 1, fields.size()));
    const std::size_t old = text.find(name);
    if (old == text.npos) {      // one that is printed only where it is not the default
      text += " " + field;
      continue;
    }
    const std::size_t next = std::min(text.find(' ', old + 1), text.size());
    text.replace(old + 1, next - old - 1, field);
  }
  Schedule made = parseSchedule(text.substr(1));
  made.producer |= made.stages < 2 || made.overlap;      // consumers copy for themselves a step ahead, and wait for their products
  return made;
}

std::map<std::string, Array> meaningOf(const Held &held) {
  Evaluation measured = held.inputs;
  for (const auto &[name, shape] : held.stored)
    measured.tensors[name] = zeros(shape);
  return evaluate(held.program, measured);
}

std::string differences(const Held &held, const std::map<std::string, Array> &outputs, const std::map<std::string, Array> &meaning) {
  std::string text;
  for (const auto &[name, shape] : held.stored)
    if (const Comparison compared = compare(outputs.at(name), meaning.at(name), held.tolerances.at(name), held.nans); !compared)
      text += name + ": " + compared.summary + "\n";
  return text;
}

std::string faultOf(const Held &held, const Schedule &schedule, const Target &target, int seeds) {
  const EmittedKernel kernel(compileDevice(held.program, schedule, target));
  const auto meaning = meaningOf(held);
  std::map<std::string, Array> first;
  for (const SimulatorOptions &options : simulatorSettings(seeds)) {
    const EmittedOutcome outcome = kernel.run(held.inputs, held.stored, options);
    std::string fault = outcome.simulation.text() + (outcome.countersAreZero ? "" : "counters are left that are not 0\n") + differences(held, outcome.outputs, meaning);
    for (const auto &[name, array] : outcome.outputs)
      if (held.nans == Nans::refused && first.contains(name) && first[name].data != array.data)
        fault += name + " differs from run to run\n";
    if (!fault.empty())
      return held.program.name + " under " + print(schedule) + " on " + target.name + ", seed " + std::to_string(options.seed) + "\n" + fault;
    if (first.empty())
      first = outcome.outputs;
  }
  return "";
}

} // namespace tw::tests
