// The functions of NVRTC that we call, declared by us.
#pragma once
#include <cstddef>
#include <string>

namespace tw::cuda {

using NvrtcProgram = struct NvrtcProgramTag *;

struct NvrtcLibrary {
  const char *(*errorString)(int) = nullptr;
  int (*version)(int *major, int *minor) = nullptr;
  int (*createProgram)(NvrtcProgram *, const char *text, const char *name, int headers, const char *const *contents, const char *const *names) = nullptr;
  int (*destroyProgram)(NvrtcProgram *) = nullptr;
  int (*compileProgram)(NvrtcProgram, int count, const char *const *options) = nullptr;
  int (*logSize)(NvrtcProgram, std::size_t *) = nullptr;
  int (*log)(NvrtcProgram, char *) = nullptr;
  int (*ptxSize)(NvrtcProgram, std::size_t *) = nullptr;
  int (*ptx)(NvrtcProgram, char *) = nullptr;
  int (*cubinSize)(NvrtcProgram, std::size_t *) = nullptr;
  int (*cubin)(NvrtcProgram, char *) = nullptr;

  int major = 0, minor = 0;
  std::string name;      // of the library
  std::string absence;   // empty: usable; else why not, and the cure
};

/// NVRTC of this process, opened at first use.
[[nodiscard]] const NvrtcLibrary &nvrtcLibrary();

} // namespace tw::cuda
