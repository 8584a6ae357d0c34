//===- Kernel.h - A kernel that can be launched -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   auto softmax = Kernel::load("softmax.py", "softmax_kernel");
//   softmax[{rows}](y, x, x.stride(0), y.stride(0), columns,
//                   "BLOCK_SIZE"_a = 4096, "num_warps"_a = 8);
//
// Arguments go by position or by name, as in Python: positional first, then
// named ones in any order; parameters with a default may be left out. Beside
// the parameters, these names are options of the launch:
//
//   num_warps, num_stages, num_ctas   hints; never change results
//   maxnreg, minnreg                  registers of a GPU's thread, at most and
//                                     at least: more, or fewer programs share a
//                                     multiprocessor; no change of results
//   waves_per_eu,                     AMD's GPUs: waves of a SIMD unit, and
//   matrix_instr_nonkdim              which matrix instructions; hints
//   enable_fp_fusion                  a * b + c in one rounding
//   debug                             device_assert is compiled in, and a look
//                                     whether integers overflow
//   sanitize_overflow                 false: debug without that look
//   launch_cooperative_grid           all programs run at once, or the launch
//                                     is refused
//   launch_pdl                        the launch may begin before the previous
//                                     one has ended, and waits for that at
//                                     gdc_wait or first (GPUs from 9.0 on)
//
// An argument is a Tensor, a Pointer, a number, a dtype, a string, none; a
// Tuple of such, whose items are specialized one by one; a TensorDescriptor; or
// a FunctionName, for a tl.constexpr parameter.
//
// The first launch with a new combination of types, constexpr values and
// specializations compiles (or takes the image from the cache); later ones
// cost one table look-up. An integer argument equal to 1 is compiled in,
// integers and addresses divisible by 16 are compiled as such (unless the
// kernel's decorator says otherwise).
//
// On host devices a launch returns when the kernel has finished; on cuda
// devices when it has been queued on the current stream (Stream.h). Kernels
// with @triton.autotune that are called without the tuned parameters get a
// configuration for each new value of their key, by trials where the program
// has a tuner; ConfigSelection.h says more, and which hooks run when. Called
// with all of them, they are launched as they are. Parameters of
// @triton.heuristics that are passed are not computed.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_KERNEL_H
#define NEREID_RUNTIME_KERNEL_H

#include "nereid/ABI/KernelLibrary.h"
#include "nereid/Runtime/Argument.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Grid.h"

#include <functional>
#include <memory>
#include <span>

namespace nereid {

struct KernelState;

/// What a launch made or found; for tools and tests.
struct CompiledInfo {
  enum class Origin { Memory, Disk, Compiler, Library };
  Origin origin = Origin::Memory;
  KernelImage image; ///< without its code
  uint64_t codeBytes = 0;
  double milliseconds = 0; ///< from the look-up to loaded code
};

/// A launch before it happens: what the compiler is asked for, and with which
/// values; for tools.
struct LaunchPreview {
  CompileRequest request;
  LaunchFacts facts;
};

/// What was compiled for a device that need not be there.
struct CompiledElsewhere {
  CompileRequest request;
  CompiledInfo info; ///< without what only a loaded kernel tells: registers
};

/// A handle; copies share the compiled images. Thread-safe.
class Kernel {
public:
  Kernel() = default;

  /// `name` may be empty when the file has one jit function. Throws NotFound
  /// (file, or kernel: with the names there are) or CompileError.
  static Kernel load(Text path, Text name = "",
                     Context &context = Context::shared());
  static Kernel fromSource(Source source, Text name = "",
                           Context &context = Context::shared());
  /// Text without a file.
  static Kernel fromSource(Text text, Text name = "",
                           Context &context = Context::shared());

  /// A kernel that was compiled ahead of time (docs/AheadOfTime.md); needs no
  /// compiler. `name` may be empty when the library has one kernel. Arguments
  /// that are the same constant in every signature may be left out of a launch.
  /// Throws NotFound, with the names there are, or Unsupported for a library
  /// of another version.
  static Kernel fromLibrary(const KernelLibrary &library, Text name = "",
                            Context &context = Context::shared());

  /// The context's own kernel of this key, made by `make` when it is first
  /// asked for, and no other handle to it may be left. Of several threads that
  /// ask first, each may make one; all get the same. It lives as long as the
  /// context or a handle. For libraries that launch their kernels in whatever
  /// context their caller works for (Context::current).
  static Kernel keptBy(Context &context, const std::string &key,
                       const std::function<Kernel(Context &)> &make);

  const std::string &name() const;
  const KernelDescription &description() const;
  /// Made by fromLibrary: launched with the options it was compiled with.
  bool isAheadOfTime() const;

  /// One pending launch; valid in the expression that made it.
  class Launcher {
  public:
    template <typename... Args>
    void operator()(const Args &...args) const {
      if constexpr (sizeof...(Args) == 0) {
        kernel.launch(grid, {});
      } else {
        const LaunchArgument arguments[] = {LaunchArgument(args)...};
        kernel.launch(grid, arguments);
      }
    }

  private:
    friend class Kernel;
    Launcher(const Kernel &kernel, const Grid &grid)
        : kernel(kernel), grid(grid) {}
    const Kernel &kernel;
    const Grid &grid;
  };

  Launcher operator[](const Grid &grid) const { return {*this, grid}; }

  /// A call without a grid always throws, and says what to write.
  template <typename... Args>
  void operator()(const Args &...) const {
    launch(Grid(), {});
  }

  /// The general form. Throws InvalidArgument naming kernel, parameter, what
  /// was expected and given; CompileError; KernelFault when a device_assert or
  /// a check fails. Other failures of a kernel on a cuda device are reported by
  /// the next call that waits for it.
  void launch(const Grid &grid,
              std::span<const LaunchArgument> arguments) const;

  /// Compiles for these arguments without running. `device` matters when no
  /// tensor is among them.
  CompiledInfo compile(std::span<const LaunchArgument> arguments) const;

  /// The same for a target ("sm_90a", "gfx942", "cpu"), whose device need not
  /// be there: nothing is loaded, and no driver is asked. The code is in the
  /// cache's folder afterwards, where a launch on such a device finds it, in
  /// this process or another. Arrays are Pointers. Throws as `compile`, and
  /// Unsupported for a target that there is no compiler for.
  CompiledElsewhere compileFor(Text target,
                               std::span<const LaunchArgument> arguments) const;

  /// What a launch would be, of a kernel with @triton.autotune that of its
  /// first configuration. Nothing is compiled or run. Throws as `launch`.
  LaunchPreview preview(const Grid &grid,
                        std::span<const LaunchArgument> arguments) const;

  /// The device of launches whose arguments hold no tensor: Device::best()
  /// unless set.
  Kernel on(Device device) const;

  /// The same kernel, which this handle does not keep: for what its context
  /// keeps itself (Kernel::keptBy).
  Kernel uncounted() const;

private:
  friend class KernelOfContexts;
  static std::shared_ptr<KernelState>
  makeToKeep(Context &context, const std::function<Kernel(Context &)> &make);
  explicit Kernel(std::shared_ptr<KernelState> state)
      : state(std::move(state)) {}
  KernelState &require() const;
  [[noreturn, gnu::cold]] static void raiseEmpty();
  std::shared_ptr<KernelState> state;
  std::optional<Device> device;
};

/// A kernel that each context has of its own, as Kernel::keptBy, for frequent
/// launches: once it is made there, it costs a look-up without a lock,
/// an allocation or a count of references.
class KernelOfContexts {
public:
  KernelOfContexts();
  /// Valid as long as the context. The context makes it by `make` when it is
  /// first asked for; all calls are given the same one.
  const Kernel &in(Context::State &context,
                   const std::function<Kernel(Context &)> &make) const;
  /// A handle of it, which keeps the context.
  Kernel handleIn(Context::State &context,
                  const std::function<Kernel(Context &)> &make) const;

private:
  uint64_t number; ///< no other has it, also of those that are gone
};

} // namespace nereid

#endif // NEREID_RUNTIME_KERNEL_H
