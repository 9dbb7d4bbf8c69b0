// The race of candidates, with machines whose noise is known.
#include "tilewright/tune/Choose.h"
#include "tilewright/tune/Tuner.h"
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <set>
#include <thread>

using namespace tw;
using namespace tw::tuning;

namespace {

Schedule scheduleOf(std::size_t i) { return Schedule{"q", {{"q", int(i) + 1}}}; }

std::vector<Candidate> candidates(std::size_t count) {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({scheduleOf(i), 1e-3 * double(i + 1)});
  return all;
}

/// A machine: what each candidate takes, noise of some percent, now and then a launch that takes much longer, and a clock that slows down from round to round.
struct FakeMachine {
  std::vector<double> seconds;
  double noise = 0.02, drift = 0.01;
  std::mt19937_64 random{7};
  std::vector<int> measured = std::vector<int>(seconds.size());
  double clock = 1;
  double operator()(std::size_t i) {
    ++measured[i];
    clock *= 1 + drift / double(seconds.size());
    std::normal_distribution<double> normal(0, noise);
    const double spike = random() % 20 == 0 ? 2 : 1;
    return seconds[i] * clock * spike * (1 + std::abs(normal(random)));
  }
};

Bench benchOf(FakeMachine &machine) {
  return {[](std::size_t i) { return scheduleOf(i); }, [](std::size_t) { return std::string(); }, [&](std::size_t i) { return machine(i); }};
}

TuningRecord recordOf(std::vector<ScheduleTiming> tried) {
  TuningRecord record;
  record.runs.push_back({});
  record.runs.back().tried = std::move(tried);
  return record;
}

} // namespace

TEST_CASE("the fastest candidate is found in spite of noise, outliers and a clock that slows down") {
  FakeMachine machine{{1, 0.9, 0.8, 0.78, 1.5, 3}};
  const auto tried = tune(candidates(6), benchOf(machine), {.mostRounds = 60, .timingSeconds = 60});
  REQUIRE(tried.size() == 6);
  const TuningRecord record = recordOf(tried);
  CHECK(choice(record) == scheduleOf(3));
  CHECK(standings(record)[0].ratio == Approx(0.78).margin(0.02));
  CHECK(standings(record)[0].predictedSeconds == 4e-3);
  // The slow ones are given up early, the default schedule never is.
  CHECK(machine.measured[5] == int(leastRounds));
  CHECK(machine.measured[0] == machine.measured[3]);
  CHECK(machine.measured[3] > 5 * machine.measured[4]);
}

TEST_CASE("the default schedule stays where nothing is faster by more than two tunings differ") {
  FakeMachine machine{{1, 0.995, 1, 1.1}};
  machine.noise = 0.001;
  CHECK(choice(recordOf(tune(candidates(4), benchOf(machine), {}))) == scheduleOf(0));
}

TEST_CASE("what cannot be compiled, is wrong, or fails is refused with its reason, and never timed again") {
  FakeMachine machine{{1, 0.1, 0.1, 0.1, 0.9}};
  Bench bench = benchOf(machine);
  bench.compile = [](std::size_t i) { return i == 1 ? throw std::runtime_error("it spills") : scheduleOf(i); };
  bench.check = [](std::size_t i) { return std::string(i == 2 ? "O[0, 1] is 3, expected 2" : ""); };
  bench.measure = [&](std::size_t i) { return i == 3 && machine.measured[3] == 2 ? throw std::runtime_error("the launch failed") : machine(i); };
  const auto tried = tune(candidates(5), bench, {});
  REQUIRE(tried.size() == 5);
  CHECK(tried[1].refused == "it spills");
  CHECK(tried[2].refused == "O[0, 1] is 3, expected 2");
  CHECK(tried[3].refused == "the launch failed");
  CHECK(machine.measured[1] == 0);
  CHECK(machine.measured[2] == 0);
  CHECK(choice(recordOf(tried)) == scheduleOf(4));
  CHECK(standings(recordOf(tried)).back().rounds == 0);
}

TEST_CASE("rounds before a clock has settled do not count, and leave nobody out") {
  // At first the second candidate is by far the fastest, and the third by far the slowest.
  FakeMachine early{{1, 0.5, 2}}, late{{1, 1.1, 0.9}};
  Bench bench = benchOf(late);
  const auto start = std::chrono::steady_clock::now();
  bench.measure = [&](std::size_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::chrono::steady_clock::now() - start < std::chrono::milliseconds(100) ? early(i) : late(i);
  };
  const auto tried = tune(candidates(3), bench, {.mostRounds = 20, .settlingSeconds = 0.2});
  CHECK(early.measured[2] > 0);
  CHECK(choice(recordOf(tried)) == scheduleOf(2));
  CHECK(tried[2].seconds.size() == 20);
  CHECK(standings(recordOf(tried))[0].ratio == Approx(0.9).margin(0.02));

  // An end of the budget, or of the patience, ends that too.
  const auto begun = std::chrono::steady_clock::now();
  (void)tune(candidates(3), benchOf(late), {.budgetSeconds = 0.1, .settlingSeconds = 60});
  (void)tune(candidates(3), benchOf(late), {.settlingSeconds = 60, .stop = [&] { return std::chrono::steady_clock::now() - begun > std::chrono::milliseconds(200); }});
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(10));
  // What fails meanwhile is out.
  bench.measure = [&](std::size_t i) { return i == 2 ? throw std::runtime_error("the launch failed") : late(i); };
  CHECK(tune(candidates(3), bench, {.settlingSeconds = 0.01}).at(2).refused == "the launch failed");
}

TEST_CASE("where nothing can run any more it is said of whom, and the others are not blamed") {
  FakeMachine machine{{1, 0.9, 0.8, 0.7}};
  Bench bench = benchOf(machine);
  int checked = 0;
  bench.check = [&](std::size_t i) { return ++checked, i == 2 ? throw ProcessorLost("an illegal instruction") : std::string(); };
  auto tried = tune(candidates(4), bench, {});
  CHECK(checked == 3);
  CHECK(machine.measured == std::vector<int>{0, 0, 0, 0});
  REQUIRE(tried.size() == 2);      // the default one always
  CHECK(tried[0].schedule == scheduleOf(0));
  CHECK(tried[0].refused.empty());
  CHECK_FALSE(tried[0].stopped);
  CHECK(tried[1].schedule == scheduleOf(2));
  CHECK(tried[1].refused == "an illegal instruction");
  CHECK(tried[1].stopped);
  CHECK_FALSE(choice(recordOf(tried)));

  // While it is timed: rounds that were whole count.
  bench.check = [](std::size_t) { return std::string(); };
  bench.measure = [&](std::size_t i) { return i == 3 && machine.measured[3] == 5 ? throw ProcessorLost("an illegal instruction") : machine(i); };
  tried = tune(candidates(4), bench, {});
  REQUIRE(tried.size() == 4);
  CHECK(tried[0].seconds.size() == 5);
  CHECK(tried[2].seconds.size() == 5);
  CHECK(tried[3].stopped);
  CHECK(choice(recordOf(tried)) == scheduleOf(2));
}

TEST_CASE("candidates are compiled side by side, and the one that the default schedule became is tried once") {
  FakeMachine machine{{1, 1, 1, 1}};
  Bench bench = benchOf(machine);
  std::atomic<int> inside = 0, most = 0;
  bench.compile = [&](std::size_t i) {
    const int now = ++inside;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    --inside;
    return scheduleOf(i == 0 ? 2 : i);   // the first one that was listed did not do
  };
  const auto tried = tune(candidates(4), bench, {.threads = 4});
  CHECK(most >= 2);
  REQUIRE(tried.size() == 3);
  CHECK(tried[0].schedule == scheduleOf(2));
  CHECK(tried[1].schedule == scheduleOf(1));
  CHECK(tried[2].schedule == scheduleOf(3));
  CHECK(machine.measured[2] == 0);
}

TEST_CASE("the next candidates take the place of those that are refused") {
  for (unsigned threads : {1u, 4u}) {
    FakeMachine machine{std::vector<double>(9, 1.0)};
    Bench bench = benchOf(machine);
    bench.compile = [](std::size_t i) { return i == 1 || i == 2 || i == 5 ? throw std::runtime_error("it spills") : scheduleOf(i); };
    const auto tried = tune(candidates(9), bench, {.mostCompiled = 4, .threads = threads});
    REQUIRE(tried.size() == 7);
    CHECK(std::count_if(tried.begin(), tried.end(), [](const ScheduleTiming &timing) { return timing.refused.empty(); }) == 4);
    CHECK(tried.back().schedule == scheduleOf(6));
    CHECK(machine.measured[7] == 0);
    // There may be too few of them.
    bench.compile = [](std::size_t i) { return i > 1 ? throw std::runtime_error("it spills") : scheduleOf(i); };
    CHECK(tune(candidates(9), bench, {.mostCompiled = 4, .threads = threads}).size() == 9);
  }
}

TEST_CASE("a budget and an interruption keep what is found by then") {
  FakeMachine machine{{1, 0.5, 0.4}};
  Bench bench = benchOf(machine);
  bench.compile = [](std::size_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(i == 1 ? 30 : 1));
    return scheduleOf(i);
  };
  auto tried = tune(candidates(3), bench, {.budgetSeconds = 0.02, .threads = 1});   // nothing is begun after the second
  REQUIRE(tried.size() == 1);
  CHECK(tried[0].schedule == scheduleOf(0));

  machine.measured.assign(3, 0);
  tried = tune(candidates(3), benchOf(machine), {.stop = [&] { return machine.measured[0] + machine.measured[1] + machine.measured[2] >= 20; }});
  REQUIRE(tried.size() == 3);
  CHECK(tried[0].seconds.size() == 7);   // five rounds of three, two of two; the eighth is not whole, and does not count
  CHECK(choice(recordOf(tried)) == scheduleOf(2));
}

TEST_CASE("progress goes from stage to stage and names the best so far") {
  FakeMachine machine{{1, 0.5}};
  std::vector<TuningProgress> said;
  (void)tune(candidates(2), benchOf(machine), {.mostRounds = 8, .onProgress = [&](const TuningProgress &progress) { said.push_back(progress); }});
  std::vector<TuningStage> stages;
  for (const TuningProgress &progress : said)
    if (stages.empty() || stages.back() != progress.stage)
      stages.push_back(progress.stage);
  CHECK(stages == std::vector{TuningStage::compiling, TuningStage::checking, TuningStage::timing, TuningStage::done});
  CHECK(said.front().bestSeconds == 0);
  CHECK(said.back().bestSeconds == Approx(0.5).epsilon(0.2));
  CHECK(said.back().bestRatio == Approx(0.5).epsilon(0.05));
  for (const TuningProgress &progress : said)
    CHECK((progress.secondsLeft >= 0 && progress.secondsLeft <= 30));
}

TEST_CASE("runs of several processes count together, round by round") {
  TuningRecord record;
  for (double clock : {1.0, 3.0}) {   // the second machine is three times as slow
    TuningRun run;
    run.tried = {{scheduleOf(0), 0, std::vector<double>(6, clock), {}}, {scheduleOf(1), 0, std::vector<double>(6, 0.8 * clock), {}}};
    record.runs.push_back(run);
  }
  const auto all = standings(record);
  CHECK(all[0].schedule == scheduleOf(1));
  CHECK(all[0].ratio == Approx(0.8));
  CHECK(all[0].rounds == 12);
  CHECK(all[0].seconds == Approx(2.4));
  record.runs[1].tried[1].refused = "wrong there";
  CHECK(choice(record) == scheduleOf(0));
  CHECK_FALSE(choice(TuningRecord{}));
}

TEST_CASE("quantiles lie between neighbours") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(quantile({1, 2, 3, 4, 5}, 0.25) == 2);
  CHECK(quantile({1, 2}, 0.75) == 1.75);
  CHECK(quantile({7}, 0.25) == 7);
}
