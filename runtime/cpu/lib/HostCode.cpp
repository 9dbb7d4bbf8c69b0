// Links an object into the process with LLVM's in-process linker alone: no code generator is needed to run what was built before.
#include "tilewright/cpu/HostCode.h"
#include "HostFunctions.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "tilewright/artifact/HostImage.h"
#include "tilewright/artifact/RuntimeError.h"

namespace tw {
namespace {

namespace orc = llvm::orc;

[[noreturn]] void refuse(std::string_view entry, const std::string &why) {
  throw RuntimeError("host code '" + std::string(entry) + "' cannot be loaded: " + why);
}

/// Refuses code of another architecture or system, and code that uses what this CPU lacks.
void checkMachine(const HostImage &image, std::string_view entry) {
  const llvm::Triple made(image.triple), here(llvm::sys::getProcessTriple());
  if (made.getArch() != here.getArch() || made.getOS() != here.getOS() || made.getObjectFormat() != here.getObjectFormat())
    refuse(entry, "it was made for " + image.triple + " and this process runs on " + here.str() + "; build the kernel for this machine");
  static const llvm::StringMap<bool> offered = llvm::sys::getHostCPUFeatures();
  std::string lacking;
  for (const std::string &feature : image.features)
    if (auto found = offered.find(feature); found != offered.end() && !found->second)
      lacking += (lacking.empty() ? "" : ", ") + feature;
  if (!lacking.empty())
    refuse(entry, "it uses " + lacking + ", which this CPU (" + llvm::sys::getHostCPUName().str() +
                      ") does not have; build the kernel for this machine, or for an older CPU");
}

} // namespace

/// A session of the linker that owns the executable memory of one object.
struct HostCode::Linked {
  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  std::string complaints;   // what the linker reports besides the errors that it returns

  explicit Linked(std::unique_ptr<orc::ExecutorProcessControl> process) : session(std::move(process)), layer(session) {
    session.setErrorReporter([this](llvm::Error error) { complaints += llvm::toString(std::move(error)) + "; "; });
  }
  ~Linked() { llvm::consumeError(session.endSession()); }

  llvm::Expected<orc::ExecutorAddr> link(std::string_view object, std::string_view entry) {
    orc::JITDylib &library = session.createBareJITDylib("kernel");
    orc::SymbolMap functions;
    for (const HostFunction *function = tilewrightHostFunctions(); function->name; ++function)
      functions[session.intern(function->name)] = {orc::ExecutorAddr::fromPtr(function->address),
                                                   llvm::JITSymbolFlags::Callable};
    if (llvm::Error error = library.define(orc::absoluteSymbols(std::move(functions))))
      return error;
    if (llvm::Error error = layer.add(library, llvm::MemoryBuffer::getMemBufferCopy({object.data(), object.size()}, "kernel")))
      return error;
    llvm::Expected<orc::ExecutorSymbolDef> symbol =
        session.lookup({&library}, session.intern({entry.data(), entry.size()}));
    if (!symbol)
      return symbol.takeError();
    return symbol->getAddress();
  }
};

HostCode::HostCode(std::unique_ptr<Linked> linked, void (*function)(void **))
    : linked_(std::move(linked)), function_(function) {}

HostCode::~HostCode() = default;

std::shared_ptr<const HostCode> HostCode::load(std::string_view bytes, std::string_view entry) {
  HostImage image = openHostImage(bytes);
  checkMachine(image, entry);
  auto process = orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!process)
    refuse(entry, llvm::toString(process.takeError()));
  auto linked = std::make_unique<Linked>(std::move(*process));
  llvm::Expected<orc::ExecutorAddr> address = linked->link(image.object, entry);
  if (!address) {
    std::string why = llvm::toString(address.takeError());
    refuse(entry, linked->complaints + why);
  }
  auto *function = address->toPtr<void (*)(void **)>();
  return std::shared_ptr<const HostCode>(new HostCode(std::move(linked), function));
}

} // namespace tw
