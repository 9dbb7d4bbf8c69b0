#include "tilewright/dsl/Schedule.h"
#include "Names.h"
#include <charconv>
#include <stdexcept>
#include <vector>

namespace tw {
namespace {

/// The fields that are not widths, in the order in which they print.
const std::vector<std::string> fields{"block", "warpgroups", "stages", "blockBuffers", "overlap", "turns", "drawn", "stabilised", "producer", "blocksPerSM", "registerRows", "registerVectors", "exchangeBuffers", "outboxBuffers", "delayed", "ahead", "votes", "firstVote", "observed", "nested"};

[[noreturn]] void refuse(std::string_view text, const std::string &why) {
  throw std::invalid_argument("schedule '" + std::string(text) + "': " + why);
}

std::string known() {
  std::string list = "known are the widths of axes";
  for (const std::string &field : fields)
    list += ", " + field;
  return list;
}

int positive(std::string_view text, std::string_view field, std::string_view value) {
  int number = 0;
  auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || stop != value.data() + value.size() || number < 1)
    refuse(text, std::string(field) + "=" + std::string(value) + " is no whole number from 1; " + known());
  return number;
}

/// `d:64x4,r:32x2`: an axis, the width of a chunk, the slots of its ring.
std::map<std::string, Chunks> chunks(std::string_view text, std::string_view value) {
  std::map<std::string, Chunks> all;
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto colon = one.find(':'), times = one.find('x', colon == one.npos ? 0 : colon);
    if (colon == one.npos || times == one.npos || !detail::isIdentifier(one.substr(0, colon)))
      refuse(text, "nested=" + std::string(value) + " is no list of axis:widthxstages, such as d:64x4; " + known());
    if (!all.insert({std::string(one.substr(0, colon)), {positive(text, "nested", one.substr(colon + 1, times - colon - 1)), positive(text, "nested", one.substr(times + 1))}}).second)
      refuse(text, "nested names axis '" + std::string(one.substr(0, colon)) + "' twice; name it once");
  }
  return all;
}

bool truth(std::string_view text, std::string_view field, std::string_view value) {
  if (value != "yes" && value != "no")
    refuse(text, std::string(field) + "=" + std::string(value) + " is neither yes nor no; " + known());
  return value == "yes";
}

} // namespace

std::string print(const Schedule &s) {
  auto yesNo = [](bool b) { return b ? "yes" : "no"; };
  std::string out = "block=" + s.block;
  for (const auto &[axis, width] : s.widths)
    out += " " + axis + "=" + std::to_string(width);
  std::string nested;
  for (const auto &[axis, chunks] : s.nested) {
    nested += nested.empty() ? " nested=" : ",";
    nested.append(axis).append(":").append(std::to_string(chunks.width)).append("x").append(std::to_string(chunks.stages));
  }
  out += " warpgroups=" + std::to_string(s.warpgroups) + " stages=" + std::to_string(s.stages) + " blockBuffers=" + std::to_string(s.blockBuffers);
  out += std::string(" overlap=") + yesNo(s.overlap) + " turns=" + yesNo(s.turns) + " drawn=" + yesNo(s.drawn) + " stabilised=" + yesNo(s.stabilised);
  out += std::string(" producer=") + yesNo(s.producer) + " blocksPerSM=" + std::to_string(s.blocksPerSM);
  out += " registerRows=" + std::to_string(s.registerRows) + " registerVectors=" + std::to_string(s.registerVectors);
  // What few programs have use for is said where it is not as usual.
  const Schedule usual;
  const auto number = [&](const char *name, int value, int common) {
    if (value != common)
      out += std::string(" ") + name + "=" + std::to_string(value);
  };
  const auto flag = [&](const char *name, bool value) {
    if (value)
      out += std::string(" ") + name + "=yes";
  };
  number("exchangeBuffers", s.exchangeBuffers, usual.exchangeBuffers);
  number("outboxBuffers", s.outboxBuffers, usual.outboxBuffers);
  flag("delayed", s.delayed);
  flag("ahead", s.ahead);
  number("votes", s.votes, usual.votes);
  number("firstVote", s.firstVote, usual.firstVote);
  flag("observed", s.observed);
  return out + nested;
}

Schedule parseSchedule(std::string_view text) {
  Schedule s;
  std::vector<std::string> given;
  for (std::size_t at = text.find_first_not_of(" \t\n"); at != std::string_view::npos; at = text.find_first_not_of(" \t\n", at)) {
    std::string_view item = text.substr(at, text.find_first_of(" \t\n", at) - at);
    at += item.size();
    auto equals = item.find('=');
    std::string field(item.substr(0, equals));
    if (equals == std::string_view::npos || field.empty())
      refuse(text, "'" + std::string(item) + "' is no field=value; " + known());
    for (const std::string &other : given)
      if (other == field)
        refuse(text, "'" + field + "' is given twice; give it once");
    given.push_back(field);
    std::string_view value = item.substr(equals + 1);
    if (field == "block") {
      if (!value.empty() && !detail::isIdentifier(value))
        refuse(text, "block=" + std::string(value) + " names no axis; " + known());
      s.block = value;
    } else if (field == "nested")
      s.nested = chunks(text, value);
    else if (field == "warpgroups")
      s.warpgroups = positive(text, field, value);
    else if (field == "stages")
      s.stages = positive(text, field, value);
    else if (field == "blockBuffers")
      s.blockBuffers = positive(text, field, value);
    else if (field == "overlap")
      s.overlap = truth(text, field, value);
    else if (field == "turns")
      s.turns = truth(text, field, value);
    else if (field == "drawn")
      s.drawn = truth(text, field, value);
    else if (field == "stabilised")
      s.stabilised = truth(text, field, value);
    else if (field == "producer")
      s.producer = truth(text, field, value);
    else if (field == "blocksPerSM")
      s.blocksPerSM = positive(text, field, value);
    else if (field == "registerRows")
      s.registerRows = positive(text, field, value);
    else if (field == "registerVectors")
      s.registerVectors = positive(text, field, value);
    else if (field == "votes")
      s.votes = positive(text, field, value);
    else if (field == "firstVote")
      s.firstVote = positive(text, field, value);
    else if (field == "observed")
      s.observed = truth(text, field, value);
    else if (field == "exchangeBuffers")
      s.exchangeBuffers = positive(text, field, value);
    else if (field == "outboxBuffers")
      s.outboxBuffers = positive(text, field, value);
    else if (field == "delayed")
      s.delayed = truth(text, field, value);
    else if (field == "ahead")
      s.ahead = truth(text, field, value);
    else if (detail::isIdentifier(field)) {
      if (std::string close = detail::nearest(field, fields); field.size() > 3 && !close.empty())
        refuse(text, "'" + field + "' is unknown; did you mean '" + close + "'?; " + known());
      s.widths[field] = positive(text, field, value);
    } else
      refuse(text, "'" + field + "' is no name of a field or an axis; " + known());
  }
  return s;
}

} // namespace tw
