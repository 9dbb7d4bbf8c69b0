#include "tilewright/cuda/Gpu.h"
#include "DriverLibrary.h"
#include <array>
#include <fmt/format.h>

namespace tw::cuda {
namespace {

std::vector<Gpu> readGpus() {
  std::vector<Gpu> all;
  const DriverLibrary &driver = driverLibrary();
  for (int ordinal = 0; driver.absence.empty() && ordinal < driver.devices; ++ordinal) {
    Device device = 0;
    check(driver.deviceGet(&device, ordinal), "cuDeviceGet", fmt::format("looking for GPU {}", ordinal));
    auto attribute = [&](DeviceAttribute which) {
      int value = 0;
      check(driver.deviceAttribute(&value, which, device), "cuDeviceGetAttribute", fmt::format("reading attribute {} of GPU {}", static_cast<int>(which), ordinal));
      return value;
    };
    Gpu gpu;
    gpu.ordinal = ordinal;
    std::array<char, 256> name{};
    check(driver.deviceName(name.data(), static_cast<int>(name.size()) - 1, device), "cuDeviceGetName", fmt::format("reading the name of GPU {}", ordinal));
    gpu.name = name.data();
    gpu.major = attribute(DeviceAttribute::capabilityMajor);
    gpu.minor = attribute(DeviceAttribute::capabilityMinor);
    gpu.sms = attribute(DeviceAttribute::multiprocessors);
    gpu.sharedBytesPerBlock = attribute(DeviceAttribute::sharedBytesPerBlock);
    gpu.sharedBytesPerSM = attribute(DeviceAttribute::sharedBytesPerSM);
    gpu.registersPerSM = attribute(DeviceAttribute::registersPerSM);
    gpu.threadsPerSM = attribute(DeviceAttribute::threadsPerSM);
    gpu.l2Bytes = attribute(DeviceAttribute::l2Bytes);
    std::size_t memory = 0;
    check(driver.deviceMemory(&memory, device), "cuDeviceTotalMem", fmt::format("reading the memory of GPU {}", ordinal));
    gpu.memoryBytes = static_cast<std::int64_t>(memory);
    all.push_back(std::move(gpu));
  }
  return all;
}

} // namespace

const std::vector<Gpu> &gpus() {
  static const std::vector<Gpu> *all = new std::vector<Gpu>(readGpus());
  return *all;
}

bool runs(const Gpu &gpu, std::string_view arch) {
  if (!arch.starts_with("sm") || arch.size() < 4)
    return false;
  const bool isExact = arch.back() == 'a';
  int number = 0;
  for (char digit : arch.substr(2, arch.size() - 2 - isExact)) {
    if (digit < '0' || digit > '9')
      return false;
    number = number * 10 + (digit - '0');
  }
  return gpu.major == number / 10 && (isExact ? gpu.minor == number % 10 : gpu.minor >= number % 10);
}

std::optional<Residence> residence(std::uint64_t address) {
  const DriverLibrary &driver = requireDriver();
  unsigned type = 0;
  int ordinal = 0;
  PointerAttribute attributes[] = {PointerAttribute::memoryType, PointerAttribute::deviceOrdinal};
  void *values[] = {&type, &ordinal};
  if (driver.pointerAttributes(2, attributes, values, address) != 0 || type == 0)
    return {};
  return Residence{ordinal, type == 2};
}

} // namespace tw::cuda
