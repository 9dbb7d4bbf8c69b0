// Tensor maps as the driver encodes them.
#pragma once
#include "tilewright/device/TensorMap.h"

namespace tw::cuda {

/// Encodes the map, or copies what the calling thread encoded for an equal one lately. Throws RuntimeError where the driver
/// refuses it.
void encodeMap(const device::TensorMap &map, void *out);

} // namespace tw::cuda
