// What a compiled kernel is: code, and the facts by which it is checked and launched. Plain data.
#pragma once
#include "tilewright/artifact/DeviceFacts.h"
#include "tilewright/artifact/Expression.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// One argument of the kernel's entry, in order.
struct Parameter {
  enum class Kind {
    tensor,    // a memory descriptor of `rank` dimensions
    extent,    // the length of axis `name`, i32
    scalar,    // the run-time scalar `name`
    item,      // the coordinate of axis `name` that the item owns, i32
    scratch    // the item's working memory
  };
  Kind kind = Kind::tensor;
  std::string name;
  std::string type;          // f16 bf16 f32 f64 i32 i64 bool
  int rank = 0;              // tensor
  bool stored = false;       // tensor: written by the kernel
  bool positive = false;     // scalar: must be > 0
  bool summed = false;       // tensor: the kernel adds to it, and a launch sets it to 0 before
};

/// The length of an axis is the length of these dimensions, which must agree.
struct AxisBinding {
  std::string tensor;
  int dimension = 0;
};

struct AxisFacts {
  enum class Role { free, block, fold, inner };
  std::string name;
  Role role = Role::free;
  int width = 1;             // elements of a tile along it
  std::vector<AxisBinding> bindings;
};

/// Dimension `dimension` of `tensor` is read at `index`, which must stay inside it.
struct IndexFacts {
  std::string tensor;
  int dimension = 0;
  Expression index;
  std::string text;          // as in the program: `h / 2`
  std::string where = {};    // the user's line, `gemma.cpp:66`; of the program that asks, so that it is not kept with the code
};

struct RequirementFacts {
  Expression condition;
  std::string message;
};

/// An item that runs needs a list of the tiles of an axis, four bytes a tile, beside its working memory.
struct ListFacts {
  std::string axis;
  int width = 1;             // elements of a tile
};

struct Artifact {
  std::string program;       // the program's name
  std::string target;        // the name of the Target it was made for
  std::string schedule;      // printed
  std::string entry;         // the symbol to call or launch
  std::vector<Parameter> parameters;
  std::vector<AxisFacts> axes;
  std::vector<IndexFacts> indices;
  std::vector<RequirementFacts> requirements;
  std::int64_t limit = std::int64_t(1) << 30;   // no extent and no integer scalar may pass it: indices are computed in i32
  std::int64_t scratchBytes = 0;    // working memory of one item that runs
  std::vector<ListFacts> lists;     // behind it (host)
  bool heaviestLast = false;        // items with a larger block coordinate do more work
  LaunchFacts launch;               // a GPU's
  ResourceFacts resources;          // a GPU's, once assembled
  std::vector<std::string> instructions;   // that the source needs specialised: `wgmma_ss BF16 128 1` (name, type, N, B transposed)
  std::string source;               // CUDA text without the templates (GPU)
  std::string code;                 // an object file (host), a cubin (GPU; empty until assembled)
};

/// The names of the parameters of one kind, in their order.
[[nodiscard]] std::vector<std::string> namesOf(const Artifact &artifact, Parameter::Kind kind);

/// A self-describing byte string; `parseArtifact` reads it back and throws std::runtime_error where
/// it is cut short or not of this version.
[[nodiscard]] std::string serialise(const Artifact &artifact);
[[nodiscard]] Artifact parseArtifact(std::string_view bytes);

} // namespace tw
