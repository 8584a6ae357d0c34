//===- LoadObject.cpp - Objects to callable code of this process ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JITLink under a bare ORC session. LLJIT is not used: its platform layer and
// its search of the whole process's symbols cost time, and would let an object
// bind to any function of the host program.
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/CPU/CpuTarget.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>

using namespace nereid;
namespace orc = llvm::orc;

/// What JITLink says when it cannot link: tasks run on the calling thread, so
/// the reporter and the caller see the same variable.
static thread_local std::string linkErrors;

namespace {

struct HostSymbol {
  const char *name;
  void *address;
};

#define NEREID_UNARY(fn)                                                       \
  {#fn "f", (void *)static_cast<float (*)(float)>(::fn##f)}, {                 \
    #fn, (void *)static_cast<double (*)(double)>(::fn)                         \
  }
#define NEREID_BINARY(fn)                                                      \
  {#fn "f", (void *)static_cast<float (*)(float, float)>(::fn##f)}, {          \
    #fn, (void *)static_cast<double (*)(double, double)>(::fn)                 \
  }

/// All that generated code may call by name. LLVM itself turns copies and
/// fills into memcpy and memset, `frem` into fmod, and on machines without
/// FMA or SSE4.1 `fma` and the roundings into libm calls.
const HostSymbol hostSymbols[] = {
    {"memcpy", (void *)::memcpy},
    {"memmove", (void *)::memmove},
    {"memset", (void *)::memset},
    {"fmaf", (void *)static_cast<float (*)(float, float, float)>(::fmaf)},
    {"fma", (void *)static_cast<double (*)(double, double, double)>(::fma)},
    NEREID_UNARY(acos),
    NEREID_UNARY(acosh),
    NEREID_UNARY(asin),
    NEREID_UNARY(asinh),
    NEREID_UNARY(atan),
    NEREID_UNARY(atanh),
    NEREID_UNARY(cbrt),
    NEREID_UNARY(ceil),
    NEREID_UNARY(cos),
    NEREID_UNARY(cosh),
    NEREID_UNARY(erf),
    NEREID_UNARY(erfc),
    NEREID_UNARY(exp),
    NEREID_UNARY(exp2),
    NEREID_UNARY(expm1),
    NEREID_UNARY(floor),
    NEREID_UNARY(log),
    NEREID_UNARY(log10),
    NEREID_UNARY(log1p),
    NEREID_UNARY(log2),
    NEREID_UNARY(nearbyint),
    NEREID_UNARY(rint),
    NEREID_UNARY(round),
    NEREID_UNARY(roundeven),
    NEREID_UNARY(sin),
    NEREID_UNARY(sinh),
    NEREID_UNARY(sqrt),
    NEREID_UNARY(tan),
    NEREID_UNARY(tanh),
    NEREID_UNARY(trunc),
    NEREID_UNARY(lgamma),
    NEREID_UNARY(tgamma),
    NEREID_BINARY(atan2),
    NEREID_BINARY(fmod),
    NEREID_BINARY(pow),
    NEREID_BINARY(fmax),
    NEREID_BINARY(fmin),
    NEREID_BINARY(hypot),
    NEREID_BINARY(nextafter),
};

#undef NEREID_BINARY
#undef NEREID_UNARY

/// The process's one linker. Never destroyed: kernels may outlive main().
class Linker {
public:
  static Expected<Linker *> get();

  Expected<HostCode> link(const std::vector<std::byte> &object,
                          const std::string &entryName);

private:
  explicit Linker(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session(std::move(control)), layer(session) {}
  llvm::Error defineHostSymbols();

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  orc::JITDylib *host = nullptr; ///< hostSymbols
  std::atomic<uint64_t> numLinked{0};
};

} // namespace

llvm::Error Linker::defineHostSymbols() {
  host = &session.createBareJITDylib("host");
  orc::SymbolMap symbols;
  for (const HostSymbol &symbol : hostSymbols) {
    symbols[session.intern(symbol.name)] = {
        orc::ExecutorAddr::fromPtr(symbol.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  return host->define(orc::absoluteSymbols(std::move(symbols)));
}

Expected<Linker *> Linker::get() {
  static const Expected<Linker *> linker = []() -> Expected<Linker *> {
    auto control = orc::SelfExecutorProcessControl::Create(
        /*SSP=*/nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
    if (!control) {
      return {ErrorCode::Internal, "internal error: cannot start the linker: " +
                                       llvm::toString(control.takeError())};
    }
    auto *linker = new Linker(std::move(*control));
    linker->session.setErrorReporter([](llvm::Error error) {
      linkErrors += llvm::toString(std::move(error)) + "\n";
    });
    if (llvm::Error error = linker->defineHostSymbols()) {
      return {ErrorCode::Internal, "internal error: cannot start the linker: " +
                                       llvm::toString(std::move(error))};
    }
    return linker;
  }();
  return linker;
}

Expected<HostCode> Linker::link(const std::vector<std::byte> &object,
                                const std::string &entryName) {
  orc::JITDylib &library =
      session.createBareJITDylib("kernel" + std::to_string(numLinked++));
  library.addToLinkOrder(*host);
  orc::ExecutionSession *owner = &session;
  std::shared_ptr<const void> code(&library, [owner, &library](const void *) {
    llvm::consumeError(owner->removeJITDylib(library));
  });
  linkErrors.clear();
  // The bytes outlive the link, which ends with the look-up below.
  auto buffer = llvm::MemoryBuffer::getMemBuffer(
      llvm::StringRef(reinterpret_cast<const char *>(object.data()),
                      object.size()),
      library.getName(), /*RequiresNullTerminator=*/false);
  llvm::Error error = layer.add(library, std::move(buffer));
  if (!error) {
    auto symbol = session.lookup({&library}, entryName);
    if (symbol) {
      return HostCode{symbol->getAddress().toPtr<HostEntry>(), nullptr,
                      std::move(code)};
    }
    error = symbol.takeError();
  }
  return {ErrorCode::Internal, "internal error: cannot load '" + entryName +
                                   "': " + linkErrors +
                                   llvm::toString(std::move(error))};
}

Expected<HostCode> cpu::loadObject(const std::vector<std::byte> &object,
                                   const std::string &entryName) {
  auto linker = Linker::get();
  if (!linker.ok()) {
    return linker.failure();
  }
  return (*linker)->link(object, entryName);
}
