// A model launches few kernels on the same few tensors, step by step. Checking takes microseconds, comparing a fraction of one. Each
// thread has a table of its own, so nothing is locked.
#include "Accepted.h"
#include <memory>

namespace tw {
namespace {

bool equalViews(const TensorView &a, const TensorView &b) { return a.data == b.data && a.type == b.type && a.shape == b.shape && a.strides == b.strides; }
bool equalShapes(const TensorView &a, const TensorView &b) { return a.shape == b.shape; }

template <class Equal> bool equal(const Arguments &a, const Arguments &b, Equal views) {
  if (a.tensors.size() != b.tensors.size() || a.scalars != b.scalars)
    return false;
  for (auto one = a.tensors.begin(), other = b.tensors.begin(); one != a.tensors.end(); ++one, ++other)
    if (one->first != other->first || !views(one->second, other->second))
      return false;
  return true;
}

struct Entry {
  std::uint64_t kernel = 0;   // State::id; 0: empty
  Arguments arguments;
  Checked checked;
  bool isLaunched = false;
};

class Table {
public:
  Acceptance find(const Kernel::State &state, const Arguments &arguments) {
    Entry &entry = entries[slotOf(state.id, arguments)];
    if (entry.kernel == state.id && equal(entry.arguments, arguments, equalViews))
      return {entry.checked, entry.isLaunched};
    // Lengths and conditions depend on shapes and scalars alone.
    const Entry &before = entries[latest];
    const bool isAlike = before.kernel == state.id && equal(before.arguments, arguments, equalShapes);
    Checked checked = check(state.artifact, state.inner, arguments, isAlike ? &before.checked : nullptr);
    entry.kernel = 0;   // where a copy fails, the entry must not be found
    entry.arguments = arguments;
    entry.checked = std::move(checked);
    entry.isLaunched = false;
    entry.kernel = state.id;
    latest = static_cast<std::size_t>(&entry - entries.get());
    return {entry.checked, entry.isLaunched};
  }

private:
  static constexpr std::size_t size = 64;

  static std::size_t slotOf(std::uint64_t kernel, const Arguments &arguments) {
    std::uint64_t hash = kernel;
    for (const auto &[name, view] : arguments.tensors)
      hash = (hash ^ reinterpret_cast<std::uintptr_t>(view.data)) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::size_t>(hash >> 58);
  }

  std::unique_ptr<Entry[]> entries = std::make_unique<Entry[]>(size);
  std::size_t latest = 0;   // the entry that was filled last
};

} // namespace

Acceptance accepted(const Kernel::State &state, const Arguments &arguments) {
  thread_local Table table;
  return table.find(state, arguments);
}

} // namespace tw
