#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>

using namespace tw;
using Catch::Matchers::Message;

namespace {
const std::string known = "; known are plain, causal, window, softcap, alibi, gemma2, and combinations by +";
}

TEST_CASE("the gallery lists its variants in order, each described") {
  std::string names;
  for (const Variant &v : gallery()) {
    names += v.name + " ";
    CHECK_FALSE(v.summary.empty());
    CHECK_FALSE(v.formula.empty());
    CHECK(makeVariant(v.name).name == v.name);
  }
  CHECK(names == "plain causal window softcap alibi gemma2 ");
}

TEST_CASE("variants combine in the order written") {
  const std::string text = print(makeVariant("alibi+softcap+causal"));
  const auto alibi = text.find("named \"alibi\""), cap = text.find("named \"softcap\""), causal = text.find("named \"causal\"");
  REQUIRE(causal != std::string::npos);
  CHECK(alibi < cap);
  CHECK(cap < causal);
}

TEST_CASE("a part may come twice") {
  CHECK(tensorsOf(makeVariant("alibi+causal+alibi")).size() == tensorsOf(makeVariant("alibi")).size());
}

TEST_CASE("variants take numbers") {
  CHECK(print(makeVariant("window(4095,0)")).find(", 4095 : bool") != std::string::npos);
  CHECK(print(makeVariant("softcap(30)+window(-1,2)")).find(", 30.0 : f32") != std::string::npos);
}

TEST_CASE("types of variants") {
  for (Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
    const Program p = makeVariant("alibi", {.type = type, .lse = true});
    CHECK(p.stores[0].tensor.type() == type);
    CHECK(p.stores[1].tensor.type() == (type == Type::f64 ? Type::f64 : Type::f32));
    CHECK(p.stores[0].value.type() == (type == Type::f64 ? Type::f64 : Type::f32));
  }
  CHECK(makeVariant("plain", {.lse = false}).stores.size() == 1);
}

TEST_CASE("refused: variants") {
  CHECK_THROWS_MATCHES(makeVariant("casual"), std::invalid_argument, Message("variant 'casual': 'casual' is unknown; did you mean 'causal'?" + known));
  CHECK_THROWS_MATCHES(makeVariant("causal+zzzzzz"), std::invalid_argument, Message("variant 'causal+zzzzzz': 'zzzzzz' is unknown" + known));
  CHECK_THROWS_MATCHES(makeVariant(""), std::invalid_argument, Message("variant '': '' is unknown" + known));
  CHECK_THROWS_MATCHES(makeVariant("window(3)"), std::invalid_argument, Message("variant 'window(3)': window takes 2 numbers, got 1"));
  CHECK_THROWS_MATCHES(makeVariant("causal(3)"), std::invalid_argument, Message("variant 'causal(3)': causal takes 0 numbers, got 1; leave the parentheses out"));
  CHECK_THROWS_MATCHES(makeVariant("window(3,x)"), std::invalid_argument, Message("variant 'window(3,x)': cannot read 'window(3,x)'; write numbers in parentheses: window(256,0)"));
  CHECK_THROWS_MATCHES(makeVariant("window(3,0"), std::invalid_argument, Message("variant 'window(3,0': cannot read 'window(3,0'; write numbers in parentheses: window(256,0)"));
  CHECK_THROWS_MATCHES(makeVariant("window(-2,0)"), std::invalid_argument, Message("variant 'window(-2,0)': window(left,right) counts keys; each is a whole number from 0 to 2147483647, or -1 for unbounded"));
  CHECK_THROWS_MATCHES(makeVariant("window(99999999999,0)"), std::invalid_argument, Message("variant 'window(99999999999,0)': window(left,right) counts keys; each is a whole number from 0 to 2147483647, or -1 for unbounded"));
  CHECK_THROWS_MATCHES(makeVariant("softcap(1e999)"), std::invalid_argument, Message("variant 'softcap(1e999)': 1e999 is out of f64's range; write a number that it holds"));
  CHECK_THROWS_MATCHES(makeVariant("softcap(0)"), std::invalid_argument, Message("variant 'softcap(0)': softcap(c) needs a positive finite cap"));
  CHECK_THROWS_MATCHES(makeVariant("plain", {.type = Type::i32}), std::invalid_argument, Message("variant 'plain': type i32 is no float; choose f16, bf16, f32 or f64"));
}
