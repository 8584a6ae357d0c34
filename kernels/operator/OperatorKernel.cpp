//===- OperatorKernel.cpp ---------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/OperatorKernel.h"

#include "kernels/accumulate/Accumulate.h"
#include "kernels/expression/CopyOnDevice.h"
#include "kernels/random/Random.h"
#include "nereid/Runtime/cache/ImageStore.h"

#include <map>
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

/// A program that launches an operator links this file, and so adds gradients,
/// copies tensors and makes numbers where they are.
constinit const DeviceFunctions detail::operatorFunctions = {
    copyOnDevice, generate, accumulate};

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

/// From the text of kernels/<op>/<op>.py.
static Kernel compile(const char *op, const char *kernel, Context &context) {
  for (const SourceFile &source : sources) {
    if (source.name == op) {
      std::string path =
          std::string("kernels/") + op + "/" + std::string(op) + ".py";
      return Kernel::fromSource({path, std::string(source.text), {}}, kernel,
                                context);
    }
  }
  raise({ErrorCode::NotFound,
         std::string("operator '") + op + "' has no kernels",
         {}});
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

static Kernel load(const char *op, const char *kernel, Context &context) {
  if (context.compiler()) {
    return compile(op, kernel, context);
  }
  const KernelLibrary *library = libraryOf(op);
  if (!library) {
    raise({ErrorCode::NotFound,
           std::string("operator '") + op +
               "': this program has no compiler, and no kernels of it that "
               "were compiled ahead of time; hint: link NereidPipeline and "
               "include nereid/nereid.h, or link nereid_kernels",
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

static bool worksForShared() {
  Context::State *own = Context::State::ofThread();
  return !own || own == &Context::shared().state();
}

void OperatorKernel::launch(const Grid &grid,
                            std::span<const LaunchArgument> arguments) const {
  auto fromText = [this](Context &context) {
    return compile(op, kernel, context);
  };
  auto launchThis = [&](const Kernel &loaded) {
    if (hasCompiler()) {
      launchWatched(loaded, grid, arguments, fromText);
      return;
    }
    std::vector<LaunchArgument> kept;
    for (const LaunchArgument &argument : arguments) {
      if (argument.name != "num_warps" && argument.name != "num_stages" &&
          argument.name != "maxnreg" && argument.name != "minnreg") {
        kept.push_back(argument);
      }
    }
    launchWatched(loaded, grid, kept, fromText);
  };
  if (worksForShared()) {
    launchThis(ofShared());
  } else {
    launchThis(get());
  }
}

const Kernel &OperatorKernel::ofShared() const {
  Shared &one = hasCompiler() ? compiled : ahead;
  std::call_once(one.once,
                 [&] { one.kernel = load(op, kernel, Context::shared()); });
  return one.kernel;
}

Kernel OperatorKernel::ofContext(Context &context) const {
  std::string key = std::string(op) + "/" + kernel;
  return Kernel::keptBy(
      context, key, [this](Context &owner) { return load(op, kernel, owner); });
}

Kernel OperatorKernel::get() const {
  if (worksForShared()) {
    return ofShared();
  }
  Context context = Context::current();
  return ofContext(context);
}
