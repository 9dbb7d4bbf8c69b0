#include "tilewright/cpu/ThreadPool.h"
#include "tilewright/artifact/RuntimeError.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using tw::ThreadPool;

TEST_CASE("every item runs once, in no more threads than asked for") {
  ThreadPool pool(4);
  for (int threads : {0, 1, 2, 4, 100}) {
    std::vector<std::atomic<int>> runs(1000);
    std::atomic<int> worst = 0;
    pool.parallelFor(1000, threads, [&](int worker, std::int64_t item) {
      ++runs[static_cast<std::size_t>(item)];
      for (int seen = worst; worker > seen && !worst.compare_exchange_weak(seen, worker);) {
      }
    });
    for (auto &run : runs)
      CHECK(run == 1);
    CHECK(worst < (threads == 0 || threads > 4 ? 4 : threads));
  }
}

TEST_CASE("no items, no calls") {
  ThreadPool pool(3);
  pool.parallelFor(0, 0, [](int, std::int64_t) { FAIL("called"); });
  pool.parallelFor(-1, 0, [](int, std::int64_t) { FAIL("called"); });
}

TEST_CASE("a worker's number belongs to one thread at a time") {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> shared = false;
  pool.parallelFor(2000, 0, [&](int worker, std::int64_t) {
    if (inside[static_cast<std::size_t>(worker)]++ != 0)
      shared = true;
    --inside[static_cast<std::size_t>(worker)];
  });
  CHECK_FALSE(shared);
}

TEST_CASE("the threads of a pool do work at the same time") {
  ThreadPool pool(3);
  std::atomic<int> arrived = 0, lonely = 0;
  pool.parallelFor(3, 0, [&](int, std::int64_t) {
    ++arrived;
    auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (arrived < 3 && std::chrono::steady_clock::now() < patience)
      std::this_thread::yield();
    if (arrived < 3)
      ++lonely;
  });
  CHECK(lonely == 0);
}

TEST_CASE("an exception stops the loop and reaches the caller") {
  ThreadPool pool(4);
  for (int threads : {1, 4}) {
    std::atomic<int> started = 0;
    auto loop = [&] {
      pool.parallelFor(1000000, threads, [&](int, std::int64_t item) {
        ++started;
        if (item == 10)
          throw std::runtime_error("item 10");
      });
    };
    CHECK_THROWS_WITH(loop(), "item 10");
    CHECK(started < 1000000);
  }
  std::atomic<int> after = 0;
  pool.parallelFor(100, 0, [&](int, std::int64_t) { ++after; });
  CHECK(after == 100);
}

TEST_CASE("loops may be nested") {
  ThreadPool pool(3);
  std::atomic<int> inner = 0;
  pool.parallelFor(8, 0, [&](int, std::int64_t) {
    pool.parallelFor(8, 0, [&](int, std::int64_t) {
      pool.parallelFor(8, 0, [&](int, std::int64_t) { ++inner; });
    });
  });
  CHECK(inner == 512);
}

TEST_CASE("many threads may start loops on one pool") {
  ThreadPool pool(3);
  std::vector<std::int64_t> sums(8);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < sums.size(); ++caller)
    callers.emplace_back([&, caller] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::atomic<std::int64_t> sum = 0;
        pool.parallelFor(100, 0, [&](int, std::int64_t item) { sum += item; });
        sums[caller] += sum;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  for (std::int64_t sum : sums)
    CHECK(sum == 50 * 4950);
}

TEST_CASE("TILEWRIGHT_THREADS sets the number of threads") {
  const char *before = std::getenv("TILEWRIGHT_THREADS");
  const std::string kept = before ? before : "";
  setenv("TILEWRIGHT_THREADS", "7", 1);
  CHECK(ThreadPool::defaultThreads() == 7);
  for (const char *wrong : {"", "0", "-1", "4097", "two", "2 "}) {
    setenv("TILEWRIGHT_THREADS", wrong, 1);
    CHECK_THROWS_WITH(ThreadPool::defaultThreads(), "TILEWRIGHT_THREADS is '" + std::string(wrong) +
                                                        "'; set it to a number of threads from 1 to 4096, or unset it");
  }
  unsetenv("TILEWRIGHT_THREADS");
  CHECK(ThreadPool::defaultThreads() >= 1);
  if (before)
    setenv("TILEWRIGHT_THREADS", kept.c_str(), 1);
}
