// A kernel for a GPU made by hand, and the fake driver to launch it on.
#pragma once
#include "AssembleDevice.h"
#include "State.h"
#include "support/FakeDriver.h"
#include "tilewright/cuda/Buffer.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

namespace tw::tests {

inline const bool fakeIsChosen = ::setenv("TILEWRIGHT_CUDA_DRIVER", TILEWRIGHT_FAKE_DRIVER, 1) == 0;

inline FakeState &fake() { return fakeDriver(TILEWRIGHT_FAKE_DRIVER); }

/// What `rowsText` declares as Params.
struct RowsParameters {
  struct alignas(128) Map {
    std::uint64_t address, sizes[5];
    unsigned char rest[80];
  } tm_X;
  std::uint64_t Y;
  std::int64_t Y_s0;
  std::int32_t len_q, len_k, items;
  float scale;
  std::uint64_t counters;
};

inline const char *const rowsText = R"cuda(
struct alignas(128) Map { unsigned char raw[128]; };
struct Params { Map tm_X; float* Y; long long Y_s0; int len_q, len_k, items; float scale; int* counters; };
extern "C" __global__ void __launch_bounds__(128, 1) tilewright_rows(const __grid_constant__ Params p) {
  for (int q = blockIdx.x * 128 + threadIdx.x; q < p.len_q; q += gridDim.x * 128) p.Y[q * p.Y_s0] = p.scale * p.len_k + p.items + p.counters[0];
}
)cuda";

/// Y[q] f32 from X[q, k, d] bf16, q in tiles of 128; scalar scale.
inline Artifact rowsArtifact() {
  using Kind = ParameterField::Kind;
  Artifact artifact;
  artifact.program = "rows";
  artifact.target = "h200";
  artifact.schedule = print(Schedule{"q", {{"q", 128}}});
  artifact.entry = "tilewright_rows";
  artifact.parameters = {{Parameter::Kind::tensor, "X", "bf16", 3}, {Parameter::Kind::tensor, "Y", "f32", 1, true}, {Parameter::Kind::scalar, "scale", "f32"}};
  artifact.axes = {{"d", AxisFacts::Role::inner, 64, {{"X", 2}}}, {"k", AxisFacts::Role::fold, 64, {{"X", 1}}}, {"q", AxisFacts::Role::block, 128, {{"X", 0}, {"Y", 0}}}};
  ParameterField map{Kind::map, "tm_X", {}, "X", "bf16"};
  map.dimensions = {{2, 0, 64, 64}, {1, 0, 0, 64}, {0, 0, 0, 1}};
  artifact.launch.fields = {map,
                            {Kind::pointer, "Y", {}, "Y", "f32"},
                            {Kind::stride, "Y_s0", {}, "Y"},
                            {Kind::extent, "len_q", "q"},
                            {Kind::extent, "len_k", "k"},
                            {Kind::items, "items"},
                            {Kind::scalar, "scale", "scale", {}, "f32"},
                            {Kind::counters, "counters"}};
  artifact.launch.blockAxis = "q";
  artifact.launch.blockWidth = 128;
  artifact.launch.threads = 128;
  artifact.launch.sharedBytes = 4096;
  artifact.launch.counters = 2;
  return artifact;
}

/// Assembled; false where there is no NVRTC, which is said.
inline bool assembleRows(Artifact &artifact) {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return false;
  }
  assembleDevice(artifact, rowsText, {});
  return true;
}

inline Kernel kernelOf(const Artifact &artifact) { return Kernel(Kernel::State::load(artifact, {{"d", 64}}, std::string(64, '0'))); }

/// The arguments of `rows`, on a GPU.
struct Rows {
  cuda::Buffer x, y, workspace;
  Arguments arguments;
  Rows(std::int64_t q, std::int64_t k, int ordinal = 0) : x(ordinal, std::size_t(q * k * 64 * 2)), y(ordinal, std::size_t(q * 4)), workspace(ordinal, 64) {
    arguments.tensors["X"] = {x.data(), Type::bf16, {q, k, 64}, {}};
    arguments.tensors["Y"] = {y.data(), Type::f32, {q}, {}};
    arguments.scalars["scale"] = 0.5;
  }
  [[nodiscard]] Workspace space() const { return {workspace.data(), workspace.bytes()}; }
};

/// The launches that `work` makes.
template <class F> std::vector<FakeLaunch> launchesOf(F work) {
  fake().launches.clear();
  fake().parameterBytes = sizeof(RowsParameters);
  work();
  return std::move(fake().launches);
}

inline RowsParameters parametersOf(const FakeLaunch &launch) {
  RowsParameters parameters;
  std::memcpy(static_cast<void *>(&parameters), launch.parameters.data(), sizeof parameters);
  return parameters;
}

} // namespace tw::tests
