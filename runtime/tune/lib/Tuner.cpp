#include "tilewright/tune/Tuner.h"
#include "tilewright/tune/Choose.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

namespace tw::tuning {
namespace {

using Clock = std::chrono::steady_clock;

/// Share of the budget after which no candidate begins to be compiled: the rest is for timing.
constexpr double compilingShare = 0.7;
/// By how much the median of a candidate must lie above the best one's to be left out.
constexpr double behind = 0.02;

class Tuning {
public:
  Tuning(const std::vector<Candidate> &candidates, const Bench &bench, const TunerOptions &options)
      : candidates(candidates), bench(bench), options(options), random(options.seed) {
    for (const Candidate &candidate : candidates)
      tried.push_back({candidate.schedule, candidate.predictedSeconds, {}, {}});
    reached.assign(candidates.size(), false);
  }

  std::vector<ScheduleTiming> run() {
    compile();
    check();
    time();
    say(TuningStage::done, 0, 0, 0);
    std::vector<ScheduleTiming> out;
    for (std::size_t i = 0; i < tried.size(); ++i)
      if (reached[i] && (i == 0 || !tried[i].refused.empty() || !tried[i].seconds.empty()))
        out.push_back(std::move(tried[i]));
    return out;
  }

private:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
  [[nodiscard]] bool stops() const { return options.stop && options.stop(); }
  [[nodiscard]] bool isLate(double share) const { return seconds() >= options.budgetSeconds * share; }

  void refuse(std::size_t i, std::string why) { tried[i].refused = why.empty() ? "no reason was given" : std::move(why); }
  void stop(std::size_t i, std::string why) {
    refuse(i, std::move(why));
    tried[i].stopped = true;
    racing.clear();
  }

  /// The default schedule is compiled whatever the budget, as nothing can be told without it.
  void compile() {
    const std::size_t most = options.mostCompiled ? std::min(options.mostCompiled, candidates.size()) : candidates.size();
    unsigned threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    threads = unsigned(std::min<std::size_t>(threads, most));
    std::size_t next = 0, running = 0, compiled = 0, finished = 0;
    std::mutex mutex;
    std::condition_variable changed;
    // Whether there is another one to compile; where those under way may be enough, once they are done.
    auto take = [&](std::size_t &i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return compiled + running < most || running == 0; });
      if (compiled >= most || next == candidates.size() || (next > 0 && (stops() || isLate(compilingShare))))
        return false;
      i = next++;
      ++running;
      return true;
    };
    auto work = [&] {
      for (std::size_t i = 0; take(i);) {
        std::string refused;
        Schedule became = candidates[i].schedule;
        try {
          became = bench.compile(i);
        } catch (const std::exception &error) {
          refused = *error.what() ? error.what() : "it cannot be compiled";
        }
        const std::lock_guard lock(mutex);
        reached[i] = true;
        tried[i].schedule = became;
        tried[i].refused = refused;
        --running;
        ++finished;
        compiled += refused.empty();
        changed.notify_all();
        const double each = seconds() / double(finished);
        say(TuningStage::compiling, compiled, most, each * double(most - compiled) + options.timingSeconds);
      }
    };
    say(TuningStage::compiling, 0, most, options.budgetSeconds);
    std::vector<std::thread> pool;
    for (unsigned i = 1; i < threads; ++i)
      pool.emplace_back(work);
    work();
    for (std::thread &thread : pool)
      thread.join();
    for (std::size_t i = 1; i < tried.size(); ++i)
      if (tried[i].schedule == tried.front().schedule)
        reached[i] = false;
  }

  void check() {
    std::size_t finished = 0, of = 0;
    for (std::size_t i = 0; i < tried.size(); ++i)
      of += reached[i] && tried[i].refused.empty();
    for (std::size_t i = 0; i < tried.size() && !(i > 0 && (stops() || isLate(1))); ++i) {
      if (!reached[i] || !tried[i].refused.empty())
        continue;
      say(TuningStage::checking, ++finished, of, options.timingSeconds);
      try {
        if (std::string wrong = bench.check(i); !wrong.empty())
          refuse(i, std::move(wrong));
        else
          racing.push_back(i);
      } catch (const ProcessorLost &error) {
        stop(i, error.what());
        return;
      } catch (const std::exception &error) {
        refuse(i, error.what());
      }
    }
  }

  [[nodiscard]] const ScheduleTiming &base() const { return tried.front(); }

  /// Of the candidates that are still timed, the one with the least median ratio.
  [[nodiscard]] std::size_t best() const {
    return *std::min_element(racing.begin(), racing.end(),
                             [&](std::size_t a, std::size_t b) { return median(ratios(tried[a], base())) < median(ratios(tried[b], base())); });
  }

  void leaveOut() {
    const std::vector<double> fastest = ratios(tried[best()], base());
    const double bound = std::max(quantile(fastest, 0.75), median(fastest) * (1 + behind));
    std::erase_if(racing, [&](std::size_t i) { return i != 0 && quantile(ratios(tried[i], base()), 0.25) > bound; });
  }

  /// Times each once, in random order. False where that was the last round: asked to stop, nothing can run, or there is no default schedule to compare with. A round counts
  /// as a whole or not at all; a candidate that fails takes no part any more, and its times do not count.
  bool timeRound(bool counts) {
    std::vector<std::size_t> order = racing;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<double> taken(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (stops())
        return false;
      try {
        taken[k] = bench.measure(order[k]);
      } catch (const ProcessorLost &error) {
        stop(order[k], error.what());
        return false;
      } catch (const std::exception &error) {
        refuse(order[k], error.what());
      }
    }
    for (std::size_t k = 0; k < order.size() && counts; ++k)
      if (tried[order[k]].refused.empty())
        tried[order[k]].seconds.push_back(taken[k]);
    std::erase_if(racing, [&](std::size_t i) { return !tried[i].refused.empty(); });
    return !racing.empty() && racing.front() == 0;
  }

  void time() {
    if (racing.empty() || racing.front() != 0)
      return;
    for (const double began = seconds(); seconds() - began < options.settlingSeconds && !isLate(1);)
      if (!timeRound(false))
        return;
    const double began = seconds();
    for (std::size_t round = 0; round < options.mostRounds && (racing.size() > 1 || round < leastRounds); ++round) {
      const double spent = seconds() - began;
      if (round >= leastRounds && (spent >= options.timingSeconds || isLate(1)))
        return;
      if (!timeRound(true))
        return;
      if (round + 1 >= leastRounds)
        leaveOut();
      const double left = round ? spent / double(round) * double(options.mostRounds - round) : options.timingSeconds;
      say(TuningStage::timing, round + 1, options.mostRounds, std::max(0.0, std::min(left, options.timingSeconds - spent)));
    }
  }

  void say(TuningStage stage, std::size_t done, std::size_t of, double left) {
    if (!options.onProgress)
      return;
    TuningProgress progress{stage, done, of};
    progress.refused = std::size_t(std::count_if(tried.begin(), tried.end(), [](const ScheduleTiming &timing) { return !timing.refused.empty(); }));
    progress.seconds = seconds();
    progress.secondsLeft = std::clamp(left, 0.0, std::max(0.0, options.budgetSeconds - progress.seconds));
    if (!racing.empty() && !base().seconds.empty()) {
      const std::size_t first = best();
      progress.best = &tried[first].schedule;
      progress.bestSeconds = median(tried[first].seconds);
      progress.bestRatio = median(ratios(tried[first], base()));
    }
    options.onProgress(progress);
  }

  const std::vector<Candidate> &candidates;
  const Bench &bench;
  const TunerOptions &options;
  const Clock::time_point start = Clock::now();
  std::mt19937_64 random;            // of the order within a round
  std::vector<ScheduleTiming> tried;
  std::vector<char> reached;         // were compiled, or refused by the compiler
  std::vector<std::size_t> racing;   // are timed in the next round, in order
};

} // namespace

std::vector<ScheduleTiming> tune(const std::vector<Candidate> &candidates, const Bench &bench, const TunerOptions &options) {
  return Tuning(candidates, bench, options).run();
}

} // namespace tw::tuning
