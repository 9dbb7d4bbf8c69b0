// Threads that live as long as their pool and share out the items of many loops at once.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace tw {

/// The calling thread always works too, so a loop ends even if no other thread is free: loops may be nested, and any number
/// of threads may start loops on one pool. Starting a loop allocates nothing.
class ThreadPool {
public:
  /// A pool in which at most `threads` threads work on one loop: the caller and threads − 1 of its own. If the system
  /// refuses to start so many, there are fewer.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The pool of the process, of defaultThreads() threads; made at first use.
  [[nodiscard]] static ThreadPool &shared();

  /// $TILEWRIGHT_THREADS, or else as many as this process may use cores. Throws RuntimeError if the variable is set and no
  /// number from 1 to 4096.
  [[nodiscard]] static int defaultThreads();

  /// Threads that work on one loop at most, the caller among them.
  [[nodiscard]] int threads() const;

  /// Calls body(worker, item) once for every item in [0, count), on at most `threads` threads (0: all). Items are started in
  /// ascending order; `worker` is in [0, threads) and no two calls that run at once share it. Returns when all are done. If a
  /// call throws, no further item is started and the first exception is thrown here.
  template <class Body>
  void parallelFor(std::int64_t count, int threads, Body &&body) {
    run(count, threads, [](void *context, int worker, std::int64_t item) {
      (*static_cast<std::remove_reference_t<Body> *>(context))(worker, item);
    }, const_cast<void *>(static_cast<const void *>(&body)));
  }

private:
  struct Loop;
  struct State;
  void run(std::int64_t count, int threads, void (*body)(void *, int, std::int64_t), void *context);
  std::unique_ptr<State> state_;
};

} // namespace tw
