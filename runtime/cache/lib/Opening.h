/// From a path to a table that can be trusted: opening, laying out, and setting aside what is damaged.
#pragma once

#include "Table.h"

#include <functional>
#include <optional>
#include <string>

namespace tw::cache {

/// How a store and its file come together.
struct Opened {
  std::optional<Table> table;  // empty: the file cannot even be read
  std::string whyNotWritable;  // empty: it can be written
};

/// Is told of every file that was set aside, with the reason.
using SetAside = std::function<void(std::string reason)>;

/// Opens or creates `file`. Openers exclude each other by a lock beside the file, so that none meets a
/// file half laid out or half replaced. Throws SqliteError for trouble that may pass.
[[nodiscard]] Opened openFile(const std::filesystem::path& file, const Options& options, const SetAside& onSetAside);

/// Opens `file` for reading only; `why` is why it is not to be written.
[[nodiscard]] Opened openForReading(const std::filesystem::path& file, const Options& options, std::string why);

/// Closes the table and moves its damaged file out of the way, unless another process has done so already.
void replaceDamaged(std::optional<Table>& table, const std::filesystem::path& file, const Options& options,
                    const std::string& reason, const SetAside& onSetAside);

/// Where a damaged file goes.
[[nodiscard]] std::filesystem::path damagedPath(const std::filesystem::path& file);

/// The folder of `file` is on a file system that other hosts may use too.
[[nodiscard]] bool onNetwork(const std::filesystem::path& file);

}  // namespace tw::cache
