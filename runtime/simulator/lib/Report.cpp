#include "Report.h"
#include "Phrase.h"
#include <set>
#include <tuple>

namespace tw {

std::string SimulationResult::codes() const {
  std::set<std::string> sorted;
  for (auto &report : reports)
    sorted.insert(report.code);
  std::string joined;
  for (auto &code : sorted)
    joined += (joined.empty() ? "" : ",") + code;
  return joined;
}

std::string SimulationResult::text() const {
  std::string joined;
  for (auto &report : reports)
    joined += report.code + ": " + report.text + (report.source.empty() ? "" : simulated::phrase("\n    {} | {}", report.line, report.source)) + "\n";
  if (found > int(reports.size()))
    joined += simulated::phrase("and {} more\n", found - int(reports.size()));
  return joined;
}

namespace simulated {
namespace {

SimulationResult *results = nullptr;
int maximumReports = 0;
const std::string *kernelText = nullptr;
std::set<std::tuple<std::string, int, int>> seen;

/// Line `line` of the kernel, without the blanks around it.
std::string sourceLine(int line) {
  if (line < 1)
    return "";
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    begin = kernelText->find('\n', begin);
    if (begin == std::string::npos)
      return "";
    ++begin;
  }
  std::string text = kernelText->substr(begin, kernelText->find('\n', begin) - begin);
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}   // namespace

void beginReports(SimulationResult &result, int maximum, const std::string &text) {
  results = &result;
  maximumReports = maximum;
  kernelText = &text;
  seen.clear();
}

void report(const char *code, int line, int other, const std::string &text) {
  if (!seen.emplace(code, line, other).second)
    return;
  if (results->found++ < maximumReports)
    results->reports.push_back({code, text, line, sourceLine(line)});
}

void stop(const char *code, int line, const std::string &text) {
  report(code, line, -1, text);
  throw Stopped();
}

std::string nameOf(const Thread *thread) {
  return thread ? phrase("block {} warp {} lane {}", thread->block->index, thread->warp->id, thread->lane) : "the copy engine";
}

std::string nameOf(const Block *block, Address at) {
  for (auto &name : block->names)
    if (at >= name.begin && at - name.begin < name.bytes)
      return phrase("shared {} ({}+{})", hex(at), name.name, hex(at - name.begin));
  return "shared " + hex(at);
}

std::string nameOfAgent(int agent) {
  if (agent >= machine->threadCount)
    return machine->agentNames[agent - machine->threadCount];
  const int perBlock = int(machine->blocks[0]->threads.size());
  return nameOf(&machine->blocks[agent / perBlock]->threads[agent % perBlock]);
}

std::string hex(std::uint64_t value) { return phrase("0x{:x}", value); }

}   // namespace simulated
}   // namespace tw
