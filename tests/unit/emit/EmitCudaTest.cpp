// The texts of worked device modules: assembled for a GPU, told apart from nothing, and made in time.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "tilewright/cuda/Nvrtc.h"
#include "tilewright/cuda/Resources.h"
#include "tilewright/emit/EmitCuda.h"
#include "tilewright/ir/Device.h"
#include <catch2/catch.hpp>
#include <chrono>
using namespace tw;

namespace {

/// The first kernel of a file under tests/lit, as text.
CudaText textOf(const std::string &file) {
  mlir::DialectRegistry registry;
  registry.insert<device::DeviceDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(TILEWRIGHT_LIT_TESTS "/" + file, &context);
  REQUIRE(module);
  llvm::FailureOr<CudaText> cuda = emitCuda(*module->getOps<device::KernelOp>().begin());
  REQUIRE(succeeded(cuda));
  return *cuda;
}

std::string assembledTextOf(const CudaText &cuda) {
  Artifact artifact;
  artifact.program = cuda.entry;
  artifact.source = cuda.source;
  return assembledText(artifact);
}

} // namespace

TEST_CASE("NVRTC takes the text of every operation") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  for (std::string file : {"device/whole.mlir", "emit/control-flow.mlir", "emit/dots.mlir", "emit/elements.mlir", "emit/expressions.mlir",
                           "emit/rings.mlir", "emit/stores.mlir"}) {
    INFO(file);
    const CudaText cuda = textOf(file);
    const cuda::Assembly assembly = cuda::assemble(assembledTextOf(cuda), cuda.entry + ".cu");
    CHECK_FALSE(assembly.cubin.empty());
  }
}

TEST_CASE("a whole kernel spills nothing, and its products stay asynchronous") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  const CudaText cuda = textOf("device/whole.mlir");
  const ResourceFacts facts = cuda::readLog(cuda::assemble(assembledTextOf(cuda), "causal.cu").log, cuda.entry);
  CHECK(facts.spillBytes == 0);
  CHECK(facts.remarks == std::vector<std::string>{});
}

TEST_CASE("the facts of the launch are those that the module states") {
  const CudaText cuda = textOf("device/whole.mlir");
  CHECK(cuda.entry == "causal");
  CHECK(cuda.launch.threads == 384);
  CHECK(cuda.launch.sharedBytes == 163904 + 16 + 1024);
  CHECK(cuda.launch.blockAxis == "q");
  CHECK(cuda.launch.blockWidth == 128);
  CHECK(cuda.launch.freeAxes == std::vector<std::string>{"b", "h"});
  CHECK(cuda.launch.grouped);
  CHECK(cuda.launch.ringTensors == std::vector<std::string>{"K", "V"});
  CHECK(cuda.instructions == std::vector<std::string>{"wgmma_rs BF16 128 1", "wgmma_ss BF16 128 0"});
  REQUIRE(cuda.launch.fields.size() == 14);
  CHECK(cuda.launch.fields[0].name == "tm_K");
  CHECK(cuda.launch.fields[0].dimensions[2].chunk == 64);
  CHECK(cuda.launch.fields[11].name == "K_dim1");
  CHECK(cuda.launch.fields[11].kind == ParameterField::Kind::length);
}

TEST_CASE("one module has one text, and is printed within a few milliseconds") {
  const std::string first = textOf("device/whole.mlir").source;
  std::chrono::duration<double, std::milli> best(1e9);
  for (int repetition = 0; repetition < 5; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    CHECK(textOf("device/whole.mlir").source == first);   // another context, other addresses
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start));
  }
  CHECK(best.count() < 50.);   // with parsing; all of MLIR and emission may take 150
}
