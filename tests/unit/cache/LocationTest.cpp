#include "Scratch.h"
#include "tilewright/cache/Location.h"

#include <catch2/catch.hpp>

#include <map>

using namespace tw::cache;
using tw::cache::test::Log;

namespace {

Location locateIn(std::map<std::string, std::string> variables) {
  return locate([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("location: the first variable that is set decides") {
  CHECK(locateIn({{"TILEWRIGHT_CACHE", "/t"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}).file == "/t/kernels.sqlite");
  CHECK(locateIn({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}).file == "/x/tilewright/kernels.sqlite");
  CHECK(locateIn({{"TILEWRIGHT_CACHE", ""}, {"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}).file ==
        "/h/.cache/tilewright/kernels.sqlite");
}

TEST_CASE("location: off means memory only, without a warning") {
  const Location off = locateIn({{"TILEWRIGHT_CACHE", "off"}, {"HOME", "/h"}});
  CHECK_FALSE(off.file);
  Log log;
  Store store = Store::open(off, log.options());
  store.put(digest("k"), "v");
  CHECK(store.get(digest("k")) == "v");
  CHECK(store.stats().memoryOnly == "TILEWRIGHT_CACHE is off");
  CHECK(log.lines.empty());
}

TEST_CASE("location: no variable at all means memory only, said once") {
  Log log;
  Store store = Store::open(locateIn({}), log.options());
  store.put(digest("k"), "v");
  CHECK(store.get(digest("k")) == "v");
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0] ==
        "there is no cache (none of TILEWRIGHT_CACHE, XDG_CACHE_HOME and HOME is set): entries stay in memory and are "
        "lost at exit; set TILEWRIGHT_CACHE to a writable folder");
}
