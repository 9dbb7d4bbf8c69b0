// Compiles kernels written as tile modules, and runs them over all of their items.
#pragma once
#include "tilewright/cpu/HostCode.h"
#include "tilewright/cpu/Launch.h"
#include "tilewright/cpu/MemoryDescriptor.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// How tile-to-host shapes its loops.
struct TileShape {
  int vectorBytes = 32, registerRows = 6, registerVectors = 2;
};

/// A kernel `@kernel`, ready to run.
class TileKernel {
public:
  /// `file`, of kernels/, with every $NAME in it replaced. Throws std::runtime_error with what the compiler said.
  TileKernel(const std::string &file, const std::map<std::string, std::string> &names, TileShape shape = {}, bool wantText = false);

  /// Runs all items. `arguments` are those of the kernel, null for items; the scratch is added.
  void run(std::vector<void *> arguments, const std::vector<tw::HostAxis> &axes, int threads = 1) const;

  std::int64_t scratchBytes = 0;
  std::string assembly;
  std::string host;   // the host function as MLIR

private:
  std::shared_ptr<const tw::HostCode> code;
};
