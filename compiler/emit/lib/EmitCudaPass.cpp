// emit-cuda: shows what emitCuda makes of the kernels of a module.
#include "tilewright/emit/EmitCuda.h"
#include "tilewright/emit/Passes.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_EMITCUDA
#include "tilewright/emit/Passes.h.inc"
namespace {

void printFacts(const CudaText &cuda, llvm::raw_ostream &out) {
  static constexpr const char *kinds[] = {"map", "pointer", "stride", "extent", "length", "scalar", "blocks", "frees", "group", "items", "counters", "lists", "list room"};
  const LaunchFacts &launch = cuda.launch;
  out << fmt::format("// launch {}: {} threads, {} bytes shared, {} counters, block {} {}, free [{}], ring tensors [{}]{}\n", cuda.entry, launch.threads,
                     launch.sharedBytes, launch.counters, launch.blockAxis, launch.blockWidth, fmt::join(launch.freeAxes, ", "),
                     fmt::join(launch.ringTensors, ", "), launch.grouped ? ", grouped" : "");
  for (auto &field : launch.fields) {
    out << fmt::format("// field {}: {}", field.name, kinds[int(field.kind)]);
    for (auto &part : {field.axis, field.tensor, field.type})
      out << (part.empty() ? "" : " ") << part;
    if (field.kind == ParameterField::Kind::stride || field.kind == ParameterField::Kind::length)
      out << " dimension " << field.dimension;
    for (auto &dimension : field.dimensions)
      out << fmt::format(" ({} chunk {} size {} box {})", dimension.dimension, dimension.chunk, dimension.size, dimension.box);
    out << (field.kind == ParameterField::Kind::map ? fmt::format(" swizzle {}\n", field.swizzle) : "\n");
  }
  for (auto &instruction : cuda.instructions)
    out << "// instruction " << instruction << "\n";
}

struct EmitCudaPass : impl::EmitCudaBase<EmitCudaPass> {
  using EmitCudaBase::EmitCudaBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto kernel : getOperation().getOps<device::KernelOp>()) {
      FailureOr<CudaText> cuda = emitCuda(kernel);
      if (failed(cuda))
        return signalPassFailure();
      if (facts)
        printFacts(*cuda, llvm::outs());
      Artifact artifact;
      artifact.program = kernel.getSymName().str();
      artifact.source = cuda->source;
      llvm::outs() << (whole ? assembledText(artifact) : cuda->source);
    }
    llvm::outs().flush();
  }
};

} // namespace
} // namespace tw
