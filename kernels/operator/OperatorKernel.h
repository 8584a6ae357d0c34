//===- OperatorKernel.h - A kernel that an operator launches ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   static const OperatorKernel forward("layer_norm", "layer_norm_kernel");
//   forward[{rows}](y, x, ..., "N"_a = columns, "num_warps"_a = plan.warps);
//
// The text of kernels/<op>/<op>.py is part of the library. Where the program
// links a compiler, kernels are compiled from it for what they are launched
// with; else they come from the libraries compiled ahead of time that
// `addKernelLibrary` named, and a launch has to fit one of their signatures
// (kernels/<op>/ahead.txt).
//
// Thread-safe. Kernels are those of the context that the caller works for
// (Context::current); each is loaded when it is first launched there.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_OPERATORKERNEL_H
#define NEREID_KERNELS_OPERATOR_OPERATORKERNEL_H

#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/Tensor.h"

#include <functional>
#include <mutex>
#include <string_view>

namespace nereid::kernels {

class OperatorKernel {
public:
  OperatorKernel(const char *op, const char *kernel) : op(op), kernel(kernel) {}

  /// One pending launch; valid in the expression that made it.
  class Launcher {
  public:
    template <typename... Args>
    void operator()(const Args &...args) const {
      LaunchArgument arguments[] = {LaunchArgument(args)...,
                                    LaunchArgument("launch_pdl", true)};
      kernel.launch(grid, OperatorKernel::beginningEarly(arguments));
    }

  private:
    friend class OperatorKernel;
    Launcher(const OperatorKernel &kernel, const Grid &grid)
        : kernel(kernel), grid(grid) {}
    const OperatorKernel &kernel;
    const Grid &grid;
  };

  Launcher operator[](const Grid &grid) const { return {*this, grid}; }
  /// Options such as num_warps are those of the signature where the kernel was
  /// compiled ahead of time; what is said here is then left out.
  void launch(const Grid &grid,
              std::span<const LaunchArgument> arguments) const;
  /// Throws NotFound where the program has neither compiler nor library.
  Kernel get() const;

private:
  /// All of them, or all but the last one, launch_pdl: on a GPU from 9.0 on, a
  /// launch is prepared while the one in front of it runs, and waits at its
  /// beginning. Under OverlappedLaunches operators say it themselves: kernels
  /// that read early must not overtake those.
  static std::span<const LaunchArgument>
  beginningEarly(std::span<LaunchArgument> arguments);
  /// The kernel of the shared context, without a look-up.
  struct Shared {
    std::once_flag once;
    Kernel kernel;
  };
  const Kernel &ofShared() const;
  Kernel load(Context &context) const;

  const char *op, *kernel;
  /// The shared context may be given a compiler late.
  mutable Shared compiled, ahead;
  KernelOfContexts others;
};

/// What an operator is about to launch.
struct OperatorLaunch {
  Kernel kernel;
  Grid grid;
  std::span<const LaunchArgument> arguments;
  /// The same kernel from its text, in a context with a compiler.
  std::function<Kernel(Context &)> compile;
};

/// Sees the operators' launches of the thread that made it, each before it is
/// done. Tests judge launches so; what a watcher launches is not seen.
class LaunchWatcher {
public:
  LaunchWatcher();
  virtual ~LaunchWatcher();
  LaunchWatcher(const LaunchWatcher &) = delete;
  LaunchWatcher &operator=(const LaunchWatcher &) = delete;
  virtual void launching(const OperatorLaunch &launch) = 0;

private:
  LaunchWatcher *outer;
};

/// Launches, and lets this thread's watcher see it.
void launchWatched(const Kernel &kernel, const Grid &grid,
                   std::span<const LaunchArgument> arguments,
                   const std::function<Kernel(Context &)> &compile);

/// An optional tensor as an argument: Python's None where it is undefined. The
/// result is a view of `tensor`.
inline Argument orNone(const Tensor &tensor) {
  return tensor.defined() ? Argument(tensor) : Argument(none);
}

/// Row-major, or undefined as it was.
inline Tensor contiguousOrNone(const Tensor &tensor) {
  return tensor.defined() ? tensor.contiguous() : tensor;
}

/// True: kernels are compiled while the program runs, for any constant. False:
/// operators choose among the forms that were compiled ahead of time.
bool hasCompiler();

/// Are there kernels of kernels/<op>, from a compiler or compiled ahead of
/// time, in the context that this thread works for?
bool hasKernels(const char *op);

/// The text of kernels/<op>/<op>.py; empty if there is none.
std::string_view sourceOf(std::string_view op);

/// What an operator says of a context without a compiler: "this program has no
/// compiler", or that the context that this thread works for has none.
std::string whoHasNoCompiler();
/// What to do about it.
std::string howToHaveACompiler();

/// The kernels of kernels/<op>, compiled ahead of time. `library` must live as
/// long as the program.
void addKernelLibrary(const char *op, const KernelLibrary &library);

struct LinkedLibrary {
  const char *op = nullptr;
  const KernelLibrary *library = nullptr;
};
/// Those of nereid_kernels, which a program links or not. The last is empty.
[[gnu::weak,
  gnu::visibility("default")]] extern const LinkedLibrary linkedLibraries[];

/// For a library with operators that a program without any opens while it runs
/// (dlopen), and that stays open: tensors are copied, numbers made and
/// gradients added by operators from now on. A program that links operators
/// need not call it.
void installOperators();

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_OPERATORKERNEL_H
