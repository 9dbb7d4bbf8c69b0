#include "Variant.h"
#include "Plugin.h"
#include "tilewright/dsl/Inspect.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <stdexcept>

namespace tw::cli {
namespace {

constexpr std::int64_t lengthOfLists = 4;   // of those that contains() looks through
constexpr std::int64_t mostPlaces = std::int64_t(1) << 24;   // that are computed to learn how long a tensor is

bool isStored(const Program &program, const std::string &tensor) {
  return std::any_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return store.tensor.name() == tensor; });
}

/// The length of one of the axes of tw::Attention, as captures name it.
const char *lengthOf(const std::string &axis) {
  static const std::map<std::string, const char *> lengths{{"b", "B"}, {"h", "H"}, {"q", "Sq"}, {"k", "Skv"}, {"d", "D"}, {"e", "Dv"}};
  const auto found = lengths.find(axis);
  return found == lengths.end() ? nullptr : found->second;
}

std::map<std::string, std::int64_t> extentsOf(const VariantShape &s) {
  return {{"b", s.b}, {"h", s.h}, {"q", s.sq}, {"k", s.skv}, {"d", s.d}, {"e", s.dv}};
}

/// Everything of the program that reads a tensor, each once.
std::vector<Tile> loadsOf(const Program &program) {
  std::vector<Tile> loads;
  std::set<const Node *> seen;
  std::function<void(const Tile &)> visit = [&](const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return;
    for (const Tile &operand : node.operands)
      visit(operand);
    if (node.fold) {
      for (const auto *tiles : {&node.fold->starts, &node.fold->yields})
        for (const Tile &each : *tiles)
          visit(each);
    }
    if (node.op == Op::load || node.op == Op::contains)
      loads.push_back(tile);
  };
  for (const Store &store : program.stores)
    visit(store.value);
  return loads;
}

/// How far the places along one dimension reach: as far as coordinates and lengths tell.
std::int64_t reach(const Tile &place, const VariantShape &shape, const std::string &tensor, std::size_t dimension) {
  const auto extents = extentsOf(shape);
  std::int64_t places = 1;
  for (const Axis &axis : place.axes()) {
    if (!extents.contains(axis.name()))
      throw std::invalid_argument(
          fmt::format("tensor '{}' is indexed along dimension {} by axis '{}', of which --shape says no length; give it: --capture {}=FILE.npy",
                      tensor, dimension, axis.name(), tensor));
    places *= std::max<std::int64_t>(extents.at(axis.name()), 1);
  }
  try {
    if (places > mostPlaces)
      throw std::invalid_argument("too many places");
    const Evaluation inputs{{{"Q", {{shape.b, shape.h, shape.sq, shape.d}, {}}},
                             {"K", {{shape.b, shape.hkv, shape.skv, shape.d}, {}}},
                             {"V", {{shape.b, shape.hkv, shape.skv, shape.dv}, {}}}},
                            {},
                            extents};
    const Array reached =
        evaluate({"places", {store(Tensor("places", Type::i64, unsigned(place.axes().size())), place.axes(), cast(place, Type::i64))}}, inputs)
            .at("places");
    double furthest = -1;
    for (double at : reached.data)
      furthest = std::max(furthest, at);
    return std::int64_t(furthest) + 1;
  } catch (const std::exception &) {
    throw std::invalid_argument(fmt::format("how long tensor '{}' is along dimension {} cannot be told from --shape; give it: --capture {}=FILE.npy",
                                            tensor, dimension, tensor));
  }
}

/// A tensor that every load of it stays inside of.
Array arrayFor(const Program &program, const TensorInfo &tensor, const VariantShape &shape, std::mt19937_64 &random) {
  Array array;
  array.shape.assign(tensor.rank, 0);
  for (const Tile &load : loadsOf(program))
    if (load.node().tensor->name == tensor.name)
      for (std::size_t d = 0; d < tensor.rank; ++d)
        array.shape[d] = std::max(array.shape[d], d < placesRead(load.node()) ? reach(load.node().operands[d], shape, tensor.name, d) : lengthOfLists);
  std::int64_t count = 1;
  for (std::int64_t length : array.shape)
    count *= length;
  auto uniform = [&] { return double(random() >> 11) * 0x1p-53; };
  for (std::int64_t i = 0; i < count; ++i)
    array.data.push_back(isFloat(tensor.type) ? std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * M_PI * uniform())
                                              : std::floor(uniform() * (tensor.type == Type::boolean ? 2 : 8)));
  return array;
}

/// The length of a dimension that every load indexes by one axis alone; a text that says where it comes from otherwise.
std::string shapeText(const Program &program, const std::string &tensor, std::size_t dimension) {
  std::set<std::string> texts;
  for (const Tile &load : loadsOf(program))
    if (load.node().tensor->name == tensor) {
      if (dimension >= placesRead(load.node())) {
        texts.insert(std::to_string(lengthOfLists));
        continue;
      }
      const Node &place = load.node().operands[dimension].node();
      const char *length = place.op == Op::index ? lengthOf(place.consumed[0].name()) : nullptr;
      texts.insert(length ? length : "computed");
    }
  return texts.size() == 1 ? *texts.begin() : "computed";
}

/// Refuses programs that the command line has no inputs for.
void checkTensors(const std::string &file, const Program &program) {
  std::map<std::string, unsigned> ranks;
  for (const auto &tensor : tensorsOf(program))
    ranks[tensor->name] = tensor->rank;
  for (const char *name : {"Q", "K", "V", "O"})
    if (const auto found = ranks.find(name); found == ranks.end() || found->second != 4)
      throw std::invalid_argument(fmt::format("{}: the program has no tensor '{}' of 4 dimensions; the command line runs programs that read Q "
                                              "[B,H,Sq,D], K [B,Hkv,Skv,D] and V [B,Hkv,Skv,Dv] and store "
                                              "O [B,H,Sq,Dv]; others are built and launched in C++ or C",
                                              file, name));
  for (const Store &store : program.stores)
    if (store.tensor.name() != "O" && store.tensor.name() != "lse")
      throw std::invalid_argument(
          fmt::format("{}: the program stores '{}'; the command line takes O and lse only, others are built and launched in C++ or C", file,
                      store.tensor.name()));
}

}   // namespace

Program programOf(const std::string &variant, const VariantOptions &options) {
  if (!isVariantFile(variant))
    return makeVariant(variant, options);
  Program program = programInFile(variant, options.type, options.lse);
  static std::set<std::string> told;
  if (told.insert(variant).second)
    for (const Diagnostic &each : suspicions(program))
      std::fputs(renderWarning(each).c_str(), stderr);
  return program;
}

VariantFacts factsFor(const std::string &variant, Type type) {
  if (!isVariantFile(variant))
    return factsOf(variant, type);
  const Program program = programInFile(variant, type, true);
  checkTensors(variant, program);
  VariantFacts facts;
  facts.isMean = facts.isSoftmax = false;
  facts.hasLse = isStored(program, "lse");
  for (const auto &tensor : tensorsOf(program)) {
    if (tensor->name == "Q" || tensor->name == "K" || tensor->name == "V" || isStored(program, tensor->name))
      continue;
    Capture capture{tensor->name, tensor->type, {}, "", nullptr};
    for (std::size_t d = 0; d < tensor->rank; ++d)
      capture.shape.push_back(shapeText(program, tensor->name, d));
    capture.make = [program, tensor](const VariantShape &shape, std::mt19937_64 &random) { return arrayFor(program, *tensor, shape, random); };
    facts.captures.push_back(std::move(capture));
  }
  return facts;
}

}   // namespace tw::cli
