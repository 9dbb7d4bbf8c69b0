#include "GradientForms.h"
#include "BuildKey.h"
#include "tilewright/cuda/Nvrtc.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/kernel/BetweenKernels.h"
#include "tilewright/kernel/Tune.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/LaunchShape.h"
#include "tilewright/tune/Choose.h"
#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

namespace tw {
namespace {

/// Do its steps add to a tensor?
bool isAddedTo(const Program &program) {
  const Roles roles = rolesOf(program);
  return std::any_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return addedBySteps(roles, store) != nullptr; });
}

/// Is there a condition along the fold axis, under which tiles are skipped?
bool skipsTiles(const Program &program) {
  const Roles roles = rolesOf(program);
  std::set<const Node *> seen;
  const std::function<bool(const Tile &)> visit = [&](const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return false;
    if (node.op == Op::select && isFloat(node.type)) {
      const Axes &axes = node.operands[0].axes();
      if (std::any_of(axes.begin(), axes.end(), [&](const Axis &axis) { return same(axis, roles.fold->axis); }))
        return true;
    }
    return std::any_of(node.operands.begin(), node.operands.end(), visit);
  };
  return std::any_of(roles.fold->yields.begin(), roles.fold->yields.end(), visit);
}

/// Do its steps that add to memory copy rows of a tensor of the caller's? Those of lengths that are no multiple of 16 bytes take a kernel that adds to none.
bool copiesRows(const Gradient &made) {
  for (const Program &program : made.backward) {
    if (!hasKernel(program) || !isAddedTo(program))
      continue;
    const Roles roles = rolesOf(program);
    bool copies = false;
    std::set<const Node *> seen;
    const std::function<void(const Tile &)> visit = [&](const Tile &tile) {
      const Node &node = tile.node();
      if (!seen.insert(&node).second)
        return;
      if (node.op == Op::load && node.operands.size() > 1 && node.type != Type::boolean) {
        const bool isBetween = std::any_of(made.intermediates.begin(), made.intermediates.end(), [&](const Intermediate &between) { return between.tensor.name() == node.tensor->name; });
        const auto isTiled = std::count_if(node.axes.begin(), node.axes.end(), [&](const Axis &axis) { return roles.isTiled(axis); });
        copies |= !isBetween && isTiled == 1 && std::any_of(node.axes.begin(), node.axes.end(), [&](const Axis &axis) { return same(axis, roles.fold->axis); });
      }
      std::for_each(node.operands.begin(), node.operands.end(), visit);
    };
    std::for_each(roles.fold->yields.begin(), roles.fold->yields.end(), visit);
    for (const Store &store : program.stores)
      visit(store.value);
    if (copies)
      return true;
  }
  return false;
}

/// In as few programs as have schedules on the target.
Gradient fitting(const Program &program, const BuildOptions &options, GradientOptions wanted) {
  const Target target = targetOf(options);
  BuildOptions backward = options;
  backward.schedule.reset();   // it is the forward kernel's
  while (true) {
    Gradient made = gradient(program, wanted);
    try {
      for (const Program &each : made.backward)
        if (hasKernel(each))
          (void)defaultSchedule(each, target, optionsFor(each, backward).extents);
      return made;
    } catch (const std::invalid_argument &) {
      if (std::exchange(wanted.accumulates, false))
        continue;
      if (wanted.tilesPerProgram <= 1)
        return made;   // whoever builds it says why
    }
    --wanted.tilesPerProgram;
  }
}

/// Is what a step adds to memory a large tile? Masks take the registers of wider steps, and under those that skip tiles items have few: with small ones kernels
/// that each sum in registers were faster (docs/performance.md, Backward).
bool addsLargeTiles(const Gradient &made, const BuildOptions &options) {
  constexpr int fewestRows = 64, fewestColumns = 128;
  BuildOptions backward = options;
  backward.schedule.reset();
  return std::all_of(made.backward.begin(), made.backward.end(), [&](const Program &each) {
    if (!hasKernel(each) || !isAddedTo(each))
      return true;
    const Roles roles = rolesOf(each);
    const Schedule schedule = defaultSchedule(each, targetOf(options), optionsFor(each, backward).extents);
    return std::all_of(each.stores.begin(), each.stores.end(), [&](const Store &store) {
      return !addedBySteps(roles, store) || (schedule.widths.at(roles.fold->axis.name()) >= fewestRows && schedule.widths.at(store.index.back().name()) >= fewestColumns);
    });
  });
}

bool mayAdd(const BuildOptions &options) { return targetOf(options).isHopper() && !options.deterministic; }

Gradient usualForm(const Program &program, const BuildOptions &options, GradientOptions wanted) {
  if (!wanted.accumulates && mayAdd(options)) {
    GradientOptions adding = wanted;
    adding.accumulates = true;
    if (Gradient made = fitting(program, options, adding); !copiesRows(made) && (!skipsTiles(program) || addsLargeTiles(made, options)))
      return made;
  }
  return fitting(program, options, wanted);
}

/// With the shapes of all tensors of the gradient, as far as those of the program tell them.
std::map<std::string, std::vector<std::int64_t>> shapesOf(const Gradient &made, const BuildOptions &options) {
  auto shapes = options.shapes;
  const auto lengths = axisLengths(made.forward, {shapes, {}, optionsFor(made.forward, options).extents});
  for (const Store &store : made.forward.stores)
    if (!shapes.contains(store.tensor.name()))
      for (const Axis &axis : store.index)
        shapes[store.tensor.name()].push_back(lengths.at(axis.name()));
  return backwardShape(made, {std::move(shapes)}).tensors;
}

} // namespace

bool hasKernel(const Program &program) {
  try {
    (void)rolesOf(program);
    return true;
  } catch (const ProgramError &) {
    return !foldsOf(program).empty();      // whoever builds it says why not
  }
}

bool addsToMemory(const Gradient &made) {
  return std::any_of(made.backward.begin(), made.backward.end(), [](const Program &each) { return hasKernel(each) && isAddedTo(each); });
}

std::vector<Gradient> formsFor(const Program &program, const BuildOptions &options, const GradientOptions &wanted) {
  std::vector<Gradient> forms{usualForm(program, options, wanted)};
  if (!mayAdd(options) || wanted.accumulates)
    return forms;
  GradientOptions other = wanted;
  other.accumulates = !addsToMemory(forms.front());
  if (Gradient made = fitting(program, options, other); addsToMemory(made) == other.accumulates && !copiesRows(made))
    forms.push_back(std::move(made));
  return forms;
}

BuildOptions optionsFor(const Program &program, BuildOptions options) {
  const Roles roles = rolesOf(program, options.schedule ? options.schedule->block : std::string());
  std::erase_if(options.extents, [&](const auto &extent) {
    return std::none_of(roles.axes.begin(), roles.axes.end(), [&](const Axis &axis) { return axis.name() == extent.first && roles.of(axis) == Role::inner; });
  });
  return options;
}

BuildOptions optionsOfKernel(const Gradient &made, const Program &program, const BuildOptions &options) {
  BuildOptions own = options;
  if (&program != &made.forward)
    own.schedule.reset();
  own = optionsFor(program, std::move(own));
  if (options.shapes.empty())
    return own;
  own.shapes = shapesOf(made, options);
  const auto tensors = tensorsOf(program);
  std::erase_if(own.shapes, [&](const auto &shape) { return std::none_of(tensors.begin(), tensors.end(), [&](const auto &tensor) { return tensor->name == shape.first; }); });
  return own;
}

std::optional<double> knownSeconds(const Gradient &made, const BuildOptions &options) {
  if (options.shapes.empty() || !options.useCache || (!findTarget(targetOf(options).name).isHost() && !cuda::nvrtcAbsence().empty()))
    return std::nullopt;
  double all = 0;
  for (const Program &program : made.backward) {
    const auto record = hasKernel(program) ? findRecord(program, optionsOfKernel(made, program, options)) : std::nullopt;
    const auto seconds = record ? tuning::chosenSeconds(*record) : std::nullopt;
    if (!seconds)
      return std::nullopt;
    all += *seconds;
  }
  return all;
}

Gradient gradientFor(const Program &program, const BuildOptions &options, GradientOptions wanted) {
  if (options.shapes.empty() || options.tune == Tune::never)
    return usualForm(program, options, std::move(wanted));
  std::vector<Gradient> forms = formsFor(program, options, wanted);
  if (forms.size() > 1)
    if (const auto usual = knownSeconds(forms[0], options))
      if (const auto other = knownSeconds(forms[1], options); other && *other < *usual * (1 - leastGainOfForm))
        return std::move(forms[1]);
  return std::move(forms.front());
}

} // namespace tw
