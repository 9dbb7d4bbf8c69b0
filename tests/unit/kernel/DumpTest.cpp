// TILEWRIGHT_DUMP writes every stage of a build.
#include "Launched.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

using namespace tw;
using namespace tw::tests;
namespace fs = std::filesystem;

namespace {
struct DumpTo {
  explicit DumpTo(const fs::path &folder) {
    ::setenv("TILEWRIGHT_DUMP", folder.c_str(), 1);
    forgetKernels();
  }
  ~DumpTo() { ::unsetenv("TILEWRIGHT_DUMP"); }
};
} // namespace

TEST_CASE("every stage of a build is written in order") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("tilewright-dump-test-{}", ::getpid());
  fs::remove_all(folder);
  {
    DumpTo dump(folder);
    (void)build(makeVariant("causal+softcap(20)", {Type::bf16, true}), headDims({.d = 8, .dv = 8}));
  }
  std::vector<std::string> places, files;
  for (const auto &entry : fs::directory_iterator(folder))
    places.push_back(entry.path().filename());
  REQUIRE(places.size() == 1);
  CHECK(places[0].substr(0, 19) == "causal_softcap_20_-");
  CHECK(places[0].size() == 19 + 8);
  for (const auto &entry : fs::directory_iterator(folder / places[0])) {
    files.push_back(entry.path().filename());
    CHECK(fs::file_size(entry.path()) > 0);
  }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); ++i)
    CHECK(files[i].substr(0, 3) == fmt::format("{:02}-", i));
  CHECK(files.front() == "00-schedule.txt");
  CHECK(files[1] == "01-program.txt");
  CHECK(files[2] == "02-import.mlir");
  CHECK(files.back().substr(3) == "assembly.s");
  fs::remove_all(folder);
}

TEST_CASE("a folder that cannot be made is no error of the build") {
  DumpTo dump("/proc/no-such-place");
  CHECK_NOTHROW(build(makeVariant("causal+softcap(21)", {Type::bf16, true}), headDims({.d = 8, .dv = 8})));
}
