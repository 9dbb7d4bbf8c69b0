#include "EmittedKernel.h"
#include "tilewright/simulator/SimulateArtifact.h"
#include <bit>
#include <cstring>
#include <stdexcept>

namespace tw::tests {
namespace {

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
  device::NamedProblem problem;
  std::map<std::string, std::vector<std::byte>> memory;
  for (const Parameter &parameter : artifact.parameters) {
    const device::Element element = device::elementNamed(parameter.type.empty() ? "i32" : parameter.type);
    if (parameter.kind == Parameter::Kind::scalar)
      problem.scalars[parameter.name] = scalar(inputs.scalars.at(parameter.name), element);
    if (parameter.kind != Parameter::Kind::tensor)
      continue;
    const auto input = inputs.tensors.find(parameter.name);
    const std::vector<std::int64_t> &shape = parameter.stored ? shapes.at(parameter.name) : input->second.shape;
    const auto bytes = std::size_t(device::bytes(element));
    std::vector<std::byte> &data = memory[parameter.name];
    data.resize(std::size_t(points(shape)) * bytes);
    if (!parameter.stored)
      for (std::size_t i = 0; i < input->second.data.size(); ++i)
        store(&data[i * bytes], input->second.data[i], element);
    problem.tensors[parameter.name] = {reinterpret_cast<std::uint64_t>(data.data()), shape};
  }
  for (auto &[name, length] : inputs.extents)
    problem.lengths[name] = length;

  SimulatedOutcome simulated = simulateArtifact(kernel, artifact, problem, options, sms);
  EmittedOutcome outcome{std::move(simulated.simulation), {}, simulated.items, simulated.blocks, simulated.countersAreZero};
  for (const Parameter &parameter : artifact.parameters)
    if (parameter.stored && parameter.kind == Parameter::Kind::tensor) {
      const device::Element element = device::elementNamed(parameter.type);
      Array array{shapes.at(parameter.name), {}};
      for (std::int64_t i = 0; i < points(array.shape); ++i)
        array.data.push_back(load(&memory[parameter.name][std::size_t(i * device::bytes(element))], element));
      outcome.outputs[parameter.name] = std::move(array);
    }
  return outcome;
}

}   // namespace tw::tests
