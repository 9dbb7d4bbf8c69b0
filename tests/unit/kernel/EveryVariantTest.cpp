// Every variant of the gallery has a kernel for GPUs: its text, for which no NVRTC is needed.
#include "tilewright/artifact/Artifact.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/kernel/DeviceText.h"
#include <catch2/catch.hpp>

using namespace tw;

TEST_CASE("every variant of the gallery has a kernel for GPUs where results are computed in passes") {
  for (const Variant &variant : gallery())
    for (const char *target : {"h200", "a100"}) {
      INFO(variant.name << " for " << target);
      CHECK_NOTHROW(compileText(makeVariant(variant.name), {.target = target, .extents = {{"d", 64}, {"e", 264}}}));
    }
}
