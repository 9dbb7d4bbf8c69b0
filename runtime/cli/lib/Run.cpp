// `tilewright run`: a variant on random or given inputs, timed and checked.
#include "Check.h"
#include "Commands.h"
#include "Npy.h"
#include "Output.h"
#include "Problem.h"
#include "tilewright/cpu/ThreadPool.h"
#include "tilewright/kernel/Elements.h"
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <new>

namespace tw::cli {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Options {
  std::string variant, shape, dtype, on = "cpu", nanKeys, out, lse, schedule, seed;
  Files files;
  std::vector<std::string> captures, scalars;
  int repeat = 3;
  bool check = false, json = false, noCache = false;
};

/// What one run found out.
struct Report {
  std::map<std::string, Array> outputs;
  std::string origin;                  // compiled, loaded, found
  double buildSeconds = 0, seconds = 0;
  std::optional<double> keptPairs;     // none: they cannot be counted
  int threads = 0;
  bool isKernel = false;               // false: evaluate()
  Schedule schedule;
};

struct Release {
  void operator()(std::byte *memory) const { ::operator delete(memory, std::align_val_t(64)); }
};

/// Pairs of a query and a key that the variant's mask keeps, told by the kernel itself: with all scores 0 the lse of a row
/// is the logarithm of how many keys it has. None where that is NaN or too large to be one.
std::optional<double> countPairs(const Kernel &kernel, const Problem &problem, Memory &memory, Workspace workspace) {
  Arguments arguments = memory.arguments();
  const std::vector<double> zero(8, 0.0);   // an element of any type, 0
  for (auto &[name, view] : arguments.tensors)
    if (name != "O" && name != "lse") {
      view.data = const_cast<double *>(zero.data());
      view.strides.assign(view.shape.size(), 0);
    }
  kernel.launch(hostStream, arguments, workspace);
  double pairs = 0;
  for (double lse : memory.read("lse").data)
    pairs += std::round(std::exp(lse));
  return std::isfinite(pairs) ? std::optional(pairs) : std::nullopt;
}

Report runOnCpu(const Problem &problem, const Options &options) {
  Report report;
  report.isKernel = true;
  BuildOptions build;
  build.extents = {{"d", problem.shape.d}, {"e", problem.shape.dv}};
  build.useCache = !options.noCache;
  if (!options.schedule.empty())
    build.schedule = parseSchedule(options.schedule);
  const auto buildStart = Clock::now();
  const BuildCounts before = buildCounts();
  const Kernel kernel = tw::build(problem.program, build);
  report.buildSeconds = secondsSince(buildStart);
  report.origin = buildCounts().compiled > before.compiled ? "compiled" : buildCounts().loaded > before.loaded ? "loaded from the cache" : "found in memory";
  report.schedule = kernel.schedule();
  report.threads = ThreadPool::shared().threads();

  Memory memory(problem);
  const std::size_t bytes = kernel.workspaceBytes(memory.arguments());
  std::unique_ptr<std::byte, Release> workspace(static_cast<std::byte *>(::operator new(bytes, std::align_val_t(64))));
  report.keptPairs = countPairs(kernel, problem, memory, {workspace.get(), bytes});   // warms caches and threads too
  std::vector<double> times;
  for (int i = 0; i < options.repeat; ++i) {
    const auto start = Clock::now();
    kernel.launch(hostStream, memory.arguments(), {workspace.get(), bytes});
    times.push_back(secondsSince(start));
  }
  std::sort(times.begin(), times.end());
  report.seconds = times[times.size() / 2];
  for (const char *name : {"O", "lse"})
    report.outputs[name] = memory.read(name);
  return report;
}

/// In float64, in tiles of 64 keys: with --check beside the oracle, which takes all keys at once.
Report runByEvaluate(const Problem &problem) {
  Report report;
  report.threads = 1;
  const auto start = Clock::now();
  report.outputs = oracle(problem, 64);
  report.seconds = secondsSince(start);
  return report;
}

/// 10^9 float operations a second: 2 D for a score and 2 Dv for its weight's share of the output, for each pair that the mask keeps.
double gflops(const Problem &problem, const Report &report) {
  return report.seconds > 0 ? *report.keptPairs * 2.0 * double(problem.shape.d + problem.shape.dv) / report.seconds * 1e-9 : 0;
}

/// The array as a .npy file.
std::string npyOf(const Array &array, Type type) {
  // NumPy has no bf16: such numbers are written as f4, which holds them exactly.
  const Type stored = type == Type::bf16 ? Type::f32 : type;
  NpyArray file{stored == Type::f16 ? "f2" : stored == Type::f64 ? "f8" : "f4", array.shape, std::string(array.data.size() * std::size_t(bytes(stored)), '\0')};
  std::vector<double> values = array.data;
  for (double &value : values)
    value = rounded(value, type);
  putElements(values, stored, file.data.data());
  return formatNpy(file);
}

Json toJson(const Comparison &c) {
  Json json = {{"right", c.isRight}, {"max_error", c.maxError}, {"rms_error", c.rmsError}, {"worst", c.worst}, {"result", c.result}, {"expected", c.expected},
               {"tolerance", c.tolerance}, {"share_of_tolerance", c.largestShare}, {"nans_in_both", c.nans}, {"limited", c.limited}};
  if (!c.wrong.empty())
    json["wrong"] = c.wrong;
  return json;
}

std::string toText(const Comparison &c) {
  std::string text = fmt::format("{:<9} {}: max error {:.3g}, RMS {:.3g}", c.tensor, c.isRight ? "right" : "WRONG", c.maxError, c.rmsError);
  if (!c.worst.empty())
    text += fmt::format("; worst at [{}]: {:.6g}, expected {:.6g}, {:.2g} of the tolerance {:.2g}", fmt::join(c.worst, ", "), c.result, c.expected, c.largestShare, c.tolerance);
  if (c.nans)
    text += fmt::format("; {} NaN in both", c.nans);
  if (c.limited)
    text += fmt::format("; {} held to 5% of the largest |V|, though rounding of scores that large may explain more", c.limited);
  return text + "\n" + (c.wrong.empty() ? "" : fmt::format("          {}\n", c.wrong));
}

/// The check's verdicts; empty without --check.
std::vector<Comparison> checkAll(const Problem &problem, const Report &report, const Options &options) {
  std::vector<Comparison> comparisons;
  if (options.check)
    for (const auto &[name, expected] : oracle(problem))
      comparisons.push_back(compare(problem, name, report.outputs.at(name), expected));
  return comparisons;
}

Json toJson(const Problem &problem, const Report &report, const std::vector<Comparison> &comparisons, const Options &options) {
  const Shape &s = problem.shape;
  Json json = {{"variant", trimmed(options.variant)}, {"dtype", name(problem.type)}, {"on", options.on}, {"shape", {{"B", s.b}, {"H", s.h}, {"Hkv", s.hkv}, {"Sq", s.sq}, {"Skv", s.skv}, {"D", s.d}, {"Dv", s.dv}}},
               {"threads", report.threads}, {"seconds", report.seconds}};
  if (report.isKernel) {
    json["schedule"] = print(report.schedule);
    json["build"] = {{"kernel", report.origin}, {"seconds", report.buildSeconds}};
    json["kept_pairs"] = report.keptPairs ? Json(*report.keptPairs) : Json();
    json["gflops"] = report.keptPairs ? Json(gflops(problem, report)) : Json();
  }
  for (const Comparison &c : comparisons)
    json["check"][c.tensor] = toJson(c);
  return json;
}

std::string toText(const Problem &problem, const Report &report, const std::vector<Comparison> &comparisons, const Options &options) {
  const Shape &s = problem.shape;
  std::string text = fmt::format("{} {} on {}: B {}, H {}, Hkv {}, Sq {}, Skv {}, D {}, Dv {}\n", trimmed(options.variant), name(problem.type), options.on, s.b, s.h, s.hkv, s.sq, s.skv, s.d, s.dv);
  if (report.isKernel) {
    text += fmt::format("kernel    {} in {:.1f} ms; {}\n", report.origin, report.buildSeconds * 1e3, print(report.schedule));
    text += fmt::format("time      {:.3f} ms (median of {}) on {} thread{}", report.seconds * 1e3, options.repeat, report.threads, report.threads == 1 ? "" : "s");
    if (report.keptPairs)
      text += fmt::format(", {:.1f} GFLOP/s: 2 D + 2 Dv operations for each of {:.0f} pairs of query and key that the mask keeps\n", gflops(problem, report), *report.keptPairs);
    else
      text += "; no GFLOP/s: with all scores 0 the kernel's lse is no number, so the pairs that the mask keeps cannot be counted\n";
  } else
    text += fmt::format("time      {:.3f} ms in float64, tiles of 64 keys\n", report.seconds * 1e3);
  for (const Comparison &c : comparisons)
    text += toText(c);
  return text;
}

std::uint64_t parseSeed(const std::string &text) {
  std::uint64_t seed = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || stop != text.data() + text.size())
    throw std::invalid_argument(fmt::format("--seed {}: expected a whole number from 0 to {}", text, UINT64_MAX));
  return seed;
}

/// Adds NAME=VALUE, once a name.
template <class Value> void addOnce(std::map<std::string, Value> &values, const char *option, const std::string &name, Value value) {
  if (!values.emplace(name, std::move(value)).second)
    throw std::invalid_argument(fmt::format("{} {}: '{}' is given twice", option, name, name));
}

Problem problemOf(const Options &options) {
  const bool hasFiles = !options.files.q.empty() || !options.files.k.empty() || !options.files.v.empty();
  if (hasFiles == !options.shape.empty())
    throw std::invalid_argument("give either --shape B,H,Hkv,Sq,Skv,D[,Dv] for random inputs, or --q, --k and --v for inputs from files");
  const std::optional<Type> type = options.dtype.empty() ? std::nullopt : std::optional(parseFloatType(options.dtype));
  Problem problem;
  if (hasFiles) {
    if (!options.seed.empty())
      throw std::invalid_argument("--seed goes with --shape; inputs from files are not random");
    for (auto [option, path] : {std::pair("--q", &options.files.q), std::pair("--k", &options.files.k), std::pair("--v", &options.files.v)})
      if (path->empty())
        throw std::invalid_argument(fmt::format("{} is missing: inputs from files need --q, --k and --v", option));
    Files files = options.files;
    for (const std::string &capture : options.captures) {
      const auto [name, path] = parsePair("--capture", capture, "NAME=FILE.npy");
      addOnce(files.captures, "--capture", name, path);
    }
    problem = filedProblem(trimmed(options.variant), type, files);
  } else {
    if (!options.captures.empty())
      throw std::invalid_argument("--capture goes with --q, --k and --v; with --shape all inputs are random");
    problem = randomProblem(trimmed(options.variant), type.value_or(Type::bf16), parseShape(options.shape), options.seed.empty() ? 1 : parseSeed(options.seed));
  }
  for (const std::string &scalar : options.scalars) {
    auto [name, value] = parsePair("--scalar", scalar, "NAME=NUMBER");
    std::size_t used = 0;
    double number = 0;
    try {
      number = std::stod(value, &used);
    } catch (const std::exception &) {
    }
    if (used != value.size())
      throw std::invalid_argument(fmt::format("--scalar {}: '{}' is no number", scalar, value));
    addOnce(problem.inputs.scalars, "--scalar", name, number);
  }
  if (!options.nanKeys.empty())
    spoilKeys(problem, parseNumbers("--nan-keys", options.nanKeys, "whole numbers, such as 0,-1"));
  return problem;
}

/// Refuses places for outputs that cannot be meant, or cannot be written, before anything is computed.
void checkOutputs(const Options &options) {
  std::vector<std::pair<std::string, std::string>> taken = {{"--q", options.files.q}, {"--k", options.files.k}, {"--v", options.files.v}};
  for (const std::string &capture : options.captures)
    taken.emplace_back("--capture " + capture.substr(0, capture.find('=')), parsePair("--capture", capture, "NAME=FILE.npy").second);
  for (auto [option, path] : {std::pair("--out", options.out), std::pair("--lse", options.lse)}) {
    if (path.empty())
      continue;
    if (path == "-")
      throw std::invalid_argument(fmt::format("{} -: stdout takes the report; name a file", option));
    for (const auto &[other, place] : taken)
      if (!place.empty() && isSameFile(path, place))
        throw std::invalid_argument(fmt::format("{} {}: that is the file of {} too; name another", option, path, other));
    checkWritable(path);
    taken.emplace_back(option, path);
  }
}

int runVariant(const Options &options) {
  checkChoice("--on", options.on, {"cpu", "evaluate"});
  if (options.on == "evaluate" && !options.schedule.empty())
    throw std::invalid_argument("--schedule goes with --on cpu; evaluate() takes none");
  if (options.repeat < 1)
    throw std::invalid_argument(fmt::format("--repeat {}: expected a whole number from 1", options.repeat));
  checkOutputs(options);
  const Problem problem = problemOf(options);
  const Report report = options.on == "cpu" ? runOnCpu(problem, options) : runByEvaluate(problem);
  const std::vector<Comparison> comparisons = checkAll(problem, report, options);
  std::vector<FileContent> files;
  if (!options.out.empty())
    files.push_back({options.out, npyOf(report.outputs.at("O"), problem.type)});
  if (!options.lse.empty())
    files.push_back({options.lse, npyOf(report.outputs.at("lse"), problem.type == Type::f64 ? Type::f64 : Type::f32)});
  writeFiles(files);
  if (options.json)
    printJson(toJson(problem, report, comparisons, options));
  else
    printText(toText(problem, report, comparisons, options));
  const bool allRight = std::all_of(comparisons.begin(), comparisons.end(), [](const Comparison &c) { return c.isRight; });
  return allRight ? right : failedCheck;
}

} // namespace

Command run(CLI::App &program) {
  auto options = std::make_shared<Options>();
  CLI::App *app = program.add_subcommand("run", "Run a variant on random inputs or on .npy files; time it, check it against float64");
  app->add_option("variant", options->variant, "a variant of the gallery, or several by +: causal+alibi, window(255,0)+softcap(30)")->required()->type_name("VARIANT");
  app->add_option("--shape", options->shape, "random inputs of these lengths: Q [B,H,Sq,D], K [B,Hkv,Skv,D], V [B,Hkv,Skv,Dv]; Dv is D if left out")->type_name("B,H,Hkv,Sq,Skv,D[,Dv]");
  app->add_option("--dtype", options->dtype, "f16, bf16, f32 or f64: the type of Q, K, V and O; bf16 if left out, with files the type of Q's")->type_name("TYPE");
  app->add_option("--on", options->on, "cpu: the compiled kernel; evaluate: the interpreter in float64")->type_name("WHERE");
  app->add_flag("--check", options->check, "compare O and lse with float64 on the same inputs; exit status 1 if an element is further off than rounding explains");
  app->add_option("--seed", options->seed, "of the random inputs, from 0, 1 if left out: normal numbers; alibi's slopes are 2^(-8(h+1)/H)")->type_name("N");
  app->add_option("--repeat", options->repeat, "how often to run; the time is the median")->type_name("N");
  app->add_option("--nan-keys", options->nanKeys, "make K and V NaN at these keys (negative: from the end), to see that masked ones spoil nothing")->type_name("N,...");
  app->add_option("--schedule", options->schedule, "in place of the default one: 'block=q q=32 k=64 d=128 e=128'")->type_name("TEXT");
  app->add_option("--q", options->files.q, "queries from a .npy file [B,H,Sq,D]: f2, f4 or f8; u2 or V2 as bf16")->type_name("FILE");
  app->add_option("--k", options->files.k, "keys, [B,Hkv,Skv,D]")->type_name("FILE");
  app->add_option("--v", options->files.v, "values, [B,Hkv,Skv,Dv]")->type_name("FILE");
  app->add_option("--capture", options->captures, "another tensor of the variant, such as slopes=slopes.npy")->type_name("NAME=FILE")->allow_extra_args(false);
  app->add_option("--scalar", options->scalars, "a run-time scalar of the variant")->type_name("NAME=NUMBER")->allow_extra_args(false);
  app->add_option("--out", options->out, "write O there, as .npy (bf16 as f4)")->type_name("FILE");
  app->add_option("--lse", options->lse, "write the natural-log log-sum-exp [B,H,Sq] there, as .npy")->type_name("FILE");
  app->add_flag("--no-cache", options->noCache, "compile anew, and keep nothing on disk");
  app->add_flag("--json", options->json, "report as JSON");
  refuseEmpty(*app);
  app->footer("Example: tilewright run causal --shape 2,8,2,1000,1700,128 --on cpu --check");
  return {app, [options] { return runVariant(*options); }};
}

} // namespace tw::cli
