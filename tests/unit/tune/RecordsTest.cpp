// Records: what is added is there, whoever else adds, and whoever is killed meanwhile.
#include "Scratch.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/tune/Choose.h"
#include "tilewright/tune/RecordText.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <random>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>

extern char **environ;

using namespace tw;
using namespace tw::tests;
using namespace tw::tuning;

namespace {

/// A worker whose stdout comes through a pipe.
struct WorkerProcess {
  pid_t process = 0;
  int output = -1;
};

WorkerProcess start(const Scratch &scratch, int worker, int runs, int keys) {
  std::vector<std::string> words{TUNE_WORKER, scratch.folder.string(), std::to_string(worker), std::to_string(runs), std::to_string(keys)};
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  WorkerProcess started{0, ends[0]};
  REQUIRE(::posix_spawn(&started.process, TUNE_WORKER, &actions, nullptr, pointers.data(), environ) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  return started;
}

/// Waits; how many runs it said that it had added.
int finish(const WorkerProcess &worker, int &status) {
  int runs = 0;
  for (char byte = 0; ::read(worker.output, &byte, 1) == 1;)
    ++runs;
  ::close(worker.output);
  REQUIRE(::waitpid(worker.process, &status, 0) == worker.process);
  return runs;
}

/// (worker, number) of all runs of some keys.
std::set<std::pair<std::string, std::string>> runsIn(Records &records, int keys) {
  std::set<std::pair<std::string, std::string>> all;
  for (int key = 0; key < keys; ++key)
    if (auto record = records.find(keyOf(key)))
      for (const TuningRun &run : record->runs)
        CHECK(all.emplace(run.processor, run.shapes).second);
  return all;
}

} // namespace

TEST_CASE("a record is read back as it was written") {
  TuningRecord record = headingOf(4);
  record.runs = {runOf(1, 2), runOf(2, 3)};
  record.runs[0].tried.push_back({scheduleOf(32), 0, {}, "a reason\nof two lines \\ and more", true});
  const std::string text = print(record);
  const auto read = parseRecord(text);
  REQUIRE(read);
  CHECK(print(*read) == text);
  CHECK(read->program == "rows");
  CHECK(read->shapeClass == "q=4");
  REQUIRE(read->runs.size() == 2);
  CHECK(read->runs[0].tried[2].refused == "a reason\nof two lines \\ and more");
  CHECK(read->runs[0].tried[2].stopped);
  CHECK_FALSE(read->runs[0].tried[0].stopped);
  CHECK(read->runs[1].tried[1].seconds == std::vector<double>(5, 0.0015));
  CHECK(read->runs[1].tried[1].schedule == scheduleOf(128));
  CHECK(read->runs[1].driver == "13.0");
  for (const char *wrong : {"", "tilewright tuning 2\n", "tilewright tuning 1\nschedule block=q\n", "tilewright tuning 1\nrun\nseconds 1\n",
                            "tilewright tuning 1\nrun\nschedule block=q\nseconds -1\n", "tilewright tuning 1\nrun\nschedule colour=q\n",
                            "tilewright tuning 1\nhat red\n"}) {
    INFO(wrong);
    CHECK_FALSE(parseRecord(wrong));
  }
}

TEST_CASE("the next process finds a record within a millisecond, opening the file included") {
  Scratch scratch;
  {
    Records records = Records::open(scratch.location());
    for (int i = 0; i < 200; ++i)
      records.add(keyOf(i), headingOf(i), runOf(0, i));
  }
  double least = 1;
  for (int i = 0; i < 20; ++i) {   // the least: other processes run here too
    const auto start = std::chrono::steady_clock::now();
    Records records = Records::open(scratch.location());
    const auto record = records.find(keyOf(i));
    const auto schedule = record ? choice(*record) : std::nullopt;
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    CHECK(schedule == scheduleOf(128));
  }
  CHECK(least <= 1e-3);
  WARN("opened and found in " << least * 1e6 << " us");
}

TEST_CASE("edge row 105: what was tuned for one class of lengths is not found for another") {
  Scratch scratch;
  Records records = Records::open(scratch.location());
  const RecordKey tuned{.program = "p", .target = "h200", .shapeClass = "q=1024 k=1024 d=64", .sharedLimit = 0, .assembler = "a", .compiler = "c"};
  records.add(digestOf(tuned), {"p", "h200", tuned.shapeClass, {}}, runOf(0, 0));
  CHECK(records.find(digestOf(tuned)));
  auto other = [&](auto change) {
    RecordKey key = tuned;
    change(key);
    return records.find(digestOf(key)).has_value();
  };
  CHECK_FALSE(other([](RecordKey &key) { key.shapeClass = "q=16384 k=16384 d=64"; }));
  CHECK_FALSE(other([](RecordKey &key) { key.shapeClass = "q=1024 k=1024 d=128"; }));
  CHECK_FALSE(other([](RecordKey &key) { key.program = "p2"; }));
  CHECK_FALSE(other([](RecordKey &key) { key.target = "a100"; }));
  CHECK_FALSE(other([](RecordKey &key) { key.sharedLimit = 49152; }));
  CHECK_FALSE(other([](RecordKey &key) { key.assembler = "b"; }));
  CHECK_FALSE(other([](RecordKey &key) { key.compiler = "d"; }));
}

TEST_CASE("8 processes that tune at once lose nothing") {
  Scratch scratch;
  constexpr int workers = 8, runs = 24, keys = 4;   // 48 runs a key, fewer than a record keeps
  static_assert(workers * runs / keys <= int(mostRuns));
  std::vector<WorkerProcess> started;
  for (int i = 0; i < workers; ++i)
    started.push_back(start(scratch, i, runs, keys));
  for (const WorkerProcess &worker : started) {
    int status = -1;
    CHECK(finish(worker, status) == runs);
    CHECK(status == 0);
  }
  Records records = Records::open(scratch.location());
  CHECK(runsIn(records, keys).size() == std::size_t(workers * runs));
  CHECK(records.store().verify().good());
}

TEST_CASE("kill -9 at random: the file is whole, and has every run that was added") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int killed = 0;
  for (int round = 0; round < 6; ++round) {
    Scratch scratch;
    constexpr int workers = 8, keys = 2;
    std::vector<WorkerProcess> started;
    for (int i = 0; i < workers; ++i)
      started.push_back(start(scratch, i, i % 2 ? 8 : 100000, keys));   // every second one would go on for ever
    for (int i = 0; i < workers; i += 2) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % (round % 2 ? 4000 : 40000)));
      ::kill(started[std::size_t(i)].process, SIGKILL);
    }
    std::vector<int> added;
    for (int i = 0; i < workers; ++i) {
      int status = -1;
      added.push_back(finish(started[std::size_t(i)], status));
      if (i % 2)
        CHECK(status == 0);
      else
        killed += WIFSIGNALED(status);
    }
    std::string said;
    Records records = Records::open(scratch.location(), {.log = [&](std::string_view line) { said += line; }});
    CHECK(records.store().verify().good());
    const auto found = runsIn(records, keys);
    CHECK(said.empty());
    // The latest runs of a record are kept; those of the short-lived may have been pushed out by the others'.
    for (int worker = 0; worker < workers; ++worker)
      if (const int last = added[std::size_t(worker)] - 1; last >= 0 && found.size() < mostRuns)
        for (int run = 0; run <= last; ++run)
          CHECK(found.count({"worker " + std::to_string(worker), "Q=1x" + std::to_string(run)}) == 1);
  }
  CHECK(killed > 12);
}

TEST_CASE("a record keeps its latest runs") {
  TuningRecord record = headingOf(0);
  for (int i = 0; i < int(mostRuns) + 3; ++i)
    record = withRun(std::move(record), runOf(0, i));
  CHECK(record.runs.size() == mostRuns);
  CHECK(record.runs.front().shapes == "Q=1x3");
}

TEST_CASE("records lie beside the kernels, and in memory where these do") {
  CHECK(Records::locate({std::filesystem::path("/a/kernels.sqlite")}).file == std::filesystem::path("/a/tuning.sqlite"));
  CHECK_FALSE(Records::locate({std::nullopt, "off", true}).file);
  Records records = Records::open({std::nullopt, "off", true});
  records.add(keyOf(1), headingOf(1), runOf(0, 0));
  records.add(keyOf(1), headingOf(1), runOf(0, 1));
  REQUIRE(records.find(keyOf(1)));
  CHECK(records.find(keyOf(1))->runs.size() == 2);
  CHECK(records.list().size() == 1);
}

TEST_CASE("shipped tables are read, and say which line is wrong") {
  const ShippedSchedule shipped{"h200", "causal", "bf16", "free=64 q=4096", scheduleOf(64), 1.5e-4, 1.7e-4};
  const auto read = parseShipped("# a comment\n\n" + tuning::print(shipped) + tuning::print(shipped));
  REQUIRE(read.size() == 2);
  CHECK(tuning::print(read[1]) == tuning::print(shipped));
  CHECK(read[1].schedule == shipped.schedule);
  CHECK_THROWS_WITH(parseShipped("#\nh200 | 12\n"),
                    "line 2 of a table of schedules: 2 columns, expected 7: target | variant | type | class | schedule | seconds | seconds of the default schedule");
  CHECK_THROWS_WITH(parseShipped("a | b | c | d | block=q | soon | 1\n"), "line 1 of a table of schedules: 'soon' is no time in seconds");
  CHECK_THROWS_WITH(parseShipped("a | b | c | d | colour=q | 1 | 1\n"), Catch::StartsWith("line 1 of a table of schedules: "));
}

TEST_CASE("what is shipped is faster than the default schedules, and found by the program's text") {
  for (const ShippedSchedule &line : shippedSchedules()) {
    INFO(tuning::print(line));
    CHECK(line.seconds < line.unchangedSeconds);
    const Program program = makeVariant(line.variant, {.type = typeNamed(line.dtype).value()});
    CHECK(findShipped(line.target, tw::print(program), line.shapeClass) == &line);
    CHECK_FALSE(findShipped("a100", tw::print(program), line.shapeClass));
    CHECK_FALSE(findShipped(line.target, tw::print(program) + " ", line.shapeClass));
  }
}
