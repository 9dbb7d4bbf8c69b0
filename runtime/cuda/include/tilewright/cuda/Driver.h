// NVIDIA's driver: whether there is one, and whether its GPUs still run.
#pragma once
#include <string>

namespace tw::cuda {

/// Why no kernel can be launched on a GPU here, and the cure; empty where one can. Opens the driver at the first call:
/// libcuda.so.1, or the file that $TILEWRIGHT_CUDA_DRIVER names.
[[nodiscard]] const std::string &driverAbsence();

/// `13.0`: the CUDA version of the driver; empty where there is none.
[[nodiscard]] std::string driverVersion();

/// Why GPU `ordinal` can run nothing more in this process: what a kernel did, which every later call of the driver reports; empty where it can. Waits for
/// all that is queued there.
[[nodiscard]] std::string gpuLoss(int ordinal);

} // namespace tw::cuda
