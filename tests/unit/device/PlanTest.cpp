// Parameter blocks byte by byte, and grids.
#include "Facts.h"
#include "tilewright/artifact/RuntimeError.h"
#include <catch2/catch.hpp>
#include <cstddef>

using namespace tw;
using namespace tw::device;
using namespace tw::device::tests;

namespace {

constexpr Machine h200{132, 50 << 20};

FoldParameters parametersOf(const NamedProblem &problem, const Machine &machine = h200) {
  const Plan plan(foldFacts());
  const Launch launch = prepare(plan, problem, machine, encodeAddress);
  FoldParameters parameters;
  REQUIRE(launch.parameterBytes == sizeof parameters);
  std::memcpy(static_cast<void *>(&parameters), launch.parameters.data(), sizeof parameters);
  return parameters;
}

} // namespace

TEST_CASE("a parameter block is the kernel's C struct") {
  const FoldParameters p = parametersOf(foldProblem(2, 3, 300, 77));
  std::uint64_t address;
  std::memcpy(&address, &p.tm_K, 8);
  CHECK(address == 0x10000);
  CHECK(p.tm_K.raw[127] == 0x5a);
  CHECK(p.on);
  CHECK(p.Y == reinterpret_cast<float *>(0x20000));
  CHECK(p.Y_s2 == 64);
  CHECK(p.Y_l3 == 64);
  CHECK(p.k == 77);
  CHECK(p.bias == 0.25);
  CHECK(p.scale == 0.5f);
  CHECK(p.half == 0x3c00);
  CHECK(p.blocks == 3);
  CHECK(p.frees == 6);
  CHECK(p.group == 6);
  CHECK(p.items == 18);
  CHECK(p.counters == reinterpret_cast<int *>(0x30000));
}

TEST_CASE("every byte between fields is 0") {
  const Plan plan(foldFacts());
  const Launch launch = prepare(plan, foldProblem(2, 3, 300, 77), h200, encodeAddress);
  std::vector<std::byte> block(plan.parameterBytes(), std::byte(0xff));
  std::memcpy(block.data(), launch.parameters.data(), block.size());
  const auto isZero = [&](std::size_t from, std::size_t to) { return std::all_of(block.begin() + std::ptrdiff_t(from), block.begin() + std::ptrdiff_t(to), [](std::byte b) { return b == std::byte(0); }); };
  CHECK(isZero(129, 136));                                                                       // after `on`
  CHECK(isZero(offsetof(FoldParameters, half) + 2, offsetof(FoldParameters, blocks)));
  CHECK(isZero(offsetof(FoldParameters, counters) + 8, sizeof(FoldParameters)));
}

TEST_CASE("without a map a block is as aligned as its largest field") {
  LaunchFacts facts;
  facts.threads = 128;
  facts.fields = {{Kind::extent, "len_n", "n"}};
  CHECK(Plan(facts).parameterBytes() == 4);
  CHECK(Plan(facts).parameterAlignment() == 4);
  facts.fields.insert(facts.fields.begin(), {Kind::pointer, "Y", {}, "Y", "f32"});
  CHECK(Plan(facts).parameterBytes() == 16);
  CHECK(Plan(facts).parameterAlignment() == 8);
}

TEST_CASE("what a plan asks for comes in the order of first use") {
  const Plan plan(foldFacts());
  CHECK(plan.tensors() == std::vector<std::string>{"K", "Y"});
  CHECK(plan.axes() == std::vector<std::string>{"q", "b", "h", "k"});
  CHECK(plan.scalars() == std::vector<std::string>{"on", "bias", "scale", "half"});
}

TEST_CASE("blocks are persistent: no more than run at once, no more than there are items") {
  LaunchFacts facts = foldFacts();
  facts.blocksPerSM = 2;
  const Plan plan(facts);
  CHECK(prepare(plan, foldProblem(2, 3, 300, 77), h200, encodeAddress).blocks == 18);
  const Launch large = prepare(plan, foldProblem(16, 16, 16384, 77), h200, encodeAddress);
  CHECK(large.blocks == 264);
  CHECK(large.items == 16 * 16 * 128);
}

TEST_CASE("lists of tiles lie behind the counters, for each block as many as it has slots, and grow with the axis") {
  LaunchFacts facts = foldFacts();
  facts.listAxis = "k";
  facts.listWidth = 64;
  facts.listSlots = 3;
  facts.fields.push_back({Kind::listRoom, "list_tiles"});
  facts.fields.push_back({Kind::lists, "lists"});
  const Plan plan(facts);
  const Launch launch = prepare(plan, foldProblem(2, 3, 300, 130), h200, encodeAddress);
  CHECK(launch.blocks == 18);
  CHECK(launch.workspaceBytes == 128 + 18 * 3 * 3 * 4);      // 130 are 3 tiles
  std::vector<std::byte> block(plan.parameterBytes());
  std::memcpy(block.data(), launch.parameters.data(), block.size());
  auto holds = [&](auto value) {
    for (std::size_t at = 0; at + sizeof value <= block.size(); at += sizeof value)
      if (std::memcmp(&block[at], &value, sizeof value) == 0)
        return true;
    return false;
  };
  CHECK(holds(std::uint64_t(0x30000 + 128)));
  plan.setWorkspace(0x50000, block.data());
  CHECK(holds(std::uint64_t(0x50000 + 128)));
  CHECK(holds(std::uint64_t(0x50000)));
  CHECK(prepare(Plan(foldFacts()), foldProblem(2, 3, 300, 130), h200, encodeAddress).workspaceBytes == 8);
}

TEST_CASE("without a block axis there is one tile a point") {
  LaunchFacts facts = foldFacts();
  facts.blockAxis.clear();
  const Launch launch = prepare(Plan(facts), foldProblem(2, 3, 300, 77), h200, encodeAddress);
  CHECK(launch.items == 6);
  CHECK(launch.blocks == 6);
}

TEST_CASE("groups are at most as many free points as the level-2 cache holds the ring of") {
  // K of one free point: 8192 · 128 · 2 bytes = 2 MiB, so that 16 fit 32 MiB.
  CHECK(parametersOf(foldProblem(4, 16, 256, 8192)).group == 16);
  CHECK(parametersOf(foldProblem(4, 16, 256, 8192), {132, 25 << 20}).group == 8);
  SECTION("alike: four of sixteen in place of three of nineteen and a last one of seven") {
    CHECK(parametersOf(foldProblem(4, 16, 256, 8192), {132, 60 << 20}).group == 16);
    CHECK(parametersOf(foldProblem(1, 17, 256, 8192), {132, 25 << 20}).group == 6);   // six, six and five
  }
  SECTION("all, where they fit") { CHECK(parametersOf(foldProblem(4, 16, 256, 64)).group == 64); }
  SECTION("one, where not even one fits") { CHECK(parametersOf(foldProblem(4, 16, 256, 1 << 20)).group == 1); }
  SECTION("all, where the fold is empty") { CHECK(parametersOf(foldProblem(4, 16, 256, 0)).group == 64); }
}

TEST_CASE("without grouping a group is one free point") {
  LaunchFacts facts = foldFacts();
  facts.grouped = false;
  const Launch launch = prepare(Plan(facts), foldProblem(4, 16, 256, 1 << 20), h200, encodeAddress);
  FoldParameters p;
  std::memcpy(static_cast<void *>(&p), launch.parameters.data(), sizeof p);
  CHECK(p.group == 1);
}

TEST_CASE("lengths of 0") {
  const Plan plan(foldFacts());
  SECTION("no point of a free axis, no tile of the block axis: nothing is launched") {
    for (const NamedProblem &problem : {foldProblem(0, 3, 300, 77), foldProblem(2, 0, 300, 77), foldProblem(2, 3, 0, 77)}) {
      const Launch launch = prepare(plan, problem, h200, encodeAddress);
      CHECK(launch.items == 0);
      CHECK(launch.blocks == 0);
    }
  }
  SECTION("an empty fold axis: items run, and the map points to memory that is there") {
    NamedProblem problem = foldProblem(2, 3, 300, 0);
    problem.tensors["K"].address = 0;
    const FoldParameters p = parametersOf(problem);
    std::uint64_t address;
    std::memcpy(&address, &p.tm_K, 8);
    CHECK(address == 0x20000);
    CHECK(p.items == 18);
    CHECK(p.k == 0);
  }
}

TEST_CASE("more items than 31 bits count") {
  const Plan plan(foldFacts());
  NamedProblem problem = foldProblem(1, 1, 1, 1);
  problem.lengths = {{"b", 1 << 30}, {"h", 1 << 30}, {"q", 1 << 30}, {"k", 1}};
  CHECK_THROWS_WITH(prepare(plan, problem, h200, encodeAddress), "there are more than 2146435072 work items");
  problem.lengths["h"] = 0;
  CHECK(prepare(plan, problem, h200, encodeAddress).blocks == 0);
}

TEST_CASE("what a problem by names lacks is named") {
  const Plan plan(foldFacts());
  NamedProblem problem = foldProblem(1, 1, 1, 1);
  SECTION("tensor") {
    problem.tensors.erase("K");
    CHECK_THROWS_WITH(prepare(plan, problem, h200, encodeAddress), "tensor 'K' is missing from the problem");
  }
  SECTION("axis") {
    problem.lengths.erase("h");
    CHECK_THROWS_WITH(prepare(plan, problem, h200, encodeAddress), "the length of axis 'h' is missing from the problem");
  }
  SECTION("scalar") {
    problem.scalars.erase("scale");
    CHECK_THROWS_WITH(prepare(plan, problem, h200, encodeAddress), "scalar 'scale' is missing from the problem");
  }
  SECTION("strides") {
    problem.tensors["K"].strides = {1};
    CHECK_THROWS_WITH(prepare(plan, problem, h200, encodeAddress), "tensor 'K' has 1 strides for 4 dimensions");
  }
}

TEST_CASE("facts that contradict themselves are refused") {
  LaunchFacts facts = foldFacts();
  SECTION("no threads") { facts.threads = 0; }
  SECTION("a map of six dimensions") { facts.fields[0].dimensions.resize(6); }
  SECTION("an unknown type") { facts.fields[1].type = "f8"; }
  SECTION("a tensor in the ring without a map") { facts.ringTensors = {"Y"}; }
  CHECK_THROWS_AS(Plan(facts), RuntimeError);
}
