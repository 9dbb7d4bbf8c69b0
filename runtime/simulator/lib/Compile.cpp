// Compiles a kernel's text with the host's C++ compiler, and loads it.
#include "Functions.h"
#include "Library.h"
#include "Phrase.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/templates/Templates.h"
#include "tilewright/toolchain/Toolchain.h"
#include <filesystem>
#include <fstream>

namespace tw {
namespace {

namespace fs = std::filesystem;
using simulated::phrase;

/// The text without #line directives, so that reports count its own lines.
std::string withoutLineDirectives(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto first = line.find_first_not_of(" \t");
    const bool directive = first != std::string_view::npos && line.substr(first).starts_with("#line");
    kept += directive ? "" : std::string(line);
    kept += '\n';
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return kept;
}

/// How a kernel is compiled: with every local variable a NaN until it is written, and with traps where C++ leaves behaviour open
/// and the GPU would read another register or thread's memory. No contraction: a GPU's fma is written as one.
const std::vector<std::string> compilerFlags{"-std=c++17",
                                             "-g1",
                                             "-fPIC",
                                             "-shared",
                                             "-w",
                                             "-ftrivial-auto-var-init=pattern",
                                             "-fno-strict-aliasing",
                                             "-fsanitize=bounds,shift-exponent,integer-divide-by-zero",
                                             "-fsanitize-undefined-trap-on-error",
                                             "-ffp-contract=off",
                                             "-Wl,--as-needed"};

void compile(const fs::path &source, const fs::path &library, SimulatorCode code) {
  std::vector<std::string> command = hostCompiler();
  const std::string name = command[0];
  command.insert(command.end(), compilerFlags.begin(), compilerFlags.end());
  command.insert(command.end(), {code == SimulatorCode::quick ? "-O0" : "-O1", source.string(), "-o", library.string(), "-lm"});
  const CommandResult compiled = runCommand(command);
  if (!compiled.isStarted)
    throw RuntimeError("the simulator compiles kernels with a C++ compiler of this machine, and '" + name +
                       "' cannot be started; install one (Debian: apt-get install g++), or name one in the environment variable CXX");
  if (compiled.status)
    throw RuntimeError(phrase("'{}' ended with {} on the text of a kernel; it said:\n{}", name, compiled.status, compiled.printed));
}

}   // namespace

std::vector<SimulatedKernel> compileForSimulator(std::string_view text, const std::vector<std::string> &entries, SimulatorCode code) {
  const TemporaryFolder folder("the simulator");
  const fs::path source = folder / "kernel.cpp", file = folder / "kernel.so";
  auto library = std::make_shared<SimulatedKernel::Library>();
  library->text = withoutLineDirectives(text);
  {
    std::ofstream stream(source, std::ios::binary);
    stream << hostTemplates() << "#line 1 \"kernel.cu\"\n" << library->text << "\n";
    for (auto &entry : entries)
      stream << "TILEWRIGHT_ENTRY(" << entry << ")\n";
    if (!stream.flush())
      throw RuntimeError("the simulator cannot write " + source.string() + "; is the disk full?");
  }
  compile(source, file, code);
  library->object.emplace(file);
  auto symbol = [&](const std::string &name) {
    void *address = library->object->symbol(name);
    if (!address)
      throw RuntimeError("the kernel compiled for the simulator has no '" + name + "'");
    return address;
  };
  reinterpret_cast<void (*)(const SimulatorFunctions *)>(symbol("tilewright_bind"))(&simulated::functions());
  std::vector<SimulatedKernel> kernels;
  for (auto &entry : entries) {
    SimulatedKernel kernel;
    kernel.entryName = entry;
    kernel.bytes = *static_cast<const unsigned long long *>(symbol("tilewright_parameter_bytes_" + entry));
    kernel.entry = reinterpret_cast<SimulatedKernel::Entry>(symbol("tilewright_enter_" + entry));
    kernel.library = library;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

SimulatedKernel compileForSimulator(std::string_view text, const std::string &entry, SimulatorCode code) {
  return std::move(compileForSimulator(text, std::vector<std::string>{entry}, code)[0]);
}

}   // namespace tw
