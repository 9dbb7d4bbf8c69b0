#include "tilewright/kernel/TuneGradient.h"
#include "GradientForms.h"
#include "TuneChain.h"
#include "tilewright/schedule/LaunchShape.h"
#include "tilewright/tune/Choose.h"
#include <algorithm>

namespace tw {

void TuneChain::follow(const Gradient &made) {
  gradient = &made;
  for (const Intermediate &between : made.intermediates)
    shared.between.insert(between.tensor.name());
  if (small)
    small->shapes = backwardShape(made, {small->shapes}).tensors;
}

void TuneChain::takeSmall(std::optional<TuningInputs> problem) {
  if (!hasBegun)
    small = std::move(problem);
  else if (small && problem)
    for (auto &[tensor, values] : problem->values.tensors)
      small->values.tensors.insert_or_assign(tensor, std::move(values));
  hasBegun = true;
  if (small && gradient)
    small->shapes = backwardShape(*gradient, {small->shapes}).tensors;
}

void TuneChain::takeStored(const TuneProblem &timed) {
  const auto isGradient = [&](const std::string &tensor) {
    return std::any_of(gradient->gradients.begin(), gradient->gradients.end(), [&](const auto &each) { return each.second == tensor; });
  };
  for (const std::string &tensor : timed.stored())
    if (!isGradient(tensor))   // which nobody reads
      shared.stored[tensor] = timed.elementsOf(tensor);
}

TuningInputs partOf(const Program &program, const TuningInputs &all) {
  TuningInputs part;
  for (const auto &tensor : tensorsOf(program)) {
    if (const auto shape = all.shapes.find(tensor->name); shape != all.shapes.end())
      part.shapes.insert(*shape);
    if (const auto values = all.values.tensors.find(tensor->name); values != all.values.tensors.end())
      part.values.tensors.insert(*values);
  }
  for (const Tile &scalar : scalarsOf(program))
    if (const auto value = all.values.scalars.find(scalar.node().label); value != all.values.scalars.end())
      part.values.scalars.insert(*value);
  return part;
}

namespace {

/// By the program's text.
using Records = std::map<std::string, TuningRecord>;

/// `known` has what was tuned before, in another form.
TunedGradient tuned(Gradient programs, const BuildOptions &options, const TuneOptions &how, TuneChain &chain, Records &known) {
  TunedGradient out{std::move(programs), false, {}, std::nullopt};
  const Gradient &made = out.programs;
  out.addsToMemory = addsToMemory(made);
  chain.follow(made);
  std::vector<const Program *> all{&made.forward};
  for (const Program &program : made.backward)
    all.push_back(&program);
  double seconds = 0;
  for (const Program *program : all) {
    if (!hasKernel(*program) || (how.stop && how.stop()))
      return out;
    const auto [record, isNew] = known.try_emplace(print(*program));
    if (isNew) {
      TuneOptions own = how;
      own.values = partOf(*program, {{}, how.values}).values;
      if (program != &made.forward)
        own.also.clear();   // they are the forward kernel's, as BuildOptions::schedule is
      record->second = tune(*program, optionsOfKernel(made, *program, options), own, &chain);
    }
    out.records.push_back(record->second);
    const auto taken = tuning::chosenSeconds(record->second);
    if (!isTimed(record->second.runs.back()) || !taken)
      return out;
    if (program != &made.forward)
      seconds += *taken;
  }
  out.seconds = seconds;
  return out;
}

} // namespace

TunedGradient tuneGradient(Gradient programs, const BuildOptions &options, const TuneOptions &how) {
  TuneChain chain;
  Records known;
  return tuned(std::move(programs), options, how, chain, known);
}

std::vector<TunedGradient> tuneGradient(const Program &program, const BuildOptions &options, const TuneOptions &how, const GradientOptions &wanted) {
  TuneChain chain;
  Records known;
  std::vector<TunedGradient> all;
  for (Gradient &form : formsFor(program, options, wanted))
    all.push_back(tuned(std::move(form), options, how, chain, known));
  if (all.size() > 1 && all[1].seconds && (!all[0].seconds || *all[1].seconds < *all[0].seconds * (1 - leastGainOfForm)))
    std::swap(all[0], all[1]);
  return all;
}

} // namespace tw
