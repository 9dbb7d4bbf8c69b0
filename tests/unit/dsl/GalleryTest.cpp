#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>
#include <regex>
#include <set>

using namespace tw;
using Catch::Matchers::Message;

namespace {
std::string names() {
  std::string list;
  for (const Variant &v : gallery())
    list += (list.empty() ? "" : ", ") + v.name;
  return list;
}
const std::string known = "; `tilewright list` shows the " + std::to_string(gallery().size()) + " that are known, which combine by +";
} // namespace

TEST_CASE("the gallery lists its variants in order, each described") {
  CHECK(names().find("plain, causal, window, softcap, softcapfast, alibi, gemma2, ") == 0);
  CHECK(gallery().size() >= 25);
  std::set<std::string> formulas;
  for (const Variant &v : gallery()) {
    INFO(v.name);
    CHECK_FALSE(v.summary.empty());
    CHECK(formulas.insert(v.formula).second);
    CHECK(std::regex_match(v.paper, std::regex(".*, (19|20)[0-9][0-9]")));
    CHECK(makeVariant(v.name).name == v.name);
  }
}

// What a variant says that it reads is what its program reads; and what is made for it has the shapes that it states.
TEST_CASE("variants say what they read") {
  const VariantShape shape{2, 6, 3, 70, 90, 16, 24};
  for (const Variant &v : gallery())
    for (Type type : {Type::bf16, Type::f64}) {
      INFO(v.name);
      const Program program = makeVariant(v.name, {.type = type});
      std::map<std::string, std::shared_ptr<const TensorInfo>> read;
      for (const auto &tensor : tensorsOf(program))
        read[tensor->name] = tensor;
      const VariantFacts facts = factsOf(v.name, type);
      for (const Capture &capture : facts.captures) {
        INFO(capture.name);
        REQUIRE(read.count(capture.name));
        CHECK(read[capture.name]->type == capture.type);
        CHECK(read[capture.name]->rank == capture.shape.size());
        CHECK_FALSE(capture.meaning.empty());
        std::mt19937_64 random(1), again(1);
        const Array made = capture.make(shape, random);
        std::int64_t points = 1;
        for (std::int64_t length : made.shape)
          points *= length;
        CHECK(made.shape.size() == capture.shape.size());
        CHECK(made.data.size() == std::size_t(points));
        CHECK(capture.make(shape, again).data == made.data);
        const VariantShape empty{0, 2, 1, 0, 0, 8, 8};
        CHECK(capture.make(empty, again).shape.size() == capture.shape.size());
        read.erase(capture.name);
      }
      for (const char *name : {"Q", "K", "V", "O"})
        CHECK(read.erase(name) == 1);
      CHECK(read.erase("lse") == std::size_t(facts.hasLse));
      CHECK(read.empty());
    }
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

TEST_CASE("a reach beyond all distances is no reach at all") {
  CHECK(print(makeVariant("dilated(1000000000,4)")).find("2147483647") != std::string::npos);
}

TEST_CASE("refused: variants") {
  CHECK_THROWS_MATCHES(makeVariant("casual"), std::invalid_argument, Message("variant 'casual': 'casual' is unknown; did you mean 'causal'?" + known));
  CHECK_THROWS_MATCHES(makeVariant("causal+zzzzzz"), std::invalid_argument, Message("variant 'causal+zzzzzz': 'zzzzzz' is unknown" + known));
  CHECK_THROWS_MATCHES(makeVariant(""), std::invalid_argument, Message("variant '': a name is missing" + known));
  CHECK_THROWS_MATCHES(makeVariant("window(3)"), std::invalid_argument, Message("variant 'window(3)': window takes 2 numbers, got 1"));
  CHECK_THROWS_MATCHES(makeVariant("causal(3)"), std::invalid_argument, Message("variant 'causal(3)': causal takes 0 numbers, got 1; leave the parentheses out"));
  CHECK_THROWS_MATCHES(makeVariant("window(3,x)"), std::invalid_argument, Message("variant 'window(3,x)': cannot read 'window(3,x)'; write numbers in parentheses: window(256,0)"));
  CHECK_THROWS_MATCHES(makeVariant("window(3,0"), std::invalid_argument, Message("variant 'window(3,0': cannot read 'window(3,0'; write numbers in parentheses: window(256,0)"));
  CHECK_THROWS_MATCHES(makeVariant("window(-2,0)"), std::invalid_argument, Message("variant 'window(-2,0)': window(left,right) counts keys; each is a whole number from 0 to 2147483647, or -1 for unbounded"));
  CHECK_THROWS_MATCHES(makeVariant("window(99999999999,0)"), std::invalid_argument, Message("variant 'window(99999999999,0)': window(left,right) counts keys; each is a whole number from 0 to 2147483647, or -1 for unbounded"));
  CHECK_THROWS_MATCHES(makeVariant("softcap(1e999)"), std::invalid_argument, Message("variant 'softcap(1e999)': 1e999 is out of f64's range; write a number that it holds"));
  CHECK_THROWS_MATCHES(makeVariant("softcap(0)"), std::invalid_argument, Message("variant 'softcap(0)': softcap(c) needs a positive finite cap"));
  CHECK_THROWS_MATCHES(makeVariant("plain", {.type = Type::i32}), std::invalid_argument, Message("variant 'plain': type i32 is no float; choose f16, bf16, f32 or f64"));
  CHECK_THROWS_MATCHES(makeVariant("streaming(0,5)"), std::invalid_argument, Message("variant 'streaming(0,5)': streaming(sinks,left) counts keys; each is a whole number from 1 to 2147483647"));
  CHECK_THROWS_MATCHES(makeVariant("chunked(1.5)"), std::invalid_argument, Message("variant 'chunked(1.5)': chunked(length) counts keys; each is a whole number from 1 to 2147483647"));
  CHECK_THROWS_MATCHES(makeVariant("t5(3,128)"), std::invalid_argument, Message("variant 't5(3,128)': t5(buckets,farthest) needs whole numbers: 4 to 1024 buckets, and a farthest distance beyond a quarter of them, at most 1000000"));
  CHECK_THROWS_MATCHES(makeVariant("relative(-1)"), std::invalid_argument, Message("variant 'relative(-1)': relative(radius) needs a whole number from 0 to 1000000"));
  CHECK_THROWS_MATCHES(makeVariant("dropout(1)"), std::invalid_argument, Message("variant 'dropout(1)': dropout(p) needs a probability from 0, less than 1"));
  CHECK_THROWS_MATCHES(makeVariant("dropout+dropout(0.5)"), std::invalid_argument, Message("variant 'dropout+dropout(0.5)': dropout is there twice, and both would draw the same numbers; name it once, with the part that both drop together"));
  CHECK_THROWS_MATCHES(makeVariant("sink+causal+relu2"), std::invalid_argument, Message("variant 'sink+causal+relu2': sink and relu2 both say how scores become weights; leave one out"));
}
