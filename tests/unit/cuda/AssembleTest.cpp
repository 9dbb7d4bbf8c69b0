// Text to machine code, without a GPU.
#include "Texts.h"
#include "tilewright/artifact/RuntimeError.h"
#include <thread>

using namespace tw;
using namespace tw::cuda;
using namespace tw::cuda::tests;

TEST_CASE("a text becomes a cubin, PTX and a log") {
  if (!canAssemble())
    return;
  const Assembly assembly = assemble(scaleText, "scale");
  CHECK(assembly.cubin.substr(0, 4) == "\x7f" "ELF");
  CHECK(assembly.ptx.find(".target sm_90a") != std::string::npos);
  CHECK(assembly.log.find("Compiling entry function 'scale' for 'sm_90a'") != std::string::npos);
}

TEST_CASE("the same text gives the same cubin") {
  if (canAssemble())
    CHECK(assemble(scaleText, "scale").cubin == assemble(scaleText, "scale").cubin);
}

TEST_CASE("threads compile at once") {
  if (!canAssemble())
    return;
  std::string cubins[4];
  {
    std::vector<std::jthread> threads;
    for (std::string &cubin : cubins)
      threads.emplace_back([&cubin] { cubin = assemble(scaleText, "scale").cubin; });
  }
  for (const std::string &cubin : cubins)
    CHECK(cubin == cubins[0]);
}

TEST_CASE("a wrong text is refused with the log and the lines around the error") {
  if (!canAssemble())
    return;
  const std::string message = messageOf<RuntimeError>([] { (void)assemble("int one;\nint two;\nint three = four;\nint five;\n", "wrong"); });
  CHECK(message.starts_with("kernel 'wrong': NVRTC "));
  CHECK(message.find("wrong.cu(3): error: identifier \"four\" is undefined") != std::string::npos);
  CHECK(message.find("      2 | int two;\n>     3 | int three = four;\n      4 | int five;\n") != std::string::npos);
}

TEST_CASE("an error without a line has no excerpt") {
  if (!canAssemble())
    return;
  const std::string message = messageOf<RuntimeError>([] { (void)assemble("#line 10 \"elsewhere.h\"\nint three = four;\n", "wrong"); });
  CHECK(message.find("elsewhere.h(10): error") != std::string::npos);
  CHECK(message.find(" | ") == std::string::npos);
}

TEST_CASE("options") {
  std::vector<std::string> expected{"--gpu-architecture=sm_90a", "--std=c++17", "--ptxas-options=-v", "-default-device"};
  if (canAssemble() && nvrtcVersion().major >= 13)
    expected.push_back("--no-cache");
  CHECK(nvrtcOptions({}) == expected);
  CHECK(nvrtcOptions({.arch = "sm80"})[0] == "--gpu-architecture=sm_80");
  CHECK(nvrtcOptions({.lineInfo = true}).back() == "-lineinfo");
  CHECK(nvrtcOptions({.plainArrivals = true}).back() == "-DPLAIN_ARRIVALS");
}
