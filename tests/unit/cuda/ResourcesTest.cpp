// What the assembler said and made, read and judged.
#include "Texts.h"
#include "tilewright/artifact/CompileError.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Resources.h"

using namespace tw;
using namespace tw::cuda;
using namespace tw::cuda::tests;

namespace {

const char *const twoKernels =
    "ptxas info    : (C7519) warpgroup.arrive is injected in around line 64 by compiler to allow use of registers in GMMA in function 'main_loop'\n"
    "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function "
    "'main_loop'\n"
    "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to something in the function 'other'\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
    "ptxas info    : Function properties for other\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 0 barriers\n"
    "ptxas info    : Compiling entry function 'main_loop' for 'sm_90a'\n"
    "ptxas info    : Function properties for main_loop\n"
    "ptxas         .     16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 3 barriers, 16 bytes cumulative stack size, 400 bytes smem\n";

} // namespace

TEST_CASE("a log of several kernels") {
  const ResourceFacts facts = readLog(twoKernels, "main_loop");
  CHECK(facts.registers == 168);
  CHECK(facts.spillBytes == 32);
  CHECK(facts.stackBytes == 16);
  CHECK(facts.staticSharedBytes == 400);
  REQUIRE(facts.remarks.size() == 2);
  CHECK(facts.remarks[0] == "(C7519) warpgroup.arrive is injected in around line 64 by compiler to allow use of registers in GMMA in function 'main_loop'");
  CHECK(readLog(twoKernels, "other").registers == 32);
  CHECK(readLog(twoKernels, "other").spillBytes == 0);
}

TEST_CASE("a log that does not speak of the kernel") {
  CHECK_THROWS_WITH(readLog("ptxas info    : 0 bytes gmem\n", "main_loop"), "kernel 'main_loop': the assembler's log says nothing of its registers; it says:\nptxas info    : 0 bytes gmem\n");
}

TEST_CASE("remarks are a refusal that names the worst of them and the schedule") {
  const std::string message = messageOf<CompileError>([] { checkResources(readLog(twoKernels, "main_loop"), {.spillBytes = 1000}, "plain", "block=q q=128"); });
  CHECK(message == "kernel 'plain': the assembler could not keep its wgmma instructions in flight, which would make it slow: (C7511) Potential Performance Loss: wgmma.mma_async instructions are "
                   "serialized due to insufficient register resources for the wgmma pipeline in the function 'main_loop' (and 1 more such remarks); take a schedule with narrower tiles or without overlap. It "
                   "has 168 registers a thread; the schedule: block=q q=128");
}

TEST_CASE("spills are a refusal beyond the bound that the caller gives") {
  ResourceFacts facts;
  facts.spillBytes = 33;
  CHECK(messageOf<CompileError>([&] { checkResources(facts, {.spillBytes = 32}, "plain", "block=q q=128"); }) ==
        "kernel 'plain' spills 33 bytes of registers, more than the 32 that are allowed; take a schedule with narrower tiles. The schedule: block=q q=128");
  CHECK_NOTHROW(checkResources(facts, {.spillBytes = 33}, "plain", "block=q q=128"));
}

TEST_CASE("log and cubin of a real kernel agree") {
  if (!canAssemble())
    return;
  SECTION("small") {
    const Assembly assembly = assemble(scaleText, "scale");
    const ResourceFacts facts = resourcesOf(assembly.log, assembly.cubin, "scale");
    CHECK(facts.registers > 0);
    CHECK(facts.spillBytes == 0);
    CHECK(facts.remarks.empty());
    const CubinFacts cubin = readCubin(assembly.cubin, "scale");
    CHECK(cubin.parameterBytes == 32);
    CHECK(cubin.threads == 128);
    CHECK_NOTHROW(checkResources(facts, {}, "scale", ""));
  }
  SECTION("with parameters aligned to 128 bytes") {
    const CubinFacts cubin = readCubin(assemble(alignedText, "aligned").cubin, "aligned");
    CHECK(cubin.parameterBytes == 256);
    CHECK(cubin.threads == 0);
  }
  SECTION("spilling, with static shared memory") {
    const Assembly assembly = assemble(spillingText, "spilling");
    const ResourceFacts facts = resourcesOf(assembly.log, assembly.cubin, "spilling");
    CHECK(facts.registers == 64);
    CHECK(facts.spillBytes > 0);
    CHECK(facts.stackBytes > 0);
    CHECK(facts.staticSharedBytes == 400);
    CHECK_THROWS_AS(checkResources(facts, {.spillBytes = facts.spillBytes - 1}, "spilling", ""), CompileError);
  }
  SECTION("serialised") {
    const Assembly assembly = assemble(serialisedText, "serialised");
    const ResourceFacts facts = resourcesOf(assembly.log, assembly.cubin, "serialised");
    CHECK_FALSE(facts.remarks.empty());
    CHECK_THROWS_AS(checkResources(facts, {.spillBytes = 1 << 20}, "serialised", ""), CompileError);
  }
}

TEST_CASE("a log that contradicts the cubin is not believed") {
  if (!canAssemble())
    return;
  Assembly assembly = assemble(spillingText, "spilling");
  assembly.log.replace(assembly.log.find("Used 64"), 7, "Used 65");
  CHECK(messageOf<RuntimeError>([&] { (void)resourcesOf(assembly.log, assembly.cubin, "spilling"); }) ==
        "kernel 'spilling': the assembler's log says 65 registers, its cubin 64; this version of NVRTC is not understood: take another one by TILEWRIGHT_NVRTC");
}

TEST_CASE("bytes that are no whole cubin are refused, wherever they end") {
  CHECK(messageOf<RuntimeError>([] { (void)readCubin("", "scale"); }) == "the machine code of kernel 'scale' is cut short; clear the cache");
  CHECK(messageOf<RuntimeError>([] { (void)readCubin(std::string(100, 'x'), "scale"); }) == "the machine code of kernel 'scale' is no cubin; clear the cache");
  if (!canAssemble())
    return;
  const std::string cubin = assemble(scaleText, "scale").cubin;
  CHECK(messageOf<RuntimeError>([&] { (void)readCubin(cubin, "other"); }) == "the machine code of kernel 'other' holds no such kernel; clear the cache");
  for (std::size_t end = 0; end < cubin.size(); end += 7)
    try {
      (void)readCubin(std::string_view(cubin).substr(0, end), "scale");   // a cut that loses nothing that is read is no error
    } catch (const RuntimeError &) {
    }
}
