#include "tilewright/tune/Records.h"
#include "tilewright/tune/RecordText.h"
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>

namespace tw::tuning {
namespace {

std::atomic<std::uint64_t> added = 0;

} // namespace

cache::Digest digestOf(const RecordKey &key) {
  return cache::Hasher()
      .field("tilewright tuning 1")
      .field(key.program)
      .field(key.target)
      .field(key.shapeClass)
      .field(std::to_string(key.sharedLimit))
      .field(key.assembler)
      .field(key.compiler)
      .finish();
}

cache::Location Records::locate(const cache::Location &ofKernels) {
  cache::Location location = ofKernels;
  if (location.file)
    location.file->replace_filename("tuning.sqlite");
  return location;
}

Records Records::open(const cache::Location &location, cache::Options options) { return Records(cache::Store::open(location, std::move(options))); }

std::optional<TuningRecord> Records::find(const cache::Digest &key) {
  const auto text = file.get(key);
  return text ? parseRecord(*text) : std::nullopt;
}

void Records::add(const cache::Digest &key, const TuningRecord &heading, const TuningRun &run) {
  const auto change = [&](std::optional<std::string_view> present) {
    const std::optional<TuningRecord> record = present ? parseRecord(*present) : std::nullopt;
    return print(withRun(record.value_or(heading), run));
  };
  file.update(key, change,
              {{"program", heading.program},
               {"target", heading.target},
               {"class", heading.shapeClass},
               {"processor", run.processor},
               {"driver", run.driver},
               {"assembler", run.assembler},
               {"version", run.version}});
  ++added;
}

std::vector<TuningRecord> Records::list() {
  std::vector<TuningRecord> all;
  for (const cache::Entry &entry : file.list())
    if (auto record = find(entry.digest))
      all.push_back(std::move(*record));
  return all;
}

std::shared_ptr<Records> sharedRecords() {
  static std::mutex mutex;
  static std::shared_ptr<Records> records;
  static std::optional<cache::Location> opened;
  const std::lock_guard lock(mutex);
  cache::Location location = cache::locate();
  if (!records || opened->file != location.file || opened->switchedOff != location.switchedOff) {
    // Where there is no place for kernels, their own store says so.
    cache::Options options;
    std::error_code failed;
    if (location.file && location.file->has_parent_path())
      std::filesystem::create_directories(location.file->parent_path(), failed);
    if (!location.file || failed)
      options.log = [](std::string_view) {};
    records = std::make_shared<Records>(Records::open(Records::locate(location), options));
    opened = std::move(location);
  }
  return records;
}

std::uint64_t runsAdded() { return added; }

} // namespace tw::tuning
