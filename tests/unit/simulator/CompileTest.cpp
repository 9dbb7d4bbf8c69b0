// From a kernel's text to something that can be launched, and every refusal on the way.
#include "Kernels.h"
#include "tilewright/artifact/RuntimeError.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdlib>

using namespace tw;
using namespace tw::test;

namespace {

/// An environment variable for as long as it lives.
class Setting {
public:
  Setting(const char *name, const char *value) : name(name) {
    if (const char *before = std::getenv(name))
      old = before, had = true;
    setenv(name, value, 1);
  }
  ~Setting() { had ? setenv(name, old.c_str(), 1) : unsetenv(name); }
  Setting(const Setting &) = delete;
  Setting &operator=(const Setting &) = delete;

private:
  const char *name;
  std::string old;
  bool had = false;
};

std::string refusal(auto action) {
  try {
    action();
  } catch (const RuntimeError &error) {
    return error.what();
  }
  return "none";
}

const char *const small = R"(
struct P { int* out; int value; };
#line 900 "user.cpp"
extern "C" __global__ void small(const __grid_constant__ P p) {
  p.out[blockIdx.x * blockDim.x + threadIdx.x] = p.value + (int)gridDim.x;
  if (p.value == 7) st_shared_u32(0, 1);
}
)";
struct Params {
  int *out;
  int value;
};

}   // namespace

TEST_CASE("a kernel runs on every thread of every block") {
  const SimulatedKernel kernel = compileForSimulator(small, "small");
  CHECK(kernel.name() == "small");
  CHECK(kernel.parameterBytes() == 16);
  SimulatedMemory memory;
  auto *out = static_cast<int *>(memory.allocate("out", 3 * 40 * 4));
  const Params p{out, 5};
  CHECK(simulate(kernel, {{3}, {40}, 0, bytesOf(p)}, memory).clean());
  CHECK(std::count(out, out + 120, 8) == 120);
}

TEST_CASE("lines of reports are lines of the text, whatever its #line directives say") {
  const SimulatedKernel kernel = compileForSimulator(small, "small");
  SimulatedMemory memory;
  const Params p{static_cast<int *>(memory.allocate("out", 4)), 7};
  const auto result = simulate(kernel, {{1}, {1}, 0, bytesOf(p)}, memory);
  REQUIRE(result.found == 1);
  CHECK(result.reports[0].line == 6);
  CHECK(result.reports[0].source == "if (p.value == 7) st_shared_u32(0, 1);");
}

TEST_CASE("a text that does not compile: the compiler's words") {
  const std::string text = refusal([] { (void)compileForSimulator("extern \"C\" __global__ void k(int x) {\n  undeclared(x);\n}\n", "k"); });
  CHECK_THAT(text, Catch::Contains("kernel.cu:2:") && Catch::Contains("undeclared"));
}

TEST_CASE("no compiler: what was tried, and the cure") {
  const Setting setting("CXX", "no-such-compiler");
  const std::string text = refusal([] { (void)compileForSimulator(small, "small"); });
  CHECK_THAT(text, Catch::Contains("'no-such-compiler' cannot be started") && Catch::Contains("apt-get install g++") && Catch::Contains("CXX"));
}

TEST_CASE("a launch that does not fit its kernel is refused") {
  const SimulatedKernel kernel = compileForSimulator(small, "small");
  SimulatedMemory memory;
  const char few[300] = {};
  auto launch = [&](SimulatedLaunch launch, SimulatorOptions options = {}) {
    return refusal([&] { (void)simulate(kernel, launch, memory, options); });
  };
  const auto bytes = std::as_bytes(std::span(few));
  CHECK(launch({{1}, {32}, 0, bytes}) == "kernel small: 300 bytes of parameters for a struct of 16");
  CHECK(launch({{1}, {2000}, 0, bytes.first(16)}) == "kernel small: a block of 2000 threads; it must have from 1 to 1024");
  CHECK(launch({{1}, {32}, 300000, bytes.first(16)}) == "kernel small: 300000 bytes of shared memory; a block has at most 232448");
  SimulatorOptions options;
  options.sharedBase = 8;
  CHECK_THAT(launch({{1}, {32}, 0, bytes.first(16)}, options), Catch::Contains("shared base 8 must be a multiple of 16"));
}
