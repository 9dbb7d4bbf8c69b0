// Compiles host functions written in MLIR, and calls them.
#pragma once
#include "tilewright/conversion/HostObject.h"
#include "tilewright/cpu/HostCode.h"
#include "tilewright/cpu/MemoryDescriptor.h"
#include <stdexcept>
#include <string>
#include <vector>

/// What the compiler said instead of making an object.
struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs the pipeline host-to-llvm on the module `source` and emits its host function.
tw::HostObject compileHost(const std::string &source, const tw::HostCodegenOptions &options = {});

/// A one-dimensional tensor over a vector's elements.
template <class T>
tw::MemoryDescriptor describe(std::vector<T> &elements) {
  const std::int64_t size[] = {static_cast<std::int64_t>(elements.size())}, stride[] = {1};
  return {elements.data(), size, stride};
}
