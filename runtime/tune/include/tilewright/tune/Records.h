// Where records are kept: in one file that many processes share, and in tables that come with the program.
#pragma once
#include "tilewright/cache/Store.h"
#include "tilewright/tune/Record.h"
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::tuning {

/// What two tunings share whose timings may be compared: everything that a kernel's code depends on but its schedule, and the class of lengths.
struct RecordKey {
  std::string program;   // its text
  std::string target;
  std::string shapeClass;   // the lengths of inner axes are in it
  std::int64_t sharedLimit = 0;
  std::string assembler;   // NVRTC's version and options, the templates; of the CPU its name and features
  std::string compiler;    // its digest
};
[[nodiscard]] cache::Digest digestOf(const RecordKey &key);

/// Records by key. Whatever happens to the file, tuning goes on: see cache::Store.
class Records {
public:
  /// `tuning.sqlite` beside the file of kernels.
  [[nodiscard]] static cache::Location locate(const cache::Location &ofKernels);
  [[nodiscard]] static Records open(const cache::Location &location, cache::Options options = {});

  [[nodiscard]] std::optional<TuningRecord> find(const cache::Digest &key);
  /// Adds a run to what is there by then. `heading` says what the record is of, and has no runs.
  void add(const cache::Digest &key, const TuningRecord &heading, const TuningRun &run);
  /// All of them, the most recently used first.
  [[nodiscard]] std::vector<TuningRecord> list();
  [[nodiscard]] cache::Store &store() { return file; }

private:
  explicit Records(cache::Store file) : file(std::move(file)) {}
  cache::Store file;
};

/// The records at the place that the environment names now; opened at first use, and again only where that place changes. Any thread may call it.
[[nodiscard]] std::shared_ptr<Records> sharedRecords();

/// How many runs this process has added: what was found before the last one may be out of date.
[[nodiscard]] std::uint64_t runsAdded();

/// A line of a shipped table: `target | variant | type | class | schedule | seconds | seconds of the default schedule`.
struct ShippedSchedule {
  std::string target, variant, dtype, shapeClass;   // a variant of the gallery, with all that it can store
  Schedule schedule;
  double seconds = 0, unchangedSeconds = 0;
};
[[nodiscard]] std::string print(const ShippedSchedule &shipped);
/// Throws std::invalid_argument naming the line that is wrong. Empty lines, and those that begin with #, say nothing.
[[nodiscard]] std::vector<ShippedSchedule> parseShipped(std::string_view text);
/// What came with this library.
[[nodiscard]] const std::vector<ShippedSchedule> &shippedSchedules();
/// By the program's text.
[[nodiscard]] const ShippedSchedule *findShipped(std::string_view target, std::string_view program, std::string_view shapeClass);

} // namespace tw::tuning
