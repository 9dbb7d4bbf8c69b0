// The facts of the CPU that this process runs on, from sysfs, procfs and sysconf.
#include "HostTarget.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace tw {
namespace {

/// Cores that the scheduler may give this process.
int usableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Bytes of the first core's data (or unified) cache of a level; 0 when sysfs has none.
/// /sys/devices/system/cpu/cpu0/cache/index*/{level,type,size}; a size reads "512K".
std::int64_t cacheBytes(int level) {
  for (int index = 0;; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream levelFile(folder + "level"), typeFile(folder + "type"), sizeFile(folder + "size");
    int found = 0;
    std::string type;
    std::int64_t size = 0;
    if (!(levelFile >> found))
      return 0;
    if (found != level || !(typeFile >> type) || type == "Instruction" || !(sizeFile >> size))
      continue;
    char unit = ' ';
    sizeFile >> unit;
    return unit == 'K' ? size * 1024 : unit == 'M' ? size * 1024 * 1024 : size;
  }
}

/// A line "key<blanks>: value" of the first processor in /proc/cpuinfo; empty when it is not there.
std::string cpuInfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos && colon + 2 <= line.size() &&
        line.find_first_not_of(" \t", key.size()) == colon)
      return line.substr(colon + 2);
  }
  return "";
}

/// The highest clock of the first core; 0 when cpufreq does not tell. /proc/cpuinfo tells the clock of the moment, which
/// would make one machine's facts differ between two runs.
double highestClockHz() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  double kilohertz = 0;
  return file >> kilohertz ? kilohertz * 1e3 : 0;
}

/// The width of the widest vector registers, and how many a core names.
struct Vectors {
  int bytes, registers;
};
Vectors vectors() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return {64, 32};
  return {__builtin_cpu_supports("avx2") ? 32 : 16, 16};
#else
  return {16, 32};  // what every 64-bit Arm has
#endif
}

} // namespace

Target readHostTarget() {
  Target target;
  target.name = "host";
  const std::string model = cpuInfo("model name");
  target.title = model.empty() ? "this machine's CPU" : model;
  target.arch = "host";
  target.sms = usableCores();

  const std::int64_t l1 = cacheBytes(1), l2 = cacheBytes(2), l3 = cacheBytes(3);
  target.l1BytesPerCore = static_cast<int>(l1 > 0 ? l1 : 32 * 1024);
  target.sharedBytesPerSM = static_cast<int>(l2 > 0 ? l2 : 256 * 1024);
  target.sharedBytesPerBlock = target.sharedBytesPerSM;
  target.l2Bytes = std::max<std::int64_t>(l3, target.sharedBytesPerSM);

  const Vectors found = vectors();
  target.vectorBytes = found.bytes;
  target.registersPerSM = target.registersPerThreadMax = found.registers;
  target.threadsPerSM = target.threadsPerBlock = 1;

  target.dramBytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  target.clockHz = highestClockHz();
  return target;
}

} // namespace tw
