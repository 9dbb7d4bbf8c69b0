#include "TuneProblem.h"
#include "tilewright/artifact/Artifact.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/schedule/LaunchShape.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <random>
#include <stdexcept>

namespace tw {
namespace {

std::size_t count(const std::vector<std::int64_t> &shape) {
  std::size_t points = 1;
  for (std::int64_t length : shape)
    points *= std::size_t(std::max<std::int64_t>(length, 0));
  return points;
}

bool isStoredHere(const Program &program, const std::string &tensor) {
  return std::any_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return store.tensor.name() == tensor; });
}

/// Normal numbers that repeat after a prime number of elements, so that no two rows of a tile are alike: quick to make, and as good for a time.
std::vector<std::byte> madeNumbers(const std::string &tensor, Type type, std::size_t elements) {
  constexpr std::size_t period = 65537;
  std::uint64_t seed = 1;
  for (unsigned char c : tensor)
    seed = (seed ^ c) * 0x100000001b3;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(std::min(period, elements));
  for (double &value : values)
    value = normal(random);
  const std::size_t size = std::size_t(bytes(type));
  std::vector<std::byte> out(elements * size);
  putElements(values, type, out.data());
  for (std::size_t filled = values.size() * size; filled && filled < out.size();) {
    const std::size_t more = std::min(filled, out.size() - filled);
    std::memcpy(out.data() + filled, out.data(), more);
    filled += more;
  }
  return out;
}

/// Lengths of the checked problem.
constexpr std::int64_t alongBlock = 269, alongFold = 523;

constexpr std::size_t rowAlignment = 16;

} // namespace

std::map<std::string, std::vector<std::int64_t>> allShapes(const Program &program, const std::map<std::string, std::vector<std::int64_t>> &given,
                                                           const std::map<std::string, std::int64_t> &inner) {
  const auto lengths = axisLengths(program, {given, {}, inner});
  std::map<std::string, std::vector<std::int64_t>> all;
  for (const auto &tensor : tensorsOf(program)) {
    if (auto found = given.find(tensor->name); found != given.end()) {
      if (found->second.size() != tensor->rank)
        throw std::invalid_argument(fmt::format("the shape given for tensor '{}' has {} lengths, the tensor has {} dimensions", tensor->name,
                                                found->second.size(), tensor->rank));
      all[tensor->name] = found->second;
      continue;
    }
    if (!isStoredHere(program, tensor->name))
      throw std::invalid_argument(
          fmt::format("tensor '{}' of program '{}' is read, and its shape is not given; BuildOptions::shapes needs that of every tensor that is read",
                      tensor->name, program.name));
    for (const Store &store : program.stores)
      if (store.tensor.name() == tensor->name)
        for (const Axis &axis : store.index)
          all[tensor->name].push_back(lengths.at(axis.name()));
  }
  return all;
}

std::string shapesText(const std::map<std::string, std::vector<std::int64_t>> &shapes) {
  std::vector<std::string> all;
  for (const auto &[name, shape] : shapes)
    all.push_back(fmt::format("{}={}", name, fmt::join(shape, "x")));
  return fmt::format("{}", fmt::join(all, " "));
}

std::vector<TuningInputs> smallProblems(const Artifact &artifact, const TuningInputs &whole) {
  std::map<std::pair<std::string, std::size_t>, const AxisFacts *> axes;   // of dimensions
  for (const AxisFacts &axis : artifact.axes)
    for (const AxisBinding &binding : axis.bindings)
      axes[{binding.tensor, std::size_t(binding.dimension)}] = &axis;
  // What no axis tells becomes 1 and there are two of the last free axis; or these stay as they are.
  const AxisFacts *lastFree = nullptr;
  for (const AxisFacts &axis : artifact.axes)
    if (axis.role == AxisFacts::Role::free && (!lastFree || lastFree->name < axis.name))
      lastFree = &axis;
  std::vector<TuningInputs> all;
  for (bool cutsRest : {true, false}) {
    TuningInputs small = whole;
    bool isCut = false;
    for (auto &[tensor, shape] : small.shapes)
      for (std::size_t d = 0; d < shape.size(); ++d) {
        auto found = axes.find({tensor, d});
        const AxisFacts *axis = found == axes.end() ? nullptr : found->second;
        std::int64_t most = shape[d];
        if (!axis)
          most = cutsRest ? 1 : most;
        else if (axis->role == AxisFacts::Role::block)
          most = alongBlock;
        else if (axis->role == AxisFacts::Role::fold)
          most = alongFold;
        else if (axis->role == AxisFacts::Role::free)
          most = cutsRest ? (axis == lastFree ? 2 : 1) : most;
        isCut |= most < shape[d];
        shape[d] = std::min(shape[d], most);
      }
    // Numbers that were given are of the whole problem's shape.
    std::erase_if(small.values.tensors, [&](const auto &entry) { return entry.second.shape != small.shapes.at(entry.first); });
    all.push_back(std::move(small));
    if (!isCut)
      break;
  }
  return all;
}

TuneProblem::Place TuneProblem::placeOf(const TensorInfo &tensor, const TuningInputs &inputs, const SharedTensors &shared, bool isStored) const {
  const auto &shape = inputs.shapes.at(tensor.name);
  const std::size_t elements = count(shape), size = std::size_t(tw::bytes(tensor.type));
  std::vector<std::byte> own;
  if (auto values = inputs.values.tensors.find(tensor.name); values != inputs.values.tensors.end()) {
    if (values->second.shape != shape)
      throw std::invalid_argument(fmt::format("the numbers given for tensor '{}' are of shape [{}], its own is [{}]", tensor.name,
                                              fmt::join(values->second.shape, ", "), fmt::join(shape, ", ")));
    own.resize(elements * size);
    putElements(values->second.data, tensor.type, own.data());
  } else if (auto stored = shared.stored.find(tensor.name); stored != shared.stored.end() && stored->second.size() == elements * size) {
    own = stored->second;
  } else if (isStored) {
    own.assign(elements * size, std::byte(0xff));
  } else if (isFloat(tensor.type)) {
    own = madeNumbers(tensor.name, tensor.type, elements);
  } else {
    own.assign(elements * size, std::byte(0));
  }
  Place place;
  place.row = (shape.empty() ? 1 : std::size_t(shape.back())) * size;
  place.step = !shape.empty() && shared.between.contains(tensor.name) ? (place.row + rowAlignment - 1) / rowAlignment * rowAlignment : place.row;
  if (place.step == place.row) {
    place.host = std::move(own);
    return place;
  }
  place.host.assign(own.size() / std::max<std::size_t>(place.row, 1) * place.step, std::byte(0xff));
  for (std::size_t from = 0, to = 0; from < own.size(); from += place.row, to += place.step)
    std::memcpy(place.host.data() + to, own.data() + from, place.row);
  return place;
}

std::vector<std::byte> TuneProblem::Place::gathered(const std::vector<std::byte> &from) const {
  if (step == row)
    return from;
  std::vector<std::byte> all;
  for (std::size_t at = 0; at < from.size(); at += step)
    all.insert(all.end(), from.begin() + std::ptrdiff_t(at), from.begin() + std::ptrdiff_t(at + row));
  return all;
}

TuneProblem::TuneProblem(const Program &program, TuningInputs inputs, std::optional<int> ordinal, const SharedTensors &shared) : ordinal(ordinal) {
  for (const auto &tensor : tensorsOf(program)) {
    const std::string &name = tensor->name;
    const auto &shape = inputs.shapes.at(name);
    Place &place = places[name] = placeOf(*tensor, inputs, shared, isStoredHere(program, name));
    void *data = place.host.data();
    if (ordinal) {
      place.device = cuda::Buffer(*ordinal, place.host.size());
      place.device.write(place.host.data());
      data = place.device.data();
    }
    TensorView view{data, tensor->type, shape, {}};
    if (place.step != place.row) {
      view.strides.assign(shape.size(), 1);
      auto step = std::int64_t(place.step / std::size_t(tw::bytes(tensor->type)));
      for (std::size_t d = shape.size() - 1; d-- > 0; step *= shape[d])
        view.strides[d] = step;
    }
    given.tensors[name] = std::move(view);
  }
  for (const Store &store : program.stores)
    if (std::find(outputs.begin(), outputs.end(), store.tensor.name()) == outputs.end())
      outputs.push_back(store.tensor.name());
  given.scalars = inputs.values.scalars;
}

std::size_t TuneProblem::bytes() const {
  std::size_t all = 0;
  for (const auto &[name, place] : places)
    all += place.host.size();
  return all;
}

std::size_t TuneProblem::elements(const std::string &tensor) const { return count(given.tensors.at(tensor).shape); }

void TuneProblem::clearStored() {
  for (const std::string &name : outputs) {
    Place &place = places.at(name);
    std::memset(place.host.data(), 0xff, place.host.size());
    if (ordinal)
      place.device.write(place.host.data());
  }
}

Evaluation TuneProblem::evaluation() const {
  Evaluation all{{}, given.scalars};
  for (const auto &[name, view] : given.tensors)
    all.tensors[name] = {view.shape, getElements(view.type, places.at(name).gathered(places.at(name).host).data(), elements(name))};
  return all;
}

std::vector<std::byte> TuneProblem::elementsOf(const std::string &tensor) const {
  const Place &place = places.at(tensor);
  if (!ordinal)
    return place.gathered(place.host);
  std::vector<std::byte> read(place.host.size());
  place.device.read(read.data());
  return place.gathered(read);
}

std::vector<double> TuneProblem::sample(const std::string &tensor, std::size_t most) const {
  const TensorView &view = given.tensors.at(tensor);
  const Place &place = places.at(tensor);
  const std::size_t all = elements(tensor), size = std::size_t(tw::bytes(view.type)), runs = all <= most ? 1 : 64;
  if (place.step != place.row)   // a number a row or so: few
    return getElements(view.type, elementsOf(tensor).data(), all);
  const std::size_t length = std::min(all, most / runs);
  std::vector<std::byte> read(length * size);
  std::vector<double> values;
  for (std::size_t i = 0; i < runs; ++i) {
    const std::size_t from = runs == 1 ? 0 : (all - length) / (runs - 1) * i;
    if (ordinal)
      place.device.read(read.data(), from * size, read.size());
    const std::vector<double> some = getElements(view.type, ordinal ? read.data() : place.host.data() + from * size, length);
    values.insert(values.end(), some.begin(), some.end());
  }
  return values;
}

} // namespace tw
