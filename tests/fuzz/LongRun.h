// What both fuzzers have in common: options, and a run that goes on where it was ended.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>

namespace tw::fuzz {

struct RunOptions {
  std::string target;
  std::uint64_t first = 1, programs = 100;
  int attempts = 60;   // to make a failing recipe smaller
  std::string state;   // a file that says after each program how far this run is, so that the same command goes on from there
};

inline void addRunOptions(CLI::App &app, RunOptions &options) {
  app.add_option("--target", options.target, "host, or a GPU, whose kernels run in the simulator")->capture_default_str();
  app.add_option("--first", options.first, "the first program's seed")->capture_default_str();
  app.add_option("--programs", options.programs, "how many, each with the seed after the one before")->capture_default_str();
  app.add_option("--attempts", options.attempts, "how often a program that fails is made smaller")->capture_default_str();
  app.add_option("--state", options.state, "a file that says how far this run is: the same command goes on where it was ended");
}

/// How far a run is: what comes before `next` has been tried.
struct Reached {
  std::uint64_t next = 0, failures = 0, refusals = 0;
};

/// What names a run in its file: another one begins anew. `where` is all that it depends on besides seeds.
inline std::string titleOf(const RunOptions &options, const std::string &where) { return fmt::format("{} {} {}", where, options.first, options.programs); }

inline Reached reachedBy(const RunOptions &options, const std::string &where) {
  std::ifstream file(options.state);
  std::string title;
  Reached reached;
  if (options.state.empty() || !std::getline(file, title) || title != titleOf(options, where) || !(file >> reached.next >> reached.failures >> reached.refusals))
    return {options.first};
  return reached;
}

/// Whole, or as it was: a run may be ended at any moment.
inline void keep(const RunOptions &options, const std::string &where, const Reached &reached) {
  if (options.state.empty())
    return;
  std::ofstream(options.state + ".new") << titleOf(options, where) << "\n" << reached.next << " " << reached.failures << " " << reached.refusals << "\n";
  std::filesystem::rename(options.state + ".new", options.state);
}

/// The exit status: that of `run`, or 2 with a message for a wrong command line and whatever else stops it.
template <typename Run> int runWith(CLI::App &app, int count, char **words, const Run &run) {
  try {
    app.parse(count, words);
    return run();
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 2;
  }
}

}   // namespace tw::fuzz
