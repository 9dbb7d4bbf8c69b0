// One process of many that tune at once: test_tune_worker FOLDER WORKER RUNS KEYS. Adds its runs, one key after the other; prints a
// dot once each is added. Exit 0: done; 4: the file was not used.
#include "Scratch.h"
#include <cstdio>
#include <cstdlib>

using namespace tw::tests;

int main(int count, char **words) {
  if (count != 5)
    return 2;
  const int worker = std::atoi(words[2]), runs = std::atoi(words[3]), keys = std::atoi(words[4]);
  tw::tuning::Records records = tw::tuning::Records::open({std::filesystem::path(words[1]) / "tuning.sqlite"});
  for (int i = 0; i < runs; ++i) {
    records.add(keyOf(i % keys), headingOf(i % keys), runOf(worker, i));
    std::fputc('.', stdout);
    std::fflush(stdout);
  }
  return records.store().stats().memoryOnly.empty() ? 0 : 4;
}
