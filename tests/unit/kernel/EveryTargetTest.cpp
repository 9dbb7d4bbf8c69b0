// Machine code for every GPU of the table, made without one: within its shared memory and registers, and with few registers spilled.
#include "tilewright/artifact/Artifact.h"
#include "tilewright/cuda/Nvrtc.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/emit/EmitCuda.h"
#include "tilewright/kernel/DeviceText.h"
#include "tilewright/schedule/Target.h"
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <thread>

using namespace tw;

namespace {

constexpr int spillBytesStated = 512;   // docs/cli.md: stores and loads together

/// Targets with the same text for the same instruction set have the same machine code, which is made once.
struct Case {
  std::vector<const Target *> targets;
  std::int64_t d;
  std::string text;   // of the default schedule's kernel
  Artifact artifact;
  std::string failure;
};

BuildOptions optionsOf(const Target &target, std::int64_t d) { return {.target = target.name, .extents = {{"d", d}, {"e", d}}}; }

std::vector<Case> casesOf(const Program &program) {
  std::vector<Case> cases;
  for (std::int64_t d : {256, 128, 64})   // what takes longest first
    for (const Target &target : targets()) {
      if (target.isHost())
        continue;
      std::string text = assembledText(compileText(program, optionsOf(target, d)));
      const auto same = std::find_if(cases.begin(), cases.end(), [&](const Case &c) { return c.targets.front()->arch == target.arch && c.text == text; });
      if (same != cases.end())
        same->targets.push_back(&target);
      else
        cases.push_back({{&target}, d, std::move(text), {}, {}});
    }
  return cases;
}

/// On all processors of this machine.
void compileAll(const Program &program, std::vector<Case> &cases) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(2U, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < cases.size(); at = next++)
        try {
          cases[at].artifact = compileCode(program, optionsOf(*cases[at].targets.front(), cases[at].d));
        } catch (const std::exception &error) {
          cases[at].failure = error.what();
        }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace

TEST_CASE("machine code for every target keeps to its shared memory and registers and spills little") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  const Program program = makeVariant("gemma2", {.type = Type::bf16});
  std::vector<Case> cases = casesOf(program);
  compileAll(program, cases);
  std::string table = fmt::format("{:<10} {:>4} {:>10} {:>8} {:>8}  {}\n", "target", "D", "registers", "spilled", "shared", "schedule");
  std::size_t checked = 0;
  for (const Case &c : cases)
    for (const Target *target : c.targets) {
      INFO("gemma2 D=" << c.d << " for " << target->name);
      CHECK(c.failure == "");
      const ResourceFacts &taken = c.artifact.resources;
      const int shared = c.artifact.launch.sharedBytes + taken.staticSharedBytes;
      CHECK(!c.artifact.code.empty());
      CHECK(shared <= target->sharedBytesOfBlock(c.artifact.launch.blocksPerSM));
      CHECK(taken.registers > 0);
      CHECK(taken.registers <= target->registersPerThreadMax);
      CHECK((taken.registers + 7) / 8 * 8 * c.artifact.launch.threads * c.artifact.launch.blocksPerSM <= target->registersPerSM);
      CHECK(taken.spillBytes <= spillBytesStated);
      table += fmt::format("{:<10} {:>4} {:>10} {:>8} {:>8}  {}\n", target->name, c.d, taken.registers, taken.spillBytes, shared, c.artifact.schedule.substr(0, c.artifact.schedule.find(" blockBuffers")));
      ++checked;
    }
  CHECK(checked == 3 * (targets().size() - 1));
  std::fputs(table.c_str(), stdout);
}

TEST_CASE("machine code of kernels that list their tiles spills as little") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  const Program program = makeVariant("documents+causal", {.type = Type::bf16});
  for (const char *name : {"h200", "a100"}) {
    const Artifact artifact = compileCode(program, optionsOf(findTarget(name), 128));
    INFO(name << " under " << artifact.schedule << ": " << artifact.resources.registers << " registers, " << artifact.resources.spillBytes << " bytes spilled");
    CHECK(artifact.launch.listSlots > 0);
    CHECK(artifact.resources.spillBytes <= spillBytesStated);
  }
}
