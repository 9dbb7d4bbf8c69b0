// One walk over the graph, operands before users; every node, fold, axis and tensor is called by the number of its first
// mention, so the bytes do not depend on where the graph lies in memory. A letter says what comes next (a Node, a Fold, a
// Requirement, a Store, the order of axes), and everything says its length: the bytes could be read back in one way only.
#include "Fingerprint.h"
#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace tw {
namespace {

class Writer {
public:
  explicit Writer(std::string &bytes) : bytes(bytes) { nodes.reserve(256); }

  void program(const Program &program) {
    appendField(bytes, program.name);
    for (const Requirement &requirement : program.requirements) {
      std::uint64_t condition = node(requirement.condition);
      bytes += 'R';
      number(condition);
      appendField(bytes, requirement.message);
    }
    for (const Store &store : program.stores) {
      std::uint64_t value = node(store.value);
      bytes += 'S';
      number(value);
      tensor(store.tensor.info.get());
      number(store.index.size());
      for (const Axis &each : store.index)
        axis(each);
    }
    bytes += 'O';
    order();
  }

private:
  /// Seven bits a byte, the last one marked: no number is the beginning of another.
  void number(std::uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes += static_cast<char>(value & 127);
    bytes += static_cast<char>(value | 128);
  }

  /// Writes the node where it is new; returns its number.
  std::uint64_t node(const Tile &tile) {
    const Node *key = &tile.node();
    if (auto known = nodes.find(key); known != nodes.end())
      return known->second;
    const Node &n = *key;
    for (const Tile &operand : n.operands)
      node(operand);
    std::uint64_t foldNumber = n.fold ? fold(n.fold.get()) : 0;
    bytes += 'N';
    number(static_cast<std::uint64_t>(n.op));
    number(static_cast<std::uint64_t>(n.type));
    number(n.axes.size());
    for (const Axis &each : n.axes)
      axis(each);
    number(n.operands.size());
    for (const Tile &operand : n.operands)
      number(nodes.at(&operand.node()));
    char literal[sizeof n.literal];
    std::memcpy(literal, &n.literal, sizeof literal);
    bytes.append(literal, sizeof literal);
    number(n.tensor != nullptr);
    if (n.tensor)
      tensor(n.tensor.get());
    number(n.consumed.size());
    for (const Axis &each : n.consumed)
      axis(each);
    number(foldNumber);
    number(n.slot);
    appendField(bytes, n.label);
    number(n.positive);
    return nodes.emplace(key, nodes.size()).first->second;
  }

  /// Writes the fold where it is new; returns its number, from 1.
  std::uint64_t fold(const Fold *key) {
    if (auto known = folds.find(key); known != folds.end())
      return known->second;
    std::uint64_t mine = folds.emplace(key, folds.size() + 1).first->second;
    std::vector<std::uint64_t> starts, arguments, yields;
    for (const Tile &start : key->starts)
      starts.push_back(node(start));
    for (const Tile &argument : key->arguments)
      arguments.push_back(node(argument));
    for (const Tile &yield : key->yields)
      yields.push_back(node(yield));
    bytes += 'F';
    axis(key->axis);
    number(static_cast<std::uint64_t>(key->order));
    for (const auto *list : {&starts, &arguments, &yields}) {
      number(list->size());
      for (std::uint64_t each : *list)
        number(each);
    }
    return mine;
  }

  void axis(const Axis &each) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (same(axes[i], each))
        return number(i);
    number(axes.size());
    appendField(bytes, each.name());
    axes.push_back(each);
  }

  void tensor(const TensorInfo *info) {
    auto [entry, isNew] = tensors.emplace(info, tensors.size());
    number(entry->second);
    if (!isNew)
      return;
    appendField(bytes, info->name);
    number(static_cast<std::uint64_t>(info->type));
    number(info->rank);
  }

  /// The order in which the axes were declared.
  void order() {
    for (const Axis &each : axes)
      number(static_cast<std::uint64_t>(std::count_if(axes.begin(), axes.end(), [&](const Axis &other) { return other.order() < each.order(); })));
  }

  std::string &bytes;
  std::unordered_map<const Node *, std::uint64_t> nodes;
  std::unordered_map<const Fold *, std::uint64_t> folds;
  std::unordered_map<const TensorInfo *, std::uint64_t> tensors;
  Axes axes;
};

} // namespace

void appendField(std::string &bytes, std::string_view field) {
  std::uint64_t size = field.size();
  char prefix[sizeof size];
  std::memcpy(prefix, &size, sizeof prefix);
  bytes.append(prefix, sizeof prefix).append(field);
}

void appendFingerprint(std::string &bytes, const Program &program) { Writer(bytes).program(program); }

} // namespace tw
