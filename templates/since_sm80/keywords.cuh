// How a device function is declared.
#define DEV __device__ __forceinline__
