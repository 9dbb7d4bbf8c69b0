// Whatever happens to the bytes of the file, no wrong content comes out, and the store works on.
#include "Scratch.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>

using namespace tw::cache;
using namespace tw::cache::test;

namespace {

constexpr int keys = 9;

/// The files of a cache by their suffix, as bytes.
using Image = std::map<std::string, std::string>;

/// A cache of `keys` entries. Killed: as a process leaves it that was killed after its last put, the
/// newest entries in the write-ahead log only. Otherwise closed in order, one file.
Image imageOf(bool killed) {
  Scratch scratch;
  Image image;
  Store store = Store::open(scratch.file());
  for (int i = 0; i < keys; ++i)
    store.put(keyOf(i), contentOf(i), {{"number", std::to_string(i)}});
  if (!killed) store = Store::inMemory("closes the file");
  for (const std::string suffix : {"", "-wal", "-shm"})
    if (const fs::path path = fs::path(scratch.file()) += suffix; fs::exists(path)) image[suffix] = readFile(path);
  return image;
}

void restore(const Image& image, const Scratch& scratch) {
  for (const auto& left : fs::directory_iterator(scratch.folder))
    fs::remove_all(left);
  for (const auto& [suffix, bytes] : image)
    writeFile(fs::path(scratch.file()) += suffix, bytes);
}

/// Uses the damaged file as a program would, and says what went wrong; empty: all as promised.
/// With `mayForget` entries may be gone without a word: the end of a log is like a put that never was.
std::string flaw(const Scratch& scratch, bool mayForget) {
  Log log;
  {
    Store store = Store::open(scratch.file(), log.options());
    int missing = 0;
    for (int i = 0; i < keys; ++i) {
      const auto content = store.get(keyOf(i));
      if (content && *content != contentOf(i)) return "wrong content";
      missing += !content;
    }
    static_cast<void>(store.list());
    const Verification found = store.verify();
    const bool noticed = !log.lines.empty() || !found.good();
    if (missing > 0 && !noticed && !mayForget) return std::to_string(missing) + " entries missing without a word";
    if (!found.good() && log.lines.empty()) return "damage not logged";
    for (int i = 0; i <= keys; ++i)
      store.put(keyOf(i), contentOf(i));
    for (int i = 0; i <= keys; ++i)
      if (store.get(keyOf(i)) != contentOf(i)) return "does not keep what is put afterwards";
    if (const Statistics stats = store.stats(); !stats.memoryOnly.empty()) return "in memory: " + stats.memoryOnly;
  }
  Log later;
  Store store = Store::open(scratch.file(), later.options());
  for (int i = 0; i <= keys; ++i)
    if (store.get(keyOf(i)) != contentOf(i)) return "the next process does not find what was put afterwards";
  if (!store.verify().good() || !later.lines.empty()) return "still damaged";
  return "";
}

}  // namespace

TEST_CASE("edge row 102: a flipped bit anywhere in the file is noticed, logged, and never in what is returned") {
  const bool killed = GENERATE(false, true);
  const Image image = imageOf(killed);
  Scratch scratch;
  restore(image, scratch);
  REQUIRE(flaw(scratch, false) == "");

  const unsigned seed = std::random_device()();
  std::mt19937_64 random(seed);
  INFO("seed " << seed << (killed ? ", killed" : ", closed"));
  for (const auto& [suffix, bytes] : image) {
    std::vector<std::size_t> bits;
    if (suffix == "")
      for (std::size_t bit = 0; bit < 100 * 8; ++bit)  // the header: every bit
        bits.push_back(bit);
    for (std::size_t page = 0; page * 4096 < bytes.size(); ++page)  // every page: its own header, and anywhere
      for (int i = 0; i < 6; ++i)
        bits.push_back(page * 4096 * 8 + random() % (i < 2 ? 96 : 4096 * 8));
    for (const std::size_t bit : bits) {
      if (bit / 8 >= bytes.size()) continue;
      Image flipped = image;
      flipped[suffix][bit / 8] ^= char(1 << bit % 8);
      restore(flipped, scratch);
      INFO("kernels.sqlite" << suffix << ", byte " << bit / 8 << ", bit " << bit % 8);
      CHECK(flaw(scratch, killed) == "");
    }
  }
}

TEST_CASE("edge row 102: a file truncated to any length is noticed and rebuilt") {
  const bool killed = GENERATE(false, true);
  const Image image = imageOf(killed);
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  INFO("seed " << seed << (killed ? ", killed" : ", closed"));
  Scratch scratch;
  for (const auto& [suffix, bytes] : image) {
    std::vector<std::size_t> lengths{0, 1, 15, 16, 99, 100, 101, 511, 512, 4095, 4096, 4097, bytes.size() - 1};
    for (int i = 0; i < 40; ++i)
      lengths.push_back(random() % bytes.size());
    for (std::size_t pages = 2; pages * 4096 < bytes.size(); pages += 3)
      lengths.push_back(pages * 4096);
    for (const std::size_t length : lengths) {
      if (length >= bytes.size()) continue;
      Image truncated = image;
      truncated[suffix].resize(length);
      restore(truncated, scratch);
      INFO("kernels.sqlite" << suffix << ", " << length << " of " << bytes.size() << " bytes");
      CHECK(flaw(scratch, killed || length <= 1) == "");  // SQLite takes a file of one byte for an empty one
    }
  }
}

TEST_CASE("edge row 102: zeros, text, a foreign database or a folder in the file's place are set aside, said once") {
  Scratch scratch;
  std::string reason;
  const auto check = [&] {
    Log log;
    Store store = Store::open(scratch.file(), log.options());
    CHECK_FALSE(store.get(keyOf(1)));
    store.put(keyOf(1), "one");
    CHECK(store.get(keyOf(1)) == "one");
    CHECK(store.stats().rebuilds == 1);
    CHECK(store.stats().memoryOnly.empty());
    REQUIRE(log.lines.size() == 1);
    CHECK(log.lines[0] == "cache '" + scratch.file().string() + "' cannot be used (" + reason +
                              "): it is set aside as 'kernels.sqlite.damaged' and begun anew, empty");
    CHECK(fs::exists(fs::path(scratch.file()) += ".damaged"));
  };
  SECTION("zeros") {
    writeFile(scratch.file(), std::string(20'000, '\0'));
    reason = "file is not a database";
    check();
  }
  SECTION("text") {
    writeFile(scratch.file(), "Dear cache,\n");
    reason = "file is not a database";
    check();
    CHECK(readFile(fs::path(scratch.file()) += ".damaged") == "Dear cache,\n");
  }
  SECTION("a folder, twice") {
    for (int i = 0; i < 2; ++i) {
      fs::remove(scratch.file());
      fs::create_directories(scratch.file() / "with" / "content");
      reason = "'kernels.sqlite' is not a file";
      check();
    }
    CHECK(fs::exists(scratch.folder / "kernels.sqlite.damaged" / "with"));
    CHECK(fs::exists(scratch.folder / "kernels.sqlite.damaged.1" / "with"));
  }
  SECTION("a folder in the log's place") {
    fs::create_directories(fs::path(scratch.file()) += "-wal");
    reason = "'kernels.sqlite-wal' is not a file";
    writeFile(scratch.file(), "");
    check();
  }
  SECTION("somebody's link to nowhere") {
    fs::create_symlink(scratch.folder / "elsewhere" / "x", scratch.file());
    Log log;
    Store store = Store::open(scratch.file(), log.options());
    store.put(keyOf(1), "one");
    CHECK(store.get(keyOf(1)) == "one");
    CHECK(log.lines.size() == 1);
  }
}

TEST_CASE("edge row 102: damage under an open store is noticed, logged and repaired") {
  Scratch scratch;
  Log log;
  Store store = Store::open(scratch.file(), log.options());
  for (int i = 0; i < keys; ++i)
    store.put(keyOf(i), contentOf(i));
  store.clear();  // the log is empty afterwards: what is read next comes from the file
  for (int i = 0; i < keys; ++i)
    Store::open(scratch.file()).put(keyOf(i), contentOf(i));
  writeFile(scratch.file(), std::string(fs::file_size(scratch.file()), '\xaa'));
  writeFile(fs::path(scratch.file()) += "-wal", "");
  Store other = Store::open(scratch.file(), log.options());
  for (int i = 0; i < keys; ++i)
    if (const auto content = store.get(keyOf(i))) CHECK(content == contentOf(i));
  store.put(keyOf(1), contentOf(1));
  CHECK(store.get(keyOf(1)) == contentOf(1));
  CHECK(other.get(keyOf(1)) == contentOf(1));
  CHECK(store.stats().memoryOnly.empty());
  CHECK(log.count("is set aside as") == 1);
}

TEST_CASE("edge row 102: a row that another key's content was copied into is a miss") {
  // Two rows of equal length: swapping their content in the file keeps its structure and any plain
  // checksum of content alone; the key in the checksum tells.
  Scratch scratch;
  const std::string one(40, '1'), two(40, '2');
  {
    Store store = Store::open(scratch.file());
    store.put(keyOf(1), one);
    store.put(keyOf(2), two);
  }
  std::string bytes = readFile(scratch.file());
  const auto swapBytes = [&](std::string a, std::string b) {
    const std::size_t atA = bytes.find(a), atB = bytes.find(b);
    REQUIRE(atA != std::string::npos);
    REQUIRE(atB != std::string::npos);
    bytes.replace(atA, a.size(), b).replace(atB, b.size(), a);
  };
  swapBytes(one, two);
  writeFile(scratch.file(), bytes);
  Log log;
  Store store = Store::open(scratch.file(), log.options());
  CHECK_FALSE(store.get(keyOf(1)));
  CHECK(store.stats().rejected == 1);
  CHECK(log.count("entry " + keyOf(1).hex().substr(0, 16) + " is not what was put there; it is dropped") == 1);
  CHECK(store.stats().entries == 1);
  const Verification found = store.verify();
  CHECK(found.checked == 1);
  CHECK(found.rejected == 1);
  CHECK_FALSE(found.rebuilt);
  CHECK(store.stats().entries == 0);
  store.put(keyOf(1), one);
  CHECK(store.get(keyOf(1)) == one);
}

TEST_CASE("edge row 103: a reinstall with other content and older times is another key; times play no role") {
  Scratch scratch;
  const auto keyIn = [](std::string_view program, std::string_view compiler) {
    return Hasher().field(program).field(compiler).finish();
  };
  const Digest before = keyIn("program", "version 1.0, content a"), after = keyIn("program", "version 1.0, content b");
  Store::open(scratch.file()).put(before, "code of a");
  const auto aDay = std::chrono::hours(24);
  const auto now = fs::last_write_time(scratch.file());
  for (const auto time : {now - 365 * aDay, now + 365 * aDay, fs::file_time_type(std::chrono::seconds(0))}) {
    fs::last_write_time(scratch.file(), time);
    Log log;
    Store store = Store::open(scratch.file(), log.options());
    CHECK_FALSE(store.get(after));                 // rebuilt: never the old code under the new compiler
    CHECK(store.get(before) == "code of a");       // and the old one is still good for the old
    CHECK(log.lines.empty());
  }
}
