// `tune` and `bench`, on this machine's CPU and for GPUs that are not here.
#include "Explanation.h"
#include "Plot.h"
#include "Ran.h"
#include "TuneOptions.h"
#include "TuneProgress.h"
#include "VariantLaunch.h"
#include "tilewright/cuda/Nvrtc.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <set>
#include <spawn.h>
#include <thread>

extern char **environ;

using namespace tw::tests;
using namespace tw::cli;
using nlohmann::json;

namespace {

const std::string noDriver = "TILEWRIGHT_CACHE=off TILEWRIGHT_CUDA_DRIVER=/no/driver.so";

std::string refusal(const std::string &arguments, const std::string &environment = noDriver) {
  const Ran r = ran(arguments, environment);
  CHECK(r.status == 2);
  CHECK(r.out == "");
  return r.err;
}

} // namespace

TEST_CASE("what tune finds on the CPU is kept for run and bench") {
  const Folder folder;
  const std::string environment = "TILEWRIGHT_CUDA_DRIVER=/no/driver.so TILEWRIGHT_CACHE='" + (folder / "cache") + "'";
  const Ran r = ran("tune causal --shapes 1,2,1,200,300,32 1,2,1,100,100,32 --dtype f32 --candidates 3 --json --report '" + (folder / "r.html") + "' --table '" + (folder / "table") + "'", environment);
  INFO(r.err);
  REQUIRE(r.status == 0);
  const json results = json::parse(r.out);
  REQUIRE(results.size() == 2);
  CHECK(results[0]["measured"] == true);
  CHECK(results[0]["target"] == "host");
  CHECK(results[0]["processor"] == "the CPU");
  CHECK(results[0]["schedules"].size() == 3);
  CHECK(results[0]["schedules"][0]["rounds"] >= 5);
  CHECK(results[0]["class"] != results[1]["class"]);
  // Not a terminal: one line a stage.
  CHECK_THAT(r.err, Catch::Contains("B 1, H 2, Hkv 1, Sq 200, Skv 300, D 32, Dv 32, the CPU: compiling 0 of 3 [") && Catch::Contains("the CPU: round     1 of ") && Catch::Contains("the CPU: done in ") &&
                        !Catch::Contains("\r"));
  const std::string page = folder.read("r.html");
  CHECK_THAT(page, Catch::StartsWith("<!DOCTYPE html>") && Catch::Contains("Candidates: measured") && Catch::Contains("Time over length") && Catch::EndsWith("</html>\n"));
  CHECK_THAT(page, !Catch::Contains("<script") && !Catch::Contains("http"));
  const std::string table = folder.read("table");
  CHECK(std::count(table.begin(), table.end(), '\n') == (results[0]["chosen"] != results[0]["default"]) + (results[1]["chosen"] != results[1]["default"]));

  const json run = json::parse(ran("run causal --shape 1,2,1,200,300,32 --dtype f32 --repeat 1 --json", environment).out);
  CHECK(run["schedule"] == results[0]["chosen"]);
  CHECK(json::parse(ran("run causal --shape 1,2,1,200,300,32 --dtype f32 --repeat 1 --json --tune never", environment).out)["schedule"] == results[0]["default"]);

  const Ran bench = ran("bench causal --shape 1,2,1,200,300,32 --dtype f32 --json", environment);
  INFO(bench.err);
  REQUIRE(bench.status == 0);
  const json timings = json::parse(bench.out);
  CHECK(timings["timings"]["default"]["ratio"] == 1);
  CHECK(timings["timings"].contains("chosen") == (results[0]["chosen"] != results[0]["default"]));
  CHECK(timings["origin"] == (results[0]["chosen"] != results[0]["default"] ? "tuned here" : "the default one"));
  CHECK_THAT(ran("bench causal --shape 1,2,1,64,64,32 --dtype f32", environment).out, Catch::Contains("\n          nothing faster is known for these lengths; `tilewright tune` looks for it\n"));
  CHECK_THAT(ran("tune causal --shapes 1,2,1,200,300,32 --dtype f32 --candidates 2", environment).out, Catch::StartsWith("causal f32 for host: B 1, H 2, Hkv 1, Sq 200, Skv 300, D 32, Dv 32\nclass     ") && Catch::Contains(" on the CPU; with ") && Catch::Contains("\nkept      "));
}

TEST_CASE("for a GPU that is not here the cost model answers alone") {
  const Folder folder;
  Ran r = ran("tune causal --target a100 --shapes 64,16,16,1024,1024,64 --candidates 4 --report '" + (folder / "r.html") + "'", noDriver);
  INFO(r.err);
  CHECK(r.status == 0);
  CHECK_THAT(r.out, Catch::StartsWith("causal bf16 for a100: B 64, H 16, Hkv 16, Sq 1024, Skv 1024, D 64, Dv 64\nmodel     nothing was measured: there is no NVIDIA driver here: ") && Catch::Contains("\nchosen    block=q ") &&
                        Catch::EndsWith("; tune=model builds it\n"));
  CHECK_THAT(folder.read("r.html"), Catch::Contains("Roofline") && Catch::Contains("Chosen tile over shared memory"));
  CHECK_THAT(ran("tune causal --target a100 --offline --shapes 4,32,8,4096,4096,128 --candidates 4", noDriver).out, Catch::EndsWith("\nchosen    the default schedule: nothing is predicted to be faster by more than 10%\n"));
  const json result = json::parse(ran("tune causal --target h200 --offline --shapes 1,16,16,1024,1024,64 --candidates 3 --json", noDriver).out).at(0);
  CHECK(result["measured"] == false);
  CHECK(result["why_not_measured"] == "--offline asks for the model alone");
  CHECK(result["schedules"].size() == 3);
  CHECK(result["schedules"][0]["predicted_seconds"] <= result["schedules"][2]["predicted_seconds"]);
  // The default schedule is always told, here far from the model's first two.
  CHECK_THAT(ran("tune 'window(1023,0)' --target h200 --offline --shapes 1,32,8,4096,4096,64 --candidates 2", noDriver).out, Catch::Contains("\ndefault "));
  r = ran("tune causal --target a100 --shapes 1,2,2,64,64,64 --candidates 2", "TILEWRIGHT_CACHE=off TILEWRIGHT_CUDA_DRIVER=" TILEWRIGHT_FAKE_DRIVER);
  CHECK_THAT(r.out, Catch::Contains("nothing was measured: no GPU of this machine is an NVIDIA A100 SXM 40 GB; GPU 0 is an Fake H200\n"));
}

TEST_CASE("GPUs of one kind tune side by side, and what computes nothing is refused") {
  if (!tw::cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << tw::cuda::nvrtcAbsence());
    return;
  }
  const Ran r = ran("tune plain --target h200 --gpus all --shapes 1,2,2,300,300,32 1,2,2,100,100,32 --candidates 2 --json", "TILEWRIGHT_CACHE=off TILEWRIGHT_CUDA_DRIVER=" TILEWRIGHT_FAKE_DRIVER);
  INFO(r.err);
  CHECK(r.status == 1);
  const json results = json::parse(r.out);
  REQUIRE(results.size() == 2);
  CHECK(std::set<std::string>{results[0]["processor"], results[1]["processor"]} == std::set<std::string>{"GPU 0, Fake H200", "GPU 1, Fake H200"});
  for (const json &result : results) {
    CHECK(result["chosen"] == nullptr);
    for (const json &schedule : result["schedules"])
      CHECK_THAT(schedule["refused"].get<std::string>(), Catch::StartsWith("element 0 of 'O' is nan, expected "));
  }
}

TEST_CASE("a GPU that runs nothing more ends the command with what was found before") {
  if (!tw::cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << tw::cuda::nvrtcAbsence());
    return;
  }
  // The kernels of the first shape are launched once each.
  const Ran r = ran("tune plain --target h200 --shapes 1,2,2,300,300,32 1,2,2,100,100,32 --candidates 2 --json", "TILEWRIGHT_FAKE_LOST=3 TILEWRIGHT_CACHE=off TILEWRIGHT_CUDA_DRIVER=" TILEWRIGHT_FAKE_DRIVER);
  INFO(r.err);
  CHECK(r.status == 2);
  CHECK(json::parse(r.out).size() == 1);
  CHECK_THAT(r.err, Catch::Contains("tilewright tune: tuning 'plain' ends here: after a launch of its schedule 'block=q ") && Catch::Contains("GPU 0 can run nothing more in this process (") &&
                        Catch::Contains("CUDA_ERROR_ILLEGAL_INSTRUCTION"));
}

TEST_CASE("tune --pass backward finds what run --pass backward takes") {
  const Folder folder;
  const std::string environment = "TILEWRIGHT_CUDA_DRIVER=/no/driver.so TILEWRIGHT_CACHE='" + (folder / "cache") + "'";
  const Ran r = ran("tune alibi --shapes 1,2,1,50,70,16 --dtype f32 --pass backward --candidates 2 --json --report '" + (folder / "r.html") + "'", environment);
  INFO(r.err);
  REQUIRE(r.status == 0);
  const json result = json::parse(r.out).at(0);
  CHECK(result["pass"] == "backward");
  REQUIRE(result["forms"].size() == 1);
  CHECK(result["forms"][0]["seconds"] > 0);
  const json run = json::parse(ran("run alibi --shape 1,2,1,50,70,16 --dtype f32 --pass backward --repeat 1 --json", environment).out);
  REQUIRE(result["kernels"].size() == run["kernels"].size());
  CHECK(result["forms"][0]["kernels"].size() + 1 == run["kernels"].size());
  for (std::size_t i = 0; i < run["kernels"].size(); ++i) {
    const json &kernel = result["kernels"][i];
    CHECK(kernel["measured"] == true);
    CHECK(run["kernels"][i] == kernel["program"].get<std::string>() + ": " + kernel["chosen"].get<std::string>());
    CHECK_THAT(r.err, Catch::Contains(kernel["program"].get<std::string>() + ", B 1, H 2, Hkv 1, Sq 50, Skv 70, D 16, Dv 16, the CPU: done in "));
  }
  CHECK_THAT(folder.read("r.html"), Catch::Contains("<h2>alibi_dV_dK: B 1, H 2, "));
  const Ran text = ran("tune alibi --shapes 1,2,1,50,70,16 --dtype f32 --pass backward --candidates 2", environment);
  CHECK_THAT(text.out, Catch::StartsWith("alibi f32 for host, forward and backward: B 1, H 2, ") && Catch::Contains("\n\nalibi_dV_dK\nclass     ") && Catch::Contains("\n\nbackward  alibi_rows, ") && Catch::EndsWith("; builds take these\n"));
  // Without a GPU the model says what it would take, of the kernels that a build makes.
  const json model = json::parse(ran("tune plain --target h200 --offline --shapes 1,2,2,500,500,64 --pass backward --candidates 2 --json", noDriver).out).at(0);
  std::vector<std::string> names;
  for (const json &kernel : model["kernels"]) {
    names.push_back(kernel["program"]);
    CHECK(kernel["measured"] == false);
    CHECK((kernel["chosen"] == kernel["schedules"][0]["schedule"] || kernel["chosen"] == kernel["default"]));   // by how much the first is ahead
  }
  CHECK(names == std::vector<std::string>{"plain", "plain_rows", "plain_dV_dK_dQ", "plain_dQ"});
  // The same programs as explain's, for which records are looked up.
  const json explained = json::parse(ran("explain plain --target h200 --shape 1,2,2,500,500,64 --pass backward --json --all", noDriver).out);
  for (std::size_t i = 0; i < names.size(); ++i)
    CHECK(explained["programs"][i]["all"][0]["schedule"] == model["kernels"][i]["schedules"][0]["schedule"]);
}

TEST_CASE("tune, bench and explain take a variant in a file") {
  const Folder folder;
  folder.write("mine.cpp", "#include <tilewright/variant.h>\nTILEWRIGHT_VARIANT(mine, attention) {\n  const tw::Tensor table(\"table\", tw::Type::f32, 1);\n  attention.score([=](tw::Tile s, const tw::At &at) { return s + table(at.key); });\n}\n");
  const std::string file = folder / "mine.cpp", environment = "TILEWRIGHT_CUDA_DRIVER=/no/driver.so TILEWRIGHT_CACHE='" + (folder / "cache") + "'";
  const Ran tuned = ran("tune '" + file + "' --shapes 1,2,2,60,60,16 --target host --dtype f32 --candidates 2 --json", environment);
  INFO(tuned.err);
  REQUIRE(tuned.status == 0);
  CHECK(json::parse(tuned.out).at(0)["variant"] == "mine");
  const Ran bench = ran("bench '" + file + "' --shape 1,2,2,60,60,16 --target host --dtype f32", environment);
  INFO(bench.err);
  CHECK(bench.status == 0);
  CHECK_THAT(bench.out, Catch::StartsWith("mine f32 for host on "));
  CHECK_THAT(ran("explain '" + file + "' --target h200 --shape 1,2,2,60,60,64", environment).out, Catch::Contains("\ntime      "));
}

TEST_CASE("Ctrl-C keeps what is found") {
  const Folder folder;
  const std::string cache = "TILEWRIGHT_CACHE=" + (folder / "cache"), out = folder / "out";
  std::vector<std::string> words{"tilewright", "tune", "plain", "--target", "host", "--dtype", "f32", "--shapes", "1,8,8,1024,1024,32", "--candidates", "4", "--budget", "10m"};
  std::vector<char *> arguments, variables;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string cacheVariable = cache;
  for (char **variable = environ; *variable; ++variable)
    variables.push_back(*variable);
  variables.insert(variables.begin(), cacheVariable.data());
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0666);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (folder / "err").c_str(), O_WRONLY | O_CREAT, 0666);
  pid_t process = 0;
  REQUIRE(::posix_spawn(&process, TILEWRIGHT_PROGRAM, &actions, nullptr, arguments.data(), variables.data()) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  for (int i = 0; i < 600 && folder.read("err").find("round ") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(process, SIGINT);
  int status = -1;
  REQUIRE(::waitpid(process, &status, 0) == process);
  INFO(folder.read("err") << folder.read("out"));
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_THAT(folder.read("out"), Catch::Contains("; interrupted\n") && Catch::Contains("\nkept      "));
}

TEST_CASE("tune and bench say what is wrong") {
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --budget soon") == "tilewright tune: --budget soon: expected a time, such as 30s, 500ms or 2m\n");
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --candidates 1") == "tilewright tune: --candidates 1: expected a whole number from 2, as the default schedule is one of them\n");
  CHECK(refusal("tune causal --shapes 1,2,1,0,64,64") == "tilewright tune: --shapes 1,2,1,0,64,64: a launch without work takes no time; lengths are 1 or more here\n");
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --target host --gpus 0") == "tilewright tune: --gpus goes with the target of a GPU, not with host; leave it out\n");
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --target host --offline") == "tilewright tune: --offline goes with the target of a GPU, not with host; leave it out\n");
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --target h200 --offline --gpus 0") == "tilewright tune: --gpus 0 --offline: the model is asked alone, and no GPU measures; leave one of the two out\n");
  const std::string heads = "program 'causal': the heads of 'Q' (dimension 1) must be a multiple of the heads of 'K', which has at least one; repeat heads of 'K' or drop some of 'Q' (here K.dimension(1) = 5, extent(h) = 16)\n";
  CHECK(refusal("run causal --shape 1,16,5,4,4,8") == "tilewright run: " + heads);
  CHECK(refusal("tune causal --shapes 1,16,5,64,64,64 --target h200 --offline") == "tilewright tune: " + heads);
  CHECK(refusal("bench causal --shape 1,16,5,64,64,64 --target host") == "tilewright bench: " + heads);
  const std::string type = "tensor \"K\" holds 'f32'; GPUs multiply tiles of f16 and bf16: convert it to one of them, or run on the CPU (target host)\n";
  CHECK(refusal("run causal --shape 1,2,1,4,4,8 --on simulator --dtype f32") == "tilewright run: " + type);
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --target h200 --offline --dtype f32") == "tilewright tune: " + type);
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --pass both") == "tilewright tune: --pass both: unknown; expected one of forward, backward\n");
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --deterministic") == "tilewright tune: --deterministic goes with --pass backward; a forward pass is deterministic: leave it out\n");
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --pass backward --table t") == "tilewright tune: --table t --pass backward: shipped tables are of the variants' own kernels; leave one of the two out\n");
  CHECK(refusal("tune my.cpp --shapes 1,2,1,64,64,64 --table t") == "tilewright tune: --table t: shipped tables are of the gallery's variants, and my.cpp is none; leave it out\n");
  CHECK(refusal("tune causal --shapes 1,2,1,64,64,64 --target h200 --gpus 0,2", "TILEWRIGHT_CACHE=off TILEWRIGHT_CUDA_DRIVER=" TILEWRIGHT_FAKE_DRIVER) ==
        "tilewright tune: --gpus 0,2: GPU 2 is not there, or is no NVIDIA H200 SXM; `tilewright doctor` shows what there is\n");
  CHECK_THAT(refusal("bench causal --shape 1,2,1,64,64,64 --target a100"), Catch::StartsWith("tilewright bench: nothing can be timed for a100: there is no NVIDIA driver here: ") && Catch::EndsWith("; `tilewright tune` asks the cost model\n"));
  CHECK(refusal("run causal --shape 1,2,1,4,4,8 --tune often") == "tilewright run: --tune often: unknown; expected one of never, cached, model, measure\n");
  CHECK(parseSeconds("--budget", "500ms") == 0.5);
  CHECK(parseSeconds("--budget", " 2m ") == 120);
  CHECK(parseSeconds("--budget", "30") == 30);
}

TEST_CASE("a line of progress says what is done, what is left, and the best so far") {
  tw::TuningProgress progress{tw::TuningStage::compiling, 5, 12, 1, 3, 68.2};
  CHECK(lineOf(progress) == "compiling 5 of 12 [########............] 1:09 left, 1 refused");
  progress = {tw::TuningStage::timing, 3, 60, 0, 3, 2, nullptr, 412.34e-6, 0.943};
  CHECK(lineOf(progress) == "round     3 of 60 [#...................] 0:02 left, best 412.3 us (0.943 of the default)");
  progress.stage = tw::TuningStage::done;
  CHECK(lineOf(progress) == "done in 3.0 s, best 412.3 us (0.943 of the default)");
  CHECK(timeText(1.2041e-3) == "1.204 ms");
  CHECK(timeText(2.314) == "2.31 s");
}

TEST_CASE("explain shows what was measured beside what it predicts") {
  const tw::Target &target = tw::findTarget("h200");
  Explanation x = explain(tw::makeVariant("causal"), target, launchShape("causal", tw::Type::bf16, parseShape("4,16,16,4096,4096,128")), std::nullopt, std::nullopt);
  x.measured.reset();
  CHECK_THAT(explanationText(x, target), !Catch::Contains("measured"));
  CHECK_FALSE(explanationJson(x, false).contains("measured"));
  REQUIRE(x.next.size() == 3);
  x.estimate.seconds = 400e-6;
  tw::tuning::Standing faster{.schedule = x.next[1].schedule, .seconds = 436.5e-6, .ratio = 0.97, .rounds = 9}, own{.schedule = x.schedule, .seconds = 452e-6, .rounds = 9},
      refused{.schedule = x.next[2].schedule, .refused = "it spills"};
  x.measured = Measurement{"NVIDIA H200, tuned here", {faster, own, refused}};
  std::string text = explanationText(x, target);
  CHECK_THAT(text, Catch::Contains("\nmeasured  452.0 µs, 1.13 of what is predicted; NVIDIA H200, tuned here; the fastest of 2: k=96 stages=4 blockBuffers=1: 436.5 µs\n"));
  CHECK_THAT(text, Catch::Contains("          k=96 stages=4 blockBuffers=1: ") && Catch::Contains("; measured 436.5 µs\n          "));
  const json measured = explanationJson(x, false)["measured"];
  CHECK(measured["where"] == "NVIDIA H200, tuned here");
  CHECK(measured["schedules"][0]["seconds"] == 436.5e-6);
  CHECK(measured["schedules"][2]["refused"] == "it spills");
  x.measured->standings = {own};
  CHECK_THAT(explanationText(x, target), Catch::Contains("; NVIDIA H200, tuned here; the fastest of 1\n"));
  x.measured->standings = {faster};
  CHECK_THAT(explanationText(x, target), Catch::Contains("\nmeasured  not this schedule; NVIDIA H200, tuned here; the fastest of 1: k=96 "));
  x.measured->standings = {refused};
  CHECK_THAT(explanationText(x, target), Catch::Contains("\nmeasured  not this schedule; NVIDIA H200, tuned here\n"));
  // Of a shape in a shipped table.
  CHECK_THAT(ran("explain plain --target h200 --shape 4,32,32,4096,4096,64", noDriver).out,
             Catch::Contains(" of what is predicted; NVIDIA H200 SXM, from a shipped table; the fastest of 2: "));
  CHECK_THAT(ran("explain plain --target h200 --shape 4,32,32,4096,4096,64 --shared-limit 99KiB", noDriver).out, !Catch::Contains("measured"));
}

TEST_CASE("a plot has its points where they belong, and no markup from names") {
  Plot plot{"a < b", "", {"x & y", true, {}, {}}, {"y", false, {}, {}}, {{"all", "a", {{1, 0, "one"}, {100, 10, "<two>"}, {-1, 5, "not on this axis"}}}}};
  const std::string svg = svgOf(plot);
  CHECK_THAT(svg, Catch::Contains("<figcaption>a &lt; b</figcaption>") && Catch::Contains("x &amp; y") && Catch::Contains("<title>&lt;two&gt;</title>") && !Catch::Contains("not on this axis") && !Catch::Contains("nan"));
  // Larger numbers are further right and higher up.
  const auto place = [&](const char *attribute, std::size_t which) {
    std::size_t at = 0;
    for (std::size_t i = 0; i <= which; ++i)
      at = svg.find(attribute, at) + 1;
    return std::stod(svg.substr(at + std::strlen(attribute) - 1));
  };
  CHECK(place("cx='", 0) < place("cx='", 1));
  CHECK(place("cy='", 0) > place("cy='", 1));
  CHECK_THAT(svg, Catch::Contains(">10</text>"));
  // A single point, and none.
  plot.series[0].points.resize(1);
  CHECK_THAT(svgOf(plot), !Catch::Contains("nan") && !Catch::Contains("inf"));
  plot.series[0].points.clear();
  CHECK_THAT(svgOf(plot), !Catch::Contains("nan") && !Catch::Contains("inf"));
}
