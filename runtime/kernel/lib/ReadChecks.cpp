// Evaluates the indices of a launch, with the tables that it is given.
#include "ReadChecks.h"
#include "tilewright/kernel/CheckReads.h"
#include "tilewright/cuda/Buffer.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/kernel/Elements.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {
namespace {

constexpr std::int64_t mostPoints = std::int64_t(1) << 28;

/// A tensor of the launch as numbers, from the host's memory or a GPU's.
Array numbersOf(const CheckedTensor &tensor, bool mayBeOnGpu, void *stream) {
  Array array{tensor.shape, {}};
  if (tensor.isEmpty())
    return array;
  const Type type = typeNamed(tensor.parameter->type).value();
  const auto elementBytes = std::int64_t(bytes(type));
  std::int64_t count = 1, low = 0, high = 0;   // of offsets
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    count *= tensor.shape[d];
    const std::int64_t reach = (tensor.shape[d] - 1) * tensor.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const std::byte *memory = tensor.data + low * elementBytes;
  std::vector<std::byte> copied;
  if (const auto home = mayBeOnGpu ? cuda::residence(reinterpret_cast<std::uint64_t>(memory)) : std::nullopt; home && home->isDevice) {
    cuda::synchronise(home->ordinal, stream);
    copied.resize(static_cast<std::size_t>((high - low + 1) * elementBytes));
    cuda::copyOut(home->ordinal, copied.data(), reinterpret_cast<std::uint64_t>(memory), copied.size());
    memory = copied.data();
  }
  std::vector<std::byte> dense(static_cast<std::size_t>(count * elementBytes));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = -low, rest = i;
    for (std::size_t d = tensor.shape.size(); d-- > 0; rest /= tensor.shape[d])
      offset += rest % tensor.shape[d] * tensor.strides[d];
    std::copy_n(memory + offset * elementBytes, elementBytes, &dense[static_cast<std::size_t>(i * elementBytes)]);
  }
  array.data = getElements(type, dense.data(), static_cast<std::size_t>(count));
  return array;
}

std::int64_t lengthOf(const Artifact &artifact, const Checked &checked, const Axis &axis) {
  for (std::size_t i = 0; i < artifact.axes.size(); ++i)
    if (artifact.axes[i].name == axis.name())
      return checked.lengths[i];
  return 0;
}

/// `b = 0, q = 17`
std::string placeText(const Axes &axes, const std::vector<std::int64_t> &shape, std::size_t at) {
  std::vector<std::string> parts(axes.size());
  for (std::size_t d = axes.size(); d-- > 0; at /= static_cast<std::size_t>(shape[d]))
    parts[d] = fmt::format("{} = {}", axes[d].name(), at % static_cast<std::size_t>(shape[d]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}   // namespace

ReadChecks::ReadChecks(const Program &program) {
  for (ComputedRead &read : computedReads(program)) {
    const Axes &axes = read.outside.axes();
    const auto rank = static_cast<unsigned>(axes.size());
    const Tile nowhere = full(0, axes, Type::f64);
    Program probe{"reads",
                  {store(Tensor("outside", Type::f64, rank), axes, where(read.outside, 1.0, nowhere)),
                   store(Tensor("place", Type::f64, rank), axes, where(read.outside, cast(read.index, Type::f64), nowhere))}};
    std::vector<std::string> tables;
    for (const auto &tensor : tensorsOf(probe))
      if (tensor->name != "outside" && tensor->name != "place")
        tables.push_back(tensor->name);
    checks.push_back({std::move(read), std::move(probe), std::move(tables)});
  }
}

void ReadChecks::look(const Check &check, const std::string &program, const Evaluation &given, const std::vector<std::int64_t> &tableShape) {
  const Axes &axes = check.read.outside.axes();
  std::vector<std::int64_t> shape;
  std::int64_t points = 1;
  for (const Axis &axis : axes) {
    shape.push_back(given.extents.at(axis.name()));
    points *= shape.back();
  }
  if (points == 0)
    return;
  const std::string line = shortName(check.read.where);
  if (points > mostPoints)
    throw ArgumentError(fmt::format(
        "kernel '{}' is checked, and tensor '{}' is read at {} places ({}), of which at most {} are looked at; check it with shorter lengths",
        program, check.read.tensor, points, line, mostPoints));
  std::map<std::string, Array> found;
  try {
    found = evaluate(check.probe, given);
  } catch (const ProgramError &error) {
    throw ArgumentError(fmt::format("{} ({})", error.diagnostic.message, shortName(error.diagnostic.where)));
  }
  const std::vector<double> &outside = found.at("outside").data;
  const auto first = std::find(outside.begin(), outside.end(), 1.0);
  if (first == outside.end())
    return;
  const auto at = static_cast<std::size_t>(first - outside.begin());
  const std::string place = axes.empty() ? "" : " for " + placeText(axes, shape, at);
  const std::string often =
      axes.empty() ? "" : fmt::format(", and outside at {} of {} places", std::count(outside.begin(), outside.end(), 1.0), points);
  throw ArgumentError(
      fmt::format("tensor '{0}' is {1} long along dimension {2} and is read there at {3}{4} ({5}){6}; give a longer tensor, or guard the read: "
                  "where((i >= 0) & (i < {0}.dimension({2})), …, 0)",
                  check.read.tensor, tableShape.at(check.read.dimension), check.read.dimension, found.at("place").data[at], place, line, often));
}

void ReadChecks::operator()(const std::string &program, const Evaluation &inputs) const {
  for (const Check &check : checks) {
    Evaluation given{{}, inputs.scalars, inputs.extents};
    for (const std::string &table : check.tables)
      given.tensors.insert(*inputs.tensors.find(table));
    look(check, program, given, inputs.tensors.at(check.read.tensor).shape);
  }
}

void ReadChecks::operator()(const Artifact &artifact, const Checked &checked, bool mayBeOnGpu, void *stream) const {
  std::map<std::string, Array> numbers;
  for (const Check &check : checks) {
    Evaluation given;
    const CheckedTensor *table = nullptr;
    for (const CheckedTensor &tensor : checked.tensors) {
      if (tensor.parameter->name == check.read.tensor)
        table = &tensor;
      if (std::find(check.tables.begin(), check.tables.end(), tensor.parameter->name) == check.tables.end())
        continue;
      auto known = numbers.find(tensor.parameter->name);
      if (known == numbers.end())
        known = numbers.emplace(tensor.parameter->name, numbersOf(tensor, mayBeOnGpu, stream)).first;
      given.tensors.insert(*known);
    }
    for (const CheckedScalar &scalar : checked.scalars)
      given.scalars[scalar.parameter->name] = scalar.value;
    for (const Axis &axis : axesOf(check.probe))
      given.extents[axis.name()] = lengthOf(artifact, checked, axis);
    if (table)
      look(check, artifact.program, given, table->shape);
  }
}

void checkReads(const Program &program, const Evaluation &inputs) {
  const ReadChecks checks(program);
  checks(program.name, inputs);
}

}   // namespace tw
