#include "Problem.h"
#include "FileTensor.h"
#include "Variant.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/kernel/Nearest.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <random>
#include <stdexcept>

namespace tw::cli {
namespace {

std::size_t points(const std::vector<std::int64_t> &shape) {
  std::int64_t n = 1;
  for (std::int64_t length : shape)
    if (__builtin_mul_overflow(n, length, &n))
      throw std::invalid_argument(fmt::format("a tensor of shape [{}] has more than 2^63 elements", fmt::join(shape, ", ")));
  return static_cast<std::size_t>(n);
}

bool isStored(const Program &program, const std::string &tensor) {
  return std::any_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return store.tensor.name() == tensor; });
}

/// Normal numbers that are the same with every C++ library (std::normal_distribution's are not): Box and Muller's.
class Normal {
public:
  explicit Normal(std::uint64_t seed) : generator(seed) {}
  double operator()() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * M_PI * uniform();
    return radius * std::cos(angle);
  }

private:
  double uniform() { return static_cast<double>(generator() >> 11) * 0x1p-53; }
  std::mt19937_64 generator;
};

/// A generator for one tensor: what others are made of does not change it.
std::mt19937_64 generatorFor(const std::string &tensor, std::uint64_t seed) {
  for (unsigned char c : tensor)
    seed = (seed ^ c) * 0x100000001b3;
  return std::mt19937_64(seed);
}

bool isMain(const std::string &tensor) { return tensor == "Q" || tensor == "K" || tensor == "V"; }

/// Refuses files for tensors that the variant does not read.
void checkCaptures(const Problem &problem, const std::map<std::string, std::string> &files) {
  std::vector<std::string> known;
  for (const auto &tensor : tensorsOf(problem.program))
    if (!isMain(tensor->name) && !isStored(problem.program, tensor->name))
      known.push_back(tensor->name);
  for (const auto &[name, path] : files)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw std::invalid_argument(fmt::format("--capture {}={}: variant '{}' reads no tensor of that name{}; {}", name, path, problem.variant, suggestion(name, known),
                                              known.empty() ? "it reads Q, K and V only" : fmt::format("besides Q, K, V it reads {}", fmt::join(known, ", "))));
}

/// Refuses files that disagree about a length, by the options that named them.
void checkAgreement(const std::map<std::string, Array> &tensors, const std::vector<Capture> &captures, const Files &files) {
  struct Place {
    std::string tensor;
    std::size_t dimension;
  };
  struct Axis {
    const char *name, *length;   // in the program, and in the shape of a capture
    std::vector<Place> places;
  };
  std::vector<Axis> axes = {{"b", "B", {{"Q", 0}, {"K", 0}, {"V", 0}}}, {"hkv", "Hkv", {{"K", 1}, {"V", 1}}}, {"k", "Skv", {{"K", 2}, {"V", 2}}}, {"d", "D", {{"Q", 3}, {"K", 3}}},
                            {"h", "H", {{"Q", 1}}}, {"q", "Sq", {{"Q", 2}}}, {"e", "Dv", {{"V", 3}}}};
  for (Axis &axis : axes)
    for (const Capture &capture : captures)
      for (std::size_t d = 0; d < capture.shape.size(); ++d)
        if (capture.shape[d] == axis.length)
          axis.places.push_back({capture.name, d});
  auto option = [&](const std::string &tensor) {
    return tensor == "Q" ? "--q " + files.q : tensor == "K" ? "--k " + files.k : tensor == "V" ? "--v " + files.v : fmt::format("--capture {}={}", tensor, files.captures.at(tensor));
  };
  for (const Axis &axis : axes)
    for (const Place &other : axis.places)
      if (auto found = tensors.find(other.tensor); found != tensors.end()) {
        const Place &first = axis.places.front();
        const std::int64_t length = tensors.at(first.tensor).shape[first.dimension], otherLength = found->second.shape[other.dimension];
        if (length != otherLength)
          throw std::invalid_argument(fmt::format("axis '{}' is {} long along dimension {} of {} and {} along dimension {} of {}; they must agree", axis.name, length, first.dimension,
                                                  option(first.tensor), otherLength, other.dimension, option(other.tensor)));
      }
}

} // namespace

std::vector<std::int64_t> shapeOf(const Shape &s, const std::string &name) {
  if (name == "Q")
    return {s.b, s.h, s.sq, s.d};
  if (name == "K")
    return {s.b, s.hkv, s.skv, s.d};
  if (name == "V")
    return {s.b, s.hkv, s.skv, s.dv};
  if (name == "O")
    return {s.b, s.h, s.sq, s.dv};
  return {s.b, s.h, s.sq};
}

VariantShape variantShape(const Shape &s) { return {s.b, s.h, s.hkv, s.sq, s.skv, s.d, s.dv}; }

Problem randomProblem(const std::string &variant, Type type, const Shape &shape, std::uint64_t seed, const std::map<std::string, std::string> &captures) {
  Problem problem{variant, programOf(variant, {.type = type, .lse = true}), type, shape, {}, factsFor(variant, type)};
  checkCaptures(problem, captures);
  Normal normal(seed);
  for (const auto &tensor : tensorsOf(problem.program)) {
    if (const auto path = captures.find(tensor->name); path != captures.end())
      problem.inputs.tensors[tensor->name] = tensorIn(readNpy(path->second), *tensor, path->second);
    if (!isMain(tensor->name))
      continue;
    Array array{shapeOf(shape, tensor->name), {}};
    array.data.resize(points(array.shape));
    for (double &value : array.data)
      value = rounded(normal(), type);
    problem.inputs.tensors[tensor->name] = std::move(array);
  }
  for (const Capture &capture : problem.facts.captures) {
    if (problem.inputs.tensors.contains(capture.name))
      continue;
    std::mt19937_64 generator = generatorFor(capture.name, seed);
    Array array = capture.make(variantShape(shape), generator);
    for (double &value : array.data)
      value = rounded(value, capture.type);
    problem.inputs.tensors[capture.name] = std::move(array);
  }
  return problem;
}

Problem filedProblem(const std::string &variant, std::optional<Type> type, const Files &files) {
  std::map<std::string, std::string> paths = files.captures;
  paths["Q"] = files.q;
  paths["K"] = files.k;
  paths["V"] = files.v;
  const NpyArray q = readNpy(files.q);
  const bool isAsked = type.has_value();
  if (!type) {
    type = naturalType(q.type);
    if (!type)
      throw std::invalid_argument(fmt::format("{} holds {}, which is read as bf16 only: say --dtype bf16", files.q, q.type));
    if (!isFloat(*type))
      throw std::invalid_argument(fmt::format("{} holds {}, no float; say what it is to be: --dtype f16, bf16, f32 or f64", files.q, q.type));
  }
  Problem problem{variant, programOf(variant, {.type = *type, .lse = true}), *type, {}, {}, factsFor(variant, *type)};
  checkCaptures(problem, files.captures);
  for (const auto &tensor : tensorsOf(problem.program)) {
    if (isStored(problem.program, tensor->name))
      continue;
    auto path = paths.find(tensor->name);
    if (path == paths.end())
      throw std::invalid_argument(fmt::format("variant '{}' reads tensor '{}' too; give it: --capture {}=FILE.npy", variant, tensor->name, tensor->name));
    problem.inputs.tensors[tensor->name] =
        tensorIn(tensor->name == "Q" ? q : readNpy(path->second), *tensor, path->second, isAsked && isMain(tensor->name) ? Conversion::asked : Conversion::unasked);
  }
  checkAgreement(problem.inputs.tensors, problem.facts.captures, files);
  const auto &qs = problem.inputs.tensors["Q"].shape, &ks = problem.inputs.tensors["K"].shape, &vs = problem.inputs.tensors["V"].shape;
  problem.shape = {qs[0], qs[1], ks[1], qs[2], ks[2], qs[3], vs[3]};
  return problem;
}

void spoilKeys(Problem &problem, const std::vector<std::int64_t> &keys) {
  const Shape &s = problem.shape;
  for (std::int64_t given : keys) {
    const std::int64_t key = given < 0 ? given + s.skv : given;
    if (key < 0 || key >= s.skv)
      throw std::invalid_argument(fmt::format("--nan-keys {}: there are {} keys; keys go from 0 to {}, or from -1 back to -{}", given, s.skv, s.skv - 1, s.skv));
    for (const char *name : {"K", "V"}) {
      Array &array = problem.inputs.tensors[name];
      const std::int64_t length = array.shape[3];
      for (std::int64_t head = 0; head < s.b * s.hkv; ++head)
        std::fill_n(array.data.begin() + (head * s.skv + key) * length, length, std::numeric_limits<double>::quiet_NaN());
    }
  }
}

Memory::Memory(const Problem &problem) {
  for (const auto &tensor : tensorsOf(problem.program)) {
    auto input = problem.inputs.tensors.find(tensor->name);
    const bool isInput = input != problem.inputs.tensors.end();
    const std::vector<std::int64_t> shape = isInput ? input->second.shape : shapeOf(problem.shape, tensor->name);
    const std::size_t size = points(shape) * static_cast<std::size_t>(tw::bytes(tensor->type));
    auto &memory = bytes[tensor->name] = std::make_unique<std::byte[]>(std::max<std::size_t>(size, 1));
    if (isInput)
      putElements(input->second.data, tensor->type, memory.get());
    else
      std::memset(memory.get(), 0xff, size);   // NaN in every float type: what is not written shows
    given.tensors[tensor->name] = {memory.get(), tensor->type, shape, {}};
  }
  for (const Store &store : problem.program.stores)
    stored.push_back(store.tensor.name());
  given.scalars = problem.inputs.scalars;
}

std::map<std::string, Array> Memory::outputs() const {
  std::map<std::string, Array> arrays;
  for (const std::string &tensor : stored)
    arrays[tensor] = read(tensor);
  return arrays;
}

std::size_t Memory::bytesOf(const std::string &tensor) const {
  const TensorView &view = given.tensors.at(tensor);
  return points(view.shape) * static_cast<std::size_t>(tw::bytes(view.type));
}

Array Memory::read(const std::string &tensor) const {
  const TensorView &view = given.tensors.at(tensor);
  return {view.shape, getElements(view.type, view.data, points(view.shape))};
}

} // namespace tw::cli
