// Small kernels as text, and what a test needs to have them compiled.
#pragma once
#include "tilewright/cuda/Nvrtc.h"
#include "support/Thrown.h"
#include <catch2/catch.hpp>

namespace tw::cuda::tests {

/// y[i] = x[i] * scale + the number of earlier launches that `counters` has seen; one parameter, a struct of 32 bytes.
inline const char *const scaleText = R"cuda(
struct Params { const float* x; float* y; int* counters; int n; float scale; };
extern "C" __global__ void __launch_bounds__(128, 1) scale(const __grid_constant__ Params p) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < p.n; i += gridDim.x * 128) p.y[i] = p.x[i] * p.scale + p.counters[0];
}
)cuda";

/// Takes a struct that is aligned as one with a tensor map is.
inline const char *const alignedText = R"cuda(
struct alignas(128) Params { int* y; int n[40]; };
extern "C" __global__ void aligned(const __grid_constant__ Params p) { p.y[threadIdx.x] = p.n[threadIdx.x & 31]; }
)cuda";

/// Holds a result of a wgmma back too early, so that the assembler serialises.
inline const char *const serialisedText = R"cuda(
typedef unsigned long long u64;
struct Params { float* y; u64 a, b; int n; };
__device__ __forceinline__ void mma(float (&d)[4], u64 a, u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
extern "C" __global__ void __launch_bounds__(128, 1) serialised(const __grid_constant__ Params p) {
  float d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int i = 0; i < p.n; i++) {
    mma(d, p.a + i, p.b);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (d[0] > 3.f) d[1] += 1.f;
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; i++) p.y[threadIdx.x * 4 + i] = d[i];
}
)cuda";

/// Keeps 120 numbers a thread where there is room for 64, and 400 bytes of static shared memory.
inline const char *const spillingText = R"cuda(
extern "C" __global__ void __launch_bounds__(1024, 1) spilling(float* y) {
  __shared__ float shared[100];
  float a[120];
#pragma unroll
  for (int i = 0; i < 120; i++) a[i] = y[i * 1024 + threadIdx.x];
  __syncthreads();
  shared[threadIdx.x % 100] = a[3];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 120; i++) y[i * 1024 + threadIdx.x] = a[119 - i] * a[(i * 7) % 120] + shared[i % 100];
}
)cuda";

/// Whether there is an NVRTC; where not, says why nothing is tested.
inline bool canAssemble() {
  if (nvrtcAbsence().empty())
    return true;
  WARN("skipped: " << nvrtcAbsence());
  return false;
}

using tw::tests::messageOf;

} // namespace tw::cuda::tests
