// One text through NVRTC.
#include "NvrtcLibrary.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Nvrtc.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tw::cuda {
namespace {

/// A program of NVRTC's, destroyed with its owner.
class Compilation {
public:
  Compilation(const NvrtcLibrary &library, const std::string &text, const std::string &file) : library(library) {
    check(library.createProgram(&program, text.c_str(), file.c_str(), 0, nullptr, nullptr), "nvrtcCreateProgram");
  }
  ~Compilation() { (void)library.destroyProgram(&program); }
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;

  int compile(const std::vector<std::string> &options) {
    std::vector<const char *> arguments;
    for (const std::string &option : options)
      arguments.push_back(option.c_str());
    return library.compileProgram(program, static_cast<int>(arguments.size()), arguments.data());
  }

  std::string log() { return read(library.logSize, library.log, "nvrtcGetProgramLog", true); }
  std::string ptx() { return read(library.ptxSize, library.ptx, "nvrtcGetPTX", true); }
  std::string cubin() { return read(library.cubinSize, library.cubin, "nvrtcGetCUBIN", false); }

private:
  void check(int result, const char *call) const {
    if (result)
      throw RuntimeError(fmt::format("NVRTC: {} failed with {}", call, library.errorString(result)));
  }

  std::string read(int (*size)(NvrtcProgram, std::size_t *), int (*get)(NvrtcProgram, char *), const char *call, bool isText) const {
    std::size_t bytes = 0;
    check(size(program, &bytes), call);
    std::string out(bytes, '\0');
    check(get(program, out.data()), call);
    if (isText)
      out.resize(std::min(out.size(), out.find('\0')));
    return out;
  }

  const NvrtcLibrary &library;
  NvrtcProgram program = nullptr;
};

/// The lines around the first error of the log, numbered, or nothing where it is in no line of `file`.
std::string excerpt(const std::string &text, const std::string &log, const std::string &file) {
  std::size_t at = 0;
  int wrong = 0;
  const std::string start = file + "(";
  for (; !wrong && at < log.size(); at = log.find('\n', at) + 1) {
    const std::string_view line = std::string_view(log).substr(at, log.find('\n', at) - at);
    if (line.starts_with(start) && line.find("): error") != std::string_view::npos)
      std::from_chars(line.data() + start.size(), line.data() + line.size(), wrong);
    if (log.find('\n', at) == std::string::npos)
      break;
  }
  std::string out;
  std::size_t begin = 0;
  for (int number = 1; wrong && begin < text.size() && number <= wrong + 2; ++number) {
    const std::size_t end = std::min(text.size(), text.find('\n', begin));
    if (number >= wrong - 2)
      out += fmt::format("{} {:>5} | {}\n", number == wrong ? ">" : " ", number, text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

} // namespace

Assembly assemble(const std::string &text, const std::string &name, const AssemblyOptions &options) {
  (void)nvrtcVersion();   // throws where there is none
  const std::string file = name + ".cu";
  Compilation compilation(nvrtcLibrary(), text, file);
  const int result = compilation.compile(nvrtcOptions(options));
  Assembly assembly;
  assembly.log = compilation.log();
  if (result) {
    const std::string lines = excerpt(text, assembly.log, file);
    throw RuntimeError(fmt::format("kernel '{}': NVRTC {}.{} refuses the text made for {} ({}):\n{}{}{}", name, nvrtcLibrary().major, nvrtcLibrary().minor, options.arch,
                                   nvrtcLibrary().errorString(result), assembly.log, lines.empty() ? "" : "\n", lines));
  }
  assembly.cubin = compilation.cubin();
  assembly.ptx = compilation.ptx();
  return assembly;
}

} // namespace tw::cuda
