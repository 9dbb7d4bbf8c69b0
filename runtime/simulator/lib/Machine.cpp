#include "Machine.h"

namespace tw::simulated {

Machine *machine = nullptr;
Thread *running = nullptr;
const SimulatedPosition *runningPosition = nullptr;

static std::uint64_t randomState = 1;

void seedRandom(std::uint64_t seed) {
  randomState = seed * 0x9E3779B97F4A7C15ull + 88172645463325252ull;
  if (!randomState)
    randomState = 1;
}

std::uint64_t randomNumber() {   // xorshift64
  randomState ^= randomState << 13;
  randomState ^= randomState >> 7;
  randomState ^= randomState << 17;
  return randomState;
}

bool onceIn(int n) { return n > 0 && randomNumber() % std::uint64_t(n) == 0; }

}   // namespace tw::simulated
