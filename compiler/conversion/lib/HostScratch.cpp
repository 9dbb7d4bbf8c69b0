// Scratch: first fit over the pieces in use.
#include "HostScratch.h"
#include "llvm/ADT/STLExtras.h"

namespace tw::host {

Extent Scratch::allocate(int64_t bytes) {
  constexpr int64_t line = 64;
  bytes = (bytes + line - 1) / line * line;
  int64_t offset = 0;
  auto next = used.begin();
  for (; next != used.end() && next->offset - offset < bytes; ++next)
    offset = next->offset + next->bytes;
  Extent extent{offset, bytes};
  used.insert(next, extent);
  most = std::max(most, offset + bytes);
  return extent;
}

void Scratch::release(Extent extent) {
  auto found = llvm::find_if(used, [&](Extent e) { return e.offset == extent.offset; });
  if (found != used.end())
    used.erase(found);
}

} // namespace tw::host
