// A model launches few kernels on the same few tensors, step by step. Checking takes microseconds, comparing a fraction of one. Each
// thread has a table of its own, so nothing is locked.
#include "Accepted.h"
#include "Second.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <memory>

namespace tw {
namespace {

/// A copy of what was given, in the order in which it was.
struct Copy {
  struct Tensor {
    std::string name;
    TensorView view;
  };
  std::vector<Tensor> tensors;
  std::vector<std::pair<std::string, double>> scalars;

  Copy() = default;
  explicit Copy(const Given &given) {
    for (const GivenTensor &each : given.tensors)
      tensors.push_back({std::string(each.name), {each.data, each.type, {each.shape.begin(), each.shape.end()}, {each.strides.begin(), each.strides.end()}}});
    for (const GivenScalar &each : given.scalars)
      scalars.emplace_back(each.name, each.value);
  }

  [[nodiscard]] Arguments byName() const {
    Arguments arguments;
    for (const Tensor &each : tensors)
      if (!arguments.tensors.emplace(each.name, each.view).second)
        throw ArgumentError(fmt::format("tensor '{}' is given twice", each.name));
    for (const auto &[name, value] : scalars)
      if (!arguments.scalars.emplace(name, value).second)
        throw ArgumentError(fmt::format("scalar '{}' is given twice", name));
    return arguments;
  }
};

bool equalShapes(const Copy::Tensor &a, const GivenTensor &b) { return std::ranges::equal(a.view.shape, b.shape); }
bool equalTensors(const Copy::Tensor &a, const GivenTensor &b) {
  return a.view.data == b.data && a.view.type == b.type && equalShapes(a, b) && std::ranges::equal(a.view.strides, b.strides);
}

template <class Equal> bool equal(const Copy &a, const Given &b, Equal tensors) {
  return std::ranges::equal(a.tensors, b.tensors, [&](const Copy::Tensor &one, const GivenTensor &other) { return one.name == other.name && tensors(one, other); }) &&
         std::ranges::equal(a.scalars, b.scalars, [](const auto &one, const GivenScalar &other) { return one.first == other.name && std::bit_cast<std::uint64_t>(one.second) == std::bit_cast<std::uint64_t>(other.value); });
}

struct Entry {
  std::uint64_t kernel = 0;   // State::id; 0: empty
  const Kernel::State *chosen = nullptr;   // of that kernel, which whoever launches it holds
  Copy copy;
  Checked checked;
  std::optional<PreparedLaunch> prepared;
};

class Table {
public:
  Acceptance find(const Kernel::State &state, const Given &given) {
    Entry &entry = entries[slotOf(state.id, given)];
    if (entry.kernel == state.id && equal(entry.copy, given, equalTensors))
      return {*entry.chosen, entry.checked, entry.prepared};
    // Lengths and conditions depend on shapes and scalars alone.
    const Entry &before = entries[latest];
    const bool isAlike = before.kernel == state.id && equal(before.copy, given, equalShapes);
    Copy copy(given);
    Checked checked = check(state.artifact, state.inner, copy.byName(), isAlike ? &before.checked : nullptr);
    const Kernel::State *const kernel = isAlike ? before.chosen : &chosen(state, checked);
    entry = {state.id, kernel, std::move(copy), std::move(checked), {}};
    latest = static_cast<std::size_t>(&entry - entries.get());
    return {*entry.chosen, entry.checked, entry.prepared};
  }

private:
  static constexpr std::size_t size = 64;

  static std::size_t slotOf(std::uint64_t kernel, const Given &given) {
    std::uint64_t hash = kernel;
    for (const GivenTensor &tensor : given.tensors)
      hash = (hash ^ reinterpret_cast<std::uintptr_t>(tensor.data)) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::size_t>(hash >> 58);
  }

  std::unique_ptr<Entry[]> entries = std::make_unique<Entry[]>(size);
  std::size_t latest = 0;   // the entry that was filled last
};

} // namespace

Acceptance accepted(const Kernel::State &state, const Given &given) {
  thread_local Table table;
  return table.find(state, given);
}

} // namespace tw
