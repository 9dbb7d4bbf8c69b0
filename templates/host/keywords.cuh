// CUDA's keywords and built-in variables, for a C++ compiler of the host, and the table of the simulator that runs the kernel.
extern "C" {
__attribute__((visibility("hidden"))) const SimulatorFunctions* simulator_;
void tilewright_bind(const SimulatorFunctions* functions) { simulator_ = functions; }
}
#define DEV static inline
#define APART static
#define LINE_ int line_ = __builtin_LINE()
#define CALLER_ , LINE_
#define FOR_CALLER_ , line_
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __grid_constant__
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define threadIdx ((*simulator_->running)->thread)
#define blockIdx ((*simulator_->running)->block)
#define blockDim (*simulator_->block)
#define gridDim (*simulator_->grid)
