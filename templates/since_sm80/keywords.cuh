// How a device function is declared.
#define DEV __device__ __forceinline__
// What is rarely called, and must not cost registers where it is not.
#define APART __device__ __noinline__
// The last parameter of a function of common/ that copies, and the argument of what it calls: the caller's line, for the simulator only.
#define CALLER_
#define FOR_CALLER_
