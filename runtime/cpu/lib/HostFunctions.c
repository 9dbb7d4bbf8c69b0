/* C, since C++ overloads half of <math.h>. A name that this C library does not have fails to compile. */
#define _GNU_SOURCE
#include "HostFunctions.h"
#include "HalfConversion.h"
#include <math.h>
#include <string.h>
#include <strings.h>

/* What compilers call these conversions; here they are always our own. */
#define __extendhfsf2 tilewrightExtendHalf
#define __truncsfhf2 tilewrightTruncateToHalf

const struct HostFunction *tilewrightHostFunctions(void) {
  static const struct HostFunction functions[] = {
#define TW_HOST_FUNCTION(name) {#name, (void (*)(void))name},
#include "tilewright/artifact/HostFunctions.def"
#undef TW_HOST_FUNCTION
      {0, 0}};
  return functions;
}
