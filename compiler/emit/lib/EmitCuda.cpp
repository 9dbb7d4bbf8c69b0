// Puts the text of a kernel together: parameters, constants, dots, the roles.
#include "tilewright/emit/EmitCuda.h"
#include "Statements.h"
#include "tilewright/templates/Templates.h"
#include <fmt/format.h>
using namespace mlir;

namespace tw {
using namespace emit;

FailureOr<CudaText> emitCuda(device::KernelOp kernel) {
  Names names;
  CudaText cuda;
  cuda.entry = names.unique(kernel.getSymName());
  FailureOr<Declarations> declared = Declarations::of(kernel, names);
  if (failed(declared))
    return failure();
  device::ProducerOp producer = device::producerOf(kernel);
  const bool takesTurns = kernel.walk([](device::TurnOp) { return WalkResult::interrupt(); }).wasInterrupted();

  Text body;
  DotFunctions dots;
  Statements statements(*declared, dots, body, names);
  body.open(fmt::format("extern \"C\" __global__ void __launch_bounds__({}, {}) {}(const __grid_constant__ Params p) {{", declared->launch.threads, declared->launch.blocksPerSM, cuda.entry));
  body.line("const u32 sb = (smem_u32(dyn_smem()) + 1023) & ~1023u;");
  body.line("const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0), lane = threadIdx.x & 31, wg = warp >> 2;");
  body.open("if (threadIdx.x == 0) {");
  declared->printSetup(body);
  body.close();
  body.line("__syncthreads();");
  if (failed(statements.shared(kernel)))
    return failure();
  body.line();
  if (producer) {
    // Registers go from warpgroup to warpgroup, so that a producer that gives some away is a whole one, and the first; else a warp is enough.
    body.open(device::isHopper(kernel) ? "if (wg == 0) {" : fmt::format("if (warp == {}) {{", (declared->launch.threads - 32) / 32));
    body.line("// ---- producer");
    if (failed(statements.producer(producer)))
      return failure();
    if (device::ListerOp lister = device::listerOf(kernel); lister && failed(statements.lister(lister)))
      return failure();
    body.close("} else {");
    body.indent();
    body.line("// ---- consumers");
  }
  if (failed(statements.consumers(device::consumersOf(kernel))))
    return failure();
  if (producer)
    body.close();
  body.close();

  Text head;
  declared->printHeader(head);
  if (takesTurns)
    head.line("constexpr int TURN = 1;   // the first of the named barriers by which warpgroups take turns");
  cuda.source = head.str() + "\n" + dots.str() + "\n" + body.str();
  cuda.launch = std::move(declared->launch);
  cuda.instructions = dots.instructions();
  return cuda;
}

std::string assembledText(const Artifact &artifact) {
  return deviceSource(artifact.launch.softwareMaps ? Instructions::sm80 : Instructions::sm90, artifact.source, artifact.program + ".cu");
}

} // namespace tw
