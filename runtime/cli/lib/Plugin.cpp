#include "Plugin.h"
#include "tilewright/cache/Store.h"
#include "tilewright/toolchain/Toolchain.h"
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace tw::cli {
namespace {

namespace fs = std::filesystem;
using Function = const char *(const char *type, int lse);

std::optional<std::string> contents(const fs::path &file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return std::nullopt;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Where headers and library are: beside this program, installed or in a build tree.
struct Prefix {
  fs::path include, library;   // folders
};

Prefix prefix() {
  const fs::path root = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  for (const char *folder : {TILEWRIGHT_LIBDIR, "lib", "lib64"})
    if (fs::exists(root / folder / "libtilewright.so") && fs::exists(root / "include/tilewright/variant.h"))
      return {root / "include", root / folder};
  throw std::invalid_argument(fmt::format("a variant in a file needs the headers and the library of Tilewright beside this program, and {} has no "
                                          "include/tilewright/variant.h with {}/libtilewright.so; run the "
                                          "`tilewright` of an installation (cmake --install) or of a whole build tree",
                                          root.string(), TILEWRIGHT_LIBDIR));
}

/// Plug-ins in the file of kernels, by content: first what a file includes by what it says, then the plug-in by what all of these say.
class Kept {
public:
  Kept(const fs::path &source, const std::vector<std::string> &command) : store(cache::Store::open(cache::locate())) {
    const std::optional<std::string> text = contents(source);
    if (!text)
      throw std::invalid_argument(fmt::format("{} cannot be read: {}; name a C++ file that is there, or a variant of `tilewright list`", source.string(),
                                              fs::exists(source) ? "it is no file, or not for this user to read" : "there is no such file"));
    const CommandResult version = runCommand({command[0], "--version"});
    if (!version.isStarted)
      throw std::invalid_argument(fmt::format("a variant in a file is compiled with a C++ compiler of this machine, and '{}' cannot be started; "
                                              "install one (Debian: apt-get install g++), or name one: --cxx COMMAND, or the "
                                              "environment variable CXX",
                                              command[0]));
    cache::Hasher hasher;
    hasher.field("plug-in").field(TILEWRIGHT_VERSION).field(version.printed).field(fs::absolute(source).string()).field(*text);
    for (const std::string &word : command)
      hasher.field(word);
    base = hasher.finish();
  }

  [[nodiscard]] std::optional<std::string> find() {
    const std::optional<std::string> files = store.get(base);
    return files ? store.get(keyFor(*files)) : std::nullopt;
  }

  /// `rule` is what the compiler writes for make: the files that it read.
  void keep(const std::string &source, const std::string &rule, const std::string &object) {
    std::string files, word;
    std::istringstream words(rule.substr(std::min(rule.find(':') + 1, rule.size())));
    while (words >> word)
      if (word != "\\")
        files += word + "\n";
    const cache::Facts facts = {{"program", fs::path(source).filename().string()}, {"target", "plug-in"}, {"schedule", "-"}};
    store.put(base, files, facts);
    store.put(keyFor(files), object, facts);
  }

private:
  [[nodiscard]] cache::Digest keyFor(const std::string &files) const {
    cache::Hasher hasher;
    hasher.field(base.hex());
    std::istringstream lines(files);
    for (std::string file; std::getline(lines, file);)
      hasher.field(file).field(contents(file).value_or(""));
    return hasher.finish();
  }

  cache::Store store;
  cache::Digest base;
};

/// The plug-in's bytes, from the cache or compiled.
std::string objectOf(const std::string &source, const TemporaryFolder &folder) {
  const Prefix place = prefix();
  std::vector<std::string> command = hostCompiler();
  const std::string compiler = command[0];
  for (const std::string &word :
       {std::string("-std=c++20"), std::string("-O0"), std::string("-fPIC"), std::string("-shared"), "-I" + place.include.string()})
    command.push_back(word);
  Kept kept(source, command);
  if (std::optional<std::string> object = kept.find())
    return *std::move(object);
  const fs::path object = folder / "variant.so", rule = folder / "variant.d";
  for (const std::string &word : {std::string("-MMD"), std::string("-MF"), rule.string(), source, std::string("-o"), object.string(),
                                  "-L" + place.library.string(), std::string("-ltilewright"), "-Wl,-rpath," + place.library.string()})
    command.push_back(word);
  const CommandResult compiled = runCommand(command);
  if (compiled.status)
    throw std::invalid_argument(
        fmt::format("{} does not compile; '{}' ended with {} and said:\n{}", source, compiler, compiled.status, compiled.printed));
  std::string bytes = contents(object).value_or("");
  kept.keep(source, contents(rule).value_or(""), bytes);
  return bytes;
}

/// The plug-in of a file in this process.
std::unique_ptr<SharedObject> load(const std::string &source) {
  const TemporaryFolder folder("a variant in a file");
  const std::string bytes = objectOf(source, folder);
  const fs::path file = folder / "variant.so";
  std::ofstream(file, std::ios::binary) << bytes;
  return std::make_unique<SharedObject>(file);   // it stays loaded when the file goes
}

/// Without its first line, which is returned apart.
std::string cutLine(std::string &text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line = text.substr(0, end);
  text.erase(0, end + 1);
  return line;
}

}   // namespace

bool isVariantFile(const std::string &given) { return given.ends_with(".cpp") || given.ends_with(".cc") || given.ends_with(".cxx"); }

Program programInFile(const std::string &file, Type type, bool lse) {
  static std::map<std::string, std::unique_ptr<SharedObject>> loaded;
  std::unique_ptr<SharedObject> &object = loaded[file];
  if (!object)
    object = load(file);
  const auto function = reinterpret_cast<Function *>(object->symbol("tilewright_variant"));
  if (!function)
    throw std::invalid_argument(fmt::format("{} exports no variant; include <tilewright/variant.h> and write TILEWRIGHT_VARIANT(name, attention) {{ "
                                            "… }} or TILEWRIGHT_PROGRAM(type) {{ … }}",
                                            file));
  std::string text = function(name(type), lse);
  const std::string version = cutLine(text);
  if (version != "// tilewright " TILEWRIGHT_VERSION)
    throw std::invalid_argument(fmt::format(
        "{} was linked with another version of Tilewright ('{}') than this program's, {}; use headers, library and program of one installation", file,
        version.substr(0, 80), TILEWRIGHT_VERSION));
  if (text.starts_with("error\n"))
    throw std::invalid_argument("\n" + text.substr(6));
  return parseProgram(text, file);
}

}   // namespace tw::cli
