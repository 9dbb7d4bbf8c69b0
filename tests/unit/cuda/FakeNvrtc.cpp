// An NVRTC 12.99 that compiles nothing: for what happens when it is opened.
extern "C" {
const char *nvrtcGetErrorString(int) { return "NVRTC_ERROR_OF_A_FAKE"; }
int nvrtcVersion(int *major, int *minor) {
  *major = 12;
  *minor = 99;
  return 0;
}
int nvrtcCreateProgram() { return 1; }
int nvrtcDestroyProgram() { return 1; }
int nvrtcCompileProgram() { return 1; }
int nvrtcGetProgramLogSize() { return 1; }
int nvrtcGetProgramLog() { return 1; }
int nvrtcGetPTXSize() { return 1; }
int nvrtcGetPTX() { return 1; }
int nvrtcGetCUBINSize() { return 1; }
int nvrtcGetCUBIN() { return 1; }
}
