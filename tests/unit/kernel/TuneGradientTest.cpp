// Tuning of a gradient's kernels, and which of its forms builds take.
#include "ChooseSchedule.h"
#include "DeviceKernels.h"
#include "GradientForms.h"
#include "GradientRun.h"
#include "TuneChain.h"
#include "programs/Programs.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/kernel/BetweenKernels.h"
#include "tilewright/kernel/TuneGradient.h"
#include "tilewright/tune/Choose.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

using namespace tw;
using namespace tw::tests;

namespace {

/// A folder for kernels and records of its own, while it lives.
struct OwnCache {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("tilewright-tuned-gradients-" + std::to_string(::getpid()));
  OwnCache() { ::setenv("TILEWRIGHT_CACHE", folder.c_str(), 1); }
  ~OwnCache() {
    ::setenv("TILEWRIGHT_CACHE", "off", 1);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

BuildOptions optionsFor(const Lengths &n, const std::string &target = "host") {
  BuildOptions options{.target = target, .extents = {{"d", n.d}, {"e", n.dv}}};
  options.shapes = {{"Q", {n.b, n.h, n.sq, n.d}}, {"K", {n.b, n.hkv, n.skv, n.d}}, {"V", {n.b, n.hkv, n.skv, n.dv}}};
  return options;
}

const GradientOptions byO{.outputs = {"O"}, .inputs = {}};
const Lengths small{.b = 1, .h = 4, .hkv = 2, .sq = 101, .skv = 130, .d = 16, .dv = 16};

/// A record that says that the schedules, in turn, take so long; the first is the default one.
void remember(const Program &program, const BuildOptions &options, const std::vector<std::pair<Schedule, double>> &times) {
  TuningRun run{.processor = "a test", .version = "0", .shapes = "these"};
  for (const auto &[schedule, seconds] : times)
    run.tried.push_back({schedule, 0, std::vector<double>(20, seconds), {}});
  tuning::sharedRecords()->add(recordDigest(program, options), {program.name, options.target, "these", {}}, run);
}

} // namespace

TEST_CASE("every kernel of a gradient is tuned on what the ones before it store, and builds take what was found") {
  const OwnCache cache;
  const Program program = makeVariant("causal", {.type = Type::f32});
  const BuildOptions options = optionsFor(small);
  CHECK_FALSE(knownSeconds(gradientFor(program, options, byO), options));
  std::vector<std::string> said;
  TuneOptions how{.candidates = 3, .budgetSeconds = 60};
  how.onProgress = [&](const TuningProgress &now) {
    if (said.empty() || said.back() != now.program)
      said.push_back(now.program);
  };
  const std::vector<TunedGradient> forms = tuneGradient(program, options, how, byO);
  REQUIRE(forms.size() == 1);
  const Gradient &made = forms[0].programs;
  CHECK_FALSE(forms[0].addsToMemory);
  REQUIRE(forms[0].records.size() == 1 + made.backward.size());
  double seconds = 0;
  for (std::size_t i = 0; i < forms[0].records.size(); ++i) {
    const Program &each = i ? made.backward[i - 1] : made.forward;
    INFO(each.name);
    CHECK(said.at(i) == each.name);
    const TuningRun &run = forms[0].records[i].runs.back();
    CHECK(run.tried.size() == 3);
    for (const ScheduleTiming &timing : run.tried) {
      INFO(print(timing.schedule) << ": " << timing.refused);
      CHECK(timing.refused.empty());
      CHECK(timing.seconds.size() >= tuning::leastRounds);
    }
    CHECK(findRecord(each, optionsOfKernel(made, each, options)));
    if (i)
      seconds += tuning::chosenSeconds(forms[0].records[i]).value();
  }
  CHECK(forms[0].seconds == Approx(seconds));
  CHECK(knownSeconds(made, options) == Approx(seconds));

  // Kernels have the schedules that were chosen, for these lengths alone, and are right.
  auto schedulesOf = [&](const BuildOptions &asked) {
    std::vector<Schedule> all;
    for (const Kernel &kernel : buildGradient(program, asked, byO).kernels())
      all.push_back(kernel.schedule());
    return all;
  };
  std::vector<Schedule> chosen, unchanged;
  for (const TuningRecord &record : forms[0].records) {
    chosen.push_back(tuning::choice(record).value());
    unchanged.push_back(record.runs.back().tried.front().schedule);
  }
  CHECK(schedulesOf(options) == chosen);
  BuildOptions never = options;
  never.tune = Tune::never;
  CHECK(schedulesOf(never) == unchanged);
  for (std::size_t i = 0; i < made.backward.size(); ++i) {
    Schedule narrow = unchanged[i + 1];
    for (auto &[axis, width] : narrow.widths)
      if (axis == narrow.block)
        width = 8;
    chosen[i + 1] = narrow;
    for (int k = 0; k < 10; ++k)   // more rounds than were measured
      remember(made.backward[i], optionsOfKernel(made, made.backward[i], options), {{unchanged[i + 1], 1}, {narrow, 1e-3}});
  }
  CHECK(schedulesOf(options) == chosen);
  CHECK(schedulesOf(optionsFor({.b = 1, .h = 4, .hkv = 2, .sq = 1010, .skv = 1010, .d = 16, .dv = 16})) == unchanged);
  GradientRun run(program, buildGradient(program, options, byO), {{{"Q", randomArray({1, 4, 101, 16}, 1, Type::f32)}, {"K", randomArray({1, 2, 130, 16}, 2, Type::f32)}, {"V", randomArray({1, 2, 130, 16}, 3, Type::f32)}}, {}});
  run.run();
  for (const char *input : {"Q", "K", "V"}) {
    const Array got = run.of(input);
    double most = 0, largest = 0;
    for (std::size_t i = 0; i < got.data.size(); ++i) {
      most = std::max(most, std::abs(got.data[i] - run.expected.at(input).data[i]));
      largest = std::max(largest, std::abs(run.expected.at(input).data[i]));
    }
    CHECK(most < 1e-5 * largest);
  }
}

TEST_CASE("a build that measures tunes the kernels of a gradient once") {
  const OwnCache cache;
  const Program program = programs::gemm(Type::f32);
  const GradientOptions byY{.outputs = {"Y"}, .inputs = {"W"}};
  BuildOptions options{.extents = {{"e", 16}}, .tune = Tune::measure, .shapes = {{"X", {40, 30}}, {"W", {30, 16}}}};
  const Gradient made = buildGradient(program, options, byY).programs();
  REQUIRE(made.backward.size() == 1);
  auto runs = [&](const Program &each) { return findRecord(each, optionsOfKernel(made, each, options)).value().runs.size(); };
  CHECK(runs(made.forward) == 1);
  CHECK(runs(made.backward[0]) == 1);
  (void)buildGradient(program, options, byY);
  (void)buildGradient(made, options);
  CHECK(runs(made.forward) == 1);
  CHECK(runs(made.backward[0]) == 1);
}

TEST_CASE("of two forms builds take the other one where it was measured to be faster by more than 3%") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  const OwnCache cache;
  const Program program = makeVariant("plain", {.type = Type::bf16});
  const Lengths lengths{.b = 1, .h = 2, .hkv = 2, .sq = 1000, .skv = 1000, .d = 64, .dv = 64};
  const BuildOptions options = optionsFor(lengths, "h200");
  const std::vector<Gradient> forms = formsFor(program, options, byO);
  REQUIRE(forms.size() == 2);
  CHECK(addsToMemory(forms[0]));
  CHECK_FALSE(addsToMemory(forms[1]));
  auto taken = [&](const BuildOptions &asked) { return addsToMemory(gradientFor(program, asked, byO)); };
  // What both forms have takes no time here.
  std::set<std::string> both;
  for (const Program &one : forms[0].backward)
    for (const Program &other : forms[1].backward)
      if (print(one) == print(other))
        both.insert(one.name);
  CHECK(both == std::set<std::string>{"plain_rows"});
  auto rememberAll = [&](const Gradient &form, double seconds) {
    for (const Program &each : form.backward)
      remember(each, optionsOfKernel(form, each, options), {{Schedule{.block = "q", .widths = {{"q", 64}}}, both.contains(each.name) ? 1e-12 : seconds / double(form.backward.size() - 1)}});
  };
  CHECK(taken(options));
  rememberAll(forms[1], 1e-4);
  CHECK(taken(options));   // of one alone nothing follows
  rememberAll(forms[0], 1.02e-4);
  CHECK(taken(options));
  rememberAll(forms[0], 1.05e-4);
  CHECK_FALSE(taken(options));
  BuildOptions never = options;
  never.tune = Tune::never;
  CHECK(taken(never));
  CHECK(taken(optionsFor({.b = 8, .h = 2, .hkv = 2, .sq = 1000, .skv = 1000, .d = 64, .dv = 64}, "h200")));
  BuildOptions unshaped = options;
  unshaped.shapes.clear();
  CHECK(taken(unshaped));
  BuildOptions ordered = options;
  ordered.deterministic = true;
  CHECK(formsFor(program, ordered, byO).size() == 1);
  CHECK_FALSE(taken(ordered));
  CHECK(formsFor(program, optionsFor(lengths, "a100"), byO).size() == 1);
  // Where masks skip tiles the usual form is the ordered one.
  const std::vector<Gradient> masked = formsFor(makeVariant("causal", {.type = Type::bf16}), options, byO);
  REQUIRE(masked.size() == 2);
  CHECK_FALSE(addsToMemory(masked[0]));
  CHECK(addsToMemory(masked[1]));
}

TEST_CASE("where a kernel computes nothing the ones behind it are not tuned") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  const OwnCache cache;
  const std::vector<TunedGradient> forms =
      tuneGradient(makeVariant("plain", {.type = Type::bf16}), optionsFor({.b = 1, .h = 1, .hkv = 1, .sq = 64, .skv = 64, .d = 32, .dv = 32}, "h200"), {.candidates = 1}, byO);
  REQUIRE(forms.size() == 2);
  for (const TunedGradient &form : forms) {
    CHECK_FALSE(form.seconds);
    REQUIRE(form.records.size() == 1);
    CHECK_THAT(form.records[0].runs.at(0).tried.at(0).refused, Catch::Contains(" is nan, expected "));
  }
}

TEST_CASE("what lies between programs lies there as between kernels, and is what an earlier one stored") {
  const Tensor x("x", Type::f32, 2), y("y", Type::f32, 2);
  const Axis i("i"), j("j");
  const Program program{"copy", {store(y, {i, j}, x(index(i), index(j)) + 1)}};
  SharedTensors shared{{"x"}, {}};
  std::vector<float> stored{1, 2, 3, 4, 5, 6};
  shared.stored["x"].resize(24);
  std::memcpy(shared.stored["x"].data(), stored.data(), 24);
  const TuneProblem problem(program, {{{"x", {2, 3}}, {"y", {2, 3}}}, {}}, std::nullopt, shared);
  const TensorView &view = problem.arguments().tensors.at("x");
  CHECK(view.strides == std::vector<std::int64_t>{4, 1});
  CHECK(static_cast<const float *>(view.data)[4] == 4);
  CHECK(problem.arguments().tensors.at("y").strides.empty());
  CHECK(problem.sample("x", 100) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(problem.elementsOf("x") == shared.stored.at("x"));
  CHECK(problem.evaluation().tensors.at("x").data == std::vector<double>{1, 2, 3, 4, 5, 6});
}
