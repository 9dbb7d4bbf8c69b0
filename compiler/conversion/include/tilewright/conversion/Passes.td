// The passes that leave the tile dialect, one driver .cpp each.
#ifndef TILEWRIGHT_CONVERSION_PASSES
#define TILEWRIGHT_CONVERSION_PASSES
include "mlir/Pass/PassBase.td"

//===--- tile modules to host functions ------------------------------------------------------------===//

def TileToHost : Pass<"tile-to-host", "::mlir::ModuleOp"> {
  let summary = "lower kernels to loops over vectors on a processor's own memory";
  let description = [{
    Every function with a `tile.kernel` becomes a function of the same name and arguments and one
    more, `%scratch : memref<?xi8>`, 64-byte aligned, of at least `host.scratch_bytes` bytes, for
    the use of one running item alone. The body holds scf, arith, math, vector and memref operations only.

    Tiles that must be in memory live in scratch as rows of whole vectors. Elementwise operations
    between dots and reductions are fused into loop nests, one for each domain and level: a level
    ends where a reduction, a dot or a fold ends. A dot packs its right operand into panels of
    `registerVectors` vectors and runs a register block of `registerRows` rows over it; what is
    added to its result becomes the block's initial value, so that a carried accumulator is
    rescaled and accumulated in place. `tile.attempt` takes its exact way, which is as quick here.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int", "32", "width of a vector register: 16, 32 or 64">,
    Option<"registerRows", "register-rows", "int", "6", "rows of a register block of a dot">,
    Option<"registerVectors", "register-vectors", "int", "2", "vectors in a row of a register block of a dot">];
  let dependentDialects = ["::tw::tile::TileDialect", "::mlir::vector::VectorDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::func::FuncDialect"];
}

//===--- host functions to LLVM --------------------------------------------------------------------===//

def ExpandHostMath : Pass<"expand-host-math"> {
  let summary = "write out the mathematics that processors have no instruction for";
  let description = [{
    f32 exp and exp2 become polynomials of relative error below 2^-22, 14 to 16 vector operations each; results below
    2^-125.5 become 0. f32 tanh, log, log2, log1p and erf become upstream's approximations; f16 and bf16 compute in f32. What
    is left, all of f64 among it, becomes calls of the C library.

    Conversions between bf16 and f32 become integer operations, rounding to nearest even. Between f64 and the 16-bit floats
    the way leads through f32, rounded to odd on the way down, so that the second rounding sees the right ties.

    Maxima and minima of floats need not tell the zeros apart any more (nsz): one instruction less on each.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ConvertHostToLLVM : Pass<"convert-host-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert host functions (scf, cf, arith, math, vector, memref, func) to the LLVM dialect";
  let description = [{
    Vector operations of more than one dimension are unrolled first. All dialects are converted at once; what has no
    conversion is an error at its place.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::affine::AffineDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"];
}

#endif
