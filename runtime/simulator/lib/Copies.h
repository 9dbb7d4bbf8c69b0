// Copies by the copy engine between global and shared memory.
#pragma once
#include "TensorMap.h"
#include <array>
#include <optional>

namespace tw::simulated {

/// A copy into shared memory, of a tensor map's box or of plain bytes.
struct BulkLoad {
  Block *block;
  Address to, mbarrier;
  std::uint32_t bytes;
  int line;
  std::optional<TensorMap> map;
  std::array<int, 5> at{};
  const void *from = nullptr;
};

/// A copy out of shared memory: it reads all of it, later it writes.
struct BulkStore {
  Block *block;
  Address from;
  std::uint32_t bytes;
  int line;
  bool adds;
  std::optional<TensorMap> map;
  std::array<int, 5> at{};
  void *to = nullptr;
  bool hasRead = false, hasWritten = false;
  std::vector<unsigned char> content;   // once read
};

/// Lets the load of this index in Machine::loads happen.
void landLoad(std::size_t index);

/// Lets the store of this index in Machine::stores read, or, where it has, write.
void stepStore(std::size_t index);
void readForStore(BulkStore &store);
void writeStore(BulkStore &store);

/// Reports bulk stores of a thread that ends before they have read shared memory.
void leaveStores(const Thread &thread);

}   // namespace tw::simulated
