#include "tilewright/kernel/Nearest.h"
#include <catch2/catch.hpp>

using namespace tw;

TEST_CASE("the nearest name is suggested") {
  const std::vector<std::string> known{"causal", "window", "softcap"};
  CHECK(nearest("casual", known) == "causal");
  CHECK(nearest("windw", known) == "window");
  CHECK(nearest("SOFTCAP", known) == "softcap");
  CHECK(nearest("zebra", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(suggestion("casual", known) == "; did you mean 'causal'?");
  CHECK(suggestion("zebra", known).empty());
  CHECK(nearest("k", {"Q", "K", "V"}) == "K");
  CHECK(nearest("x", {"Q", "K", "V"}).empty());
}
