/* Addresses of the functions that host code may call: every one of artifact/HostFunctions.def, then {0, 0}. */
#pragma once

struct HostFunction {
  const char *name;
  void (*address)(void);
};

#ifdef __cplusplus
extern "C"
#endif
const struct HostFunction *tilewrightHostFunctions(void);
