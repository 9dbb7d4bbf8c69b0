// The commands of the tilewright program, one file each.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace tw::cli {

/// Exit statuses.
inline constexpr int right = 0, failedCheck = 1, badInput = 2;

/// A command: what its options look like, and what it does once they are parsed. `run` returns the exit status; what it
/// throws becomes a message on stderr and status 2.
struct Command {
  CLI::App *app;
  std::function<int()> run;
};

[[nodiscard]] Command doctor(CLI::App &program);
[[nodiscard]] Command list(CLI::App &program);
[[nodiscard]] Command compile(CLI::App &program);
[[nodiscard]] Command run(CLI::App &program);
[[nodiscard]] Command mask(CLI::App &program);
[[nodiscard]] Command explain(CLI::App &program);
[[nodiscard]] Command cache(CLI::App &program);
[[nodiscard]] Command tune(CLI::App &program);
[[nodiscard]] Command bench(CLI::App &program);

/// `tilewright opt …`: the MLIR pass driver over our dialects and passes. It parses its arguments itself.
int opt(int argc, char **argv);

} // namespace tw::cli
