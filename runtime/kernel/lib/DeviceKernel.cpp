// From checked arguments to a launch on a GPU: numbers are copied into place, and nothing is looked up by name.
#include "DeviceKernel.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Buffer.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/cuda/Resources.h"
#include "tilewright/schedule/Target.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {
namespace {

cuda::Image imageOf(const Artifact &artifact) {
  return {artifact.code, artifact.entry, artifact.program, artifact.target, findTarget(artifact.target).arch, artifact.launch.threads, artifact.launch.sharedBytes};
}

const device::EncodeMap softwareMaps = device::softwareMap;

/// For each name, its place among `known`.
std::vector<std::size_t> places(const Artifact &artifact, const std::vector<std::string> &names, const std::vector<std::string> &known, const char *what) {
  std::vector<std::size_t> all;
  for (const std::string &name : names) {
    auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw RuntimeError(fmt::format("kernel '{}' takes {} '{}', of which it says nothing else; clear the cache", artifact.program, what, name));
    all.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  return all;
}

std::vector<std::string> axesOf(const Artifact &artifact) {
  std::vector<std::string> names;
  for (const AxisFacts &axis : artifact.axes)
    names.push_back(axis.name);
  return names;
}

std::uint64_t addressOf(const void *data) { return reinterpret_cast<std::uint64_t>(data); }

/// The memory of a tensor that a kernel adds to, which must be one piece for it to be zeroed before.
cuda::Words wordsOf(const CheckedTensor &tensor) {
  constexpr std::int64_t wordBytes = 4;
  std::int64_t elements = 1;
  for (std::size_t d = tensor.shape.size(); d-- > 0; elements *= tensor.shape[d])
    if (tensor.shape[d] > 1 && tensor.strides[d] != elements)
      throw ArgumentError(fmt::format("tensor '{}' has strides [{}] for shape [{}]; the kernel adds to it, and sets it to 0 first: let its elements lie side by side, in the order of its dimensions", tensor.parameter->name,
                                      fmt::join(tensor.strides, ", "), fmt::join(tensor.shape, ", ")));
  return {addressOf(tensor.data), static_cast<std::size_t>(elements * device::bytes(device::elementNamed(tensor.parameter->type)) / wordBytes)};
}

} // namespace

DeviceKernel::DeviceKernel(const Artifact &artifact)
    : plan(artifact.launch), module(imageOf(artifact)), tensors(places(artifact, plan.tensors(), namesOf(artifact, Parameter::Kind::tensor), "tensor")),
      axes(places(artifact, plan.axes(), axesOf(artifact), "the length of axis")), scalars(places(artifact, plan.scalars(), namesOf(artifact, Parameter::Kind::scalar), "scalar")),
      counterBytes(static_cast<std::size_t>(artifact.launch.counters) * 4) {
  const cuda::CubinFacts code = cuda::readCubin(artifact.code, artifact.entry);
  if (static_cast<std::size_t>(code.parameterBytes) != plan.parameterBytes() || plan.parameterBytes() > mostParameterBytes)
    throw RuntimeError(fmt::format("kernel '{}' takes {} bytes of parameters by its code and {} by its facts, of at most {}; clear the cache", artifact.program, code.parameterBytes,
                                   plan.parameterBytes(), mostParameterBytes));
  if (code.threads && code.threads < artifact.launch.threads)
    throw RuntimeError(fmt::format("kernel '{}' is made for blocks of {} threads and is launched with {}; clear the cache", artifact.program, code.threads, artifact.launch.threads));
}

int DeviceKernel::ordinalOf(const Checked &checked, bool isKnown) const {
  const CheckedTensor *first = nullptr;
  cuda::Residence home;
  for (const CheckedTensor &tensor : checked.tensors) {
    if (tensor.isEmpty())
      continue;
    const auto residence = cuda::residence(addressOf(tensor.data));
    if (!residence)
      throw ArgumentError(fmt::format("tensor '{}' lies at address {}, which is in no GPU's memory; copy it to the GPU, or build the kernel for the CPU (target host)", tensor.parameter->name,
                                      fmt::ptr(tensor.data)));
    if (first && home.isDevice && residence->isDevice && residence->ordinal != home.ordinal)
      throw ArgumentError(fmt::format("tensor '{}' is on GPU {} and tensor '{}' on GPU {}; copy them to one GPU", first->parameter->name, home.ordinal, tensor.parameter->name, residence->ordinal));
    if (!first || (residence->isDevice && !home.isDevice)) {
      first = &tensor;
      home = *residence;
    }
    if (isKnown && home.isDevice)
      break;
  }
  return home.ordinal;
}

PreparedLaunch DeviceKernel::prepare(int ordinal, const Artifact &artifact, const Checked &checked) const {
  std::vector<device::TensorArgument> givenTensors;
  std::vector<std::int64_t> lengths;
  std::vector<device::ScalarArgument> givenScalars;
  for (std::size_t i : tensors)
    givenTensors.push_back({addressOf(checked.tensors[i].data), checked.tensors[i].shape, checked.tensors[i].strides});
  for (std::size_t i : axes)
    lengths.push_back(checked.lengths[i]);
  for (std::size_t i : scalars)
    givenScalars.push_back({checked.scalars[i].element});
  const device::Problem problem{givenTensors, lengths, givenScalars, 0};
  const device::Machine machine = module.machine(ordinal);
  const std::int64_t items = plan.items(problem);
  if (items > device::maxItems)
    throw ArgumentError(fmt::format("kernel '{}' would have more than {} work items, tiles of '{}' times points of {}; launch it on parts", artifact.program, device::maxItems,
                                    artifact.launch.blockAxis, fmt::join(artifact.launch.freeAxes, ", ")));
  const int blocks = plan.blocks(items, machine);
  if (plan.listPlaces(problem, blocks) > device::maxItems)
    throw ArgumentError(fmt::format("kernel '{}' would list more than {} tiles of '{}' in its workspace; launch it on parts", artifact.program, device::maxItems, artifact.launch.listAxis));
  std::vector<cuda::Words> sums;
  for (const CheckedTensor &tensor : checked.tensors)
    if (tensor.parameter->summed && !tensor.isEmpty())
      sums.push_back(wordsOf(tensor));
  return {ordinal, blocks, plan.workspaceBytes(problem, blocks), plan.filled(problem, machine, artifact.launch.softwareMaps ? softwareMaps : cuda::driverEncodeMap()), std::move(sums), nullptr};
}

void DeviceKernel::checkHome(PreparedLaunch &prepared, const Artifact &artifact, Workspace workspace) const {
  if (!counterBytes || workspace.data == prepared.workspace)
    return;
  const auto residence = cuda::residence(addressOf(workspace.data));
  if (!residence || !residence->isDevice)
    throw ArgumentError(fmt::format("the workspace lies at address {}, which is {}; kernel '{}' counts there: allocate it on GPU {}, where the tensors are", fmt::ptr(workspace.data),
                                    residence ? "the host's memory" : "in no GPU's memory", artifact.program, prepared.ordinal));
  if (residence->ordinal != prepared.ordinal)
    throw ArgumentError(fmt::format("the workspace is on GPU {} and the tensors of kernel '{}' on GPU {}; allocate it there", residence->ordinal, artifact.program, prepared.ordinal));
  prepared.workspace = workspace.data;
}

std::size_t DeviceKernel::workspaceBytes(const Checked &checked) const {
  std::vector<std::int64_t> lengths;
  for (std::size_t i : axes)
    lengths.push_back(checked.lengths[i]);
  const device::Problem problem{{}, lengths, {}, 0};
  device::Machine largest{1, 0};
  for (const cuda::Gpu &gpu : cuda::gpus())
    largest.sms = std::max(largest.sms, gpu.sms);
  return plan.workspaceBytes(problem, plan.blocks(std::min<std::int64_t>(plan.items(problem), device::maxItems), largest));
}

void DeviceKernel::queue(PreparedLaunch &prepared, const Artifact &artifact, void *stream, Workspace workspace) const {
  const bool mustZero = counterBytes && !workspace.isZeroed;
  if (prepared.counters != workspace.data || prepared.zeroes != mustZero) {
    prepared.repeats = 0;
    prepared.counters = workspace.data;
    prepared.zeroes = mustZero;
    prepared.recording.reset();
  }
  for (const cuda::Words &sum : prepared.sums)
    module.zero(prepared.ordinal, stream, sum);
  if (prepared.recording && prepared.recording->launch(stream))
    return;
  std::byte *parameters = prepared.parameters.front().bytes;
  plan.setWorkspace(addressOf(workspace.data), parameters);
  const cuda::Words zeroed{addressOf(workspace.data), mustZero ? static_cast<std::size_t>(artifact.launch.counters) : 0};
  module.launch(prepared.ordinal, stream, prepared.blocks, parameters, zeroed);
  // Recording costs as much as a few launches.
  constexpr int repeatsBeforeRecording = 3;
  if (prepared.repeats < repeatsBeforeRecording && ++prepared.repeats == repeatsBeforeRecording) {
    try {
      prepared.recording.emplace(module, prepared.ordinal, prepared.blocks, parameters, zeroed);
    } catch (const RuntimeError &) {
      // What was asked for is queued; the next launches go as this one went.
    }
  }
}

std::optional<int> DeviceKernel::zeroSums(const Checked &checked, void *stream) const {
  std::optional<int> ordinal;
  for (const CheckedTensor &tensor : checked.tensors)
    if (tensor.parameter->summed && !tensor.isEmpty()) {
      if (!ordinal)
        ordinal = ordinalOf(checked, false);
      module.zero(*ordinal, stream, wordsOf(tensor));
    }
  return ordinal;
}

void DeviceKernel::launch(const Artifact &artifact, void *stream, const Checked &checked, std::optional<PreparedLaunch> &prepared, Workspace workspace) const {
  // Memory may have been given back and taken again on another GPU since.
  if (prepared && cuda::gpus().size() > 1 && ordinalOf(checked, true) != prepared->ordinal)
    prepared.reset();
  if (!prepared)
    prepared = prepare(ordinalOf(checked, false), artifact, checked);
  checkHome(*prepared, artifact, workspace);
  if (workspace.bytes < prepared->workspaceBytes)
    throw ArgumentError(fmt::format("the workspace has {} bytes, kernel '{}' needs {}; ask workspaceBytes() with the same arguments", workspace.bytes, artifact.program, prepared->workspaceBytes));
  queue(*prepared, artifact, stream, workspace);
}

void DeviceKernel::launchAndWait(const Artifact &artifact, const Checked &checked) const {
  const int ordinal = ordinalOf(checked, false);
  PreparedLaunch prepared = prepare(ordinal, artifact, checked);
  const cuda::Buffer workspace(ordinal, prepared.workspaceBytes);
  queue(prepared, artifact, nullptr, {workspace.data(), prepared.workspaceBytes});
  cuda::synchronise(ordinal, nullptr);
}

} // namespace tw
