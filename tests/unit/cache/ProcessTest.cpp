#include "Scratch.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <random>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>

extern char** environ;

using namespace tw::cache;
using namespace tw::cache::test;

namespace {

pid_t startWorker(const fs::path& file, int keys, unsigned seed, bool allPresent) {
  std::vector<std::string> words{CACHE_WORKER, file.string(), std::to_string(keys), std::to_string(seed)};
  if (allPresent) words.push_back("all-present");
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t worker = 0;
  REQUIRE(::posix_spawn(&worker, CACHE_WORKER, nullptr, nullptr, pointers.data(), environ) == 0);
  return worker;
}

int statusOf(pid_t worker) {
  int status = -1;
  REQUIRE(::waitpid(worker, &status, 0) == worker);
  return status;
}

}  // namespace

TEST_CASE("edge row 100: 16 processes, 20 keys, an empty cache, kill -9 at random: survivors right, no torn row") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  constexpr int processes = 16, keys = 20;
  int killed = 0;
  for (int round = 0; round < 8; ++round) {
    Scratch scratch;
    std::vector<pid_t> workers;
    for (int i = 0; i < processes; ++i)
      workers.push_back(startWorker(scratch.file(), keys, unsigned(random()), false));
    // Half of them are killed, the first while the file is being laid out.
    std::shuffle(workers.begin(), workers.end(), random);
    for (int i = 0; i < processes / 2; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % (round % 2 == 0 ? 1000 : 6000)));
      ::kill(workers[i], SIGKILL);
    }
    for (int i = 0; i < processes; ++i) {
      const int status = statusOf(workers[i]);
      if (i < processes / 2 && WIFSIGNALED(status)) {
        ++killed;
        continue;
      }
      CHECK(status == 0);
    }

    // What they leave is whole: every key present and right, for one who checks all and for 16 more.
    Log log;
    {
      Store store = Store::open(scratch.file(), log.options());
      CHECK(store.verify().good());
      CHECK(store.stats().entries == keys);
      for (int i = 0; i < keys; ++i)
        CHECK(store.get(keyOf(i)) == contentOf(i));
    }
    CHECK(log.lines.empty());
    CHECK_FALSE(fs::exists(fs::path(scratch.file()) += ".damaged"));
    if (round > 0) continue;
    workers.clear();
    for (int i = 0; i < processes; ++i)
      workers.push_back(startWorker(scratch.file(), keys, unsigned(random()), true));
    for (const pid_t worker : workers)
      CHECK(statusOf(worker) == 0);
  }
  INFO(killed << " of 64 were killed at work");
  CHECK(killed > 8);
}

TEST_CASE("edge row 102: processes that share a file when it is damaged go on, each with right content") {
  Scratch scratch;
  constexpr int keys = 20;
  REQUIRE(statusOf(startWorker(scratch.file(), keys, 1, false)) == 0);
  writeFile(scratch.file(), std::string(8192, '\x55'));
  std::vector<pid_t> workers;
  for (int i = 0; i < 6; ++i)
    workers.push_back(startWorker(scratch.file(), keys, unsigned(i), false));
  int whoRebuilt = 0;
  for (const pid_t worker : workers) {
    const int status = statusOf(worker);
    REQUIRE(WIFEXITED(status));
    // Exactly one worker meets the damage, and says so by its exit status.
    if (WEXITSTATUS(status) == 6)
      ++whoRebuilt;
    else
      CHECK(status == 0);
  }
  CHECK(whoRebuilt == 1);
  Log log;
  Store store = Store::open(scratch.file(), log.options());
  CHECK(store.verify().good());
  CHECK(store.stats().entries == keys);
  CHECK(log.lines.empty());
}
