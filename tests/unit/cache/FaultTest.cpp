// What a file system may do to the cache: pass, refuse, fill up, come and go.
#include "FaultyFiles.h"
#include "Scratch.h"

#include <catch2/catch.hpp>

#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

using namespace tw::cache;
using namespace tw::cache::test;

namespace {

constexpr int keys = 8;

/// One of the faults that a file system may have at this call.
Fault faultOf(FileCall call, unsigned choice) {
  const auto among = [&](std::initializer_list<Fault> faults) { return faults.begin()[choice % faults.size()]; };
  switch (call) {
  case FileCall::Open: return among({{SQLITE_CANTOPEN, ENOENT}, {SQLITE_CANTOPEN, ESTALE}, {SQLITE_CANTOPEN, EMFILE}});
  case FileCall::Remove: return among({{SQLITE_IOERR_DELETE, EBUSY}, {SQLITE_IOERR_DELETE, ENOENT}});
  case FileCall::Exists: return {SQLITE_IOERR_ACCESS, ESTALE};
  case FileCall::Read: return among({{SQLITE_IOERR_READ, EIO}, {SQLITE_IOERR_READ, ESTALE}});
  case FileCall::Write: return among({{SQLITE_IOERR_WRITE, EIO}, {SQLITE_FULL, ENOSPC}, {SQLITE_IOERR_WRITE, EROFS}});
  case FileCall::Truncate: return {SQLITE_IOERR_TRUNCATE, EIO};
  case FileCall::Sync: return {SQLITE_IOERR_FSYNC, EIO};
  case FileCall::Size: return {SQLITE_IOERR_FSTAT, ESTALE};
  case FileCall::Lock: return among({{SQLITE_BUSY, EBUSY}, {SQLITE_IOERR_LOCK, EIO}});
  case FileCall::Share: return among({{SQLITE_IOERR_SHMMAP, EIO}, {SQLITE_IOERR_SHMSIZE, ENOSPC}});
  }
  return {};
}

/// Puts and gets every key. Whatever the file system does, what is put is there for this process.
void useAll(Store& store) {
  for (int i = 0; i < keys; ++i) {
    store.put(keyOf(i), contentOf(i), {{"number", std::to_string(i)}});
    CHECK(store.get(keyOf(i)) == contentOf(i));
  }
}

/// The promise for a store without a usable file: works from memory, warns once, names path, reason and cure.
void checkInMemory(const fs::path& file, Options base, const Log& log, const std::string& reason) {
  {
    Store store = Store::open(file, std::move(base));
    useAll(store);
    useAll(store);
    CHECK(store.list().size() == keys);
    CHECK(store.verify().good());
    INFO(store.stats().memoryOnly);
    CHECK(store.stats().memoryOnly.find(reason) != std::string::npos);
    CHECK(store.stats().entries == keys);
    CHECK(store.evict(0) > 0);
    store.clear();
    CHECK(store.stats().entries == 0);
  }
  REQUIRE(log.count("new entries stay in memory") == 1);
  CHECK(log.count("cache '" + file.string() + "' cannot be ") == 1);
  CHECK(log.count(reason) >= 1);
  CHECK(log.count("set TILEWRIGHT_CACHE to a writable folder") == 1);
}

}  // namespace

TEST_CASE("edge row 104: errors that come and go, as on a network file system, are retried") {
  const Fault fault = GENERATE(Fault{SQLITE_IOERR_READ, ESTALE}, Fault{SQLITE_IOERR_DELETE, ENOENT},
                               Fault{SQLITE_BUSY, EBUSY}, Fault{SQLITE_IOERR_LOCK, EIO}, Fault{SQLITE_CANTOPEN, ESTALE},
                               Fault{SQLITE_PROTOCOL, EBUSY});
  const bool manyHosts = GENERATE(false, true);
  INFO("result " << fault.code << ", " << std::strerror(fault.systemError) << (manyHosts ? ", many hosts" : ""));
  Scratch scratch;
  Log log;
  std::atomic<int> calls = 0;
  const FaultyFiles files([&](FileCall call, const char*) {
    const bool fits = fault.code == SQLITE_CANTOPEN       ? call == FileCall::Open
                      : fault.code == SQLITE_IOERR_DELETE ? call == FileCall::Remove
                      : fault.code == SQLITE_IOERR_READ   ? call == FileCall::Read
                                                          : call == FileCall::Lock;
    return fits && calls++ % 29 == 0 ? fault : Fault{};
  });
  {
    Store store = Store::open(scratch.file(), log.options({.manyHosts = manyHosts}));
    useAll(store);
    useAll(store);
    INFO(store.stats().memoryOnly);
    CHECK(store.stats().memoryOnly.empty());
    CHECK(store.stats().rebuilds == 0);
  }
  CHECK(log.lines.empty());
  CHECK(Store::open(scratch.file()).get(keyOf(1)) == contentOf(1));
}

TEST_CASE("edge row 104: errors that stay lead to memory, said once") {
  Scratch scratch;
  Log log;
  const Options options = log.options({.patience = std::chrono::milliseconds(100)});
  const auto [fault, reason] = GENERATE(std::pair(Fault{SQLITE_IOERR_READ, ESTALE}, "Stale file handle"),
                                        std::pair(Fault{SQLITE_IOERR_WRITE, EIO}, "Input/output error"),
                                        std::pair(Fault{SQLITE_BUSY, EBUSY}, "database is locked"),
                                        std::pair(Fault{SQLITE_CANTOPEN, ENOENT}, "No such file or directory"));
  const FaultyFiles files([fault = fault](FileCall call, const char*) {
    const bool fits = fault.code == SQLITE_IOERR_READ    ? call == FileCall::Read
                      : fault.code == SQLITE_IOERR_WRITE ? call == FileCall::Write
                      : fault.code == SQLITE_CANTOPEN    ? call == FileCall::Open
                                                         : call == FileCall::Lock;
    return fits ? fault : Fault{};
  });
  checkInMemory(scratch.file(), options, log, reason);
}

TEST_CASE("edge row 104: errors at random: content is right or missing, and the file is whole afterwards") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Scratch scratch;
  int fromFile = 0;
  for (int round = 0; round < 120; ++round) {
    const unsigned oneIn = round % 3 == 0 ? 10 : round % 3 == 1 ? 60 : 400;
    Log log;
    {
      const FaultyFiles files([&](FileCall call, const char*) {
        return random() % oneIn == 0 ? faultOf(call, random()) : Fault{};
      });
      const Options base{.patience = std::chrono::milliseconds(20), .manyHosts = round % 2 == 1};
      Store store = Store::open(scratch.file(), log.options(base));
      for (int step = 0; step < 30; ++step) {
        const int i = int(random() % keys);
        if (const auto content = store.get(keyOf(i)); content && *content != contentOf(i)) FAIL("wrong content");
        if (random() % 2 == 0) {
          store.put(keyOf(i), contentOf(i));
          if (const auto content = store.get(keyOf(i)); content && *content != contentOf(i)) FAIL("wrong content");
        }
      }
      fromFile += store.stats().memoryOnly.empty();
    }
    CHECK(log.count("stay in memory") <= 1);
    Log later;
    Store store = Store::open(scratch.file(), later.options());
    CHECK(store.verify().good());
    CHECK(store.stats().memoryOnly.empty());
    CHECK(later.lines.empty());
  }
  CHECK(fromFile > 0);
}

TEST_CASE("edge row 104: the file is removed and renamed again and again while threads use it") {
  Scratch scratch;
  Log log;
  std::atomic<int> wrong = 0;
  std::atomic<bool> done = false;
  std::thread disturber([&] {
    for (int i = 0; i < 40; ++i) {
      std::error_code ignored;
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      if (i % 2 == 0)
        fs::rename(scratch.file(), scratch.folder / "elsewhere", ignored);
      else
        fs::remove(scratch.file(), ignored);
    }
    done = true;
  });
  std::vector<std::thread> users;
  for (int t = 0; t < 3; ++t)
    users.emplace_back([&, t] {
      Store store = Store::open(scratch.file(), log.options());
      for (int step = t; !done; ++step) {
        const int i = step % keys;
        if (const auto content = store.get(keyOf(i)); content && *content != contentOf(i)) ++wrong;
        store.put(keyOf(i), contentOf(i));
      }
    });
  disturber.join();
  for (std::thread& user : users)
    user.join();
  CHECK(wrong == 0);
  Store store = Store::open(scratch.file(), log.options());
  useAll(store);
  CHECK(store.verify().good());
  CHECK(store.stats().memoryOnly.empty());
}

TEST_CASE("edge row 110: where no folder can be made the store works from memory and warns once") {
  Scratch scratch;
  Log log;
  SECTION("below a file") {
    writeFile(scratch.folder / "file", "x");
    checkInMemory(scratch.folder / "file" / "cache" / "kernels.sqlite", log.options(), log, "Not a directory");
  }
  SECTION("in a file system that takes no files") {
    checkInMemory("/proc/tilewright/kernels.sqlite", log.options(), log, "No such file or directory");
  }
  SECTION("in a folder that forbids writing") {
    // Root may write anywhere: then somebody else tries, in a process of their own.
    using fs::perms;
    fs::permissions(scratch.folder, perms::owner_read | perms::owner_exec | perms::others_read | perms::others_exec);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
      Store store = Store::open(scratch.file(), log.options());
      store.put(keyOf(1), "one");
      const bool works = store.get(keyOf(1)) == "one" && store.stats().memoryOnly == "Permission denied";
      ::_exit(works && log.lines.size() == 1 && log.count("(Permission denied)") == 1 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    fs::permissions(scratch.folder, fs::perms::owner_all);
  }
}

TEST_CASE("edge row 110: a full disk leads to memory, said once; what was there is still read") {
  Scratch scratch;
  Log log;
  Store::open(scratch.file()).put(keyOf(100), contentOf(100));
  {
    const FaultyFiles files([](FileCall call, const char*) {
      return call == FileCall::Write ? Fault{SQLITE_FULL, ENOSPC} : Fault{};
    });
    Store store = Store::open(scratch.file(), log.options());
    useAll(store);
    CHECK(store.get(keyOf(100)) == contentOf(100));
    CHECK(store.list().size() == keys + 1);
    CHECK(store.stats().memoryOnly.find("database or disk is full") != std::string::npos);
  }
  CHECK(log.lines.size() == 1);
  CHECK(log.count("cannot be written") == 1);
  Store store = Store::open(scratch.file());
  CHECK(store.verify().good());
  CHECK(store.get(keyOf(100)) == contentOf(100));
}

TEST_CASE("edge row 110: a read-only file system: an old cache is read, new entries stay in memory, said once") {
  Scratch scratch;
  const fs::path folder = scratch.folder / "mount";
  fs::create_directories(folder);
  if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") != 0) {
    WARN("cannot mount a file system here (" << std::strerror(errno) << "); not checked");
    return;
  }
  const fs::path file = folder / "kernels.sqlite";
  Log log;
  SECTION("read-only") {
    Store::open(file).put(keyOf(100), contentOf(100));
    REQUIRE(::mount("tmpfs", folder.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0);
    Store store = Store::open(file, log.options());
    CHECK(store.get(keyOf(100)) == contentOf(100));
    useAll(store);
    CHECK(store.stats().memoryOnly == "Read-only file system");
    CHECK(log.lines.size() == 1);
  }
  SECTION("full") {
    Store store = Store::open(file, log.options());
    for (int i = 0; i < 40; ++i) {
      const std::string content(100'000, char(i));
      store.put(keyOf(i), content);
      CHECK(store.get(keyOf(i)) == content);
    }
    for (int i = 0; i < 40; ++i)
      CHECK(store.get(keyOf(i)) == std::string(100'000, char(i)));
    CHECK_FALSE(store.stats().memoryOnly.empty());
    CHECK(log.lines.size() == 1);
    CHECK(store.verify().good());
  }
  CHECK(::umount2(folder.c_str(), MNT_DETACH) == 0);
}
