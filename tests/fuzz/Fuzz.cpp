// Random programs against evaluate(): `fuzz --target host --first 1 --programs 1000`. On a GPU's target they run in the simulator. What fails is made
// smaller and printed with the seed that draws it.
#include "Recipe.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "unit/kernel/Launched.h"
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <fmt/format.h>
#include <optional>
#include <set>

using namespace tw;
using namespace tw::fuzz;

namespace {

struct Options {
  std::string target = "host";
  std::uint64_t first = 1, programs = 100;
  int attempts = 60;      // to make a failing recipe smaller
  bool shows = false;     // print every recipe
  bool assembles = false; // have NVRTC make machine code of GPUs' kernels, too
  bool counts = false;    // draw only, and count operations
  std::string state;      // a file that says after each program how far this run is, so that the same command goes on from there
};

Options parse(int count, char **words) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string name = words[i];
    if (i + 1 == count)
      throw std::invalid_argument(name + " needs a value");
    if (name == "--target")
      options.target = words[i + 1];
    else if (name == "--first")
      options.first = std::stoull(words[i + 1]);
    else if (name == "--programs")
      options.programs = std::stoull(words[i + 1]);
    else if (name == "--attempts")
      options.attempts = std::stoi(words[i + 1]);
    else if (name == "--show")
      options.shows = std::string(words[i + 1]) == "yes";
    else if (name == "--assemble")
      options.assembles = std::string(words[i + 1]) == "yes";
    else if (name == "--count")
      options.counts = std::string(words[i + 1]) == "yes";
    else if (name == "--state")
      options.state = words[i + 1];
    else
      throw std::invalid_argument(name + " is no option; expected --target, --first, --programs, --attempts, --show, --assemble, --count or --state");
  }
  return options;
}

struct Outcome {
  enum { right, refused, unexplained, wrong } is = right;
  std::string text;
  [[nodiscard]] bool failed() const { return is >= unexplained; }
};

/// A refusal must say what to do; anything else is a fault of ours.
bool namesCure(const std::string &text) {
  static const char *const cures[] = {"; take ", ": take ", ": give ", "run on the CPU (target host)", "apply everything else to the fold's result", ": make axis"};
  return std::any_of(std::begin(cures), std::end(cures), [&](const char *cure) { return text.find(cure) != text.npos; });
}

BuildOptions buildOptions(const tests::Held &held, const Schedule &schedule, const std::string &target) {
  BuildOptions options;
  options.target = target;
  options.schedule = schedule;
  options.extents = held.inner;
  options.useCache = false;
  return options;
}

std::string faultOnHost(const tests::Held &held, const Schedule &schedule) {
  tests::Tensors tensors(held.program, held.inputs, held.stored);
  build(held.program, buildOptions(held, schedule, "host")).launch(tensors.arguments);
  std::map<std::string, Array> outputs;
  for (const auto &[name, shape] : held.stored)
    outputs[name] = tensors.read(name);
  return tests::differences(held, outputs, tests::meaningOf(held));
}

/// The program, or nothing where a smaller recipe makes none: a sum over an axis that its terms no longer have.
std::optional<tests::Held> programOf(const Recipe &recipe) {
  try {
    return build(recipe);
  } catch (const ProgramError &) {
    return {};
  }
}

Outcome tried(const Recipe &recipe, bool assembles) {
  const std::optional<tests::Held> held = programOf(recipe);
  if (!held)
    return {};
  const Target &target = findTarget(recipe.target);
  try {
    const Schedule schedule = tests::changed(defaultSchedule(held->program, target, held->inner), recipe.schedule);
    const std::string fault = target.isHost() ? faultOnHost(*held, schedule) : tests::faultOf(*held, schedule, target, 1);
    if (fault.empty() && assembles && !target.isHost())
      (void)build(held->program, buildOptions(*held, schedule, target.name));
    return {fault.empty() ? Outcome::right : Outcome::wrong, fault};
  } catch (const std::exception &error) {
    return {namesCure(error.what()) ? Outcome::refused : Outcome::unexplained, error.what()};
  }
}

/// The smallest recipe found that fails in the same way.
std::pair<Recipe, Outcome> minimised(Recipe recipe, Outcome outcome, int attempts, bool assembles) {
  for (bool found = true; found;) {
    found = false;
    for (const Recipe &candidate : smaller(recipe)) {
      if (attempts-- <= 0)
        return {recipe, outcome};
      Outcome next = tried(candidate, assembles);
      if (next.is != outcome.is)
        continue;
      recipe = candidate;
      outcome = std::move(next);
      found = true;
      break;
    }
  }
  return {recipe, outcome};
}

/// The operations of a program, each once.
void gather(const Tile &tile, std::set<const Node *> &seen, std::set<Op> &ops) {
  const Node &node = tile.node();
  if (!seen.insert(&node).second)
    return;
  ops.insert(node.op);
  for (const Tile &operand : node.operands)
    gather(operand, seen, ops);
  if (node.op == Op::foldResult)
    for (const Tile &yielded : node.fold->yields)
      gather(yielded, seen, ops);
}

/// Fewer programs than these in a hundred have an operation: then the generator leaves it out.
constexpr double leastShare = 0.02;
/// Operations that some programs must have.
constexpr Op expected[] = {
    Op::constant,     Op::index,      Op::extent,     Op::scalar,     Op::load,       Op::neg,       Op::abs,       Op::exp,       Op::exp2,
    Op::log,          Op::tanh,       Op::sigmoid,    Op::sqrt,       Op::logicalNot, Op::cast,      Op::add,       Op::sub,       Op::mul,
    Op::div,          Op::floorDiv,   Op::mod,        Op::min,        Op::max,        Op::lt,        Op::le,        Op::gt,        Op::ge,
    Op::eq,           Op::ne,         Op::logicalAnd, Op::logicalOr,  Op::select,     Op::reduceMax, Op::reduceMin, Op::reduceSum, Op::dot,
    Op::foldArgument, Op::foldResult, Op::named,      Op::stabiliser, Op::expm1,      Op::log2,      Op::log1p,     Op::rsqrt,     Op::sin,
    Op::cos,          Op::erf,        Op::floor,      Op::ceil,       Op::round,      Op::trunc,     Op::pow,       Op::bitAnd,    Op::bitOr,
    Op::bitXor,       Op::shiftLeft,  Op::shiftRight, Op::random};

/// How far a run is.
struct Reached {
  std::uint64_t next = 0, failures = 0, refusals = 0;
};

/// What names a run in its file: another one begins anew.
std::string titleOf(const Options &options) { return fmt::format("{} {} {}", options.target, options.first, options.programs); }

Reached reachedBy(const Options &options) {
  std::ifstream file(options.state);
  std::string title;
  Reached reached;
  if (options.state.empty() || !std::getline(file, title) || title != titleOf(options) ||
      !(file >> reached.next >> reached.failures >> reached.refusals))
    return {};
  return reached;
}

/// Whole, or as it was: a run may be ended at any moment.
void keep(const Options &options, const Reached &reached) {
  if (options.state.empty())
    return;
  std::ofstream(options.state + ".new") << titleOf(options) << "\n" << reached.next << " " << reached.failures << " " << reached.refusals << "\n";
  std::filesystem::rename(options.state + ".new", options.state);
}

int run(const Options &options) {
  const auto start = std::chrono::steady_clock::now();
  std::map<Op, std::uint64_t> occurrences;
  std::uint64_t failures = 0, refusals = 0;
  std::map<std::string, std::uint64_t> refusalTexts;
  const Reached before = reachedBy(options);
  failures = before.failures;
  refusals = before.refusals;
  for (std::uint64_t seed = options.first; seed < options.first + options.programs; ++seed) {
    const Recipe recipe = draw(seed, options.target);
    if (options.shows)
      std::printf("seed %llu: %s", static_cast<unsigned long long>(seed), print(recipe).c_str());
    std::set<const Node *> seen;
    std::set<Op> ops;
    for (const Store &store : build(recipe).program.stores)
      gather(store.value, seen, ops);
    for (Op op : ops)
      ++occurrences[op];
    if (options.counts || seed < before.next)
      continue;
    Outcome outcome = tried(recipe, options.assembles);
    if (outcome.is == Outcome::refused) {
      ++refusals;
      ++refusalTexts[outcome.text];
    }
    failures += outcome.failed();
    keep(options, {seed + 1, failures, refusals});
    if (!outcome.failed())
      continue;
    const auto [small, its] = minimised(recipe, outcome, options.attempts, options.assembles);
    std::printf("seed %llu fails: %s%s\nmade smaller: %s%s\n", static_cast<unsigned long long>(seed), print(recipe).c_str(), outcome.text.c_str(), print(small).c_str(), its.text.c_str());
    std::fflush(stdout);
  }
  for (const auto &[text, count] : refusalTexts)
    std::printf("refused, %llu: %s\n", static_cast<unsigned long long>(count), text.c_str());
  bool isVaried = true;
  const bool isMany = options.programs >= 100;
  std::string table;
  for (Op op : expected) {
    const double share = double(occurrences[op]) / double(options.programs);
    isVaried &= share >= leastShare;
    table += fmt::format(" {} {:.0f}%", name(op), 100 * share);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%llu programs on %s from seed %llu: %llu failed, %llu refused, %.1f s\nof them have%s\n", static_cast<unsigned long long>(options.programs), options.target.c_str(),
              static_cast<unsigned long long>(options.first), static_cast<unsigned long long>(failures), static_cast<unsigned long long>(refusals), seconds, table.c_str());
  if (isMany && !isVaried)
    std::printf("an operation is in fewer than 2 programs of 100\n");
  if (refusals * 5 > options.programs)
    std::printf("more than a fifth are refused\n");
  return failures || (isMany && !isVaried) || refusals * 5 > options.programs;
}

} // namespace

int main(int count, char **words) {
  try {
    return run(parse(count, words));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "fuzz: %s\n", error.what());
    return 2;
  }
}
