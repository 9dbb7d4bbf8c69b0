#include "tilewright/simulator/SimulateArtifact.h"
#include "Phrase.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace tw {
namespace {

MapElement mapElement(device::Element element) {
  switch (element) {
  case device::Element::boolean:
    return MapElement::u8;
  case device::Element::i32:
    return MapElement::s32;
  case device::Element::i64:
    return MapElement::s64;
  case device::Element::f16:
    return MapElement::f16;
  case device::Element::bf16:
    return MapElement::bf16;
  case device::Element::f32:
    return MapElement::f32;
  case device::Element::f64:
    return MapElement::f64;
  }
  throw std::logic_error("no such element");
}

void encode(const device::TensorMap &map, void *out) {
  const std::uint32_t ones[] = {1, 1, 1, 1, 1};
  const int swizzle = map.swizzle == 0 ? 0 : std::countr_zero(unsigned(map.swizzle)) - 4;   // 32, 64, 128 bytes
  const std::string refused = encodeTensorMap(out, mapElement(map.element), map.rank, reinterpret_cast<void *>(map.address), map.sizes.data(),
                                              map.strides.data() + 1, map.box.data(), ones, 0, swizzle, 0, 0);
  if (!refused.empty())
    throw std::invalid_argument("tensor map: " + refused);
}

/// From the first element to the last, what lies between rows included.
std::size_t bytesOf(const Parameter &parameter, const device::NamedTensor &tensor) {
  const auto bytes = std::size_t(device::bytes(device::elementNamed(parameter.type)));
  std::size_t elements = 1;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    const auto length = std::size_t(tensor.shape[d]);
    if (length == 0)
      return 0;
    if (tensor.strides.empty())
      elements *= length;
    else
      elements += (length - 1) * std::size_t(tensor.strides.at(d));
  }
  return elements * bytes;
}

/// A tensor of the caller's, and its copy between guard pages.
struct Copied {
  void *original, *copy;
  std::size_t bytes;
};

}   // namespace

SimulatedOutcome simulateArtifact(const SimulatedKernel &kernel, const Artifact &artifact, device::NamedProblem problem,
                                  const SimulatorOptions &options, int sms) {
  SimulatedMemory memory;
  std::vector<Copied> stored;
  for (const Parameter &parameter : artifact.parameters) {
    if (parameter.kind != Parameter::Kind::tensor)
      continue;
    const auto found = problem.tensors.find(parameter.name);
    if (found == problem.tensors.end())
      throw std::invalid_argument(simulated::phrase("tensor '{}' is missing from the problem", parameter.name));
    device::NamedTensor &tensor = found->second;
    const Copied copied{reinterpret_cast<void *>(tensor.address), memory.allocate(parameter.name, bytesOf(parameter, tensor)), bytesOf(parameter, tensor)};
    if (parameter.stored)
      stored.push_back(copied);
    if (copied.bytes && (!parameter.stored || !tensor.strides.empty()))   // what lies between rows stays as it is
      std::memcpy(copied.copy, copied.original, copied.bytes);
    if (copied.bytes && parameter.summed)
      std::memset(copied.copy, 0, copied.bytes);
    tensor.address = reinterpret_cast<std::uint64_t>(copied.copy);
  }
  for (const AxisFacts &axis : artifact.axes)
    for (const AxisBinding &binding : axis.bindings)
      problem.lengths[axis.name] = problem.tensors.at(binding.tensor).shape.at(std::size_t(binding.dimension));
  const auto counters = std::size_t(artifact.launch.counters);
  auto *counter = static_cast<std::int32_t *>(memory.allocate("counters", std::max<std::size_t>(counters, 1) * 4));
  problem.workspace = reinterpret_cast<std::uint64_t>(counter);
  const device::Plan plan(artifact.launch);
  device::Launch launch = device::prepare(plan, problem, {sms, 1 << 20}, artifact.launch.softwareMaps ? device::EncodeMap(device::softwareMap) : encode);
  if (launch.workspaceBytes > counters * 4) {      // there are lists behind the counters
    counter = static_cast<std::int32_t *>(memory.allocate("workspace", launch.workspaceBytes));
    plan.setWorkspace(reinterpret_cast<std::uint64_t>(counter), launch.parameters[0].bytes);
  }
  std::fill_n(counter, counters, 0);
  SimulatedOutcome outcome;
  outcome.items = launch.items;
  outcome.blocks = launch.blocks;
  if (launch.blocks)
    outcome.simulation = simulate(kernel,
                                  {{std::uint32_t(launch.blocks)},
                                   {std::uint32_t(artifact.launch.threads)},
                                   std::uint32_t(artifact.launch.sharedBytes),
                                   std::span(launch.parameters[0].bytes, launch.parameterBytes)},
                                  memory, options);
  for (const Copied &tensor : stored)
    if (tensor.bytes)
      std::memcpy(tensor.original, tensor.copy, tensor.bytes);
  outcome.countersAreZero = std::all_of(counter, counter + counters, [](int value) { return value == 0; });
  return outcome;
}

}   // namespace tw
