//===- Context.h - A compiler, a cache, and what they keep ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Context owns a KernelCompiler and the images it made, in memory and on
// disk. Most programs use the shared one: including "nereid/nereid.h" gives it
// the built-in compiler. A program that includes only Runtime headers links no
// compiler, and its shared context runs ahead-of-time images only.
//
// A launch uses its kernel's context: its settings, threads, chooser and
// observer. All else that a thread does, such as copies of tensors, uses the
// shared context, or that of a ContextScope. Devices and tensors belong to no
// context: kernels of any context take them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_CONTEXT_H
#define NEREID_RUNTIME_CONTEXT_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Machine/Clock.h"
#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Device.h"
#include "nereid/Support/Knobs.h"

#include <memory>
#include <optional>
#include <vector>

namespace nereid {

class ConfigChooser;
class DiskCache;
class Observer;
class Tensor;
struct Generation;

/// Functions that compute on a device what the runtime else computes on the
/// host. The library of operators (kernels/) has all of them, with the same
/// results.
struct DeviceFunctions {
  /// Copies between tensors of one GPU and one shape, with strides or
  /// conversion. False: it cannot.
  bool (*copy)(const Tensor &to, const Tensor &from) = nullptr;
  /// Fills a row-major tensor of a GPU with numbers
  /// (Runtime/device/DeviceGenerator.h). False: it cannot.
  bool (*generate)(const Tensor &to, const Generation &generation) = nullptr;
  /// a + b in a's dtype, on their device; into `a` where `inPlace`. Undefined:
  /// it cannot.
  Tensor (*add)(const Tensor &a, const Tensor &b, bool inPlace) = nullptr;
  /// `x` summed to `shape`, which broadcasts to that of x, in x's dtype.
  /// Undefined: it cannot.
  Tensor (*sumTo)(const Tensor &x, const std::vector<int64_t> &shape) = nullptr;
};

struct ContextOptions {
  /// Empty: NEREID_CACHE_DIR, else the user's cache folder.
  std::string cacheDirectory = {};
  /// Bytes kept on disk; 0 turns the disk cache off. Absent:
  /// NEREID_CACHE_SIZE, else 1 GiB.
  std::optional<uint64_t> cacheBytes = std::nullopt;
  /// Chooses among the configurations of @triton.autotune for this context's
  /// kernels. Null: the process's (setConfigChooser), if it has one.
  std::shared_ptr<ConfigChooser> chooser = nullptr;
  /// Measures launches on host devices, to decide how they run. It never
  /// changes what they compute.
  SharedClock clock = {};
  /// Its caches decide which launches are large.
  Machine machine = thisMachine();
  /// What NEREID_... variables set (docs/KNOBS.md), the level of the processor
  /// and the number of threads among them: the context then has a pool of its
  /// own. Absent: the process's settings and pool. Which drivers are loaded
  /// (cudaDriver, hipDriver, cupti, simulator) is for the process alone to say.
  std::optional<Knobs> settings = std::nullopt;
  /// Sees what is done for this context. Null: the process's (observe), if
  /// it has one. nereid/Prof records a context by Profiler::start.
  std::shared_ptr<Observer> observer = nullptr;
  /// Absent: those of the operators, in a program that links them.
  std::optional<DeviceFunctions> deviceFunctions = std::nullopt;
};

/// Counts since the context was made.
struct CacheCounters {
  uint64_t memoryHits = 0, diskHits = 0, compiled = 0;
};

/// Thread-safe. Kernels keep what they need of it: they may outlive it.
class Context {
public:
  /// `compiler` may be null: then every launch that would need it fails,
  /// saying so.
  explicit Context(std::unique_ptr<KernelCompiler> compiler,
                   ContextOptions options = {});
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /// The context used when none is named. Made on first use.
  static Context &shared();
  /// A handle of the context that this thread works for: that of its innermost
  /// ContextScope, else the shared one.
  static Context current();
  /// Another handle of this context, which keeps what kernels keep.
  Context handle() const { return Context(state_); }
  using CompilerFactory = std::unique_ptr<KernelCompiler> (*)();
  /// Gives the shared context another compiler than that of nereid/nereid.h; no
  /// effect once that context exists.
  static void setSharedCompiler(CompilerFactory factory);

  KernelCompiler *compiler() const;
  CacheCounters cacheCounters() const;

  struct State;
  State &state() const { return *state_; }

private:
  explicit Context(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_; ///< its kernels keep it, too
};

/// This thread works for `context`, which must outlive the scope: it has that
/// context's settings, and its pool's threads for loops; its observer gets
/// copies and trace ranges; operators launch its kernels. Scopes nest.
class ContextScope {
public:
  explicit ContextScope(const Context &context)
      : ContextScope(&context.state()) {}
  /// One that ends with the statement would leave the scope without a context.
  explicit ContextScope(const Context &&context) = delete;
  /// Null: the shared one.
  explicit ContextScope(Context::State *context);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  Context::State *outer;
  KnobsScope settings;
};

namespace detail {
void useConfigTrials();
/// What a program has that includes nereid/nereid.h, which defines it. It is
/// data, which the first use of the shared context reads: no code runs before
/// main. Weak: a program without that header has none, and its address is null.
struct SharedDefaults {
  Context::CompilerFactory compiler;
  ConfigChooser &(*chooser)();
  void (*useTrials)();
};
[[gnu::weak,
  gnu::visibility("default")]] extern const SharedDefaults sharedDefaults;
/// The above, else the installed ones; null where there are none.
const SharedDefaults *presentDefaults();
/// They live as long as the process. A shared context without a compiler has
/// theirs from now on.
void installDefaults(const SharedDefaults &defaults);

/// Likewise for the library of operators.
[[gnu::weak,
  gnu::visibility("default")]] extern const DeviceFunctions operatorFunctions;
void installDeviceFunctions(const DeviceFunctions &functions);
} // namespace detail

/// Those of the context that this thread works for.
const DeviceFunctions &deviceFunctions();

/// Threads that run programs of a grid on the cpu device; all cores by
/// default, or NEREID_NUM_THREADS. 0 restores the default. More than
/// Machine::mostThreads() are reported, and not taken. Results do not depend on
/// it. Of the process: contexts with settings of their own have their own. Not
/// to be called while a kernel runs.
void setNumThreads(int count);
/// Those of the context that this thread works for.
int numThreads();

} // namespace nereid

#endif // NEREID_RUNTIME_CONTEXT_H
