// What `run` is asked for, the places where it runs a problem, and what they find out.
#pragma once
#include "Check.h"
#include "Output.h"
#include "Problem.h"
#include "tilewright/dsl/Schedule.h"
#include "tilewright/simulator/Simulator.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

struct RunOptions {
  std::string variant, shape, dtype, pass = "forward", on = "cpu", target, nanKeys, out, lse, schedule, sharedLimit, tune = "cached";
  Files files;
  std::vector<std::string> captures, scalars;
  std::string seed;                // as given; empty: 1
  std::optional<int> repeat;       // 3
  std::optional<int> settings;     // random ones, beside late and eager; 0
  std::optional<double> patience;  // seconds; 300
  bool check = false, checked = false, json = false, noCache = false, deterministic = false;

  static constexpr int usualRepeat = 3;
  static constexpr double usualPatience = 300;
};

/// One launch in the simulator.
struct SimulatedSetting {
  std::string name;                // late, eager, random 1
  SimulationResult result;
  bool countersAreZero = true;     // as the next launch needs them
  std::int64_t differing = 0;      // elements of outputs that are not the first setting's
  [[nodiscard]] bool isClean() const { return result.clean() && countersAreZero && differing == 0; }
};

/// What one run found out. Times are seconds.
struct Report {
  std::map<std::string, Array> outputs;
  double seconds = 0;                      // of one launch, or of the whole work where there is no kernel that is timed

  // A kernel's.
  std::string target;                      // empty: no kernel, but evaluate()
  Schedule schedule;
  std::string origin;                      // compiled, loaded from the cache
  double buildSeconds = 0;
  std::optional<double> keptPairs;         // of query and key, that the mask keeps; none: they cannot be counted

  int threads = 0;                         // of the CPU
  std::string gpu;                         // its name
  int launchesTimedTogether = 0;           // on a GPU
  std::int64_t differing = 0;              // elements that a GPU computed otherwise in a later launch

  std::vector<SimulatedSetting> settings;  // of the simulator
  int items = 0, blocks = 0;

  /// Nothing is wrong, whatever the numbers.
  [[nodiscard]] bool isClean() const;
};

[[nodiscard]] Report runOnCpu(const Problem &problem, const RunOptions &options);
/// On GPU 0. Throws RuntimeError where there is none.
[[nodiscard]] Report runOnGpu(const Problem &problem, const RunOptions &options);
[[nodiscard]] Report runInSimulator(const Problem &problem, const RunOptions &options);
/// In float64, in tiles of 64 keys: with --check beside the oracle, which takes all keys at once.
[[nodiscard]] Report runByEvaluate(const Problem &problem);

// ---- what runs on a GPU share
/// The name of the target to build for: the one asked for, if GPU 0 runs its code, or the one that GPU 0 is.
[[nodiscard]] std::string targetOnGpu(const std::string &asked);
/// How many launches are timed together, of which one takes `seconds`.
[[nodiscard]] int launchesTogether(double seconds);

/// The gradients of O by all tensors of float type: runs, times, checks and prints. Returns the exit status.
[[nodiscard]] int runBackward(const Problem &problem, const RunOptions &options);

[[nodiscard]] Json toJson(const Comparison &comparison);
[[nodiscard]] std::string toText(const Comparison &comparison);
[[nodiscard]] Json toJson(const SimulatedSetting &setting);
[[nodiscard]] std::string toText(const SimulatedSetting &setting);
[[nodiscard]] Json toJson(const Problem &problem, const Report &report, const Verdict &verdict, const RunOptions &options);
[[nodiscard]] std::string toText(const Problem &problem, const Report &report, const Verdict &verdict, const RunOptions &options);

// ---- shared by places that run kernels

/// For the problem's head dims, and as the options say; `target` as given.
[[nodiscard]] BuildOptions buildOptionsOf(const Problem &problem, const RunOptions &options, const std::string &target);

/// `never`, `cached`, `model` or `measure`; throws std::invalid_argument otherwise.
[[nodiscard]] Tune parseTune(const std::string &text);

/// build(), with what the report says of it.
[[nodiscard]] Kernel buildFor(Report &report, const Program &program, const BuildOptions &options);

/// Whether launches on zeroInputs tell how many pairs a variant keeps.
[[nodiscard]] bool canCountPairs(const Problem &problem);

/// The arguments with float inputs that are 0 everywhere: one row of zeros, at `zeros`, stands for all. Tables of integers stay.
[[nodiscard]] Arguments zeroInputs(Arguments arguments, void *zeros);
inline constexpr std::size_t bytesOfZeros = 256 * 8;   // of the longest row

/// Pairs of a query and a key that the variant's mask keeps, told by a kernel that ran on zeroInputs: with all scores 0 the lse of a
/// row is the logarithm of how many keys it has. None where that is NaN or too large to be one.
[[nodiscard]] std::optional<double> keptPairs(const Array &lse);

/// Elements that differ; a NaN equals a NaN.
[[nodiscard]] std::int64_t countDiffering(const std::map<std::string, Array> &a, const std::map<std::string, Array> &b);

[[nodiscard]] double median(std::vector<double> values);

} // namespace tw::cli
