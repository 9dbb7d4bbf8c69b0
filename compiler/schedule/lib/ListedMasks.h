// Which masks need lists of the tiles that they keep.
#pragma once
#include "tilewright/dsl/Roles.h"

namespace tw {

/// Has the fold a mask that is no conjunction of half planes, so that its kernel may list tiles? It may still not: that is tile-classify-tiles' answer.
[[nodiscard]] bool mayListTiles(const Roles &roles);

} // namespace tw
