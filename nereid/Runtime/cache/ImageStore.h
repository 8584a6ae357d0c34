//===- ImageStore.h - From a request to loaded code -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, then disk, then the compiler. The key of an image is a hash of
// everything that its code, messages and positions depend on.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_CACHE_IMAGESTORE_H
#define NEREID_RUNTIME_CACHE_IMAGESTORE_H

#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/cache/DiskCache.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Runtime/gpu/GpuModule.h"
#include "nereid/Runtime/launch/WordTable.h"

#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>

namespace nereid {

/// An image, without its code bytes, and what its code became.
struct LoadedImage {
  KernelImage image;
  HostCode code;                                   ///< on host devices
  std::shared_ptr<const gpu::LoadedKernel> kernel; ///< on GPUs
  uint64_t codeBytes = 0, codeHash = 0;
  bool canFail = false; ///< a program may leave by HostServices::fail or wait
};

/// One number for each memory that code is loaded into: -1 for the host's.
inline int placeOf(Device device) {
  return device.isHost()
             ? -1
             : static_cast<int>(device.kind()) << 16 | device.index();
}

/// What NEREID_TIME prints, one line a kernel: every stage's name and ms.
void printTimes(const std::string &kernel, const std::string &target,
                const char *origin, const StageTimes &parts, double total);

/// A context's compiler, if it has one. The shared one may be given it while
/// others look.
class CompilerSlot {
public:
  explicit CompilerSlot(std::unique_ptr<KernelCompiler> compiler)
      : held(compiler.release()) {}
  ~CompilerSlot() { delete held.load(); }
  CompilerSlot(const CompilerSlot &) = delete;
  CompilerSlot &operator=(const CompilerSlot &) = delete;

  /// Where there is none.
  void give(std::unique_ptr<KernelCompiler> compiler) {
    KernelCompiler *none = nullptr;
    if (held.compare_exchange_strong(none, compiler.get())) {
      (void)compiler.release();
    }
  }
  KernelCompiler *get() const { return held.load(std::memory_order_acquire); }
  KernelCompiler *operator->() const { return get(); }
  explicit operator bool() const { return get(); }

private:
  std::atomic<KernelCompiler *> held;
};

struct Context::State : std::enable_shared_from_this<Context::State> {
  State(std::unique_ptr<KernelCompiler> compiler, ContextOptions options);
  ~State();

  /// That of this thread's innermost ContextScope; null: the shared one.
  static State *ofThread();
  /// The same, or the shared one.
  static State &current();
  Context handle() { return Context(shared_from_this()); }
  bool isShared() const { return this == &Context::shared().state(); }

private:
  // In front of what is made by them.
  const std::optional<Knobs> own;

public:
  CompilerSlot compiler;
  const std::shared_ptr<ConfigChooser> chooser;
  const SharedClock clock;
  const Machine machine;
  ObserverPlace observer; ///< empty: the process's
  const std::optional<DeviceFunctions> deviceFunctions;
  DiskCache disk;

  /// Null: the process's.
  const Knobs *ownSettings() const { return own ? &*own : nullptr; }
  const Knobs &settings() const { return own ? *own : processKnobs(); }
  ThreadPool &pool() { return own ? ownPool : ThreadPool::ofProcess(); }

  std::atomic<uint64_t> memoryHits = 0, diskHits = 0, compiled = 0;

  struct Obtained {
    std::shared_ptr<const LoadedImage> loaded;
    CompiledInfo::Origin origin = CompiledInfo::Origin::Memory;
    double milliseconds = 0;
  };
  /// Code for the device; it decides request.target. A cuda device's driver
  /// assembles PTX as it loads it and keeps the machine code in its own cache;
  /// ours keeps the PTX. Of a hip device it keeps the code object.
  Expected<Obtained> obtain(CompileRequest request,
                            const KernelDescription &description,
                            Device device);
  /// Code for request.target, whose device need not be here: on the disk when
  /// this returns, and not loaded. Where there is an assembler, the code of a
  /// cuda device is assembled.
  Expected<CompiledInfo> compileOnly(CompileRequest &request,
                                     const KernelDescription &description);
  /// Loads an image of a KernelLibrary.
  Expected<Obtained> loadPrecompiled(KernelImage image, HostEntry entry,
                                     const CompileOptions &options,
                                     Device device);

private:
  /// A dump must show a compilation, an override must take part in one, and
  /// what was compiled without a policy is not what others want.
  bool compilesAnew() const {
    return !settings().dump.empty() || !settings().overrideFrom.empty() ||
           !settings().disable.empty();
  }
  Expected<std::string> resolveTarget(const std::string &target);
  Expected<Obtained> compile(const CompileRequest &request, Device device,
                             std::optional<Digest> storeAs);
  /// `entry` is the code of a host image, where the program holds it.
  Expected<std::shared_ptr<const LoadedImage>> load(KernelImage image,
                                                    Device device,
                                                    uint32_t maxRegisters,
                                                    HostEntry entry = nullptr);

  ThreadPool ownPool;
  std::mutex mutex; ///< of the two maps
  std::map<std::string, std::string> resolvedTargets;
  /// Machine code is loaded into each GPU that runs it.
  using LoadedKey = std::pair<std::array<uint8_t, 32>, int>;
  std::map<LoadedKey, std::shared_ptr<const LoadedImage>> loaded;

  friend class nereid::Kernel;
  friend class nereid::KernelOfContexts;
  /// Kernel::keptBy, KernelOfContexts. They do not keep the context.
  std::mutex keeping; ///< of the first
  std::unordered_map<std::string, std::shared_ptr<KernelState>> kept;
  struct OwnKernel {
    std::shared_ptr<KernelState> state;
    Kernel view; ///< counts no references
  };
  WordTable<OwnKernel> ownKernels;

public:
  /// OfContexts; destroyed before the kernels that they refer to.
  WordTable<std::shared_ptr<void>> objects;
};

/// What a call that needs a compiler fails with when its context has none.
Failure noCompiler(const std::string &what, const Context::State &context);

/// CompileRequest::target of a device.
Expected<std::string> targetOf(Device device);

} // namespace nereid

#endif // NEREID_RUNTIME_CACHE_IMAGESTORE_H
