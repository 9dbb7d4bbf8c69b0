#include "tilewright/dsl/Schedule.h"
#include <catch2/catch.hpp>
#include <stdexcept>

using namespace tw;
using Catch::Matchers::Message;

TEST_CASE("a schedule prints every field and reads back") {
  Schedule s{"q", {{"q", 64}, {"k", 128}, {"d", 40}}, 3, 4, 2, false, true, false, true, false, 2, 5, 7};
  CHECK(print(s) == "block=q d=40 k=128 q=64 warpgroups=3 stages=4 blockBuffers=2 overlap=no turns=yes drawn=no stabilised=yes producer=no blocksPerSM=2 registerRows=5 registerVectors=7");
  CHECK(parseSchedule(print(s)) == s);
  CHECK(parseSchedule(print(Schedule{})) == Schedule{});
  CHECK(parseSchedule("block=t\n t=8") == Schedule{"t", {{"t", 8}}});
}

TEST_CASE("a schedule names what few programs have use for where it is not as usual") {
  Schedule s{"k", {{"k", 128}, {"q", 64}}};
  s.exchangeBuffers = 2;
  s.outboxBuffers = 3;
  s.delayed = s.ahead = true;
  CHECK(print(s).ends_with(" registerVectors=2 exchangeBuffers=2 outboxBuffers=3 delayed=yes ahead=yes"));
  CHECK(parseSchedule(print(s)) == s);
  CHECK(print(Schedule{}).ends_with(" registerVectors=2"));
}

TEST_CASE("a schedule names the axes that are walked in chunks") {
  Schedule s{"q", {{"q", 64}, {"k", 128}, {"d", 4096}, {"r", 512}}};
  s.nested = {{"d", {64, 4}}, {"r", {32, 2}}};
  CHECK(print(s).ends_with(" registerVectors=2 nested=d:64x4,r:32x2"));
  CHECK(parseSchedule(print(s)) == s);
}

TEST_CASE("when an item votes is printed where it is not the default") {
  Schedule s{"q", {{"q", 64}, {"k", 128}}};
  s.votes = 4;
  s.firstVote = 2;
  s.observed = true;
  CHECK(print(s).ends_with(" registerVectors=2 votes=4 firstVote=2 observed=yes"));
  CHECK(parseSchedule(print(s)) == s);
}

TEST_CASE("refused: schedules") {
  const std::string known = "known are the widths of axes, block, warpgroups, stages, blockBuffers, overlap, turns, drawn, stabilised, producer, blocksPerSM, registerRows, registerVectors, exchangeBuffers, outboxBuffers, delayed, ahead, votes, firstVote, observed, nested";
  CHECK_THROWS_MATCHES(parseSchedule("fast"), std::invalid_argument, Message("schedule 'fast': 'fast' is no field=value; " + known));
  CHECK_THROWS_MATCHES(parseSchedule("q=0"), std::invalid_argument, Message("schedule 'q=0': q=0 is no whole number from 1; " + known));
  CHECK_THROWS_MATCHES(parseSchedule("q=8 q=9"), std::invalid_argument, Message("schedule 'q=8 q=9': 'q' is given twice; give it once"));
  CHECK_THROWS_MATCHES(parseSchedule("overlap=1"), std::invalid_argument, Message("schedule 'overlap=1': overlap=1 is neither yes nor no; " + known));
  CHECK_THROWS_MATCHES(parseSchedule("stagse=2"), std::invalid_argument, Message("schedule 'stagse=2': 'stagse' is unknown; did you mean 'stages'?; " + known));
  CHECK_THROWS_MATCHES(parseSchedule("q-r=2"), std::invalid_argument, Message("schedule 'q-r=2': 'q-r' is no name of a field or an axis; " + known));
  CHECK_THROWS_MATCHES(parseSchedule("block=1"), std::invalid_argument, Message("schedule 'block=1': block=1 names no axis; " + known));
  CHECK_THROWS_MATCHES(parseSchedule("nested=d:64"), std::invalid_argument, Message("schedule 'nested=d:64': nested=d:64 is no list of axis:widthxstages, such as d:64x4; " + known));
  CHECK_THROWS_MATCHES(parseSchedule("nested=d:64x"), std::invalid_argument, Message("schedule 'nested=d:64x': nested= is no whole number from 1; " + known));
  CHECK_THROWS_MATCHES(parseSchedule("nested=d:64x4,d:32x2"), std::invalid_argument, Message("schedule 'nested=d:64x4,d:32x2': nested names axis 'd' twice; name it once"));
}
