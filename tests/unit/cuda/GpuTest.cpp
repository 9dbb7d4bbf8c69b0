// On a real GPU: compiled, loaded, launched, right.
#include "Texts.h"
#include "tilewright/cuda/Buffer.h"
#include "tilewright/cuda/Driver.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/cuda/Module.h"
#include "tilewright/cuda/Resources.h"
#include <cstring>

using namespace tw;
using namespace tw::cuda;
using namespace tw::cuda::tests;

TEST_CASE("a kernel runs on every GPU of this machine that can run it") {
  if (!driverAbsence().empty()) {
    WARN("skipped: " << driverAbsence());
    return;
  }
  if (!canAssemble())
    return;
  const Assembly assembly = assemble(scaleText, "scale");
  const Module module({assembly.cubin, "scale", "scale", "h200", "sm90a", 128, 64 << 10});
  int ran = 0;
  for (const Gpu &gpu : gpus()) {
    if (!runs(gpu, "sm90a"))
      continue;
    const int n = 1000;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i)
      x[std::size_t(i)] = float(i);
    Buffer in(gpu.ordinal, n * 4), out(gpu.ordinal, n * 4), counters(gpu.ordinal, 4);
    in.write(x.data());
    const int dirty = 5;
    counters.write(&dirty);
    REQUIRE(residence(in.address()));
    CHECK(residence(in.address())->ordinal == gpu.ordinal);
    CHECK_FALSE(residence(reinterpret_cast<std::uint64_t>(x.data())));
    struct {
      std::uint64_t x, y, counters;
      int n;
      float scale;
    } parameters{in.address(), out.address(), counters.address(), n, 2.f};
    alignas(128) std::byte block[32];
    static_assert(sizeof parameters == sizeof block);
    std::memcpy(block, &parameters, sizeof block);
    module.launch(gpu.ordinal, nullptr, module.machine(gpu.ordinal).sms, block, {counters.address(), 1});
    synchronise(gpu.ordinal, nullptr);
    out.read(y.data());
    for (int i = 0; i < n; ++i)
      REQUIRE(y[std::size_t(i)] == 2.f * float(i));
    ++ran;
  }
  if (!ran)
    WARN("skipped: no GPU here runs sm90a");
}
