// `tilewright doctor`: what this machine has, and what will be used of it.
#include "Commands.h"
#include "Output.h"
#include "tilewright/cache/Store.h"
#include "tilewright/cpu/ThreadPool.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/Target.h"
#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/TargetParser/Host.h>

namespace tw::cli {
namespace {

std::vector<std::string> processorFeatures() {
  std::vector<std::string> features;
  for (const auto &[name, offered] : llvm::sys::getHostCPUFeatures())
    if (offered)
      features.push_back(name.str());
  std::sort(features.begin(), features.end());
  return features;
}

int examine(bool json) {
  const Target &host = findTarget("host");
  const cache::Location location = cache::locate();
  cache::Options quiet;
  quiet.log = [](std::string_view) {};   // what it would say stands in the report
  const cache::Statistics stats = cache::Store::open(location, quiet).stats();
  const int threads = ThreadPool::defaultThreads();
  const auto features = processorFeatures();
  if (json) {
    Json known = Json::array();
    for (const Target &target : targets())
      known.push_back(target.name);
    printJson(Json{{"version", TILEWRIGHT_VERSION},
               {"llvm", LLVM_VERSION_STRING},
               {"compiler_digest", compilerDigest()},
               {"processor", {{"title", host.title}, {"llvm_name", llvm::sys::getHostCPUName().str()}, {"cores", host.sms}, {"threads", threads}, {"vector_bytes", host.vectorBytes}, {"features", features}}},
               {"cache", {{"path", stats.path.string()}, {"memory_only", stats.memoryOnly}, {"entries", stats.entries}, {"bytes", stats.bytes}}},
               {"targets", known}});
    return right;
  }
  printText(fmt::format("tilewright {}, MLIR and LLVM {} (linked in)\n\n", TILEWRIGHT_VERSION, LLVM_VERSION_STRING));
  printText(describe(host));
  printText(fmt::format("  LLVM calls it {}; kernels run on {} thread{} (TILEWRIGHT_THREADS)\n  features: {}\n\n", llvm::sys::getHostCPUName().str(), threads, threads == 1 ? "" : "s", fmt::join(features, " ")));
  if (stats.memoryOnly.empty())
    printText(fmt::format("cache     {}: {}, {} bytes\n", stats.path.string(), kernels(stats.entries), stats.bytes));
  else
    printText(fmt::format("cache     in memory only: {}\n", stats.memoryOnly));
  printText("targets  ");
  for (const Target &target : targets())
    printText(" " + target.name);
  printText("\n          kernels can be built for host; for the others programs, schedules and tile modules can be made\n");
  return right;
}

} // namespace

Command doctor(CLI::App &program) {
  auto json = std::make_shared<bool>(false);
  CLI::App *app = program.add_subcommand("doctor", "Say what this machine has, and what will be used of it");
  app->add_flag("--json", *json, "as JSON");
  return {app, [json] { return examine(*json); }};
}

} // namespace tw::cli
