// Types and constants that device code has on every instruction set, and in the simulator.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// A tensor map as the driver encodes it, 128 opaque bytes, or a SoftwareMap. It lies in the parameter block.
struct alignas(128) TMap { unsigned char raw[128]; };

// Element types of matrix instructions.
struct BF16 { static constexpr int kind = 0; };
struct F16 { static constexpr int kind = 1; };

// What the level-2 cache is told about a copy.
#define L2_EVICT_NORMAL 0x1000000000000000ull
#define L2_EVICT_FIRST 0x12F0000000000000ull
#define L2_EVICT_LAST 0x14F0000000000000ull
