// NVRTC is looked for where it usually is, newest first.
#include "tilewright/cuda/Nvrtc.h"
#include "NvrtcLibrary.h"
#include "SharedLibrary.h"
#include "tilewright/artifact/RuntimeError.h"
#include <cstdlib>
#include <fmt/format.h>

namespace tw::cuda {
namespace {

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Where `./bootstrap` puts it.
std::string ownFolder() {
  if (std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/tilewright/nvrtc";
  return fmt::format("{}/.cache/tilewright/nvrtc", variable("HOME"));
}

std::vector<std::string> places() {
  if (std::string chosen = variable("TILEWRIGHT_NVRTC"); !chosen.empty())
    return {chosen};
  std::vector<std::string> folders = {""};   // as the loader finds it
  for (const char *home : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string folder = variable(home); !folder.empty())
      folders.push_back(folder + "/lib64/");
  for (const char *folder : {"/usr/local/cuda/lib64/", "/usr/local/cuda-13/lib64/", "/usr/local/cuda-12/lib64/", "/opt/cuda/lib64/", "/usr/lib/x86_64-linux-gnu/"})
    folders.push_back(folder);
  folders.push_back(ownFolder() + "/");
  std::vector<std::string> files;
  for (const char *file : {"libnvrtc.so.13", "libnvrtc.so.12"})
    for (const std::string &folder : folders)
      files.push_back(folder + file);
  return files;
}

template <class F> bool take(const SharedLibrary &library, F &function, const char *symbol) {
  function = reinterpret_cast<F>(library.find(symbol));
  return function != nullptr;
}

NvrtcLibrary open() {
  NvrtcLibrary rtc;
  const SharedLibrary library = openFirst(places());
  if (!library.handle) {
    const std::string chosen = variable("TILEWRIGHT_NVRTC");
    rtc.absence = fmt::format("NVRTC, NVIDIA's run-time compiler, is needed to build a kernel for a GPU, and {}{}; {}",
                              chosen.empty() ? "it is not here" : fmt::format("TILEWRIGHT_NVRTC={} cannot be opened", chosen), library.trouble.empty() ? "" : ": " + library.trouble,
                              chosen.empty() ? "`./bootstrap deps` gets it, and TILEWRIGHT_NVRTC=/path/libnvrtc.so.13 names one that lies elsewhere" : "name a libnvrtc.so.13 or .12 that is there");
    return rtc;
  }
  rtc.name = library.name;
  const bool whole = take(library, rtc.errorString, "nvrtcGetErrorString") && take(library, rtc.version, "nvrtcVersion") && take(library, rtc.createProgram, "nvrtcCreateProgram") &&
                     take(library, rtc.destroyProgram, "nvrtcDestroyProgram") && take(library, rtc.compileProgram, "nvrtcCompileProgram") &&
                     take(library, rtc.logSize, "nvrtcGetProgramLogSize") && take(library, rtc.log, "nvrtcGetProgramLog") && take(library, rtc.ptxSize, "nvrtcGetPTXSize") &&
                     take(library, rtc.ptx, "nvrtcGetPTX") && take(library, rtc.cubinSize, "nvrtcGetCUBINSize") && take(library, rtc.cubin, "nvrtcGetCUBIN");
  if (!whole || rtc.version(&rtc.major, &rtc.minor) != 0 || rtc.major < 12)
    rtc.absence = fmt::format("{} is no NVRTC of CUDA 12 or later; get one by `./bootstrap deps`, or name one by TILEWRIGHT_NVRTC", library.name);
  else if (const std::size_t slash = library.name.rfind('/'); slash != std::string::npos)
    // It asks for its builtins by their name alone, when it compiles; where the loader would not find them they must be there by then.
    (void)openFirst({fmt::format("{}libnvrtc-builtins.so.{}.{}", library.name.substr(0, slash + 1), rtc.major, rtc.minor)});
  return rtc;
}

} // namespace

const NvrtcLibrary &nvrtcLibrary() {
  static const NvrtcLibrary *library = new NvrtcLibrary(open());
  return *library;
}

const std::string &nvrtcAbsence() { return nvrtcLibrary().absence; }

const NvrtcVersion &nvrtcVersion() {
  if (!nvrtcAbsence().empty())
    throw RuntimeError(nvrtcAbsence());
  static const NvrtcVersion *version = new NvrtcVersion{nvrtcLibrary().major, nvrtcLibrary().minor, nvrtcLibrary().name};
  return *version;
}

std::vector<std::string> nvrtcOptions(const AssemblyOptions &options) {
  const std::string number = options.arch.substr(options.arch.starts_with("sm") ? 2 : 0);
  std::vector<std::string> all = {fmt::format("--gpu-architecture=sm_{}", number), "--std=c++17", "--ptxas-options=-v", "-default-device"};
  if (nvrtcAbsence().empty() && nvrtcVersion().major >= 13)
    all.push_back("--no-cache");   // of what comes out of NVRTC's own cache, the assembler says no registers
  if (options.lineInfo)
    all.push_back("-lineinfo");
  if (options.plainArrivals)
    all.push_back("-DPLAIN_ARRIVALS");
  return all;
}

} // namespace tw::cuda
