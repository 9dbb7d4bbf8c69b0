/// Entries held in memory, where no file can hold them: the least recently used leave first.
#pragma once

#include "tilewright/cache/Store.h"

#include <list>
#include <unordered_map>

namespace tw::cache {

class Memory {
public:
  [[nodiscard]] const std::string* find(const Digest& key);
  void put(const Digest& key, std::string_view bytes, const Facts& facts, std::uint64_t limitBytes);
  [[nodiscard]] std::vector<Entry> list() const;
  [[nodiscard]] std::uint64_t count() const { return places.size(); }
  [[nodiscard]] std::uint64_t totalBytes() const { return total; }
  std::uint64_t evict(std::uint64_t limitBytes);

private:
  struct Item {
    Digest key;
    std::string bytes;
    Facts facts;
  };
  void erase(std::list<Item>::iterator item);

  std::list<Item> items;  // the most recently used first
  std::unordered_map<Digest, std::list<Item>::iterator> places;
  std::uint64_t total = 0;
};

}  // namespace tw::cache
