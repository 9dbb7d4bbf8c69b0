#include "tilewright/artifact/HostImage.h"
#include "tilewright/artifact/RuntimeError.h"
#include <catch2/catch.hpp>

static const tw::HostImage image = {"x86_64-pc-linux-gnu", {"avx2", "f16c", "fma"}, std::string("\0object\n\xff bytes", 14)};

TEST_CASE("an image opens as it was sealed") {
  tw::HostImage opened = tw::openHostImage(tw::sealHostImage(image));
  CHECK(opened.triple == image.triple);
  CHECK(opened.features == image.features);
  CHECK(opened.object == image.object);
  CHECK(tw::openHostImage(tw::sealHostImage({"t", {}, ""})).features.empty());
}

TEST_CASE("an altered bit anywhere is found") {
  const std::string sealed = tw::sealHostImage(image);
  for (std::size_t at = 0; at < sealed.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string altered = sealed;
      altered[at] = static_cast<char>(altered[at] ^ 1 << bit);
      CHECK_THROWS_AS(tw::openHostImage(altered), tw::RuntimeError);
    }
}

TEST_CASE("an image cut short or grown is refused") {
  const std::string sealed = tw::sealHostImage(image);
  for (std::size_t size = 0; size < sealed.size(); ++size)
    CHECK_THROWS_AS(tw::openHostImage(sealed.substr(0, size)), tw::RuntimeError);
  CHECK_THROWS_WITH(tw::openHostImage(sealed + "x"),
                    "host code cannot be loaded: its bytes do not match their digest, so they were altered or cut short; build the kernel again");
  CHECK_THROWS_WITH(tw::openHostImage("ELF"), "host code cannot be loaded: the 3 bytes do not begin with 'tilewright host image 1'; build the kernel again");
}

TEST_CASE("only functions of the C library may be called") {
  CHECK(tw::isHostFunction("expf"));
  CHECK(tw::isHostFunction("memcpy"));
  CHECK_FALSE(tw::isHostFunction("system"));
  CHECK_FALSE(tw::isHostFunction("exp2"  "fx"));
}
