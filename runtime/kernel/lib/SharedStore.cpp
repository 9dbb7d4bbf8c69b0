#include "SharedStore.h"
#include "tilewright/cache/Location.h"
#include <mutex>
#include <optional>

namespace tw {

std::shared_ptr<cache::Store> sharedStore() {
  static std::mutex mutex;
  static std::shared_ptr<cache::Store> store;
  static std::optional<cache::Location> opened;
  const std::lock_guard lock(mutex);
  cache::Location location = cache::locate();
  if (!store || opened->file != location.file || opened->switchedOff != location.switchedOff) {
    store = std::make_shared<cache::Store>(cache::Store::open(location));
    opened = std::move(location);
  }
  return store;
}

} // namespace tw
