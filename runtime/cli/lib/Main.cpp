// `tilewright`: one binary, one command a file.
#include "Commands.h"
#include "Output.h"
#include "tilewright/dsl/Diagnostic.h"
#include "tilewright/kernel/Nearest.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sstream>

namespace tw::cli {
namespace {

std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

int complain(const std::string &command, const std::string &message) {
  std::fputs(fmt::format("tilewright{}{}: {}\n", command.empty() ? "" : " ", command, message).c_str(), stderr);
  return badInput;
}

/// "; did you mean '--on'?", by the words behind the dashes: these alone make two options near.
std::string suggestedOption(const std::string &name, const CLI::App &app) {
  std::vector<std::string> words;
  for (const std::string &option : optionNames(app))
    words.push_back(option.substr(2));
  const std::string word = nearest(name.substr(std::min(name.find_first_not_of('-'), name.size())), words);
  return word.empty() ? "" : fmt::format("; did you mean '--{}'?", word);
}

/// What CLI11 found wrong, in our words.
std::string complaintOf(const CLI::ParseError &error, CLI::App &app) {
  if (const auto *extras = dynamic_cast<const CLI::ExtrasError *>(&error); extras && !app.remaining().empty()) {
    const std::string first = app.remaining().front();
    const std::string name = first.substr(0, first.find('='));
    if (name.size() > 1 && name[0] == '-')
      return fmt::format("'{}' is no option of it{}", name, suggestedOption(name, app));
    return fmt::format("'{}' is one word too many", first);
  }
  // "Could not convert: --repeat = x"
  const std::string text = error.what();
  const std::size_t colon = text.find(": "), equals = text.find(" = ");
  if (dynamic_cast<const CLI::ConversionError *>(&error) && colon != text.npos && equals != text.npos && colon < equals) {
    const std::string name = text.substr(colon + 2, equals - colon - 2);
    const CLI::Option *option = app.get_option_no_throw(name);
    return fmt::format("{} {}: expected a {}number", name, text.substr(equals + 3), option && option->get_type_name() == "N" ? "whole " : "");
  }
  return text;
}

/// Prints what --help or --version asks for.
int show(const CLI::App &program, const CLI::ParseError &asked) {
  std::ostringstream text;
  program.exit(asked, text, text);
  printText(text.str());
  try {
    finishOutput();
  } catch (const std::exception &error) {
    return complain("", error.what());
  }
  return right;
}

/// The line of `opt` in the help.
Command opt(CLI::App &program) {
  CLI::App *app = program.add_subcommand("opt", "Run passes alone on .mlir files, as mlir-opt does; `tilewright opt --help` lists them");
  return {app, [] { return badInput; }};
}

int dispatch(int argc, char **argv) {
  CLI::App program{"Tilewright: Halide for attention. Describe a variant, see its IR, run it.", "tilewright"};
  program.set_version_flag("--version", "tilewright " TILEWRIGHT_VERSION);
  program.footer("Exit status: 0 right, 1 a check failed, 2 bad input. Every command but opt takes --json, and --help, which is its manual.\n"
                 "Environment: TILEWRIGHT_CACHE (folder of kernels, or off), TILEWRIGHT_THREADS, TILEWRIGHT_DUMP (folder for every stage of every build),\n"
                 "TILEWRIGHT_LOG=1 (lines on stderr that say how builds ended and why the compiler chose as it did), TILEWRIGHT_NVRTC, TILEWRIGHT_CUDA_DRIVER.");
  program.require_subcommand(0, 1);
  const std::vector<Command> commands{doctor(program), list(program), compile(program), run(program), mask(program), explain(program), tune(program), bench(program), cache(program), opt(program)};
  std::vector<std::string> names;
  for (const Command &command : commands)
    names.push_back(command.app->get_name());

  if (argc < 2) {
    std::fputs(program.help().c_str(), stderr);
    return badInput;
  }
  if (argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end())
    return complain("", fmt::format("'{}' is no command{}; the commands are {}", argv[1], suggestion(argv[1], names), fmt::join(names, ", ")));

  const Command *chosen = nullptr;
  for (const Command &command : commands)
    if (command.app->get_name() == argv[1])
      chosen = &command;
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)   // --help, --version
      return show(program, error);
    CLI::App &app = chosen ? *chosen->app : program;
    return complain(chosen ? app.get_name() : "", fmt::format("{}; see tilewright {}--help", complaintOf(error, app), chosen ? app.get_name() + " " : ""));
  }
  if (!chosen)
    return complain("", "no command given; see tilewright --help");
  const std::string name = chosen->app->get_name();
  try {
    int status = chosen->run();
    finishOutput();
    return status;
  } catch (const ProgramError &error) {
    // What is wrong in a file that was named is shown at its line.
    const bool isNamed = std::find(argv, argv + argc, std::string(error.diagnostic.where.file)) != argv + argc;
    return complain(name, isNamed ? "\n" + std::string(error.what()) : error.diagnostic.message);
  } catch (const std::bad_alloc &) {
    return complain(name, "out of memory; try a smaller --shape");
  } catch (const std::exception &error) {
    return complain(name, error.what());
  }
}

} // namespace
} // namespace tw::cli

int main(int argc, char **argv) {
  if (argc > 1 && !std::strcmp(argv[1], "opt"))
    return tw::cli::opt(argc - 1, argv + 1);
  return tw::cli::dispatch(argc, argv);
}
