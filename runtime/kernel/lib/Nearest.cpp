// Damerau and Levenshtein's distance, in its restricted form.
#include "tilewright/kernel/Nearest.h"
#include <algorithm>
#include <cctype>

namespace tw {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::size_t edits(const std::string &a, const std::string &b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  return least[a.size()][b.size()];
}

} // namespace

std::string nearest(std::string_view name, const std::vector<std::string> &known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, name.size() / 2) + 1;
  for (const std::string &candidate : known)
    if (std::size_t n = edits(lower(name), lower(candidate)); n < least && n < std::max(name.size(), candidate.size())) {
      least = n;
      best = candidate;
    }
  return best;
}

std::string suggestion(std::string_view name, const std::vector<std::string> &known) {
  std::string close = nearest(name, known);
  return close.empty() ? "" : "; did you mean '" + close + "'?";
}

} // namespace tw
