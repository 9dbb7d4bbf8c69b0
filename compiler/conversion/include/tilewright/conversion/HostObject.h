// From host functions to machine code for a processor.
#pragma once
#include <cstdint>
#include <string>

namespace llvm {
template <typename T> class FailureOr;
} // namespace llvm
namespace mlir {
class ModuleOp;
class OpPassManager;
} // namespace mlir

namespace tw {

/// Adds the passes that take host functions in scf, arith, math, vector and memref to the LLVM dialect.
void buildHostToLLVMPipeline(mlir::OpPassManager &passes);

/// Makes them known as `host-to-llvm` to whoever reads a pipeline from text.
void registerHostToLLVMPipeline();

/// The processor to generate code for.
struct HostCodegenOptions {
  std::string cpu;        // LLVM's name; empty: this machine's, with all of its features
  std::string features;   // LLVM's list, on top of the cpu's: +avx2,-avx512f
  int optLevel = 3;       // 0 to 3
  bool wantText = false;  // fill in llvmText and assembly
};

/// One host function as machine code.
struct HostObject {
  std::string bytes;              // a host image: see artifact/HostImage.h
  std::string entry;              // its symbol: void entry(void **arguments)
  std::int64_t scratchBytes = 0;  // what one running item needs
  std::string llvmText;           // the optimised LLVM IR
  std::string assembly;
};

/// Compiles `module`, which is in the LLVM dialect and holds one function with `host.scratch_bytes`. Its entry is called
/// `<function>_entry`; arguments[i] points to a memory descriptor {allocated, aligned, offset, sizes, strides} or a scalar.
/// Errors are reported at the operations they concern. Needs nothing but the module's context to itself.
llvm::FailureOr<HostObject> emitHostObject(mlir::ModuleOp module, const HostCodegenOptions &options = {});

} // namespace tw
