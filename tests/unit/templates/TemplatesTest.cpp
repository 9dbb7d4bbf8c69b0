// The texts are those of the files, GPU and simulator have the same primitives, and NVRTC compiles every one of them.
#include "tilewright/templates/Templates.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace tw;
namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path &file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Names of the functions that a text declares with DEV.
std::set<std::string> functions(std::string text) {
  text = std::regex_replace(text, std::regex("//[^\n]*"), "");
  static const std::regex declaration(R"(DEV [\w* ]*?(\w+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), declaration), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

std::set<std::string> without(const std::set<std::string> &all, const std::set<std::string> &some) {
  std::set<std::string> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::inserter(rest, rest.end()));
  return rest;
}

const fs::path root = TILEWRIGHT_TEMPLATES;
const Instructions all[] = {Instructions::sm80, Instructions::sm90};

/// For which instructions a kernel of the tests is written: its name ends with them, or they are sm90.
Instructions instructionsOf(const fs::path &file) { return file.stem().string().ends_with("_sm80") ? Instructions::sm80 : Instructions::sm90; }

}   // namespace

TEST_CASE("every file of templates/ is embedded as it is") {
  int files = 0;
  for (const char *folder : {"common", "host", "since_sm80", "sm80", "sm90"})
    for (auto &entry : fs::directory_iterator(root / folder)) {
      const std::string name = std::string(folder) + "/" + entry.path().filename().string();
      CAPTURE(name);
      CHECK(templateText(name) == contents(entry.path()));
      ++files;
    }
  CHECK(files > 20);
  CHECK(templatesDigest().size() == 64);
}

TEST_CASE("every device file is compiled before a kernel, and none includes anything") {
  std::set<std::string> listed, present;
  for (const Instructions instructions : all)
    listed.insert(templateFiles(instructions).begin(), templateFiles(instructions).end());
  for (const char *folder : {"common", "since_sm80", "sm80", "sm90"})
    for (auto &entry : fs::directory_iterator(root / folder))
      present.insert(std::string(folder) + "/" + entry.path().filename().string());
  CHECK(listed == present);
  for (const std::string &text : {deviceTemplates(Instructions::sm80), deviceTemplates(Instructions::sm90), hostTemplates()})
    CHECK(text.find("#include") == std::string::npos);
}

TEST_CASE("an instruction set takes its own files and what all have, each once, and all of since_sm80") {
  for (auto [instructions, own] : {std::pair(Instructions::sm80, "sm80/"), std::pair(Instructions::sm90, "sm90/")}) {
    const auto &files = templateFiles(instructions);
    CHECK(std::set(files.begin(), files.end()).size() == files.size());
    for (auto file : files) {
      CAPTURE(file);
      CHECK((file.starts_with(own) || file.starts_with("common/") || file.starts_with("since_sm80/")));
    }
    for (auto &entry : fs::directory_iterator(root / "since_sm80"))
      CHECK(std::count(files.begin(), files.end(), "since_sm80/" + entry.path().filename().string()) == 1);
  }
  CHECK(deviceTemplates(Instructions::sm80).find("wgmma") == std::string::npos);
  CHECK(deviceSource(Instructions::sm80, "row_extremes is_among(\n", "a.cu") == deviceTemplates(Instructions::sm80) + "#line 1 \"a.cu\"\nrow_extremes is_among(\n");
  const std::string without = deviceSource(Instructions::sm80, "kernel\n", "a.cu");
  CHECK(without.find("extremes") == std::string::npos);
  CHECK(without.find("_among") == std::string::npos);
  CHECK(without.size() + templateText("common/extremes.cuh").size() + templateText("common/lists.cuh").size() == deviceTemplates(Instructions::sm80).size() + std::string("#line 1 \"a.cu\"\nkernel\n").size());
}

TEST_CASE("a file that is not there is named") {
  CHECK_THROWS_WITH(templateText("sm90/none.cuh"), Catch::StartsWith("there is no template 'sm90/none.cuh'; there are common/box_copies.cuh, "));
}

TEST_CASE("GPU and simulator have the same primitives") {
  const auto ampere = functions(deviceTemplates(Instructions::sm80)), hopper = functions(deviceTemplates(Instructions::sm90)),
             host = functions(hostTemplates());
  CHECK(ampere.size() > 50);
  CHECK(hopper.size() > 70);
  CHECK(without(ampere, hopper) == std::set<std::string>{"copy_box", "copy_shifted_box", "copy_strided_box", "cp_async_mbar_arrive"});
  auto device = hopper;
  device.insert(ampere.begin(), ampere.end());
  CHECK(without(device, host).empty());
  // What CUDA has by itself, and what the host's primitives are made of.
  std::set<std::string> extra;
  for (auto &name : without(host, device))
    if (!name.starts_with("__") && !name.ends_with("_"))
      extra.insert(name);
  CHECK(extra == std::set<std::string>{"atomicAdd", "atomicMax", "isfinite", "isinf", "isnan", "max", "min", "rsqrtf"});
}

TEST_CASE("a wgmma shape is one instruction") {
  CHECK(wgmmaWrapper({false, "BF16", 8, false, true}) ==
        "template <> DEV void wgmma_ss<BF16, 8, 0, 1>(float (&d)[4], u64 a, u64 b, int acc) {\n"
        "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %6, 0;\\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, p, "
        "1, 1, 0, 1;\\n}\"\n"
        "    : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
        "    : \"l\"(a), \"l\"(b), \"r\"(acc));\n}\n");
  CHECK_THROWS_WITH(wgmmaWrapper({false, "BF16", 12}), "wgmma_ss<BF16, 12, 0, 0>: n is 12; it must be a multiple of 8 from 8 to 256");
  CHECK_THROWS_WITH(wgmmaWrapper({true, "F16", 64, true}), "wgmma_rs<F16, 64, 0>: a in registers cannot be transposed");
  CHECK_THROWS_WITH(wgmmaWrapper({true, "F8", 64}), "wgmma_rs<F8, 64, 0>: elements are BF16 or F16, not F8");
}

TEST_CASE("the shapes that a kernel uses are found, each once") {
  const auto shapes =
      wgmmaShapes("wgmma_ss<BF16, 128, 0, 1>(x); wgmma_rs<F16,64,1>(y); wgmma_ss< BF16 , 128 , 0 , 1 >(z); wgmma_ss<BF16, 8>(w); wgmma_wait<0>();");
  CHECK(shapes == std::vector<WgmmaShape>{{false, "BF16", 8, false, false}, {false, "BF16", 128, false, true}, {true, "F16", 64, false, true}});
}

namespace {

/// NVRTC, where there is one on this machine.
class Nvrtc {
public:
  Nvrtc() {
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.12",
                             "/usr/local/cuda-13.0/lib/libnvrtc.so.13"})
      if (!library)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  [[nodiscard]] bool present() const { return library; }

  /// The architectures that it makes machine code for, as `sm_80`; 90 for 90a too.
  std::set<int> architectures() {
    int count = 0;
    call<int>("nvrtcGetNumSupportedArchs", &count);
    std::vector<int> known(std::size_t(count), 0);
    call<int>("nvrtcGetSupportedArchs", known.data());
    return {known.begin(), known.end()};
  }

  /// The compiler's messages; `refused` is set by its verdict.
  std::string compile(const std::string &text, const std::string &architecture, bool &refused) {
    void *program = nullptr;
    const std::string target = "--gpu-architecture=" + architecture;
    const char *options[] = {target.c_str(), "--std=c++17", "-default-device"};
    refused = call<int>("nvrtcCreateProgram", &program, text.c_str(), "device.cu", 0, static_cast<const char *const *>(nullptr),
                        static_cast<const char *const *>(nullptr)) != 0;
    refused = call<int>("nvrtcCompileProgram", program, 3, static_cast<const char *const *>(options)) != 0 || refused;
    std::size_t bytes = 0;
    call<int>("nvrtcGetProgramLogSize", program, &bytes);
    std::string log(bytes, ' ');
    call<int>("nvrtcGetProgramLog", program, log.data());
    call<int>("nvrtcDestroyProgram", &program);
    return log.c_str();   // it ends with a NUL
  }

private:
  void *library = nullptr;
  template <class R, class... A> R call(const char *name, A... arguments) {
    return reinterpret_cast<R (*)(A...)>(dlsym(library, name))(arguments...);
  }
};

}   // namespace

TEST_CASE("the kernels that name every primitive do") {
  for (const char *name : {"templates/every_primitive.cu", "templates/every_primitive_sm80.cu"}) {
    const fs::path file = fs::path(TILEWRIGHT_TEST_KERNELS) / name;
    const std::string every = contents(file);
    for (auto &function : functions(deviceTemplates(instructionsOf(file)))) {
      CAPTURE(name, function);
      CHECK(std::regex_search(every, std::regex("\\b" + function + "\\b")));
    }
  }
}

TEST_CASE("NVRTC compiles every primitive, and the kernels of the simulator's tests") {
  Nvrtc nvrtc;
  if (!nvrtc.present()) {
    WARN("skipped: this machine has no libnvrtc.so.13 or libnvrtc.so.12, so device texts are not compiled for sm_80 to sm_120, nor for sm_90a");
    return;
  }
  const std::set<int> known = nvrtc.architectures();
  std::vector<fs::path> files{fs::path(TILEWRIGHT_TEST_KERNELS) / "templates/every_primitive.cu",
                              fs::path(TILEWRIGHT_TEST_KERNELS) / "templates/every_primitive_sm80.cu"};
  for (auto &entry : fs::directory_iterator(fs::path(TILEWRIGHT_TEST_KERNELS) / "simulator/kernels"))
    files.push_back(entry.path());
  CHECK(files.size() == 7);
  for (auto &file : files) {
    const std::string source = deviceSource(instructionsOf(file), contents(file), file.filename().string());
    auto compiles = [&](const std::string &architecture) {
      bool refused = false;
      const std::string log = nvrtc.compile(source, architecture, refused);
      CAPTURE(file, architecture, log);
      CHECK_FALSE(refused);
    };
    if (instructionsOf(file) == Instructions::sm90)
      compiles("sm_90a");
    else   // primitives for every architecture; what the simulator's tests make of them for the first and the last
      for (int architecture : file.stem() == "every_primitive_sm80" ? std::vector{80, 86, 89, 90, 100, 120} : std::vector{80, 120})
        if (known.contains(architecture))
          compiles("sm_" + std::to_string(architecture));
        else
          WARN("skipped: this NVRTC does not know sm_" << architecture);
  }
}
