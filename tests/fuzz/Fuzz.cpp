// Random programs against evaluate(): `fuzz --target host --first 1 --programs 1000`. On a GPU's target they run in the simulator, or with `--on gpu` on
// GPU 0. What fails is made smaller and printed with the seed that draws it. A fault may leave a GPU's context dead for the rest of a process: there,
// programs run in processes of their own, some of them in each, and another one goes on behind the program that ended its process.
#include "LongRun.h"
#include "Try.h"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

using namespace tw;
using namespace tw::fuzz;

namespace {

struct Options : RunOptions {
  std::string on;
  unsigned jobs = 1;        // programs at once
  bool shows = false;       // print every recipe
  bool assembles = false;   // have NVRTC make machine code of GPUs' kernels, too
  bool counts = false;      // draw only, and count operations
  bool reports = false;     // a process of a run: prints what came of each program for the one that started it

  [[nodiscard]] bool isApart() const { return on == "gpu" && !reports; }

  [[nodiscard]] Attempt attempt() const { return {target == "host" ? Where::host : on == "gpu" ? Where::gpu : Where::simulator, assembles}; }
};

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
    Op::bitXor,       Op::shiftLeft,  Op::shiftRight, Op::random,     Op::contains};

std::string whereOf(const Options &options) { return options.target + " " + (options.on.empty() ? "-" : options.on); }

/// What came of one program, with everything there is to print of it.
struct Report {
  std::uint64_t seed = 0;
  Outcome outcome;
};

Report reportOf(std::uint64_t seed, const Options &options) {
  const Recipe recipe = draw(seed, options.target);
  if (options.shows)
    std::printf("seed %llu: %s", static_cast<unsigned long long>(seed), print(recipe).c_str());
  Report report{seed, tried(recipe, options.attempt())};
  Outcome &outcome = report.outcome;
  if (!outcome.failed())
    return report;
  std::string text = fmt::format("seed {} fails: {}{}\n", seed, print(recipe), outcome.text);
  if (options.on == "gpu" && !takesWork()) {
    text += "not made smaller: the GPU takes no more work of this process\n";
  } else {
    const auto [small, its] = minimised(recipe, outcome, options.attempts, options.attempt());
    text += fmt::format("made smaller: {}{}\n", print(small), its.text);
  }
  outcome.text = std::move(text);
  return report;
}

/// A process of a run: each report is a line of numbers and a text of so many bytes. It ends early where it can do no more.
int reportAll(const Options &options) {
  for (std::uint64_t seed = options.first; seed < options.first + options.programs; ++seed) {
    const Report report = reportOf(seed, options);
    std::printf("report %llu %d %zu\n%s\n", static_cast<unsigned long long>(seed), int(report.outcome.is), report.outcome.text.size(), report.outcome.text.c_str());
    std::fflush(stdout);
    if (report.outcome.failed() && options.on == "gpu" && !takesWork())
      break;
  }
  return 0;
}

/// Reports of seeds from `first` to before `end`, made by another process; of one that ends without a word of a program, that is the report.
std::vector<Report> reportsOfProcess(std::uint64_t first, std::uint64_t end, const Options &options) {
  const std::string command = fmt::format("'{}' --target {} --on {} --first {} --programs {} --attempts {} --report", std::filesystem::read_symlink("/proc/self/exe").string(), options.target,
                                          options.on, first, end - first, options.attempts);
  std::vector<Report> reports;
  std::FILE *out = popen(command.c_str(), "r");
  if (!out)
    throw std::runtime_error("no process for " + command);
  unsigned long long seed = 0;
  int is = 0;
  std::size_t size = 0;
  while (std::fscanf(out, "report %llu %d %zu", &seed, &is, &size) == 3 && std::fgetc(out) == '\n') {
    std::string text(size, ' ');
    if (std::fread(text.data(), 1, size, out) != size || std::fgetc(out) != '\n')
      break;
    reports.push_back({seed, {decltype(Outcome::is)(is), std::move(text)}});
  }
  const int status = pclose(out);
  const bool isWhole = first + reports.size() == end, isDead = !reports.empty() && reports.back().outcome.failed();
  if (!isWhole && (!isDead || status))
    reports.push_back({first + reports.size(), {Outcome::unexplained, fmt::format("seed {} ends its process with status {}: {}", first + reports.size(), status, print(draw(first + reports.size(), options.target)))}});
  return reports;
}

/// The programs of a run, tried side by side, and reported in whatever order they end.
class Run {
public:
  explicit Run(const Options &options) : options(options), reached(reachedBy(options, whereOf(options))), next(reached.next) {}

  Reached finish() {
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < options.jobs; ++i)
      threads.emplace_back([this] { work(); });
    work();
    for (std::thread &thread : threads)
      thread.join();
    for (const auto &[text, count] : refusalTexts)
      std::printf("refused, %llu: %s\n", static_cast<unsigned long long>(count), text.c_str());
    return reached;
  }

private:
  const Options &options;
  Reached reached;
  std::atomic<std::uint64_t> next;
  std::mutex guard;                         // of what follows, and of `reached`
  std::map<std::uint64_t, Outcome> ahead;   // tried, but for one before them that is not
  std::map<std::string, std::uint64_t> refusalTexts;

  void work() {
    constexpr std::uint64_t programsOfProcess = 20;
    const std::uint64_t end = options.first + options.programs, share = options.isApart() ? programsOfProcess : 1;
    for (std::uint64_t first = next.fetch_add(share); first < end; first = next.fetch_add(share)) {
      const std::uint64_t last = std::min(first + share, end);
      while (first < last) {
        const std::vector<Report> reports = options.isApart() ? reportsOfProcess(first, last, options) : std::vector{reportOf(first, options)};
        for (const Report &report : reports)
          take(report);
        first += reports.size();
      }
    }
  }

  void take(const Report &report) {
    const std::lock_guard lock(guard);
    if (report.outcome.failed()) {
      std::printf("%s\n", report.outcome.text.c_str());
      std::fflush(stdout);
    }
    ahead.emplace(report.seed, report.outcome);
    for (auto at = ahead.find(reached.next); at != ahead.end(); at = ahead.find(reached.next)) {
      reached.failures += at->second.failed();
      if (at->second.is == Outcome::refused) {
        ++reached.refusals;
        ++refusalTexts[at->second.text];
      }
      ahead.erase(at);
      ++reached.next;
    }
    keep(options, whereOf(options), reached);
  }
};

/// Programs of the run that have each operation.
std::map<Op, std::uint64_t> counted(const Options &options) {
  std::map<Op, std::uint64_t> occurrences;
  for (std::uint64_t seed = options.first; seed < options.first + options.programs; ++seed) {
    std::set<const Node *> seen;
    std::set<Op> ops;
    for (const Store &store : build(draw(seed, options.target)).program.stores)
      gather(store.value, seen, ops);
    for (Op op : ops)
      ++occurrences[op];
  }
  return occurrences;
}

int run(const Options &options) {
  const auto start = std::chrono::steady_clock::now();
  const Reached reached = options.counts ? Reached{} : Run(options).finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto occurrences = counted(options);
  bool isVaried = true;
  const bool isMany = options.programs >= 100, isRefused = reached.refusals * 5 > options.programs;
  std::string table;
  for (Op op : expected) {
    const double share = double(occurrences[op]) / double(options.programs);
    isVaried &= share >= leastShare;
    table += fmt::format(" {} {:.0f}%", name(op), 100 * share);
  }
  std::printf("%llu programs %s for %s from seed %llu: %llu failed, %llu refused, %.1f s\nof them have%s\n",
              static_cast<unsigned long long>(options.programs),
              options.on == "gpu"        ? "on the GPU"
              : options.target == "host" ? "on the CPU"
                                         : "in the simulator",
              options.target.c_str(), static_cast<unsigned long long>(options.first), static_cast<unsigned long long>(reached.failures),
              static_cast<unsigned long long>(reached.refusals), seconds, table.c_str());
  if (isMany && !isVaried)
    std::printf("an operation is in fewer than 2 programs of 100\n");
  if (isRefused)
    std::printf("more than a fifth are refused\n");
  return reached.failures || (isMany && !isVaried) || isRefused;
}

}   // namespace

int main(int count, char **words) {
  Options options;
  options.target = "host";
  CLI::App app("Random programs against evaluate(): on the CPU, in the simulator, or on GPU 0", "fuzz");
  addRunOptions(app, options);
  app.add_option("--on", options.on, "gpu: a GPU's kernels run on GPU 0, in processes of their own")->check(CLI::IsMember({"gpu"}));
  app.add_option("--jobs", options.jobs, "programs at once")->capture_default_str();
  app.add_flag("--show", options.shows, "print every program");
  app.add_flag("--assemble", options.assembles, "have NVRTC make machine code of GPUs' kernels, too");
  app.add_flag("--count", options.counts, "draw only, and count operations");
  app.add_flag("--report", options.reports)->group("");
  return runWith(app, count, words, [&] {
    if (!options.on.empty() && options.target == "host")
      throw std::invalid_argument("--on gpu --target host: expected a GPU's name as --target");
    return options.reports ? reportAll(options) : run(options);
  });
}
