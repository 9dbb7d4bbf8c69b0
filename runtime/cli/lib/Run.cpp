// `tilewright run`: a variant on random or given inputs, timed and checked.
#include "Commands.h"
#include "Npy.h"
#include "Run.h"
#include "tilewright/kernel/CheckReads.h"
#include "tilewright/kernel/Elements.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tw::cli {
namespace {

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

Problem problemOf(const RunOptions &options) {
  const bool hasFiles = !options.files.q.empty() || !options.files.k.empty() || !options.files.v.empty();
  if (hasFiles == !options.shape.empty())
    throw std::invalid_argument("give either --shape B,H,Hkv,Sq,Skv,D[,Dv] for random inputs, or --q, --k and --v for inputs from files");
  const std::optional<Type> type = options.dtype.empty() ? std::nullopt : std::optional(parseFloatType(options.dtype));
  Problem problem;
  Files files = options.files;
  for (const std::string &capture : options.captures) {
    const auto [name, path] = parsePair("--capture", capture, "NAME=FILE.npy");
    addOnce(files.captures, "--capture", name, path);
  }
  if (hasFiles) {
    if (!options.seed.empty())
      throw std::invalid_argument("--seed goes with --shape; inputs from files are not random");
    for (auto [option, path] : {std::pair("--q", &options.files.q), std::pair("--k", &options.files.k), std::pair("--v", &options.files.v)})
      if (path->empty())
        throw std::invalid_argument(fmt::format("{} is missing: inputs from files need --q, --k and --v", option));
    problem = filedProblem(trimmed(options.variant), type, files);
  } else {
    problem = randomProblem(trimmed(options.variant), type.value_or(Type::bf16), parseShape(options.shape), options.seed.empty() ? 1 : parseSeed(options.seed), files.captures);
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
void checkOutputs(const RunOptions &options) {
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

/// Refuses options that mean nothing where the variant is to run.
void checkTogether(const RunOptions &options) {
  checkChoice("--on", options.on, {"cpu", "gpu", "simulator", "evaluate"});
  auto goesWith = [&](bool isGiven, const char *option, const std::vector<std::string> &places) {
    if (isGiven && std::find(places.begin(), places.end(), options.on) == places.end())
      throw std::invalid_argument(fmt::format("{} goes with --on {}, not with --on {}; leave it out", option, fmt::join(places, " or "), options.on));
  };
  goesWith(!options.schedule.empty(), "--schedule", {"cpu", "gpu", "simulator"});
  goesWith(!options.target.empty(), "--target", {"gpu", "simulator"});
  goesWith(!options.sharedLimit.empty(), "--shared-limit", {"gpu", "simulator"});
  goesWith(options.repeat.has_value(), "--repeat", {"cpu", "gpu"});
  goesWith(options.settings.has_value(), "--settings", {"simulator"});
  goesWith(options.patience.has_value(), "--patience", {"simulator"});
  checkChoice("--pass", options.pass, {"forward", "backward"});
  if (options.deterministic && options.pass != "backward")
    throw std::invalid_argument("--deterministic goes with --pass backward; a forward pass is deterministic: leave it out");
  if (options.pass == "backward") {
    for (auto [option, isGiven] : {std::pair("--schedule", !options.schedule.empty()), std::pair("--out", !options.out.empty()), std::pair("--lse", !options.lse.empty())})
      if (isGiven)
        throw std::invalid_argument(fmt::format("{} goes with --pass forward, not with --pass backward; leave it out", option));
  }
  if (options.repeat && *options.repeat < 1)
    throw std::invalid_argument(fmt::format("--repeat {}: expected a whole number from 1", *options.repeat));
  if (options.settings && *options.settings < 0)
    throw std::invalid_argument(fmt::format("--settings {}: expected a whole number from 0", *options.settings));
  if (options.patience && !(*options.patience > 0))
    throw std::invalid_argument(fmt::format("--patience {}: expected a number of seconds, more than 0", *options.patience));
}

Report runOn(const Problem &problem, const RunOptions &options) {
  if (options.on == "gpu")
    return runOnGpu(problem, options);
  if (options.on == "simulator")
    return runInSimulator(problem, options);
  return options.on == "cpu" ? runOnCpu(problem, options) : runByEvaluate(problem);
}

/// The inputs, with the lengths of all axes.
Evaluation withLengths(const Problem &problem) {
  Evaluation inputs = problem.inputs;
  const Shape &s = problem.shape;
  inputs.extents = {{"b", s.b}, {"h", s.h}, {"q", s.sq}, {"k", s.skv}, {"d", s.d}, {"e", s.dv}};
  return inputs;
}

int runVariant(const RunOptions &options) {
  checkTogether(options);
  checkOutputs(options);
  const Problem problem = problemOf(options);
  if (!options.lse.empty() && !problem.facts.hasLse)
    throw std::invalid_argument(fmt::format("--lse {}: variant '{}' has no log-sum-exp; leave it out", options.lse, problem.variant));
  if (options.checked)
    checkReads(problem.program, withLengths(problem));
  if (options.pass == "backward")
    return runBackward(problem, options);
  const Report report = runOn(problem, options);
  const Verdict verdict = !options.check ? Verdict() : options.on == "gpu" ? checkWithin(problem, report.outputs, usualBudget) : checkAll(problem, report.outputs);
  std::vector<FileContent> files;
  if (!options.out.empty())
    files.push_back({options.out, npyOf(report.outputs.at("O"), problem.type)});
  if (!options.lse.empty())
    files.push_back({options.lse, npyOf(report.outputs.at("lse"), problem.type == Type::f64 ? Type::f64 : Type::f32)});
  writeFiles(files);
  if (options.json)
    printJson(toJson(problem, report, verdict, options));
  else
    printText(toText(problem, report, verdict, options));
  return report.isClean() && verdict.isRight() ? right : failedCheck;
}

} // namespace

Command run(CLI::App &program) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *app = program.add_subcommand("run", "Run a variant on random inputs or on .npy files; time it, check it against float64");
  addVariant(*app, options->variant);
  app->add_option("--shape", options->shape, "random inputs of these lengths: Q [B,H,Sq,D], K [B,Hkv,Skv,D], V [B,Hkv,Skv,Dv]; Dv is D if left out")->type_name(shapeForm);
  app->add_option("--dtype", options->dtype, "f16, bf16, f32 or f64: the type of Q, K, V and O; bf16 if left out, with files the type of Q's")->type_name("TYPE");
  app->add_option("--pass", options->pass, "forward: O and lse; backward: the gradients of all inputs, for random derivatives of the loss by O")->type_name("PASS");
  app->add_option("--on", options->on, "cpu: the kernel compiled for this machine's CPU\n"
                  "gpu: the kernel on GPU 0 of this machine\n"
                  "simulator: the text of a GPU's kernel on the CPU, with races and broken protocols reported; no GPU is needed\n"
                  "evaluate: the interpreter in float64")
      ->type_name("WHERE");
  app->add_flag("--deterministic", options->deterministic, "with --pass backward: sums in a fixed order, so that every run has the same bits; slower where a GPU can add to memory in the background and no mask skips tiles");
  app->add_option("--target", options->target, "with --on gpu or simulator: what to build for; h200 in the simulator, and on a GPU what it is, if left out")->type_name("NAME");
  app->add_flag("--check", options->check, "compare O and lse with float64 on the same inputs; exit status 1 if an element is further off than rounding explains; with --on gpu, of large shapes a sample of heads");
  app->add_flag("--checked", options->checked, "look first at every index that depends on what tables hold, or that a condition guards, and refuse one that leaves its tensor, by tensor, index and line; a kernel reads 0 there");
  app->add_option("--seed", options->seed, "of the random inputs, from 0, 1 if left out: normal numbers for Q, K and V; `tilewright list` says what a variant reads besides")->type_name("N");
  app->add_option("--repeat", options->repeat, "how often to run; the time is the median, 3 runs if left out; on a GPU each is as many launches, queued together, as take 20 ms")->type_name("N");
  app->add_option("--nan-keys", options->nanKeys, "make K and V NaN at these keys (negative: from the end), to see that masked ones spoil nothing")->type_name("N,...");
  addSchedule(*app, options->schedule);
  app->add_option("--tune", options->tune, "which schedule, where none is given: never: the default one; cached: the one that `tilewright tune` found for such lengths (the default one if it found none), which is what is done if left out\n"
                  "model: that one, else the cost model's; measure: that one, else some are timed now, for 30 s at most")
      ->type_name("HOW");
  addSharedLimit(*app, options->sharedLimit);
  app->add_option("--settings", options->settings, "with --on simulator: how many random orders and delays to try, by --seed, beside everything late and everything eager; 0 if left out")->type_name("N");
  app->add_option("--patience", options->patience, "with --on simulator: refuse what would take longer; 300 if left out")->type_name("SECONDS");
  app->add_option("--q", options->files.q, "queries from a .npy file [B,H,Sq,D]: f2, f4 or f8; u2 or V2 as bf16")->type_name("FILE");
  app->add_option("--k", options->files.k, "keys, [B,Hkv,Skv,D]")->type_name("FILE");
  app->add_option("--v", options->files.v, "values, [B,Hkv,Skv,Dv]")->type_name("FILE");
  app->add_option("--capture", options->captures, "another tensor of the variant, such as slopes=slopes.npy; with --shape random if left out")->type_name("NAME=FILE")->allow_extra_args(false);
  app->add_option("--scalar", options->scalars, "a run-time scalar of the variant")->type_name("NAME=NUMBER")->allow_extra_args(false);
  app->add_option("--out", options->out, "write O there, as .npy (bf16 as f4)")->type_name("FILE");
  app->add_option("--lse", options->lse, "write the natural-log log-sum-exp [B,H,Sq] there, as .npy")->type_name("FILE");
  addCompiler(*app);
  app->add_flag("--no-cache", options->noCache, "compile anew, and keep nothing on disk");
  app->add_flag("--json", options->json, "report as JSON");
  refuseEmpty(*app);
  app->footer("Examples: tilewright run causal --shape 2,8,2,1000,1700,128 --on cpu --check\n"
              "          tilewright run alibi --shape 1,4,2,200,300,64 --pass backward --check\n"
              "          tilewright run causal --shape 1,2,1,300,400,128 --on simulator --settings 2 --check\n"
              "          tilewright run causal --shape 4,16,16,4096,4096,128 --on gpu --check");
  return {app, [options] { return runVariant(*options); }};
}

} // namespace tw::cli
