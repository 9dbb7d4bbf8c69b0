#include "tilewright/kernel/GradientKernels.h"
#include "tilewright/dsl/Roles.h"
#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace tw {
namespace {

constexpr std::size_t alignment = 256;
/// An address that is no tensor's, where only sizes are asked for.
constexpr std::uintptr_t nowhere = std::uintptr_t(1) << 62;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// What of the arguments a program mentions.
Arguments argumentsOf(const Program &program, const Arguments &all) {
  Arguments own;
  for (const auto &tensor : tensorsOf(program))
    if (auto found = all.tensors.find(tensor->name); found != all.tensors.end())
      own.tensors.insert(*found);
  for (const Tile &scalar : scalarsOf(program))
    if (auto found = all.scalars.find(scalar.node().label); found != all.scalars.end())
      own.scalars.insert(*found);
  return own;
}

/// The options for one of the programs: of the extents those of its own inner axes.
BuildOptions optionsFor(const Program &program, BuildOptions options) {
  const Roles roles = rolesOf(program, options.schedule ? options.schedule->block : std::string());
  std::erase_if(options.extents, [&](const auto &extent) {
    return std::none_of(roles.axes.begin(), roles.axes.end(), [&](const Axis &axis) { return axis.name() == extent.first && roles.of(axis) == Role::inner; });
  });
  return options;
}

/// A gradient along both tile axes is no sum over one of them, which is what kernels are made of.
void refuseDense(const Gradient &made) {
  const Roles roles = rolesOf(made.forward);
  for (const Program &program : made.backward)
    for (const Store &store : program.stores)
      if (contains(store.index, roles.block()) && contains(store.index, roles.fold->axis))
        throw std::invalid_argument(fmt::format("'{}' runs along both '{}' and '{}', and no kernel makes such a gradient so far; ask for those of other inputs by GradientOptions::inputs, or use evaluateGradient()",
                                                store.tensor.name(), roles.block().name(), roles.fold->axis.name()));
}

} // namespace

GradientKernels::GradientKernels(Gradient programs, Kernel forward, std::vector<Kernel> backward) : made(std::move(programs)), first(std::move(forward)), rest(std::move(backward)) {}

std::vector<Kernel> GradientKernels::kernels() const {
  std::vector<Kernel> all{first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

std::map<std::string, GradientKernels::Place> GradientKernels::places(const Arguments &arguments, std::size_t &end) const {
  std::map<std::string, Place> found;
  end = 0;
  for (const Intermediate &between : made.intermediates) {
    Place place{end, {}};
    std::size_t bytes = std::size_t(tw::bytes(between.tensor.type()));
    for (const Intermediate::Length &length : between.shape) {
      auto tensor = arguments.tensors.find(length.tensor);
      if (tensor == arguments.tensors.end())
        throw ArgumentError(fmt::format("tensor '{}' of program '{}' is missing; give it, with its shape, in Arguments::tensors", length.tensor, made.forward.name));
      if (length.dimension >= tensor->second.shape.size() || tensor->second.shape[length.dimension] < 0)
        throw ArgumentError(fmt::format("tensor '{}' of program '{}' has {} dimensions, and needs a length of 0 or more along dimension {}", length.tensor, made.forward.name,
                                        tensor->second.shape.size(), length.dimension));
      place.shape.push_back(tensor->second.shape[length.dimension]);
      if (__builtin_mul_overflow(bytes, std::size_t(place.shape.back()), &bytes))
        throw ArgumentError(fmt::format("what lies between the kernels of '{}' has more than 2^64 bytes", made.forward.name));
    }
    end += aligned(bytes);
    found[between.tensor.name()] = std::move(place);
  }
  return found;
}

std::size_t GradientKernels::workspaceBytes(const Arguments &arguments) const {
  std::size_t between = 0, own = 0;
  Arguments all = arguments;
  for (auto &[name, place] : places(arguments, between)) {
    const auto found = std::find_if(made.intermediates.begin(), made.intermediates.end(), [&, tensor = &name](const Intermediate &i) { return i.tensor.name() == *tensor; });
    all.tensors[name] = {reinterpret_cast<void *>(nowhere + place.offset), found->tensor.type(), place.shape, {}};
  }
  // Derivatives and gradients lie as their outputs and inputs do, wherever that will be.
  std::uintptr_t elsewhere = nowhere + aligned(between);
  auto stand = [&](const std::string &name, const std::string &as) {
    auto like = all.tensors.find(as);
    if (all.tensors.count(name))
      return;
    TensorView view = like == all.tensors.end() ? TensorView{nullptr, Type::f32, {1}, {}} : TensorView{nullptr, like->second.type, like->second.shape, {}};
    std::size_t bytes = std::size_t(tw::bytes(view.type));
    for (std::int64_t length : view.shape)
      bytes *= std::size_t(std::max<std::int64_t>(length, 1));
    view.data = reinterpret_cast<void *>(elsewhere);
    elsewhere += aligned(bytes);
    all.tensors[name] = std::move(view);
  };
  for (const auto &[output, name] : made.upstream)
    stand(name, output);
  for (const auto &[input, name] : made.gradients)
    stand(name, input);
  own = first.workspaceBytes(argumentsOf(made.forward, all));
  for (std::size_t i = 0; i < rest.size(); ++i)
    own = std::max(own, rest[i].workspaceBytes(argumentsOf(made.backward[i], all)));
  return aligned(between) + own;
}

void GradientKernels::run(const Kernel &kernel, const Program &program, Stream stream, const Arguments &arguments, Workspace workspace) const {
  std::size_t between = 0;
  Arguments all = arguments;
  for (auto &[name, place] : places(arguments, between)) {
    const auto found = std::find_if(made.intermediates.begin(), made.intermediates.end(), [&, tensor = &name](const Intermediate &i) { return i.tensor.name() == *tensor; });
    all.tensors[name] = {static_cast<std::byte *>(workspace.data) + place.offset, found->tensor.type(), place.shape, {}};
  }
  if (workspace.bytes < between || (between && !workspace.data))
    throw ArgumentError(fmt::format("the workspace has {} bytes, and {} lie between the kernels of '{}'; ask workspaceBytes() with the same arguments", workspace.bytes, between, made.forward.name));
  kernel.launch(stream, argumentsOf(program, all), {static_cast<std::byte *>(workspace.data) + between, workspace.bytes - between, false});
}

void GradientKernels::forward(Stream stream, const Arguments &arguments, Workspace workspace) const { run(first, made.forward, stream, arguments, workspace); }

void GradientKernels::backward(Stream stream, const Arguments &arguments, Workspace workspace) const {
  for (std::size_t i = 0; i < rest.size(); ++i)
    run(rest[i], made.backward[i], stream, arguments, workspace);
}

GradientKernels buildGradient(const Program &program, const BuildOptions &options, const GradientOptions &wanted) {
  Gradient programs = gradient(program, wanted);
  refuseDense(programs);
  Kernel forward = build(programs.forward, optionsFor(programs.forward, options));
  BuildOptions others = options;
  others.schedule.reset();
  std::vector<Kernel> backward;
  for (const Program &each : programs.backward)
    backward.push_back(build(each, optionsFor(each, others)));
  return GradientKernels(std::move(programs), std::move(forward), std::move(backward));
}

} // namespace tw
