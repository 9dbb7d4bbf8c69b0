// What a GPU kernel needs at launch: its parameter block, grid and shared memory. Plain data.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tw {

/// One dimension of a tensor map, fastest first. It walks dimension `dimension` of the tensor in elements, or, where `chunk` is
/// not 0, in chunks of that many elements.
struct MapDimension {
  int dimension = 0;
  int chunk = 0;
  int size = 0;        // elements (chunks) there are, where the build fixes it; 0: as long as the tensor's dimension
  int box = 1;         // elements (chunks) that one copy takes
};

/// One field of the kernel's parameter struct, in order, each aligned to its own size (a map: 128 bytes, aligned to 128).
struct ParameterField {
  enum class Kind {
    map,        // a tensor map of `tensor`: `dimensions`, `swizzle`; elements outside read as 0
    pointer,    // the address of `tensor`
    stride,     // i64: the stride of dimension `dimension` of `tensor`, in elements
    extent,     // i32: the length of axis `axis`
    length,     // i32: the length of dimension `dimension` of `tensor`
    scalar,     // the run-time scalar `axis`, of `type`
    blocks,     // i32: tiles of the block axis
    frees,      // i32: points of the free axes, all together
    group,      // i32: points of the free axes that one group of items holds (LaunchFacts::grouped)
    items,      // i32: blocks * frees
    counters,   // the address of `LaunchFacts::counters` zeroed i32 in the workspace
    lists,      // the address of the lists in the workspace
    listRoom    // i32: the room of one list
  };
  Kind kind = Kind::extent;
  std::string name;         // of the field in the source text
  std::string axis = {};    // extent, scalar: what the program calls it
  std::string tensor = {};  // map, pointer, stride
  std::string type = {};    // map, pointer, scalar: f16 bf16 f32 f64 i32 i64 bool
  int dimension = 0;        // stride, length
  std::vector<MapDimension> dimensions = {};   // map
  int swizzle = 128;        // map: bytes over which 16-byte pieces are permuted (0 or 128)
};

/// A work item is one tile of the block axis at one point of the free axes. Blocks are persistent: the grid is
/// min(items, SMs · blocksPerSM), in one dimension.
struct LaunchFacts {
  std::vector<ParameterField> fields;
  std::string blockAxis;              // empty: no axis is tiled by block, and `blocks` is 1
  int blockWidth = 1;
  std::vector<std::string> freeAxes;
  int threads = 0;
  int sharedBytes = 0;                // dynamic shared memory of one block
  int blocksPerSM = 1;
  int counters = 0;                   // i32 counters in the workspace; 0 before and after every launch
  /// Behind the counters every block has `listSlots` lists, each with room for an i32 for every tile of `listWidth` along `listAxis`.
  std::string listAxis;
  int listWidth = 1;
  int listSlots = 0;                  // 0: there are none
  /// Items are ordered in groups of free points whose `ringTensors` fit the level-2 cache together; else a group is one point.
  bool grouped = false;
  std::vector<std::string> ringTensors;
  bool softwareMaps = false;          // maps are read by the kernel itself (device::softwareMap), not by a copy engine
  bool strided = false;   // tensors have any strides and alignment; else those with maps lie in pieces of 16 bytes, and these, which are stored, too
  std::vector<std::string> storedPieces;
};

/// What the assembler said of a kernel.
struct ResourceFacts {
  int registers = 0;                  // a thread, at launch
  int spillBytes = 0;                 // stores and loads
  int stackBytes = 0;
  int staticSharedBytes = 0;
  std::vector<std::string> remarks;   // of the assembler, such as a serialised wgmma
};

} // namespace tw
