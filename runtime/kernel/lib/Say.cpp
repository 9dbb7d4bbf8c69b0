#include "Say.h"
#include <cstdio>
#include <string>

namespace tw {

void say(std::string_view sentence) {
  const std::string line = "tilewright: " + std::string(sentence) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);   // one call: lines of several threads do not mix
}

} // namespace tw
