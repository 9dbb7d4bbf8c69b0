#include "TileKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tilewright/conversion/HostObject.h"
#include "tilewright/conversion/Passes.h"
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace {
std::string readKernel(const std::string &file, const std::map<std::string, std::string> &names) {
  std::ifstream in(std::string(TILEWRIGHT_KERNELS) + "/" + file);
  if (!in)
    throw std::runtime_error("no kernel " + file);
  std::stringstream all;
  all << in.rdbuf();
  std::string text = all.str();
  for (auto name = names.rbegin(); name != names.rend(); ++name)   // longer names before their beginnings
    for (size_t at; (at = text.find("$" + name->first)) != std::string::npos;)
      text.replace(at, name->first.size() + 1, name->second);
  return text;
}
} // namespace

TileKernel::TileKernel(const std::string &file, const std::map<std::string, std::string> &names, TileShape shape, bool wantText) {
  mlir::DialectRegistry registry;
  registry.insert<tw::tile::TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(readKernel(file, names), &context);
  mlir::PassManager passes(&context);
  tw::TileToHostOptions options;
  options.vectorBytes = shape.vectorBytes;
  options.registerRows = shape.registerRows;
  options.registerVectors = shape.registerVectors;
  passes.addPass(tw::createTileToHost(options));
  if (!module || failed(passes.run(*module)))
    throw std::runtime_error(file + ": " + messages);
  if (wantText)
    llvm::raw_string_ostream(host) << *module;
  mlir::PassManager lower(&context);
  tw::buildHostToLLVMPipeline(lower);
  if (failed(lower.run(*module)))
    throw std::runtime_error(file + ": " + messages);
  auto object = tw::emitHostObject(*module, {.wantText = wantText});
  if (failed(object))
    throw std::runtime_error(file + ": " + messages);
  code = tw::HostCode::load(object->bytes, object->entry);
  scratchBytes = object->scratchBytes;
  assembly = std::move(object->assembly);
}

void TileKernel::run(std::vector<void *> arguments, const std::vector<tw::HostAxis> &axes, int threads) const {
  arguments.push_back(nullptr);
  std::vector<std::byte> workspace(tw::hostWorkspaceBytes(arguments.size(), axes.size(), scratchBytes, threads));
  tw::HostLaunch launch;
  launch.arguments = arguments;
  launch.axes = axes;
  launch.scratchArgument = arguments.size() - 1;
  launch.scratchBytes = scratchBytes;
  launch.workspace = workspace.data();
  launch.workspaceBytes = workspace.size();
  launch.threads = threads;
  tw::launchHost(*code, launch);
}
