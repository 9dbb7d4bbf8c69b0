// Names are resolved and offsets laid out once; a launch then only copies numbers.
#include "tilewright/device/Plan.h"
#include "tilewright/artifact/RuntimeError.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tw::device {
namespace {

using Kind = ParameterField::Kind;

template <class... T> [[noreturn]] void contradict(fmt::format_string<T...> format, T &&...values) {
  throw RuntimeError(fmt::format("the launch facts of a kernel contradict themselves: {}; clear the cache", fmt::format(format, std::forward<T>(values)...)));
}

std::size_t indexOf(std::vector<std::string> &names, const std::string &name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    found = names.insert(names.end(), name);
  return static_cast<std::size_t>(found - names.begin());
}

int sizeOf(const ParameterField &field) {
  switch (field.kind) {
  case Kind::map: return int(tensorMapBytes);
  case Kind::pointer:
  case Kind::stride:
  case Kind::counters:
  case Kind::lists: return 8;
  case Kind::scalar: return bytes(elementNamed(field.type));
  case Kind::extent:
  case Kind::length:
  case Kind::blocks:
  case Kind::frees:
  case Kind::group:
  case Kind::items:
  case Kind::listRoom: return 4;
  }
  return 0;
}

void checkMap(const ParameterField &field) {
  if (field.dimensions.empty() || field.dimensions.size() > 5)
    contradict("the map of tensor '{}' has {} dimensions, which must be 1 to 5", field.tensor, field.dimensions.size());
  if (field.dimensions.front().chunk)
    contradict("the map of tensor '{}' starts with a dimension of chunks", field.tensor);
}

/// Of 50 MiB, what a group of items may fill: 32 MiB. The rest is left to what streams through.
std::int64_t groupBytes(std::int64_t l2Bytes) { return l2Bytes / 25 * 16; }

std::int64_t saturatingProduct(std::int64_t a, std::int64_t b, std::int64_t limit) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > limit ? limit + 1 : product;
}

std::uint64_t someAddress(const Problem &problem) {
  for (const TensorArgument &tensor : problem.tensors)
    if (std::find(tensor.shape.begin(), tensor.shape.end(), 0) == tensor.shape.end())
      return tensor.address;
  return problem.workspace;
}

} // namespace

Plan::Plan(const LaunchFacts &facts)
    : blockWidth(facts.blockWidth), blocksPerSM(facts.blocksPerSM), grouped(facts.grouped), strided(facts.strided),
      counterBytes(std::size_t(std::max(facts.counters, 0)) * 4), listWidth(facts.listWidth), listSlots(facts.listSlots) {
  if (listSlots < 0 || listWidth < 1)
    contradict("a block has {} lists of tiles of {}", facts.listSlots, facts.listWidth);
  if (listSlots)
    listAxis = indexOf(axisNames, facts.listAxis);
  if (facts.blockWidth < 1 || facts.blocksPerSM < 1 || facts.threads < 1 || facts.threads > 1024)
    contradict("tiles are {} wide, and a multiprocessor has {} blocks of {} threads", facts.blockWidth, facts.blocksPerSM, facts.threads);
  if (!facts.blockAxis.empty())
    blockAxis = static_cast<std::ptrdiff_t>(indexOf(axisNames, facts.blockAxis));
  for (const std::string &axis : facts.freeAxes)
    freeAxes.push_back(indexOf(axisNames, axis));
  for (const ParameterField &field : facts.fields) {
    Step step{field, 0, sizeOf(field), 0, Element::i32};
    switch (field.kind) {
    case Kind::map:
      checkMap(field);
      step.element = elementNamed(field.type);
      [[fallthrough]];
    case Kind::pointer:
    case Kind::stride:
    case Kind::length: step.index = indexOf(tensorNames, field.tensor); break;
    case Kind::extent: step.index = indexOf(axisNames, field.axis); break;
    case Kind::scalar: step.index = indexOf(scalarNames, field.axis); break;
    case Kind::blocks:
    case Kind::frees:
    case Kind::group:
    case Kind::items:
    case Kind::counters:
    case Kind::lists:
    case Kind::listRoom: break;
    }
    const auto alignment = static_cast<std::size_t>(step.size);
    step.offset = (blockBytes + alignment - 1) / alignment * alignment;
    blockBytes = step.offset + alignment;
    blockAlignment = std::max(blockAlignment, alignment);
    steps.push_back(std::move(step));
  }
  blockBytes = (blockBytes + blockAlignment - 1) / blockAlignment * blockAlignment;
  for (const std::string &name : facts.ringTensors) {
    auto map = std::find_if(steps.begin(), steps.end(), [&](const Step &step) { return step.field.kind == Kind::map && step.field.tensor == name; });
    if (map == steps.end())
      contradict("tensor '{}' is in the ring and has no map", name);
    ring.emplace_back(map->index, bytes(map->element));
  }
}

std::int64_t Plan::frees(const Problem &problem) const {
  std::int64_t points = 1;
  for (std::size_t axis : freeAxes)
    points = saturatingProduct(points, problem.lengths[axis], maxItems);
  return points;
}

std::int64_t Plan::tiles(const Problem &problem) const {
  return blockAxis < 0 ? 1 : (problem.lengths[static_cast<std::size_t>(blockAxis)] + blockWidth - 1) / blockWidth;
}

std::int64_t Plan::group(const Problem &problem, std::int64_t frees, std::int64_t l2Bytes) const {
  if (!grouped || frees < 2)
    return 1;
  double ringBytes = 0;
  for (auto [tensor, elementBytes] : ring) {
    double size = elementBytes;
    for (std::int64_t length : problem.tensors[tensor].shape)
      size *= double(length);
    ringBytes += size;
  }
  const double fit = double(groupBytes(l2Bytes)) * double(frees) / std::max(ringBytes, 1.0);
  if (fit >= double(frees))
    return frees;
  // As many groups as that takes, all alike: a small last one would begin with long items when few are left to share out.
  const std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(fit)), groups = (frees + most - 1) / most;
  return (frees + groups - 1) / groups;
}

std::int64_t Plan::items(const Problem &problem) const {
  const std::int64_t count = tiles(problem);
  for (std::size_t axis : freeAxes)
    if (problem.lengths[axis] == 0)
      return 0;
  return saturatingProduct(count, frees(problem), maxItems);
}

int Plan::blocks(std::int64_t items, const Machine &machine) const {
  return static_cast<int>(std::min<std::int64_t>(items, std::int64_t(std::max(1, machine.sms)) * blocksPerSM));
}

std::vector<ParameterLine> Plan::filled(const Problem &problem, const Machine &machine, const EncodeMap &encode) const {
  std::vector<ParameterLine> block((blockBytes + sizeof(ParameterLine) - 1) / sizeof(ParameterLine));
  if (!block.empty())
    fill(problem, machine, encode, block.front().bytes);
  return block;
}

std::size_t Plan::listsAt() const { return (counterBytes + listAlignment - 1) / listAlignment * listAlignment; }

std::int64_t Plan::listRoom(const Problem &problem) const { return listSlots ? (problem.lengths[listAxis] + listWidth - 1) / listWidth : 0; }

std::int64_t Plan::listPlaces(const Problem &problem, int blocks) const { return std::int64_t(blocks) * listSlots * listRoom(problem); }

std::size_t Plan::workspaceBytes(const Problem &problem, int blocks) const {
  if (!listSlots)
    return counterBytes;
  return listsAt() + std::size_t(listPlaces(problem, blocks)) * sizeof(std::int32_t);
}

void Plan::setWorkspace(std::uint64_t workspace, std::byte *block) const {
  for (const Step &step : steps) {
    const std::uint64_t address = workspace + (step.field.kind == Kind::lists ? listsAt() : 0);
    if (step.field.kind == Kind::counters || step.field.kind == Kind::lists)
      std::memcpy(block + step.offset, &address, sizeof address);
  }
}

void Plan::fill(const Problem &problem, const Machine &machine, const EncodeMap &encode, std::byte *out) const {
  std::memset(out, 0, blockBytes);   // padding too, so that equal launches have equal blocks
  const std::int64_t freePoints = frees(problem), blockTiles = tiles(problem);
  std::uint64_t elsewhere = 0;
  for (const Step &step : steps) {
    auto put = [&](auto value) { std::memcpy(out + step.offset, &value, sizeof value); };
    switch (step.field.kind) {
    case Kind::map: {
      if (!elsewhere)
        elsewhere = someAddress(problem);
      const TensorArgument &tensor = problem.tensors[step.index];
      encode(tensorMap(step.field, step.element, tensor.address, tensor.shape, tensor.strides, elsewhere, strided), out + step.offset);
      break;
    }
    case Kind::pointer: put(problem.tensors[step.index].address); break;
    case Kind::stride: put(problem.tensors[step.index].strides[static_cast<std::size_t>(step.field.dimension)]); break;
    case Kind::length: put(static_cast<std::int32_t>(problem.tensors[step.index].shape[static_cast<std::size_t>(step.field.dimension)])); break;
    case Kind::extent: put(static_cast<std::int32_t>(problem.lengths[step.index])); break;
    case Kind::scalar: std::memcpy(out + step.offset, problem.scalars[step.index].element.data(), static_cast<std::size_t>(step.size)); break;
    case Kind::blocks: put(static_cast<std::int32_t>(blockTiles)); break;
    case Kind::frees: put(static_cast<std::int32_t>(freePoints)); break;
    case Kind::group: put(static_cast<std::int32_t>(group(problem, freePoints, machine.l2Bytes))); break;
    case Kind::items: put(static_cast<std::int32_t>(blockTiles * freePoints)); break;
    case Kind::counters: put(problem.workspace); break;
    case Kind::lists: put(problem.workspace + listsAt()); break;
    case Kind::listRoom: put(static_cast<std::int32_t>(listRoom(problem))); break;
    }
  }
}

} // namespace tw::device
