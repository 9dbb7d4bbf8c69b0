// The cache of this process.
#pragma once
#include "tilewright/cache/Store.h"
#include <memory>

namespace tw {

/// The store at the place that the environment names now; opened at first use, and again only where that place changes.
/// Any thread may call it.
[[nodiscard]] std::shared_ptr<cache::Store> sharedStore();

} // namespace tw
