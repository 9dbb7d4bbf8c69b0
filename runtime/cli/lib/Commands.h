// The commands of the tilewright program, one file each. Each returns the exit status: 0 right, 1 a
// check failed, 2 bad input.
#pragma once

namespace tw::cli {

/// `tilewright opt …`: the MLIR pass driver over our dialects and passes.
int opt(int argc, char **argv);

} // namespace tw::cli
