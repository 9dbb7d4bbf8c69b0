// Kernels stay from process to process; `cache` looks at them.
#include "Ran.h"
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tw::tests;
using nlohmann::json;

TEST_CASE("the second process loads what the first compiled, and damage is built anew") {
  Folder folder;
  const std::string own = "TILEWRIGHT_CACHE=" + folder.path.string(), work = "run causal --shape 1,2,1,9,9,8 --check --json";
  auto origin = [&] {
    Ran r = ran(work, own);
    CHECK(r.status == 0);
    return json::parse(r.out)["build"]["kernel"].get<std::string>();
  };
  CHECK(origin() == "compiled");
  CHECK(origin() == "loaded from the cache");
  CHECK_THAT(ran("cache", own).out, Catch::Contains(": 1 kernel, "));
  json entries = json::parse(ran("cache list --json", own).out);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0]["facts"]["program"] == "causal");
  CHECK(ran("cache verify", own).out == "1 kernel checked, 0 damaged and dropped\n");

  const std::string file = folder / "kernels.sqlite";
  std::string bytes = folder.read("kernels.sqlite");
  bytes[bytes.size() / 2] ^= 8;
  folder.write("kernels.sqlite", bytes);
  std::filesystem::remove(file + "-wal");
  Ran r = ran(work, own);
  CHECK(r.status == 0);
  CHECK(origin() == "loaded from the cache");

  CHECK(ran("cache clear", own).status == 0);
  CHECK(json::parse(ran("cache stats --json", own).out)["entries"] == 0);
  CHECK(origin() == "compiled");
}

TEST_CASE("a cache that cannot be written is said once and costs nothing else") {
  Ran r = ran("run causal --shape 1,1,1,4,4,8 --check", "TILEWRIGHT_CACHE=/proc/no-such-place");
  CHECK(r.status == 0);
  CHECK_THAT(r.err, Catch::StartsWith("tilewright: cache '/proc/no-such-place/kernels.sqlite' cannot be used"));
  CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
}

TEST_CASE("what cannot be cleared or verified is a failure with the reason") {
  const std::string nowhere = "TILEWRIGHT_CACHE=/proc/no-such-place";
  Ran clear = ran("cache clear", nowhere), verify = ran("cache verify", nowhere);
  CHECK(clear.status == 1);
  CHECK(clear.out == "");
  CHECK(clear.err == "tilewright cache: nothing was cleared: No such file or directory\n");
  CHECK(verify.status == 1);
  CHECK(verify.out == "");
  CHECK(verify.err == "tilewright cache: nothing was checked: No such file or directory\n");
  CHECK(ran("cache clear").status == 0);   // off: there is nothing to clear
  CHECK(ran("cache verify").status == 0);
}

TEST_CASE("a file that is none of ours is damage, and verify says so") {
  Folder folder;
  folder.write("kernels.sqlite", "junk\n");
  const std::string own = "TILEWRIGHT_CACHE=" + folder.path.string();
  Ran r = ran("cache verify", own);
  CHECK(r.status == 1);
  CHECK(r.out == "0 kernels checked, 0 damaged and dropped; the file was damaged, set aside and begun anew\n");
  CHECK_THAT(r.err, Catch::StartsWith("tilewright: cache '" + (folder / "kernels.sqlite") + "' cannot be used ("));
  CHECK(ran("cache verify", own).status == 0);   // the new one
}
