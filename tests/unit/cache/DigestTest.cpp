#include "tilewright/cache/Digest.h"

#include <catch2/catch.hpp>

#include <unordered_set>

using namespace tw::cache;

TEST_CASE("digest: the examples of FIPS 180") {
  CHECK(digest("").hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex() ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmno"
               "pqrstnopqrstu")
            .hex() == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(digest(std::string(1'000'000, 'a')).hex() ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("digest: pieces of any length give the digest of the whole") {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += char('a' + i % 26);
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string_view whole = std::string_view(text).substr(0, length);
    for (const std::size_t cut : {length / 3, length / 2, length - length / 5}) {
      Hasher hasher;
      CHECK(hasher.add(whole.substr(0, cut)).add(whole.substr(cut)).finish() == digest(whole));
      CHECK(hasher.finish() == digest(""));
    }
  }
}

TEST_CASE("digest: fields do not run into each other") {
  CHECK(Hasher().field("ab").field("c").finish() != Hasher().field("a").field("bc").finish());
  CHECK(Hasher().field("").field("a").finish() != Hasher().field("a").field("").finish());
}

TEST_CASE("digest: hexadecimal text and back") {
  const Digest abc = digest("abc");
  CHECK(Digest::fromHex(abc.hex()) == abc);
  CHECK(Digest::fromHex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD") == abc);
  CHECK_FALSE(Digest::fromHex(abc.hex().substr(1)));
  std::string notHex = abc.hex();
  notHex.back() = 'g';
  CHECK_FALSE(Digest::fromHex(notHex));
}

TEST_CASE("digest: order and hash") {
  CHECK(digest("a") != digest("b"));
  CHECK((digest("a") < digest("b")) == (digest("a").hex() < digest("b").hex()));
  CHECK(std::unordered_set<Digest>{digest("a"), digest("b"), digest("a")}.size() == 2);
}
