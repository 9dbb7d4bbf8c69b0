#include "Memory.h"

namespace tw::cache {

const std::string* Memory::find(const Digest& key) {
  const auto place = places.find(key);
  if (place == places.end()) return nullptr;
  items.splice(items.begin(), items, place->second);
  return &items.front().bytes;
}

void Memory::put(const Digest& key, std::string_view bytes, const Facts& facts, std::uint64_t limitBytes) {
  if (const auto place = places.find(key); place != places.end()) erase(place->second);
  items.push_front({key, std::string(bytes), facts});
  places[key] = items.begin();
  total += bytes.size();
  evict(limitBytes);
}

std::vector<Entry> Memory::list() const {
  std::vector<Entry> entries;
  for (const Item& item : items)
    entries.push_back({item.key, item.bytes.size(), item.facts});
  return entries;
}

std::uint64_t Memory::evict(std::uint64_t limitBytes) {
  std::uint64_t evicted = 0;
  for (; total > limitBytes; ++evicted)
    erase(std::prev(items.end()));
  return evicted;
}

void Memory::erase(std::list<Item>::iterator item) {
  total -= item->bytes.size();
  places.erase(item->key);
  items.erase(item);
}

}  // namespace tw::cache
