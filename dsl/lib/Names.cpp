#include "Names.h"
#include "Fail.h"
#include <algorithm>
#include <utility>

namespace tw::detail {
namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Levenshtein's distance.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

} // namespace

bool isIdentifier(std::string_view text) {
  return !text.empty() && isLetter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return isLetter(c) || isDigit(c); });
}

void checkName(const char *what, const std::string &name, Location where) {
  if (!isIdentifier(name))
    fail(where, std::string("'") + name + "' is no name for " + what + "; use letters, digits and _, and no digit first");
  for (const char *word : {"inf", "nan", "true", "false"})
    if (name == word)
      fail(where, std::string("'") + name + "' is no name for " + what + ": it is a literal of the text form; choose another");
}

std::string nearest(std::string_view text, const std::vector<std::string> &known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, text.size() / 2) + 1;
  for (const std::string &candidate : known)
    if (std::size_t n = edits(text, candidate); n < least) {
      least = n;
      best = candidate;
    }
  return best;
}

} // namespace tw::detail
