//===- OperatorKernel.cpp ---------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/OperatorKernel.h"

#include "kernels/accumulate/Accumulate.h"
#include "kernels/expression/CopyOnDevice.h"
#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "kernels/random/Random.h"
#include "kernels/reduce/Reduce.h"
#include "nereid/Runtime/cache/ImageStore.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace nereid;
using namespace nereid::kernels;

namespace {

struct SourceFile {
  std::string_view name, text;
};

constexpr SourceFile sources[] = {
#include "kernels/OperatorSources.inc"
};

struct Libraries {
  std::mutex mutex;
  std::map<std::string_view, const KernelLibrary *> byOperator;
};

Libraries &libraries() {
  static Libraries all;
  return all;
}

} // namespace

/// Undefined: there is no kernel for it.
static Tensor addGradients(const Tensor &a, const Tensor &b, bool inPlace) {
  return hasKernels("accumulate") ? accumulate(a, b, inPlace) : Tensor();
}

static Tensor sumGradient(const Tensor &x, const Shape &shape) {
  DType t = x.dtype();
  return isKernelFloat(t) && hasKernels("reduce") ? sumTo(x, shape) : Tensor();
}

/// A program that launches an operator links this file, and so adds gradients,
/// copies tensors and makes numbers where they are.
constinit const DeviceFunctions detail::operatorFunctions = {
    copyOnDevice, generate, addGradients, sumGradient};

void kernels::installOperators() {
  detail::installDeviceFunctions(detail::operatorFunctions);
}

bool kernels::hasCompiler() {
  return Context::State::current().compiler.get() != nullptr;
}

void kernels::addKernelLibrary(const char *op, const KernelLibrary &library) {
  std::lock_guard lock(libraries().mutex);
  libraries().byOperator[op] = &library;
}

std::string_view kernels::sourceOf(std::string_view op) {
  for (const SourceFile &source : sources) {
    if (source.name == op) {
      return source.text;
    }
  }
  return {};
}

static Kernel compile(const char *op, const char *kernel, Context &context) {
  std::string_view text = sourceOf(op);
  if (text.empty()) {
    raise({ErrorCode::NotFound,
           std::string("operator '") + op + "' has no kernels",
           {}});
  }
  std::string path = std::string("kernels/") + op + "/" + op + ".py";
  return Kernel::fromSource({path, std::string(text), {}}, kernel, context);
}

static const KernelLibrary *libraryOf(std::string_view op) {
  {
    std::lock_guard lock(libraries().mutex);
    auto found = libraries().byOperator.find(op);
    if (found != libraries().byOperator.end()) {
      return found->second;
    }
  }
  const LinkedLibrary *linked = linkedLibraries;
  while (linked && linked->op && linked->op != op) {
    ++linked;
  }
  return linked ? linked->library : nullptr;
}

bool kernels::hasKernels(const char *op) {
  return hasCompiler() || libraryOf(op);
}

/// That of this thread's scope; null: the shared one.
static Context::State *contextOfItsOwn() {
  Context::State *own = Context::State::ofThread();
  return own && !own->isShared() ? own : nullptr;
}

std::string kernels::whoHasNoCompiler() {
  return contextOfItsOwn()
             ? "the context that this thread works for (ContextScope) has no "
               "compiler"
             : "this program has no compiler";
}

std::string kernels::howToHaveACompiler() {
  return contextOfItsOwn()
             ? "make the Context with createKernelCompiler() of nereid/nereid.h"
             : "link Nereid::Nereid and include nereid/nereid.h";
}

static Kernel loadAhead(const char *op, const char *kernel, Context &context) {
  const KernelLibrary *library = libraryOf(op);
  if (!library) {
    raise({ErrorCode::NotFound,
           std::string("operator '") + op + "': " + whoHasNoCompiler() +
               ", and there are no kernels of it that were compiled ahead of "
               "time; hint: " +
               howToHaveACompiler() + ", or link Nereid::KernelsAheadOfTime",
           {}});
  }
  return Kernel::fromLibrary(*library, kernel, context);
}

static thread_local LaunchWatcher *watcher = nullptr;

LaunchWatcher::LaunchWatcher() : outer(std::exchange(watcher, this)) {}
LaunchWatcher::~LaunchWatcher() { watcher = outer; }

void kernels::launchWatched(const Kernel &kernel, const Grid &grid,
                            std::span<const LaunchArgument> arguments,
                            const std::function<Kernel(Context &)> &compile) {
  if (LaunchWatcher *seeing = std::exchange(watcher, nullptr)) {
    struct Restore {
      LaunchWatcher *seeing;
      ~Restore() { watcher = seeing; }
    } restore{seeing};
    seeing->launching({kernel, grid, arguments, compile});
  }
  kernel.launch(grid, arguments);
}

std::span<const LaunchArgument>
OperatorKernel::beginningEarly(std::span<LaunchArgument> arguments) {
  std::span<LaunchArgument> given = arguments.first(arguments.size() - 1);
  // Forms that were compiled ahead of time do not wait.
  if (areLaunchesOverlapped() || !hasCompiler()) {
    return given;
  }
  for (LaunchArgument &argument : given) {
    if (argument.name == arguments.back().name) {
      argument.value = arguments.back().value;
      return given;
    }
  }
  return arguments;
}

void OperatorKernel::launch(const Grid &grid,
                            std::span<const LaunchArgument> arguments) const {
  auto fromText = [this](Context &context) {
    return compile(op, kernel, context);
  };
  Context::State *own = contextOfItsOwn();
  const Kernel &loaded =
      own ? others.in(*own, [this](Context &context) { return load(context); })
          : ofShared();
  // The kernel says it, not the context: the shared one may be given a compiler
  // meanwhile.
  if (!loaded.isAheadOfTime()) {
    launchWatched(loaded, grid, arguments, fromText);
    return;
  }
  std::vector<LaunchArgument> kept;
  for (const LaunchArgument &argument : arguments) {
    if (argument.name != "num_warps" && argument.name != "num_stages" &&
        argument.name != "maxnreg" && argument.name != "minnreg" &&
        argument.name != "waves_per_eu" &&
        argument.name != "matrix_instr_nonkdim" && argument.name != "kpack") {
      kept.push_back(argument);
    }
  }
  launchWatched(loaded, grid, kept, fromText);
}

const Kernel &OperatorKernel::ofShared() const {
  bool compiles = hasCompiler();
  Shared &one = compiles ? compiled : ahead;
  std::call_once(one.once, [&] {
    Context &shared = Context::shared();
    one.kernel =
        compiles ? compile(op, kernel, shared) : loadAhead(op, kernel, shared);
  });
  return one.kernel;
}

/// For a context of its own, whose compiler comes with it or never.
Kernel OperatorKernel::load(Context &context) const {
  return context.compiler() ? compile(op, kernel, context)
                            : loadAhead(op, kernel, context);
}

Kernel OperatorKernel::get() const {
  Context::State *own = contextOfItsOwn();
  return own ? others.handleIn(
                   *own, [this](Context &context) { return load(context); })
             : ofShared();
}
