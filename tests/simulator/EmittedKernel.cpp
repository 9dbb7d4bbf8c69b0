#include "EmittedKernel.h"
#include "tilewright/simulator/SimulateArtifact.h"
#include <bit>
#include <cstring>
#include <mutex>
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

Layout layoutOf(const std::map<std::string, Layout> &layouts, const std::string &tensor, const std::vector<std::int64_t> &shape) {
  if (const auto given = layouts.find(tensor); given != layouts.end())
    return given->second;
  Layout layout{std::vector<std::int64_t>(shape.size())};
  std::int64_t next = 1;
  for (std::size_t d = shape.size(); d-- > 0; next *= shape[d])
    layout.strides[d] = next;
  return layout;
}

/// Where element number `i` of the shape, row-major, lies.
std::size_t placeOf(const Layout &layout, const std::vector<std::int64_t> &shape, std::int64_t i) {
  std::int64_t place = layout.first;
  for (std::size_t d = shape.size(); d-- > 0; i /= shape[d])
    place += i % shape[d] * layout.strides[d];
  return std::size_t(place);
}

}   // namespace

namespace {

/// Compiles an artifact's text once, however many shapes it serves: that takes longer than most runs. Tests run small shapes.
SimulatedKernel compiledOnce(const std::string &text, const std::string &entry) {
  static std::mutex guard;
  static std::map<std::string, SimulatedKernel> known;
  {
    const std::lock_guard lock(guard);
    if (const auto found = known.find(text); found != known.end())
      return found->second;
  }
  SimulatedKernel made = compileForSimulator(text, entry, SimulatorCode::quick);
  const std::lock_guard lock(guard);
  return known.emplace(text, std::move(made)).first->second;
}

}   // namespace

EmittedKernel::EmittedKernel(const Artifact &artifact, const std::string &text)
    : artifact(artifact), kernel(text.empty() ? compiledOnce(artifact.source, artifact.entry) : compileForSimulator(text, artifact.entry)) {}

EmittedOutcome EmittedKernel::run(const Evaluation &inputs, const std::map<std::string, std::vector<std::int64_t>> &shapes,
                                  const SimulatorOptions &options, int sms, const std::map<std::string, Layout> &layouts) const {
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
    const Layout layout = layoutOf(layouts, parameter.name, shape);
    std::vector<std::byte> &data = memory[parameter.name];
    data.resize(points(shape) ? (placeOf(layout, shape, points(shape) - 1) + 1) * bytes : 0);
    if (!parameter.stored)
      for (std::size_t i = 0; i < input->second.data.size(); ++i)
        store(&data[placeOf(layout, shape, std::int64_t(i)) * bytes], input->second.data[i], element);
    problem.tensors[parameter.name] = {reinterpret_cast<std::uint64_t>(data.data() + std::size_t(layout.first) * bytes), shape, layout.strides};
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
        array.data.push_back(load(
            &memory[parameter.name][placeOf(layoutOf(layouts, parameter.name, array.shape), array.shape, i) * std::size_t(device::bytes(element))],
            element));
      outcome.outputs[parameter.name] = std::move(array);
    }
  return outcome;
}

}   // namespace tw::tests
