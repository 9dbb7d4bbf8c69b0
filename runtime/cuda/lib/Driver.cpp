#include "tilewright/cuda/Driver.h"
#include "DriverLibrary.h"
#include <fmt/format.h>

namespace tw::cuda {

const std::string &driverAbsence() { return driverLibrary().absence; }

std::string driverVersion() {
  const int version = driverLibrary().version;
  return version ? fmt::format("{}.{}", version / 1000, version % 1000 / 10) : "";
}

} // namespace tw::cuda
