// Tuning on this machine's CPU, and what builds make of it.
#include "ChooseSchedule.h"
#include "DeviceKernels.h"
#include "Launched.h"
#include "TuneCandidates.h"
#include "TuneCheck.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/schedule/CostModel.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/tune/Choose.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>

using namespace tw;
using namespace tw::tests;

namespace {

/// A folder for kernels and records of its own, while it lives.
struct OwnCache {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("tilewright-tuning-" + std::to_string(::getpid()));
  OwnCache() { ::setenv("TILEWRIGHT_CACHE", folder.c_str(), 1); }
  ~OwnCache() {
    ::setenv("TILEWRIGHT_CACHE", "off", 1);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

std::map<std::string, std::vector<std::int64_t>> shapesOf(const Lengths &n) { return {{"Q", {n.b, n.h, n.sq, n.d}}, {"K", {n.b, n.hkv, n.skv, n.d}}, {"V", {n.b, n.hkv, n.skv, n.dv}}}; }

BuildOptions optionsFor(const Lengths &n) {
  BuildOptions options;
  options.extents = {{"d", n.d}, {"e", n.dv}};
  options.shapes = shapesOf(n);
  return options;
}

BuildOptions optionsForH200() {
  BuildOptions options = optionsFor({.b = 1, .h = 2, .hkv = 2, .sq = 300, .skv = 300, .d = 64, .dv = 64});
  options.target = "h200";
  return options;
}

std::string refusal(const std::function<void()> &work) {
  try {
    work();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

const Lengths small{.b = 1, .h = 4, .hkv = 2, .sq = 200, .skv = 300, .d = 32, .dv = 32};

} // namespace

TEST_CASE("a tuning is kept, and builds for such lengths take what it found") {
  const OwnCache cache;
  const Program program = makeVariant("causal", {.type = Type::f32});
  CHECK(chosenSchedule(program, optionsFor(small)).origin == ScheduleOrigin::rules);
  CHECK_FALSE(findRecord(program, optionsFor(small)));
  const Schedule unchanged = build(program, {.extents = {{"d", 32}, {"e", 32}}}).schedule();
  const TuningRecord record = tune(program, optionsFor(small), {.candidates = 4, .budgetSeconds = 60});
  REQUIRE(record.runs.size() == 1);
  const TuningRun &run = record.runs[0];
  CHECK(run.tried.size() == 4);
  CHECK(run.tried[0].schedule == unchanged);
  for (const ScheduleTiming &timing : run.tried) {
    INFO(print(timing.schedule) << ": " << timing.refused);
    CHECK(timing.refused.empty());
    CHECK(timing.seconds.size() >= tuning::leastRounds);
  }
  CHECK(run.shapes == "K=1x2x300x32 O=1x4x200x32 Q=1x4x200x32 V=1x2x300x32 lse=1x4x200");
  CHECK(record.target == "host");

  // What was found, and by whom.
  const auto choice = tuning::choice(record);
  REQUIRE(choice);
  const auto kept = findRecord(program, optionsFor(small));
  REQUIRE(kept);
  CHECK(kept->runs.size() == 1);
  CHECK(build(program, optionsFor(small)).schedule() == *choice);
  BuildOptions never = optionsFor(small);
  never.tune = Tune::never;
  CHECK(build(program, never).schedule() == unchanged);
  BuildOptions given = optionsFor(small);
  given.schedule = unchanged;
  CHECK(chosenSchedule(program, given).origin == ScheduleOrigin::given);

  // Another run joins it.
  CHECK(tune(program, optionsFor(small), {.candidates = 2}).runs.size() == 2);
}

TEST_CASE("edge row 105: a build for other lengths does not take it") {
  const OwnCache cache;
  const Program program = makeVariant("plain", {.type = Type::f32});
  // A record that says that 8 x 8 tiles are the best.
  const Lengths n{.b = 1, .h = 4, .hkv = 2, .sq = 1024, .skv = 1024, .d = 32, .dv = 32};
  BuildOptions options = optionsFor(n);
  Schedule narrow = chosenSchedule(program, options).schedule;
  const Schedule unchanged = narrow;
  narrow.widths["q"] = narrow.widths["k"] = 8;
  const TuningRecord heading = tune(program, optionsFor(n), {.candidates = 1, .also = {narrow}});
  TuningRun run = heading.runs.back();
  run.tried = {{unchanged, 0, std::vector<double>(100, 1.0), {}}, {narrow, 0, std::vector<double>(100, 0.5), {}}};
  const cache::Digest key = cache::Digest::fromHex(tuning::sharedRecords()->store().list().at(0).digest.hex()).value();
  for (int i = 0; i < 3; ++i)   // more rounds than were measured
    tuning::sharedRecords()->add(key, heading, run);
  CHECK(chosenSchedule(program, options).schedule == narrow);
  CHECK(chosenSchedule(program, options).origin == ScheduleOrigin::tuned);
  auto originOf = [&](auto change) {
    Lengths other = n;
    change(other);
    return chosenSchedule(program, optionsFor(other)).origin;
  };
  CHECK(originOf([](Lengths &) {}) == ScheduleOrigin::tuned);
  CHECK(originOf([](Lengths &other) { other.sq = other.skv = 16384; }) == ScheduleOrigin::rules);
  CHECK(originOf([](Lengths &other) { other.d = other.dv = 64; }) == ScheduleOrigin::rules);
  CHECK(originOf([](Lengths &other) { other.hkv = 4; }) == ScheduleOrigin::rules);
  CHECK(originOf([](Lengths &other) { other.b = 8; }) == ScheduleOrigin::rules);
  CHECK(originOf([](Lengths &other) { other.sq = 1; }) == ScheduleOrigin::rules);
  CHECK(chosenSchedule(makeVariant("causal", {.type = Type::f32}), options).origin == ScheduleOrigin::rules);
  CHECK(chosenSchedule(makeVariant("plain", {.type = Type::bf16}), options).origin == ScheduleOrigin::rules);
}

TEST_CASE("model and measure choose without a record") {
  const OwnCache cache;
  const Program program = makeVariant("plain", {.type = Type::bf16});
  BuildOptions options = optionsFor({.b = 4, .h = 32, .hkv = 32, .sq = 4096, .skv = 4096, .d = 64, .dv = 64});
  options.target = "a100";
  options.tune = Tune::model;
  if (cuda::nvrtcAbsence().empty()) {
    const ScheduleChoice chosen = chosenSchedule(program, options);
    CHECK(chosen.origin == ScheduleOrigin::rules);   // nothing is predicted to be faster by a tenth
    const Program causal = makeVariant("causal", {.type = Type::bf16});
    BuildOptions many = optionsFor({.b = 64, .h = 16, .hkv = 16, .sq = 1024, .skv = 1024, .d = 64, .dv = 64});
    many.target = "a100";
    many.tune = Tune::model;
    CHECK(chosenSchedule(causal, many).origin == ScheduleOrigin::model);
    CHECK(chosenSchedule(causal, many).schedule == rank(causal, findTarget("a100"), {many.shapes, {}, many.extents}, 1).front().schedule);   // what a table of the model's choices would hold
    BuildOptions shipped = optionsFor({.b = 4, .h = 32, .hkv = 32, .sq = 4096, .skv = 4096, .d = 64, .dv = 64});
    shipped.target = "h200";
    CHECK(chosenSchedule(program, shipped).origin == ScheduleOrigin::shipped);
    shipped.tune = Tune::never;
    CHECK(chosenSchedule(program, shipped).origin == ScheduleOrigin::rules);
  }
  options = optionsFor(small);
  options.tune = Tune::measure;
  const Program exact = makeVariant("plain", {.type = Type::f32});
  const Kernel kernel = build(exact, options);
  const auto record = findRecord(exact, options);
  REQUIRE(record);
  CHECK(record->runs.size() == 1);
  CHECK(kernel.schedule() == tuning::choice(*record));
  (void)build(exact, options);
  CHECK(findRecord(exact, options)->runs.size() == 1);   // nothing is measured twice
}

TEST_CASE("what is missing is named") {
  const Program program = makeVariant("plain", {.type = Type::f32});
  BuildOptions options = optionsFor(small);
  options.useCache = false;
  options.shapes.clear();
  CHECK(refusal([&] { (void)tune(program, options); }) == "nothing says for which shapes to tune; give those of the tensors in BuildOptions::shapes");
  options.tune = Tune::model;
  CHECK(refusal([&] { (void)build(program, options); }) == "BuildOptions::tune is model, and nothing says for which shapes; give those of the tensors in BuildOptions::shapes, or take Tune::cached");
  options.tune = Tune::cached;
  options.shapes = {{"Q", {1, 4, 200, 32}}, {"K", {1, 2, 300, 32}}};
  CHECK(refusal([&] { (void)tune(program, options); }) == "tensor 'V' of program 'plain' is read, and its shape is not given; BuildOptions::shapes needs that of every tensor that is read");
  options.shapes["V"] = {1, 2, 300};
  CHECK_THAT(refusal([&] { (void)tune(program, options); }), Catch::Contains("'V'"));
  options.shapes = shapesOf(small);
  options.shapes["K"][3] = 64;
  CHECK_THAT(refusal([&] { (void)build(program, options); }), Catch::StartsWith("axis 'd' of program 'plain' is "));
}

TEST_CASE("schedules of a GPU are measured on such a GPU alone, and one that computes nothing is never chosen") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  const OwnCache cache;
  const Program program = makeVariant("plain", {.type = Type::bf16});
  BuildOptions options = optionsForH200();
  CHECK(refusal([&] { (void)tune(program, options, {.gpu = 2}); }) ==
        "schedules for h200 are measured on such a GPU, and GPU 2 is an Fake A100 with 108 multiprocessors and 151 GB; tune for target a100-80gb, or let Tune::model choose without a GPU");
  const TuningRecord record = tune(program, options, {.candidates = 1});
  REQUIRE(record.runs.size() == 1);
  REQUIRE(record.runs[0].tried.size() == 1);
  CHECK(record.runs[0].tried[0].seconds.empty());
  CHECK_THAT(record.runs[0].tried[0].refused, Catch::StartsWith("element 0 of 'O' is nan, expected "));
  CHECK(record.runs[0].processor == "Fake H200");
  CHECK_FALSE(findRecord(program, options));
  CHECK_FALSE(tuning::choice(record));
}

TEST_CASE("a candidate after which a GPU runs nothing is named, ends the tuning, and is left out of the next one") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  const OwnCache cache;
  const Program program = makeVariant("plain", {.type = Type::bf16});
  BuildOptions options = optionsForH200();
  const Schedule unchanged = chosenSchedule(program, options).schedule;
  Schedule bad = unchanged, other = unchanged;
  bad.blockBuffers = 1;
  other.stages = 1;
  REQUIRE(bad != unchanged);
  fake().lostAt = fake().launched + 2;   // the default schedule's kernel is launched once, as what it computes is wrong; then comes the next one
  const std::string said = refusal([&] { (void)tune(program, options, {.candidates = 1, .also = {bad, other}}); });
  fake().lostAt = 0;
  CHECK(said == "tuning 'plain' ends here: after a launch of its schedule '" + print(bad) +
                    "' GPU 0 can run nothing more in this process (waiting for GPU 0: cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_INSTRUCTION (an illegal instruction was encountered); a "
                    "kernel launched earlier failed; run with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer to see which). What was found before is kept; start the process again, and the tuning leaves this schedule out");
  auto record = findRecord(program, options);
  REQUIRE(record);
  REQUIRE(record->runs.size() == 1);
  REQUIRE(record->runs[0].tried.size() == 2);      // the third is not blamed
  CHECK(record->runs[0].tried[0].schedule == unchanged);
  CHECK(record->runs[0].tried[1].schedule == bad);
  CHECK(record->runs[0].tried[1].stopped);
  CHECK(chosenSchedule(program, options).schedule == unchanged);

  const TuningRecord next = tune(program, options, {.candidates = 1, .also = {bad, other}});
  for (const ScheduleTiming &timing : next.runs.back().tried) {
    CHECK(timing.schedule != bad);
    CHECK_FALSE(timing.stopped);
  }
  CHECK(next.runs.back().tried.size() == 2);

  // The default schedule is never left out: what is wrong with it is said each time.
  fake().lostAt = fake().launched + 1;
  CHECK_THAT(refusal([&] { (void)tune(program, options, {.candidates = 1}); }), Catch::EndsWith("start the process again, and give another schedule: this is the default one"));
  fake().lostAt = 0;
}

TEST_CASE("the schedules that are tried first are of several widths, and of the default tile those that the model puts near it") {
  const Program program = makeVariant("causal", {.type = Type::bf16});
  const std::string text = print(program), assembler;
  const Target &target = findTarget("h200");
  const std::map<std::string, std::int64_t> inner{{"d", 128}, {"e", 128}};
  BuildOptions options = optionsFor({.b = 1, .h = 16, .hkv = 16, .sq = 16384, .skv = 16384, .d = 128, .dv = 128});
  options.target = "h200";
  const ScheduleWanted wanted{program, text, target, 0, inner, assembler, options};
  const Schedule unchanged = defaultSchedule(program, target, inner);
  const auto all = candidatesFor(wanted, unchanged, {}, {});
  REQUIRE(all.size() == 36);
  CHECK(all[0].schedule == unchanged);
  std::map<std::pair<int, int>, int> widths;
  for (std::size_t i = 0; i < 12; ++i) {
    ++widths[{all[i].schedule.widths.at("q"), all[i].schedule.widths.at("k")}];
    CHECK(all[i].schedule.drawn);   // under a mask the others are predicted to be far behind
  }
  CHECK(widths.size() >= 3);
  CHECK(widths.count({192, 64}) == 1);   // the fastest there, on an H200
  for (const auto &[rows, count] : widths)
    CHECK(count <= 6);
  const std::set<std::string> schedules = [&] {
    std::set<std::string> each;
    for (const tuning::Candidate &candidate : all)
      each.insert(print(candidate.schedule));
    return each;
  }();
  CHECK(schedules.size() == all.size());
  // What was asked for comes behind the default one; what is left out does not come.
  const auto fewer = candidatesFor(wanted, unchanged, {.also = {all[20].schedule, all[5].schedule}}, {all[5].schedule, unchanged});
  CHECK(fewer[0].schedule == unchanged);
  CHECK(fewer[1].schedule == all[20].schedule);
  CHECK(std::none_of(fewer.begin(), fewer.end(), [&](const tuning::Candidate &each) { return each.schedule == all[5].schedule; }));
}

TEST_CASE("results are told apart from what rounding explains") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(difference("O", {1, nan, infinity, 2.5}, {1, nan, infinity, 2.6}, 0.11) == "");
  CHECK(difference("O", {1, 2}, {1, 2.6}, 0.5) == "element 1 of 'O' is 2, expected 2.6; rounding explains 0.5");
  CHECK(difference("O", {nan}, {1}, 1e9) == "element 0 of 'O' is nan, expected 1; rounding explains 1e+09");
  CHECK_FALSE(difference("O", {1}, {nan}, 1).empty());
  CHECK_FALSE(difference("O", {infinity}, {-infinity}, 1).empty());
  CHECK_FALSE(difference("O", {1e300}, {infinity}, infinity).empty());
}

TEST_CASE("a schedule whose results are wrong is found, on the small problem or on the one that is timed") {
  const Program program = makeVariant("causal", {.type = Type::f32});
  const BuildOptions options = optionsFor(small);
  const Kernel kernel = build(program, {.extents = options.extents, .useCache = false});
  const TuningInputs whole{allShapes(program, options.shapes, options.extents), {}};
  TuneProblem timed(program, whole, std::nullopt);
  int wrongElement = -1;
  std::int64_t ofRows = 0;
  auto launch = [&](const Kernel &each, const TuneProblem &problem) {
    each.launch(problem.arguments());
    const TensorView &o = problem.arguments().tensors.at("O");
    if (wrongElement >= 0 && o.shape[1] == ofRows)
      static_cast<float *>(o.data)[wrongElement] += 1;
  };
  TuneCheck check(program, timed, launch);
  check.useSmall(smallProblems(stateOf(kernel).artifact, whole), std::nullopt);
  CHECK(check.check(kernel) == "");
  CHECK(check.check(kernel) == "");
  wrongElement = 77;
  ofRows = 2;   // the small one has two heads
  CHECK_THAT(check.check(kernel), Catch::StartsWith("element 77 of 'O' is ") && !Catch::Contains("as the default schedule computes it"));
  ofRows = 4;
  CHECK_THAT(check.check(kernel), Catch::StartsWith("element 77 of 'O' is ") && Catch::EndsWith(", as the default schedule computes it"));
  // A default schedule that is wrong is not timed either.
  TuneCheck first(program, timed, launch);
  first.useSmall(smallProblems(stateOf(kernel).artifact, whole), std::nullopt);
  ofRows = 2;
  CHECK_THAT(first.check(kernel), Catch::StartsWith("element 77 of 'O' is "));
}

TEST_CASE("small problems keep what a program requires") {
  const Program program = makeVariant("alibi", {.type = Type::f32});
  const BuildOptions options = optionsFor({.b = 3, .h = 32, .hkv = 8, .sq = 4096, .skv = 4096, .d = 64, .dv = 64});
  const Kernel kernel = build(program, {.extents = options.extents, .useCache = false});
  auto shapes = options.shapes;
  shapes["slopes"] = {32};
  const auto problems = smallProblems(stateOf(kernel).artifact, {allShapes(program, shapes, options.extents), {}});
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].shapes.at("Q") == std::vector<std::int64_t>{1, 2, 269, 64});
  CHECK(problems[0].shapes.at("K") == std::vector<std::int64_t>{1, 1, 523, 64});
  CHECK(problems[0].shapes.at("slopes") == std::vector<std::int64_t>{2});
  CHECK(problems[1].shapes.at("K") == std::vector<std::int64_t>{3, 8, 523, 64});
}
