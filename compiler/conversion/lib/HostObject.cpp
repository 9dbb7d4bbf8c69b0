// From the LLVM dialect to a relocatable object: translation, the entry that unpacks arguments, LLVM's optimiser and code generator.
#include "tilewright/conversion/HostObject.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tilewright/artifact/HostImage.h"
#include <algorithm>
#include <mutex>

namespace tw {
namespace {
using mlir::LLVM::LLVMFuncOp;

constexpr llvm::StringLiteral scratchBytesName = "host.scratch_bytes";

/// The one function of `module` that is a host function.
llvm::FailureOr<LLVMFuncOp> findHostFunction(mlir::ModuleOp module) {
  LLVMFuncOp found;
  for (LLVMFuncOp function : module.getOps<LLVMFuncOp>()) {
    // The wrapper that takes descriptors by address (`_mlir_ciface_…`) has the attributes of the function it wraps.
    if (function.isExternal() || !function->hasAttr(scratchBytesName) || function.getName().starts_with("_mlir_ciface_"))
      continue;
    if (found)
      return function.emitError() << "a second function with " << scratchBytesName << "; one object holds one, and '"
                                  << found.getName() << "' is there already";
    found = function;
  }
  if (!found)
    return module.emitError() << "no LLVM function with " << scratchBytesName << "; run the pipeline host-to-llvm first";
  return found;
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(mlir::ModuleOp module, const HostCodegenOptions &options) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    module.emitError() << "LLVM has no code generator for " << triple.str() << ": " << error;
    return nullptr;
  }
  std::string cpu = options.cpu;
  llvm::SubtargetFeatures features(options.features);
  if (cpu.empty()) {
    cpu = llvm::sys::getHostCPUName().str();
    std::vector<std::string> asked = features.getFeatures();
    features = llvm::SubtargetFeatures();
    for (const auto &[name, offered] : llvm::sys::getHostCPUFeatures())
      features.AddFeature(name, offered);
    features.addFeaturesVector(asked);
  }
  std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (!known->isCPUStringValid(cpu)) {
    module.emitError() << "LLVM knows no " << triple.getArchName() << " processor '" << cpu << "'";
    return nullptr;
  }
  llvm::CodeGenOptLevel level = llvm::CodeGenOpt::getLevel(options.optLevel).value_or(llvm::CodeGenOptLevel::Aggressive);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features.getString(), {}, llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
  return machine;
}

/// Names of the features that code for `machine` may use.
std::vector<std::string> usableFeatures(const llvm::TargetMachine &machine) {
  std::vector<std::string> names;
  const llvm::MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  for (const llvm::SubtargetFeatureKV &feature : subtarget.getAllProcessorFeatures())
    if (subtarget.getFeatureBits().test(feature.Value))
      names.emplace_back(feature.Key);
  llvm::sort(names);
  return names;
}

/// Adds `void <name>_entry(void **arguments)`, which calls `wrapper` with arguments[i] itself where it takes an address and
/// with what arguments[i] points to elsewhere. Everything else becomes internal.
void addEntry(llvm::Module &module, llvm::Function &wrapper, const std::string &name) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *entry = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false),
                                       llvm::GlobalValue::ExternalLinkage, name, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", entry));
  llvm::SmallVector<llvm::Value *> values;
  for (const llvm::Argument &argument : wrapper.args()) {
    llvm::Value *slot = builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), argument.getArgNo());
    llvm::Value *value = builder.CreateLoad(pointer, slot);
    values.push_back(argument.getType()->isPointerTy() ? value : builder.CreateLoad(argument.getType(), value));
  }
  builder.CreateCall(&wrapper, values);
  builder.CreateRetVoid();
  for (llvm::Function &function : module)
    if (!function.isDeclaration()) {
      function.setDoesNotThrow();        // no unwind tables: nothing in here throws
      if (&function != entry)
        function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
}

/// The scratch, the last tensor of the host function, belongs to the running item alone. A one-dimensional tensor is passed
/// as {allocated, aligned, offset, size, stride}.
void markScratch(llvm::Function &function) {
  if (function.arg_size() < 5)
    return;
  unsigned aligned = static_cast<unsigned>(function.arg_size()) - 4;
  if (!function.getArg(aligned)->getType()->isPointerTy())
    return;
  function.addParamAttr(aligned, llvm::Attribute::NoAlias);
  function.addParamAttr(aligned, llvm::Attribute::getWithAlignment(function.getContext(), llvm::Align(64)));
}

/// What a host function needs of LLVM: it is vectors, register blocks and hoisted code already, so that the
/// standard pipelines take five times as long and gain nothing.
constexpr const char *hostPasses =
    "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),early-cse<memssa>)";

/// Runs `hostPasses`; the complaint if LLVM does not know one of them.
llvm::Error optimise(llvm::Module &module, llvm::TargetMachine &machine, int level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (level > 0)
    if (llvm::Error wrong = builder.parsePassPipeline(passes, hostPasses))
      return wrong;
  passes.run(module, modules);
  return llvm::Error::success();
}

/// Runs the code generator; false if it cannot make such a file.
bool generate(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType kind, llvm::SmallVectorImpl<char> &out) {
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return false;
  passes.run(module);
  return true;
}

/// Names that `object` leaves undefined and the runtime does not have.
llvm::Expected<std::vector<std::string>> unknownFunctions(llvm::StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file)
    return file.takeError();
  std::vector<std::string> names;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<std::uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined))
      continue;
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (!name->empty() && *name != "_GLOBAL_OFFSET_TABLE_" && !isHostFunction(*name))
      names.push_back(name->str());
  }
  return names;
}

} // namespace

llvm::FailureOr<HostObject> emitHostObject(mlir::ModuleOp module, const HostCodegenOptions &options) {
  llvm::FailureOr<LLVMFuncOp> found = findHostFunction(module);
  if (failed(found))
    return mlir::failure();
  LLVMFuncOp host = *found;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(module, options);
  if (!machine)
    return mlir::failure();

  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = mlir::translateModuleToLLVMIR(module, context, host.getName(), /*disableVerification=*/true);
  if (!code)
    return mlir::failure();
  llvm::Function *wrapper = code->getFunction(("_mlir_ciface_" + host.getName()).str());
  if (!wrapper)
    return host.emitError() << "the function lacks llvm.emit_c_interface";
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());

  HostObject result;
  result.entry = (host.getName() + "_entry").str();
  result.scratchBytes = host->getAttrOfType<mlir::IntegerAttr>(scratchBytesName).getInt();
  markScratch(*code->getFunction(host.getName()));
  addEntry(*code, *wrapper, result.entry);
  if (llvm::Error wrong = optimise(*code, *machine, options.optLevel)) {
    module.emitError() << "LLVM's passes: " << llvm::toString(std::move(wrong));
    return llvm::failure();
  }
  llvm::SmallVector<char, 0> object, assembly;
  if (options.wantText) {
    llvm::raw_string_ostream(result.llvmText) << *code;
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*code);
    if (!generate(*copy, *machine, llvm::CodeGenFileType::AssemblyFile, assembly))
      return host.emitError() << "LLVM cannot write assembly for " << machine->getTargetTriple().str();
    result.assembly.assign(assembly.begin(), assembly.end());
  }
  if (!generate(*code, *machine, llvm::CodeGenFileType::ObjectFile, object))
    return host.emitError() << "LLVM cannot write objects for " << machine->getTargetTriple().str();
  llvm::Expected<std::vector<std::string>> unknown = unknownFunctions({object.data(), object.size()});
  if (!unknown)
    return host.emitError() << "the object cannot be read back: " << llvm::toString(unknown.takeError());
  if (!unknown->empty())
    return host.emitError() << "the code calls " << llvm::join(*unknown, ", ") << ", which the runtime does not have";
  result.bytes = sealHostImage({machine->getTargetTriple().str(), usableFeatures(*machine), std::string(object.begin(), object.end())});
  return result;
}

} // namespace tw
