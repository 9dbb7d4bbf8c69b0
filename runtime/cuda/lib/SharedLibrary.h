// A library that may be absent, opened by name.
#pragma once
#include <string>
#include <vector>

namespace tw::cuda {

/// A library of this process, never closed.
struct SharedLibrary {
  void *handle = nullptr;
  std::string name;      // that it was opened by
  std::string trouble;   // where there is no handle: what dlopen said of each name

  [[nodiscard]] void *find(const char *symbol) const;
};

/// Opens the first of these that can be opened.
[[nodiscard]] SharedLibrary openFirst(const std::vector<std::string> &names);

} // namespace tw::cuda
