#include "tilewright/cpu/ThreadPool.h"
#include "tilewright/artifact/RuntimeError.h"
#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

namespace tw {

/// One call of run(), on its caller's stack. The list of open loops holds it while workers may join.
struct ThreadPool::Loop {
  void (*body)(void *, int, std::int64_t);
  void *context;
  std::int64_t count;
  int seats;                             // threads that may work on it
  std::atomic<std::int64_t> next = 0;    // the first item that nobody has started

  // Guarded by State::mutex:
  int seated = 1;                        // worker numbers given out; 0 is the caller's
  int working = 0;                       // pool threads inside work()
  std::exception_ptr failure;
  Loop *following = nullptr;
  std::condition_variable idle;          // working has become 0

  [[nodiscard]] bool hasRoom() const { return seated < seats && next.load(std::memory_order_relaxed) < count; }

  /// Runs items until none is left; returns what an item threw.
  std::exception_ptr work(int worker) noexcept {
    try {
      for (std::int64_t item; (item = next.fetch_add(1, std::memory_order_relaxed)) < count;)
        body(context, worker, item);
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      return std::current_exception();
    }
    return nullptr;
  }
};

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;          // a loop was opened, or the pool closes
  Loop *open = nullptr;                  // newest first: an inner loop ends before the outer one goes on
  bool closing = false;
  std::vector<std::thread> threads;

  void close(Loop &loop) {
    for (Loop **link = &open; *link; link = &(*link)->following)
      if (*link == &loop) {
        *link = loop.following;
        return;
      }
  }

  /// What a thread of the pool does all its life.
  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      Loop *loop = open;
      while (loop && !loop->hasRoom())
        loop = loop->following;
      if (!loop) {
        if (closing)
          return;
        wake.wait(lock);
        continue;
      }
      int worker = loop->seated++;
      ++loop->working;
      lock.unlock();
      std::exception_ptr failure = loop->work(worker);
      lock.lock();
      if (failure && !loop->failure)
        loop->failure = failure;
      if (--loop->working == 0)
        loop->idle.notify_one();         // under the lock: the loop dies as soon as its caller sees 0
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  try {
    for (int made = 1; made < threads; ++made)
      state_->threads.emplace_back([state = state_.get()] { state->serve(); });
  } catch (const std::system_error &) {
    // The system gives no more threads; those that there are do the work.
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->closing = true;
  }
  state_->wake.notify_all();
  for (std::thread &thread : state_->threads)
    thread.join();
}

ThreadPool &ThreadPool::shared() {
  // Never destroyed: a thread may still launch while static objects go.
  static ThreadPool *pool = new ThreadPool(defaultThreads());
  return *pool;
}

int ThreadPool::defaultThreads() {
  if (const char *text = std::getenv("TILEWRIGHT_THREADS")) {
    int threads = 0;
    const char *end = text + std::strlen(text);
    auto [stop, error] = std::from_chars(text, end, threads);
    if (error != std::errc() || stop != end || threads < 1 || threads > 4096)
      throw RuntimeError("TILEWRIGHT_THREADS is '" + std::string(text) + "'; set it to a number of threads from 1 to 4096, or unset it");
    return threads;
  }
  for (int cores = 1024; cores <= 1 << 20; cores *= 2) {   // the kernel refuses a set smaller than its own
    cpu_set_t *set = CPU_ALLOC(cores);
    std::size_t bytes = CPU_ALLOC_SIZE(cores);
    bool known = set && sched_getaffinity(0, bytes, set) == 0;
    int usable = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known)
      return std::clamp(usable, 1, 4096);
  }
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 4096);
}

int ThreadPool::threads() const { return static_cast<int>(state_->threads.size()) + 1; }

void ThreadPool::run(std::int64_t count, int threads, void (*body)(void *, int, std::int64_t), void *context) {
  if (count <= 0)
    return;
  int seats = threads > 0 ? std::min(threads, this->threads()) : this->threads();
  Loop loop{body, context, count, static_cast<int>(std::min<std::int64_t>(seats, count))};
  if (loop.seats > 1) {
    {
      std::lock_guard lock(state_->mutex);
      loop.following = state_->open;
      state_->open = &loop;
    }
    for (int called = 1; called < loop.seats; ++called)
      state_->wake.notify_one();
  }
  std::exception_ptr failure = loop.work(0);
  if (loop.seats > 1) {
    std::unique_lock lock(state_->mutex);
    state_->close(loop);
    loop.idle.wait(lock, [&] { return loop.working == 0; });
    if (loop.failure && !failure)
      failure = loop.failure;
  }
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace tw
