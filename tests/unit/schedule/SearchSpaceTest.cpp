// Every schedule listed fits; for every GPU, limit, variant and head dim there is one, or a refusal with the bytes.
#include "tilewright/schedule/SearchSpace.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/dsl/Gradient.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/schedule/CostModel.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SharedLimit.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <set>

using namespace tw;

namespace {

constexpr std::int64_t KiB = 1024;

/// GPUs that differ in what schedules are fitted to, within each limit.
std::vector<Target> limitedTargets() {
  std::vector<Target> list;
  std::set<std::vector<int>> seen;
  for (const Target &whole : targets()) {
    if (whole.isHost())
      continue;
    for (std::int64_t limit : {48, 64, 99, 163, 227}) {
      const Target target = withSharedLimit(whole, limit * KiB);
      if (seen.insert({target.isHopper(), target.sharedBytesPerBlock, target.sharedBytesPerSM, target.registersPerSM, target.threadsPerSM}).second)
        list.push_back(target);
    }
  }
  return list;
}

/// Whether a kernel can be made of the program, whatever the target: what cannot is refused before a schedule is asked for.
bool isKernel(const Program &program) {
  try {
    (void)rolesOf(program);
    return true;
  } catch (const ProgramError &) {
    return false;
  }
}

/// Of the extents those that are a program's inner axes.
std::map<std::string, std::int64_t> innerOf(const Program &program, std::int64_t d) {
  const Roles roles = rolesOf(program);
  std::map<std::string, std::int64_t> inner;
  for (std::size_t i = 0; i < roles.axes.size(); ++i)
    if (roles.roles[i] == Role::inner)
      inner[roles.axes[i].name()] = d;
  return inner;
}

/// A schedule that fits, or a refusal that names more bytes than there are (or more registers than a thread can hold).
void checkFits(const Program &program, const Target &target, std::int64_t d, int &refused) {
  try {
    const Schedule schedule = defaultSchedule(program, target, innerOf(program, d));
    const Footprint taken = footprint(program, schedule, target);
    const bool fits = taken.sharedBytes <= target.sharedBytesOfBlock(schedule.blocksPerSM) && taken.registersPerThread <= target.registersPerThreadMax;
    REQUIRE(fits);
  } catch (const std::invalid_argument &error) {
    ++refused;
    static const std::regex form("program '.*' fits no schedule on .*: the smallest tiles need (\\d+) (bytes of shared memory a block|registers a thread), there are (\\d+).*; make an inner axis shorter.*");
    std::smatch match;
    const std::string text = error.what();
    INFO(text);
    REQUIRE(std::regex_match(text, match, form));
    REQUIRE(std::stoll(match[1]) > std::stoll(match[3]));
  }
}

} // namespace

TEST_CASE("show: every variant has a schedule, forward and backward, on every GPU within every limit, or is refused with what it needs") {
  const auto list = limitedTargets();
  CHECK(list.size() >= 12);
  int forwardRefused = 0, backwardRefused = 0, schedules = 0;
  for (const Variant &variant : gallery()) {
    const Program program = makeVariant(variant.name);
    std::vector<Program> backward;
    try {
      backward = gradient(program).backward;
    } catch (const ProgramError &) {   // one that has no gradient
    }
    std::erase_if(backward, [](const Program &each) { return !isKernel(each); });
    for (const Target &target : list)
      for (std::int64_t d : {32, 64, 96, 128, 192, 256}) {
        INFO(variant.name << " D=" << d << " on " << target.name << " within " << target.sharedBytesPerBlock);
        checkFits(program, target, d, forwardRefused);
        ++schedules;
        if (d == 32 || d == 128 || d == 256)
          for (const Program &each : backward)
            checkFits(each, target, d, backwardRefused), ++schedules;
      }
  }
  INFO(forwardRefused << " and " << backwardRefused << " refused of " << schedules);
  CHECK(forwardRefused < schedules / 20);
}

TEST_CASE("the search space holds the default schedule, each schedule once, and nothing that does not fit") {
  for (const Target &target : targets())
    for (std::int64_t d : {64, 128, 256}) {
      INFO(target.name << " D=" << d);
      const Program program = makeVariant("causal");
      const auto space = searchSpace(program, target, {{"d", d}, {"e", d}});
      const Schedule usual = defaultSchedule(program, target, {{"d", d}, {"e", d}});
      CHECK(std::count(space.begin(), space.end(), usual) == 1);
      std::set<std::string> texts;
      for (const Schedule &schedule : space) {
        REQUIRE(texts.insert(print(schedule)).second);
        if (target.isHost())
          continue;
        REQUIRE(footprint(program, schedule, target).sharedBytes <= target.sharedBytesOfBlock(schedule.blocksPerSM));
        REQUIRE(128 * schedule.warpgroups * schedule.blocksPerSM <= target.threadsPerSM);
        const Estimate estimated = estimate(program, schedule, target, {{{"Q", {1, 1, 64, d}}, {"K", {1, 1, 64, d}}, {"V", {1, 1, 64, d}}}});
        REQUIRE((schedule == usual || estimated.spilledBytes == 0));   // as it is, overlapping or not
        REQUIRE((schedule.producer || (!schedule.overlap && schedule.stages > 1)));
        REQUIRE((!target.isHopper() || schedule.producer));
      }
    }
}

TEST_CASE("a limit of shared memory narrows the search space to what keeps to it") {
  const Program program = makeVariant("plain");
  const Target whole = findTarget("h200"), limited = withSharedLimit(whole, 99 * KiB);
  const auto all = searchSpace(program, whole, {{"d", 128}, {"e", 128}}), some = searchSpace(program, limited, {{"d", 128}, {"e", 128}});
  CHECK(some.size() < all.size());
  CHECK(!some.empty());
  for (const Schedule &schedule : some)
    REQUIRE(footprint(program, schedule, whole).sharedBytes <= 99 * KiB);
}

TEST_CASE("the search space keeps to what the default schedule must do: a producer that lists tiles, and whether steps overlap") {
  for (const Schedule &schedule : searchSpace(makeVariant("documents"), findTarget("a100"), {{"d", 64}, {"e", 64}}))
    REQUIRE(schedule.producer);
  for (const Program &program : gradient(makeVariant("causal")).backward) {
    const auto inner = innerOf(program, 64);
    const bool overlaps = defaultSchedule(program, findTarget("h200"), inner).overlap;
    for (const Schedule &schedule : searchSpace(program, findTarget("h200"), inner))
      REQUIRE(schedule.overlap == overlaps);
  }
}

TEST_CASE("where nothing fits the search space is refused as the default schedule is") {
  const Program program = makeVariant("gemma2");
  CHECK_THROWS_WITH(searchSpace(program, withSharedLimit(findTarget("l4"), 24 * KiB), {{"d", 256}, {"e", 256}}),
                    Catch::StartsWith("program 'gemma2' fits no schedule on NVIDIA L4: the smallest tiles need 26624 bytes of shared memory a block, there are 24576"));
}

TEST_CASE("where steps add to a tensor, how far warpgroups may be apart is a choice, and takes shared memory") {
  const Target &target = findTarget("h200");
  const Gradient made = gradient(makeVariant("plain", {.type = Type::bf16}), {.outputs = {"O"}, .inputs = {"Q", "K", "V"}, .accumulates = true});
  for (const Program &program : made.backward) {
    const Schedule usual = defaultSchedule(program, target, innerOf(program, 64));
    const Roles roles = rolesOf(program);
    const bool adds = std::any_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return addedBySteps(roles, store); });
    int delayed = 0, ahead = 0, outboxes = 0;
    for (const Schedule &schedule : searchSpace(program, target, innerOf(program, 64))) {
      delayed += schedule.delayed;
      ahead += schedule.ahead;
      outboxes += schedule.outboxBuffers > 1;
      CHECK((!schedule.delayed || schedule.exchangeBuffers > 1));
      CHECK((!schedule.ahead || schedule.stages > 1));
    }
    INFO(program.name);
    CHECK((delayed > 0) == adds);
    CHECK((ahead > 0) == adds);
    CHECK((outboxes > 0) == adds);
    Schedule more = usual;
    ++more.exchangeBuffers;
    const auto bytes = [&](const Schedule &schedule) { return footprint(program, schedule, target).sharedBytes; };
    CHECK(bytes(more) - bytes(usual) == (adds ? 2 * usual.widths.at("q") * usual.widths.at("k") : 0));
    more = usual;
    more.outboxBuffers = 2;
    CHECK(bytes(more) - bytes(usual) == (adds ? 4 * usual.widths.at("q") * 64 : 0));
  }
}
