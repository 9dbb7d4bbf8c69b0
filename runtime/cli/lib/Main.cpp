// `tilewright`: one binary, one command a file.
#include "Commands.h"
#include <cstring>

int main(int argc, char **argv) {
  if (argc > 1 && !std::strcmp(argv[1], "opt"))
    return tw::cli::opt(argc - 1, argv + 1);
  return 2;
}
