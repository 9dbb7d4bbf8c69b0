// What the store does when the file does not do as it should.
#include "tilewright/cache/Store.h"

#include "Memory.h"
#include "Opening.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>

namespace tw::cache {
namespace {

// SQLite's locks belong to a process. A child forked while a store was open inherits SQLite's belief that
// it holds them, for every file of this program; so it uses no file at all.
std::atomic<int> storesOpen = 0;
std::atomic<pid_t> openedBy = 0;

constexpr int retries = 4;           // of one operation, with pauses of 1, 4, 16 and 64 ms
constexpr int rebuildsAllowed = 3;   // of one store; a disk that damages more is not to be used
constexpr std::size_t usesHeld = 256;
constexpr std::uint64_t longestContent = 900'000'000;  // a row of SQLite has less than 10^9 bytes

void printToStderr(std::string_view message) {
  std::fprintf(stderr, "tilewright: %.*s\n", int(message.size()), message.data());
}

}  // namespace

struct Store::State {
  Options options;
  std::filesystem::path file;  // absolute; empty: never had one
  pid_t owner = ::getpid();
  bool counted = false;        // in storesOpen

  std::mutex mutex;
  std::optional<Table> table;  // the file, as long as it can be read
  bool writable = false;
  Memory memory;               // what the file could not take
  std::string memoryOnly;      // why, once it could not
  std::vector<Digest> uses;    // hits not yet noted in the file, the latest last
  std::uint64_t hits = 0, misses = 0, rejected = 0, rebuilds = 0;
  bool saidTooLong = false;
  std::vector<std::string> messages;  // said once the mutex is free

  enum class Need { Read, Write };

  [[nodiscard]] bool inherited() const { return ::getpid() != owner; }
  [[nodiscard]] std::string name() const { return "cache '" + file.string() + "'"; }

  /// Does `work` on the file, through whatever passes or can be repaired. False when it cannot be done;
  /// the reason has been said by then.
  template <class Work>
  bool onFile(Need need, const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    for (int attempt = 0; table && (need == Need::Read || writable); ++attempt) {
      std::string reason = "the file keeps being replaced";
      try {
        if (!table->connection.moved() || options.access == Access::ReadOnly) {
          work(*table);
          return true;
        }
        if (attempt < retries) {
          reopen();
          continue;
        }
      } catch (const SqliteError& error) {
        reason = error.what();
        if (error.trouble() == Trouble::Damaged && attempt < retries) {
          rebuild(reason);
          continue;
        }
        const bool patient = std::chrono::steady_clock::now() - start < options.patience;
        if (error.trouble() == Trouble::Passing && attempt < retries && patient) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1 << 2 * attempt));
          reopen();
          continue;
        }
      }
      if (need == Need::Read) table.reset();
      stayInMemory(reason);
    }
    return false;
  }

  /// Opens the file, or says why there will be none.
  void reopen() {
    table.reset();
    writable = false;
    for (int attempt = 0;; ++attempt) {
      try {
        Opened opened = options.access == Access::ReadOnly
                            ? openForReading(file, options, "opened read-only")
                            : openFile(file, options, [&](const std::string& reason) { noteRebuild(reason); });
        table = std::move(opened.table);
        if (opened.whyNotWritable.empty() && rebuilds <= rebuildsAllowed)
          writable = true;
        else if (opened.whyNotWritable.empty())
          stayInMemory("it was damaged again and again");
        else
          stayInMemory(opened.whyNotWritable);
        return;
      } catch (const SqliteError& error) {
        if (error.trouble() != Trouble::Passing || attempt >= retries) return stayInMemory(error.what());
        std::this_thread::sleep_for(std::chrono::milliseconds(1 << 2 * attempt));
      }
    }
  }

  void rebuild(const std::string& reason) {
    if (options.access == Access::ReadOnly || !writable) {
      table.reset();
      stayInMemory("the file is damaged: " + reason);
      return;
    }
    try {
      replaceDamaged(table, file, options, reason, [&](const std::string& why) { noteRebuild(why); });
    } catch (const SqliteError& error) {
      table.reset();
      return stayInMemory("the file is damaged and cannot be replaced: " + std::string(error.what()));
    }
    reopen();
  }

  void noteRebuild(const std::string& reason) {
    ++rebuilds;
    messages.push_back(name() + " cannot be used (" + reason + "): it is set aside as '" +
                       damagedPath(file).filename().string() + "' and begun anew, empty");
  }

  void stayInMemory(const std::string& reason) {
    writable = false;
    const bool asked = options.access == Access::ReadOnly && table;
    if (memoryOnly.empty() && !asked)
      messages.push_back(name() + " cannot be " + (table ? "written" : "used") + " (" + reason +
                         "): new entries stay in memory and are lost at exit; set TILEWRIGHT_CACHE to a writable folder");
    if (memoryOnly.empty()) memoryOnly = reason;
  }

  /// Recency is worth no warning and no retry.
  void noteUses() {
    if (uses.empty() || !writable || !table) return;
    try {
      if (!table->connection.moved()) table->touch(uses);
    } catch (const SqliteError&) {
    }
    uses.clear();
  }

  void reject(const Digest& key, const Row& row) {
    ++rejected;
    messages.push_back(name() + ": entry " + key.hex().substr(0, 16) + " is not what was put there; it is dropped");
    if (writable) onFile(Need::Write, [&](Table& rows) { rows.drop(row); });
  }

  [[nodiscard]] std::uint64_t limit() const { return std::min(options.limitBytes, longestContent); }
};

namespace {

/// Holds the state's mutex; says what there is to say after letting go of it.
template <class State>
class Session {
public:
  explicit Session(State& state) : state(state), lock(state.mutex) {}
  ~Session() {
    const std::vector<std::string> messages = std::exchange(state.messages, {});
    if (lock.owns_lock()) lock.unlock();
    for (const std::string& message : messages)
      state.options.log(message);
  }
  Session(const Session&) = delete;

  /// Runs `work` while others may use the state.
  template <class Work>
  auto meanwhile(const Work& work) {
    lock.unlock();
    auto result = work();
    lock.lock();
    return result;
  }

private:
  State& state;
  std::unique_lock<std::mutex> lock;
};

}  // namespace

Store::Store(std::unique_ptr<State> state) : state(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&& other) noexcept {
  Store(std::move(other)).state.swap(state);
  return *this;
}

Store::~Store() {
  if (!state) return;
  if (state->inherited()) {
    // Closing would release locks of the parent's: the connection is left as it is.
    static_cast<void>(new std::optional<Table>(std::move(state->table)));
    return;
  }
  if (state->table && state->writable) {
    state->table->connection.wait(std::chrono::milliseconds(20));
    state->noteUses();
  }
  state->table.reset();
  if (state->counted) --storesOpen;
}

Store Store::inMemory(std::string why, Options options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  if (!state->options.log) state->options.log = printToStderr;
  state->memoryOnly = std::move(why);
  return Store(std::move(state));
}

Store Store::open(const Location& location, Options options) {
  if (location.file) return open(*location.file, std::move(options));
  Store store = inMemory(location.whyNone, std::move(options));
  if (!location.switchedOff)
    store.state->options.log("there is no cache (" + location.whyNone +
                             "): entries stay in memory and are lost at exit; set TILEWRIGHT_CACHE to a writable folder");
  return store;
}

Store Store::open(const std::filesystem::path& path, Options options) {
  Store store = inMemory("", std::move(options));
  State& state = *store.state;
  std::error_code error;
  state.file = std::filesystem::absolute(path, error);
  if (error) state.file = path;
  Session session(state);
  if (storesOpen > 0 && openedBy != state.owner) {
    state.stayInMemory("this process was forked from one with an open cache");
    return store;
  }
  openedBy = state.owner;
  ++storesOpen;
  state.counted = true;
  state.reopen();
  return store;
}

std::optional<std::string> Store::get(const Digest& key) {
  if (state->inherited()) return std::nullopt;
  Session session(*state);
  if (const std::string* bytes = state->memory.find(key)) {
    ++state->hits;
    return *bytes;
  }
  std::optional<Row> row;
  state->onFile(State::Need::Read, [&](Table& rows) { row = rows.find(key); });
  if (row && !session.meanwhile([&] { return row->intact(key); })) {
    state->reject(key, *row);
    row.reset();
  }
  if (!row) {
    ++state->misses;
    return std::nullopt;
  }
  ++state->hits;
  state->uses.push_back(key);
  if (state->uses.size() >= usesHeld) state->noteUses();
  if (state->uses.size() >= usesHeld) state->uses.clear();
  return std::move(row->bytes);
}

void Store::put(const Digest& key, std::string_view bytes, const Facts& facts) {
  if (state->inherited()) return;
  const std::string factsText = encode(facts);
  Session session(*state);
  if (bytes.size() > state->limit()) {
    if (!std::exchange(state->saidTooLong, true))
      state->messages.push_back(state->name() + ": an entry of " + std::to_string(bytes.size()) +
                                " bytes is longer than the limit of " + std::to_string(state->limit()) +
                                " and is not kept; raise the limit");
    return;
  }
  const bool kept = state->onFile(State::Need::Write, [&](Table& rows) {
    rows.put(key, factsText, bytes, state->uses, state->options.limitBytes);
  });
  state->uses.clear();
  if (!kept) state->memory.put(key, bytes, facts, state->options.limitBytes);
}

void Store::update(const Digest& key, const std::function<std::string(std::optional<std::string_view>)>& change,
                   const Facts& facts) {
  if (state->inherited()) return;
  const std::string factsText = encode(facts);
  Session session(*state);
  const bool kept = state->onFile(State::Need::Write, [&](Table& rows) {
    rows.update(key, factsText, change, state->options.limitBytes);
  });
  if (kept) return;
  // What the file has and can only be read is what there is to begin with.
  const std::string* held = state->memory.find(key);
  std::optional<Row> row;
  if (!held) state->onFile(State::Need::Read, [&](Table& rows) { row = rows.find(key); });
  std::optional<std::string_view> present;
  if (held) present = *held;
  if (row && row->intact(key)) present = row->bytes;
  state->memory.put(key, change(present), facts, state->options.limitBytes);
}

std::vector<Entry> Store::list() {
  if (state->inherited()) return {};
  Session session(*state);
  state->noteUses();
  std::vector<Entry> entries = state->memory.list();
  std::unordered_set<Digest> inMemory;
  for (const Entry& entry : entries)
    inMemory.insert(entry.digest);
  std::vector<Entry> inFile;
  state->onFile(State::Need::Read, [&](Table& rows) { inFile = rows.list(); });
  for (Entry& entry : inFile)
    if (!inMemory.contains(entry.digest)) entries.push_back(std::move(entry));
  return entries;
}

Statistics Store::stats() {
  if (state->inherited())
    return {.path = state->file, .memoryOnly = "this process was forked from the one that opened the cache"};
  Session session(*state);
  std::uint64_t entries = 0, bytes = 0;
  state->onFile(State::Need::Read, [&](Table& rows) { entries = rows.count(), bytes = rows.totalBytes(); });
  return {.path = state->file,
          .memoryOnly = state->memoryOnly,
          .entries = entries + state->memory.count(),
          .bytes = bytes + state->memory.totalBytes(),
          .hits = state->hits,
          .misses = state->misses,
          .rejected = state->rejected,
          .rebuilds = state->rebuilds};
}

void Store::clear() {
  if (state->inherited()) return;
  Session session(*state);
  state->memory = Memory();
  state->uses.clear();
  if (!state->onFile(State::Need::Write, [](Table& rows) { rows.clear(); }) && state->table)
    state->messages.push_back(state->name() + " cannot be cleared (" + state->memoryOnly + ")");
}

std::uint64_t Store::evict(std::uint64_t limitBytes) {
  if (state->inherited()) return 0;
  Session session(*state);
  state->noteUses();
  std::uint64_t evicted = state->memory.evict(limitBytes), fromFile = 0;
  state->onFile(State::Need::Write, [&](Table& rows) { fromFile = rows.evict(limitBytes); });
  return evicted + fromFile;
}

Verification Store::verify() {
  if (state->inherited()) return {};
  Session session(*state);
  const std::uint64_t rebuildsBefore = state->rebuilds;
  Verification result;
  state->onFile(State::Need::Read, [&](Table& rows) { result = rows.verify(state->writable); });
  result.rebuilt = state->rebuilds != rebuildsBefore;
  result.checked += state->memory.count();
  state->rejected += result.rejected;
  if (result.rejected > 0)
    state->messages.push_back(state->name() + ": " + std::to_string(result.rejected) + " of " +
                              std::to_string(result.checked) + " entries are not what was put there" +
                              (state->writable ? "; they are dropped" : ""));
  return result;
}

}  // namespace tw::cache
