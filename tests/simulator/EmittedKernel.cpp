#include "EmittedKernel.h"
#include "tilewright/device/Named.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace tw::tests {
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

template <class T> void put(std::byte *at, T value) { std::memcpy(at, &value, sizeof value); }
template <class T> T get(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void store(std::byte *at, double value, device::Element element) {
  switch (element) {
  case device::Element::boolean:
    return put(at, std::uint8_t(value != 0));
  case device::Element::i32:
    return put(at, std::int32_t(value));
  case device::Element::i64:
    return put(at, std::int64_t(value));
  case device::Element::f16:
    return put(at, _Float16(value));
  case device::Element::bf16:
    return put(at, std::uint16_t(std::bit_cast<std::uint32_t>(float(value)) >> 16));   // exact: it was rounded
  case device::Element::f32:
    return put(at, float(value));
  case device::Element::f64:
    return put(at, value);
  }
}

double load(const std::byte *at, device::Element element) {
  switch (element) {
  case device::Element::boolean:
    return get<std::uint8_t>(at);
  case device::Element::i32:
    return get<std::int32_t>(at);
  case device::Element::i64:
    return double(get<std::int64_t>(at));
  case device::Element::f16:
    return double(get<_Float16>(at));
  case device::Element::bf16:
    return std::bit_cast<float>(std::uint32_t(get<std::uint16_t>(at)) << 16);
  case device::Element::f32:
    return get<float>(at);
  case device::Element::f64:
    return get<double>(at);
  }
  throw std::logic_error("no such element");
}

device::ScalarArgument scalar(double value, device::Element element) {
  device::ScalarArgument argument;
  store(argument.element.data(), value, element);
  return argument;
}

std::int64_t points(const std::vector<std::int64_t> &shape) {
  std::int64_t points = 1;
  for (const std::int64_t length : shape)
    points *= length;
  return points;
}

}   // namespace

EmittedKernel::EmittedKernel(const Artifact &artifact, const std::string &text)
    : artifact(artifact), kernel(compileForSimulator(text.empty() ? artifact.source : text, artifact.entry)) {}

EmittedOutcome EmittedKernel::run(const Evaluation &inputs, const std::map<std::string, std::vector<std::int64_t>> &shapes,
                                  const SimulatorOptions &options, int sms) const {
  SimulatedMemory memory;
  device::NamedProblem problem;
  std::map<std::string, std::byte *> stored;
  for (const Parameter &parameter : artifact.parameters) {
    const device::Element element = device::elementNamed(parameter.type.empty() ? "i32" : parameter.type);
    if (parameter.kind == Parameter::Kind::scalar)
      problem.scalars[parameter.name] = scalar(inputs.scalars.at(parameter.name), element);
    if (parameter.kind != Parameter::Kind::tensor)
      continue;
    const auto input = inputs.tensors.find(parameter.name);
    const std::vector<std::int64_t> &shape = parameter.stored ? shapes.at(parameter.name) : input->second.shape;
    const int bytes = device::bytes(element);
    auto *data = static_cast<std::byte *>(memory.allocate(parameter.name, std::size_t(points(shape) * bytes)));
    if (parameter.stored)
      stored[parameter.name] = data;
    else
      for (std::size_t i = 0; i < input->second.data.size(); ++i)
        store(data + i * std::size_t(bytes), input->second.data[i], element);
    problem.tensors[parameter.name] = {reinterpret_cast<std::uint64_t>(data), shape};
  }
  for (const AxisFacts &axis : artifact.axes)
    for (const AxisBinding &binding : axis.bindings)
      problem.lengths[axis.name] = problem.tensors.at(binding.tensor).shape.at(std::size_t(binding.dimension));
  for (auto &[name, length] : inputs.extents)
    problem.lengths[name] = length;
  const auto counters = std::size_t(artifact.launch.counters);
  auto *counter = static_cast<std::int32_t *>(memory.allocate("counters", std::max<std::size_t>(counters, 1) * 4));
  std::fill_n(counter, counters, 0);
  problem.counters = reinterpret_cast<std::uint64_t>(counter);

  const device::Launch launch = device::prepare(device::Plan(artifact.launch), problem, {sms, 1 << 20}, encode);
  EmittedOutcome outcome;
  outcome.items = launch.items;
  outcome.blocks = launch.blocks;
  if (launch.blocks)
    outcome.simulation = simulate(kernel,
                                  {{std::uint32_t(launch.blocks)},
                                   {std::uint32_t(artifact.launch.threads)},
                                   std::uint32_t(artifact.launch.sharedBytes),
                                   std::span(launch.parameters[0].bytes, launch.parameterBytes)},
                                  memory, options);
  for (auto &[name, data] : stored) {
    const auto parameter =
        std::find_if(artifact.parameters.begin(), artifact.parameters.end(), [&, &name = name](auto &p) { return p.name == name; });
    const device::Element element = device::elementNamed(parameter->type);
    Array array{shapes.at(name), {}};
    for (std::int64_t i = 0; i < points(array.shape); ++i)
      array.data.push_back(load(data + i * device::bytes(element), element));
    outcome.outputs[name] = std::move(array);
  }
  outcome.countersAreZero = std::all_of(counter, counter + counters, [](int value) { return value == 0; });
  return outcome;
}

}   // namespace tw::tests
