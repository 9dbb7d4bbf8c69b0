/// One process of many on one cache: test_cache_worker FILE KEYS SEED [all-present].
/// Reads every key in an order of its own; puts those it misses. Exit 0: all right; 3: wrong content;
/// 4: the file was not used; 5: a key was missing though all were to be present; 6: something was damaged.
#include "Scratch.h"

#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>

using namespace tw::cache;
using namespace tw::cache::test;

int main(int count, char** words) {
  if (count < 4) return 2;
  const int keys = std::atoi(words[2]);
  std::mt19937 random(unsigned(std::atoi(words[3])));
  const bool allPresent = count > 4;

  std::vector<int> order(keys);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Store store = Store::open(fs::path(words[1]), {.log = [](std::string_view) {}});
  for (const int i : order) {
    if (const auto content = store.get(keyOf(i))) {
      if (*content != contentOf(i)) return 3;
      continue;
    }
    if (allPresent) return 5;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));  // the compile
    store.put(keyOf(i), contentOf(i), {{"number", std::to_string(i)}});
    const auto content = store.get(keyOf(i));
    if (!content || *content != contentOf(i)) return 3;
  }
  const Statistics stats = store.stats();
  if (!stats.memoryOnly.empty()) return 4;
  return stats.rejected == 0 && stats.rebuilds == 0 ? 0 : 6;
}
