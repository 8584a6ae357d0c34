//===- Context.h - A compiler, a cache, and what they keep -----*- C++ -*-===//
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
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_CONTEXT_H
#define NEREID_RUNTIME_CONTEXT_H

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Machine/Clock.h"
#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Device.h"

#include <memory>
#include <optional>

namespace nereid {

class ConfigChooser;
class DiskCache;

struct ContextOptions {
  /// Empty: NEREID_CACHE_DIR, else the user's cache folder.
  std::string cacheDirectory = {};
  /// Bytes kept on disk; 0 turns the disk cache off. Absent:
  /// NEREID_CACHE_SIZE, else 1 GiB.
  std::optional<uint64_t> cacheBytes = std::nullopt;
  /// Chooses among the configurations of @triton.autotune for this context's
  /// kernels. Null: the process's (setConfigChooser), if it has one.
  std::shared_ptr<ConfigChooser> chooser = nullptr;
  /// Measures launches on host devices, to decide how they run: never what
  /// they compute.
  SharedClock clock = {};
  /// Whose caches say which launches are large.
  Machine machine = thisMachine();
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
} // namespace detail

/// Threads that run programs of a grid on the cpu device; all cores by
/// default, or NEREID_NUM_THREADS. 0 restores the default. More than
/// Machine::mostThreads() are told, and not taken. Results do not depend on it.
/// Not to be called while a kernel runs.
void setNumThreads(int count);
int numThreads();

} // namespace nereid

#endif // NEREID_RUNTIME_CONTEXT_H
