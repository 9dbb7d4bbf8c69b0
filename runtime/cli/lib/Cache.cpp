// `tilewright cache`: the kernels kept on disk.
#include "tilewright/cache/Store.h"
#include "Commands.h"
#include "Options.h"
#include "Output.h"
#include <cstdio>
#include <fmt/format.h>

namespace tw::cli {
namespace {

Json toJson(const cache::Statistics &stats) {
  return {{"path", stats.path.string()}, {"memory_only", stats.memoryOnly}, {"entries", stats.entries}, {"bytes", stats.bytes}};
}

int listEntries(cache::Store &store, bool json) {
  Json entries = Json::array();
  for (const cache::Entry &entry : store.list()) {
    auto fact = [&](const char *name) {
      auto found = entry.facts.find(name);
      return found == entry.facts.end() ? std::string("?") : found->second;
    };
    entries.push_back({{"key", entry.digest.hex()}, {"bytes", entry.bytes}, {"facts", entry.facts}});
    if (!json)
      printText(fmt::format("{}  {:>9}  {:<6}  {:<20}  {}\n", entry.digest.hex().substr(0, 12), entry.bytes, fact("target"), fact("program"), fact("schedule")));
  }
  if (json)
    printJson(entries);
  return right;
}

int showStats(cache::Store &store, bool json) {
  const cache::Statistics stats = store.stats();
  if (json)
    printJson(toJson(stats));
  else if (!stats.memoryOnly.empty())
    printText(fmt::format("no file: {}\n", stats.memoryOnly));
  else
    printText(fmt::format("{}: {}, {} bytes\n", stats.path.string(), kernels(stats.entries), stats.bytes));
  return right;
}

/// Why no file could be worked on, though one was asked for; empty: one could, or the cache is off.
std::string trouble(const cache::Location &place, cache::Store &store) { return place.switchedOff ? "" : store.stats().memoryOnly; }

int complain(const std::string &what, const std::string &why) {
  std::fputs(fmt::format("tilewright cache: {}: {}\n", what, why).c_str(), stderr);
  return failedCheck;
}

int clearEntries(const cache::Location &place, cache::Store &store, bool json) {
  store.clear();
  if (const std::string why = trouble(place, store); !why.empty())
    return complain("nothing was cleared", why);
  (void)showStats(store, json);
  if (const std::uint64_t left = store.stats().entries)
    return complain("not everything was cleared", fmt::format("left: {}; another process may be adding some", kernels(left)));
  return right;
}

int verifyEntries(const cache::Location &place, cache::Store &store, bool json) {
  cache::Verification found = store.verify();
  if (const std::string why = trouble(place, store); !why.empty())
    return complain("nothing was checked", why);
  found.rebuilt |= store.stats().rebuilds > 0;   // as it was opened, too
  if (json)
    printJson(Json{{"good", found.good()}, {"checked", found.checked}, {"rejected", found.rejected}, {"rebuilt", found.rebuilt}});
  else
    printText(fmt::format("{} checked, {} damaged and dropped{}\n", kernels(found.checked), found.rejected, found.rebuilt ? "; the file was damaged, set aside and begun anew" : ""));
  return found.good() ? right : failedCheck;
}

int work(const std::string &action, bool json) {
  checkChoice("cache", action, {"list", "stats", "clear", "verify"});
  const cache::Location place = cache::locate();
  // The reason why no file can be used is the command's own to say: once.
  cache::Options options;
  std::vector<std::string> messages;
  options.log = [&](std::string_view message) { messages.emplace_back(message); };
  cache::Store store = cache::Store::open(place, options);
  const int status = action == "list" ? listEntries(store, json) : action == "verify" ? verifyEntries(place, store, json) : action == "clear" ? clearEntries(place, store, json) : showStats(store, json);
  if (trouble(place, store).empty() || action == "list")
    for (const std::string &message : messages)
      std::fputs(fmt::format("tilewright: {}\n", message).c_str(), stderr);
  return status;
}

} // namespace

Command cache(CLI::App &program) {
  auto action = std::make_shared<std::string>("stats");
  auto json = std::make_shared<bool>(false);
  CLI::App *app = program.add_subcommand("cache", "Look at the kernels kept on disk, check them, or forget them");
  app->add_option("action", *action,
                  "stats: where the file is and how much it holds (the default)\n"
                  "list: every kernel, the most recently used first\n"
                  "verify: read and check everything; exit status 1 if something was damaged, and so dropped or set aside\n"
                  "clear: forget everything")
      ->type_name("ACTION");
  app->add_flag("--json", *json, "as JSON");
  app->footer("The file is kernels.sqlite in $TILEWRIGHT_CACHE, else $XDG_CACHE_HOME/tilewright, else ~/.cache/tilewright; TILEWRIGHT_CACHE=off keeps none.");
  return {app, [action, json] { return work(*action, *json); }};
}

} // namespace tw::cli
