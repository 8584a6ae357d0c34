//===- ImageStore.cpp - From a request to loaded code ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/cache/ImageStore.h"

#include "nereid/ABI/AssembledApart.h"
#include "nereid/ABI/Encoding.h"
#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Support/Hash.h"
#include "nereid/Support/Host.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>

namespace nereid {

static constexpr uint64_t defaultCacheBytes = uint64_t{1} << 30;

Failure noCompiler(const std::string &what, const Context::State &context) {
  if (!context.isShared()) {
    return {ErrorCode::Unsupported,
            what +
                " needs the compiler, and its context was made without one; "
                "hint: pass createKernelCompiler() of \"nereid/nereid.h\" to "
                "the Context, or load the kernel from a library "
                "(Kernel::fromLibrary)",
            {}};
  }
  return {ErrorCode::Unsupported,
          what + " needs the compiler, and this program has none: it includes "
                 "only nereid/Runtime headers. Include \"nereid/nereid.h\" and "
                 "link NereidPipeline, or pass a Context with a compiler; a "
                 "library that a program opens calls nereid::installDefaults()",
          {}};
}

Context::State::State(std::unique_ptr<KernelCompiler> compiler,
                      ContextOptions options)
    : own(std::move(options.settings)), compiler(std::move(compiler)),
      chooser(std::move(options.chooser)), clock(options.clock),
      machine(std::move(options.machine)),
      deviceFunctions(options.deviceFunctions),
      disk(options.cacheDirectory.empty() ? DiskCache::defaultFolder(settings())
                                          : options.cacheDirectory,
           options.cacheBytes.value_or(
               settings().cacheSize.value_or(defaultCacheBytes))),
      ownPool(ownSettings()) {
  if (options.observer) {
    observer.take(std::move(options.observer));
  }
}

Context::State::~State() = default;

/// Milliseconds since construction.
namespace {
class Stopwatch {
public:
  explicit Stopwatch(Clock &clock) : clock(clock) {}
  double ms() const { return clock.millisecondsSince(begin); }

private:
  Clock &clock;
  const int64_t begin = clock.now();
};
} // namespace

static Digest keyOf(const CompileRequest &request,
                    const KernelDescription &description,
                    const std::string &buildId) {
  // Source text away from the kernel does not matter, but the kernel's place
  // does: run-time faults and warnings quote it.
  Encoder out;
  out.add(kernelImageVersion).add(launchAbiVersion).add(buildId);
  out.add(request.target).add(hostFeatureWords());
  out.add(description.sourceHash).add(request.kernel);
  out.add(request.source.path).add(description.location);
  out.add(request.options);
  out.add(static_cast<uint64_t>(request.arguments.size()));
  for (const ArgumentSpec &spec : request.arguments) {
    out.add(spec);
  }
  return hashText(out.bytes);
}

Expected<std::string> Context::State::resolveTarget(const std::string &target) {
  std::lock_guard lock(mutex);
  auto known = resolvedTargets.find(target);
  if (known != resolvedTargets.end()) {
    return known->second;
  }
  Expected<std::string> resolved = compiler->resolveTarget(target);
  if (resolved.ok()) {
    resolvedTargets[target] = *resolved;
  }
  return resolved;
}

Expected<std::string> targetOf(Device device) {
  switch (device.kind()) {
  case Device::Kind::Cpu:
    return std::string("cpu");
  case Device::Kind::Interp:
    return std::string("interp");
  case Device::Kind::Cuda:
  case Device::Kind::Hip:
    break;
  }
  Expected<gpu::DeviceState *> state = gpu::DeviceState::get(device);
  if (!state.ok()) {
    return state.failure();
  }
  return (*state)->properties.target();
}

/// The warnings of a kernel come with each of its specializations.
static void printOnce(const std::string &text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard lock(mutex);
  if (said.insert(text).second) {
    std::fputs(text.c_str(), stderr);
  }
}

static Expected<std::shared_ptr<const gpu::LoadedKernel>>
loadOnDevice(KernelImage &image, Device device, uint32_t maxRegisters) {
  Expected<gpu::DeviceState *> state = gpu::DeviceState::get(device);
  if (!state.ok()) {
    return state.failure();
  }
  auto kernel = gpu::load(**state, image, maxRegisters);
  if (kernel.ok() && logEnabled(LogTopic::Compile)) {
    logLine(LogTopic::Compile, gpu::resourceLine(**kernel, image));
  }
  return kernel;
}

Expected<std::shared_ptr<const LoadedImage>>
Context::State::load(KernelImage image, Device device, uint32_t maxRegisters,
                     HostEntry entry) {
  auto loaded = std::make_shared<LoadedImage>();
  WatchedSlice watched;
  if (entry) {
    loaded->code.entry = entry;
  } else if (device.isHost()) {
    Expected<HostCode> code = compiler->load(image);
    if (!code.ok()) {
      return code.failure();
    }
    loaded->code = std::move(*code);
  } else {
    auto kernel = loadOnDevice(image, device, maxRegisters);
    if (!kernel.ok()) {
      return kernel.failure();
    }
    loaded->kernel = std::move(*kernel);
  }
  loaded->codeBytes = image.code.size();
  loaded->codeHash = std::stoull(
      hashBytes(image.code.data(), image.code.size()).hex().substr(0, 16),
      nullptr, 16);
  image.code = {};
  loaded->canFail = image.programsWait;
  for (const ImageSite &site : image.sites) {
    loaded->canFail |= site.kind != ImageSite::Kind::Print;
  }
  for (const Diagnostic &warning : image.warnings) {
    printOnce(render(warning));
  }
  loaded->image = std::move(image);
  if (watched.isWatched()) {
    watched.finish({"compile",
                    "load " + loaded->image.kernel,
                    0,
                    0,
                    {{"device", device.str()}}});
  }
  return std::shared_ptr<const LoadedImage>(std::move(loaded));
}

void printTimes(const std::string &kernel, const std::string &target,
                const char *origin, const StageTimes &parts, double total) {
  std::string line =
      "nereid: time: " + kernel + " [" + target + "] " + origin + " ";
  char number[32];
  std::snprintf(number, sizeof(number), "%.2f ms:", total);
  line += number;
  for (const auto &[stage, milliseconds] : parts) {
    std::snprintf(number, sizeof(number), " %.2f", milliseconds);
    line += " " + stage + number + ",";
  }
  line.back() = '\n';
  std::fputs(line.c_str(), stderr);
}

/// The compiler says how long its stages took, not when: they are laid one
/// after the other, in their order, from where the compilation began.
[[gnu::cold]] static void observeCompilation(const WatchedSlice &watched,
                                             const CompileRequest &request,
                                             const StageTimes &stages) {
  std::shared_ptr<Observer> observer = currentObserver();
  if (!observer) {
    return;
  }
  int64_t endNs = observer->now(), at = watched.beginNs;
  observer->slice({"compile",
                   "compile " + request.kernel,
                   at,
                   endNs,
                   {{"target", request.target}}});
  for (const auto &[stage, ms] : stages) {
    int64_t next = std::min(endNs, at + static_cast<int64_t>(ms * 1e6));
    observer->slice({"stage", stage, at, next, {}});
    at = next;
  }
}

static void observeCacheLookup(const WatchedSlice &watched,
                               const CompileRequest &request,
                               const char *result, const Digest &key) {
  if (watched.isWatched()) {
    watched.finish(
        {"cache",
         "look up " + request.kernel,
         0,
         0,
         {{"result", result}, {"target", request.target}, {"key", key.hex()}}});
  }
}

/// By drivers that are older than the assembler.
static std::atomic<bool> machineCodeIsRefused = false;

Expected<Context::State::Obtained>
Context::State::compile(const CompileRequest &request, Device device,
                        std::optional<Digest> storeAs) {
  Stopwatch total(*clock);
  WatchedSlice watched;
  AssembledApart apart(AssembledApart::ofThread() && !machineCodeIsRefused);
  Expected<CompileResult> result = compiler->compile(request);
  if (!result.ok()) {
    return result.failure();
  }
  if (watched.isWatched()) {
    observeCompilation(watched, request, result->image.stageTimes);
  }
  ++compiled;
  auto parts = result->image.stageTimes;
  std::optional<KernelImage> kept;
  if (storeAs) {
    kept = result->image;
  }
  // The compiler's own for AMD's GPUs is what there is.
  bool isMachineCode = AssembledApart::ofThread() &&
                       result->image.format == ImageFormat::GpuBinary;
  Stopwatch loading(*clock);
  Expected<std::shared_ptr<const LoadedImage>> loaded =
      load(std::move(result->image), device, request.options.maxRegisters);
  if (!loaded.ok() && isMachineCode) {
    AssembledApart byTheDriver(false);
    Expected<Obtained> again = compile(request, device, storeAs);
    if (again.ok()) {
      machineCodeIsRefused = true;
    }
    return again;
  }
  if (!loaded.ok()) {
    return loaded.failure();
  }
  double loadingMs = loading.ms();
  if (kept) {
    kept->spillBytes = (*loaded)->image.spillBytes; // reported only once
    disk.store(*storeAs, *kept);
  }
  if (settings().time) {
    parts.emplace_back("load", loadingMs);
    printTimes(request.kernel, (*loaded)->image.target, "compiled in", parts,
               total.ms());
  }
  return Obtained{*loaded, CompiledInfo::Origin::Compiler, total.ms()};
}

static void logHit(const char *where, const KernelImage &image,
                   const Digest &key) {
  if (logEnabled(LogTopic::Cache)) {
    logLine(LogTopic::Cache, std::string(where) + " " + image.kernel + " [" +
                                 image.target + "] " + key.hex());
  }
}

Expected<Context::State::Obtained>
Context::State::obtain(CompileRequest request,
                       const KernelDescription &description, Device device) {
  if (!compiler) {
    return noCompiler("kernel '" + request.kernel + "'", *this);
  }
  Stopwatch watch(*clock);
  Expected<std::string> target = targetOf(device);
  if (target.ok()) {
    target = resolveTarget(*target);
  }
  if (!target.ok()) {
    return target.failure();
  }
  request.target = *target;
  if (compilesAnew()) {
    return compile(request, device, std::nullopt);
  }
  WatchedSlice watched;
  Digest key = keyOf(request, description, compiler->buildId());
  LoadedKey place = {key.bytes, placeOf(device)};
  {
    std::lock_guard lock(mutex);
    auto known = loaded.find(place);
    if (known != loaded.end()) {
      ++memoryHits;
      logHit("memory hit", known->second->image, key);
      observeCacheLookup(watched, request, "in memory", key);
      return Obtained{known->second, CompiledInfo::Origin::Memory, watch.ms()};
    }
  }
  Obtained obtained;
  // The log tells how a kernel is compiled, so it must be.
  std::optional<KernelImage> image;
  if (!logEnabled(LogTopic::Dispatch)) {
    image = disk.find(key);
  }
  observeCacheLookup(watched, request, image ? "on disk" : "missing", key);
  if (image) {
    double readMs = watch.ms();
    Expected<std::shared_ptr<const LoadedImage>> fromDisk =
        load(std::move(*image), device, request.options.maxRegisters);
    // An image that verifies but does not load is compiled again.
    if (fromDisk.ok()) {
      ++diskHits;
      obtained = {*fromDisk, CompiledInfo::Origin::Disk, watch.ms()};
      logHit("disk hit", obtained.loaded->image, key);
      if (settings().time) {
        const KernelImage &known = obtained.loaded->image;
        printTimes(known.kernel, known.target, "from the disk cache in",
                   {{"read", readMs}, {"load", watch.ms() - readMs}},
                   watch.ms());
      }
    }
  }
  if (!obtained.loaded) {
    Expected<Obtained> made = compile(request, device, key);
    if (!made.ok()) {
      return made.failure();
    }
    obtained = *made;
    logHit("compiled", obtained.loaded->image, key);
  }
  std::lock_guard lock(mutex);
  loaded[place] = obtained.loaded;
  return obtained;
}

Expected<CompiledInfo>
Context::State::compileOnly(CompileRequest &request,
                            const KernelDescription &description) {
  if (!compiler) {
    return noCompiler("kernel '" + request.kernel + "'", *this);
  }
  Stopwatch watch(*clock);
  Expected<std::string> target = resolveTarget(request.target);
  if (!target.ok()) {
    return target.failure();
  }
  request.target = *target;
  CompiledInfo info;
  Digest key = keyOf(request, description, compiler->buildId());
  std::optional<KernelImage> image;
  if (!compilesAnew() && !logEnabled(LogTopic::Dispatch)) {
    image = disk.find(key);
  }
  info.origin =
      image ? CompiledInfo::Origin::Disk : CompiledInfo::Origin::Compiler;
  if (!image) {
    AssembledApart apart;
    Expected<CompileResult> result = compiler->compile(request);
    if (!result.ok()) {
      return result.failure();
    }
    ++compiled;
    image = std::move(result->image);
    if (!compilesAnew()) {
      disk.store(key, *image);
    }
  }
  for (const Diagnostic &warning : image->warnings) {
    printOnce(render(warning));
  }
  info.codeBytes = image->code.size();
  info.image = std::move(*image);
  info.milliseconds = watch.ms();
  return info;
}

Expected<Context::State::Obtained>
Context::State::loadPrecompiled(KernelImage image, HostEntry entry,
                                const CompileOptions &options, Device device) {
  Stopwatch watch(*clock);
  std::string kernel = image.kernel, target = image.target;
  auto parts = image.stageTimes;
  auto made = load(std::move(image), device, options.maxRegisters, entry);
  if (!made.ok()) {
    return made.failure();
  }
  if (settings().time) {
    parts.emplace_back("load", watch.ms());
    printTimes(kernel, target, "from the program in", parts, watch.ms());
  }
  return Obtained{*made, CompiledInfo::Origin::Library, watch.ms()};
}

} // namespace nereid
