// From a program to something that runs: build, check, launch.
#pragma once
#include "tilewright/artifact/CompileError.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/dsl/Program.h"
#include "tilewright/dsl/Schedule.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace tw {

/// A tensor given at launch: element [i, j, …] is at data + (i·strides[0] + j·strides[1] + …) elements.
/// Any strides, 0 and negative ones too; a stored tensor's elements must lie apart.
struct TensorView {
  void *data = nullptr;
  Type type = Type::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;       // in elements; empty: row-major
};

/// What a launch is given, by the names of the program.
struct Arguments {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, double> scalars;
};

/// Where work is queued: a CUstream (cudaStream_t) of the GPU on which the tensors are; null is its default stream. The CPU target runs at
/// once, in the calling thread and the pool's; its only stream is `hostStream`.
struct Stream {
  void *handle = nullptr;
};
inline constexpr Stream hostStream{};

/// Memory of the caller's for everything mutable: at least workspaceBytes(arguments), aligned to 64 bytes, one
/// launch at a time. A GPU's is memory of that GPU.
struct Workspace {
  void *data = nullptr;
  std::size_t bytes = 0;
  /// A promise that all its bytes are 0, as every finished launch on a GPU leaves them. Without it they are zeroed on the
  /// stream before each launch that needs that.
  bool isZeroed = false;
};

/// What was given at launch does not fit the program; the message names it, what was expected and the cure.
class ArgumentError : public std::invalid_argument {
public:
  using std::invalid_argument::invalid_argument;
};

/// How build() chooses a schedule where none is given, and shapes are.
enum class Tune {
  never,     // the default one for the target, by rules
  cached,    // the one that tunings found to be the fastest: here, or before on such a GPU, as shipped tables have it; else the default one
  model,     // the same, else the one that the cost model predicts to be the fastest; of the CPU there is none, and the default one is taken
  measure    // the one that tunings here found; else some are compiled and timed now, on the target's GPU, and the result is kept: see tune()
};

struct BuildOptions {
  std::string target = "host";
  /// Lengths of inner axes (those that lie whole inside a tile, such as a head dim), by name. A kernel is made for them;
  /// all other lengths are given at launch.
  std::map<std::string, std::int64_t> extents;
  std::optional<Schedule> schedule;        // none: the one that `tune` says
  Tune tune = Tune::cached;
  /// The shapes of tensors, by name, with which it will be launched most: what a schedule is chosen for. The kernel serves all others too.
  /// None: the default schedule. Those of stored tensors may be left out.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  /// The most shared memory, in bytes, that a block of a GPU may take: the default schedule fits itself into it, a given one is held to it.
  /// None: what the target has. More than that changes nothing.
  std::optional<std::int64_t> sharedLimit;
  /// Of gradients: sums are made in a fixed order, by a program of their own for each axis, so that every run has the same bits. Else, where a GPU can add to memory in the
  /// background, one kernel makes all sums of tiles, and adds those that it does not own to its workspace as they come: faster where no mask skips tiles, and taken there.
  bool deterministic = false;
  bool useCache = true;                    // the file cache; kernels of this process are found in either case
  /// Of a GPU: for tensors of any strides and alignment, element by element. A launch whose tensors a kernel cannot copy in pieces of 16 bytes builds this one by
  /// itself, once, and says so; building it ahead spares that launch the wait.
  bool strided = false;
  /// Each launch first looks at every index that depends on what tensors hold, or that a condition guards, and throws ArgumentError for the first one that leaves
  /// its tensor, with the tensor, the index and the line; otherwise such reads give 0. For finding mistakes: it waits for the stream, and evaluates the indices on
  /// the CPU, on a copy of the tables. A launch that is recorded into a graph cannot be checked.
  bool checked = false;
};

/// How many kernels of the processor a launch runs: one, whatever the program, its schedule and the lengths. On a GPU the workspace's
/// counters are zeroed before it, unless it is promised that they are.
inline constexpr int kernelsPerLaunch = 1;

/// A kernel, ready to launch. Copies share it; any number of threads may launch it at once, each with its own workspace.
class Kernel {
public:
  /// Bytes of workspace that a launch with these arguments needs. Throws ArgumentError as launch does.
  [[nodiscard]] std::size_t workspaceBytes(const Arguments &arguments) const;
  /// Checks the arguments and runs, on a GPU the one where the tensors are. There it only queues the work, and neither allocates nor waits. On
  /// the CPU target it returns when done.
  /// Throws ArgumentError before anything is run or written.
  void launch(Stream stream, const Arguments &arguments, Workspace workspace) const;
  /// The same with a workspace of its own, on the default stream; returns when done: convenient, slower.
  void launch(const Arguments &arguments) const;

  [[nodiscard]] const std::string &name() const;
  [[nodiscard]] Schedule schedule() const;
  /// Of the kernels that were built of the program, at most two, the one that a launch with these arguments takes: the cost model says which, from lengths and
  /// scalars alone, so that equal launches take the same one. Throws ArgumentError as launch does.
  [[nodiscard]] Schedule scheduleFor(const Arguments &arguments) const;
  /// One readable block: program, target, schedule, parameters, axes.
  [[nodiscard]] std::string describe() const;

  struct State;
  explicit Kernel(std::shared_ptr<const State> state) : state(std::move(state)) {}

private:
  friend const State &stateOf(const Kernel &kernel) { return *kernel.state; }
  friend std::shared_ptr<const State> sharedStateOf(const Kernel &kernel) { return kernel.state; }
  std::shared_ptr<const State> state;
};

/// Compiles the program, or finds it compiled: in this process, then in the cache. One build per key, however many
/// threads ask. Throws ProgramError, CompileError, RuntimeError, std::invalid_argument (UnknownTarget, a missing extent).
/// `TILEWRIGHT_DUMP=dir` writes every stage of every build to `dir`.
[[nodiscard]] Kernel build(const Program &program, const BuildOptions &options = {});

/// Counts of this process, for tests and tools.
struct BuildCounts {
  std::uint64_t compiled = 0;     // builds that ran the compiler
  std::uint64_t loaded = 0;       // builds that came from the cache file
  std::uint64_t found = 0;        // builds that were in memory
};
[[nodiscard]] BuildCounts buildCounts();
/// Forgets the kernels of this process (launched ones live on while somebody holds them).
void forgetKernels();

} // namespace tw
