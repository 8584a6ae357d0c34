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
#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/device/DeviceCopy.h"

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
static const bool worksOnDevice = [] {
  autograd::setAddFunction(accumulate);
  setDeviceCopy(copyOnDevice);
  setDeviceGenerator(generate);
  return true;
}();

bool kernels::hasCompiler() { return Context::shared().compiler() != nullptr; }

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

static Kernel load(const char *op, const char *kernel) {
  if (hasCompiler()) {
    return compile(op, kernel, Context::shared());
  }
  std::lock_guard lock(libraries().mutex);
  auto found = libraries().byOperator.find(op);
  if (found == libraries().byOperator.end()) {
    raise({ErrorCode::NotFound,
           std::string("operator '") + op +
               "': this program has no compiler, and no kernels of it that "
               "were compiled ahead of time; hint: link NereidPipeline and "
               "include nereid/nereid.h, or link nereid_kernels",
           {}});
  }
  return Kernel::fromLibrary(*found->second, kernel);
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

void OperatorKernel::launch(const Grid &grid,
                            std::span<const LaunchArgument> arguments) const {
  auto fromText = [this](Context &context) {
    return compile(op, kernel, context);
  };
  if (hasCompiler()) {
    launchWatched(get(), grid, arguments, fromText);
    return;
  }
  std::vector<LaunchArgument> kept;
  for (const LaunchArgument &argument : arguments) {
    if (argument.name != "num_warps" && argument.name != "num_stages" &&
        argument.name != "maxnreg" && argument.name != "minnreg") {
      kept.push_back(argument);
    }
  }
  launchWatched(get(), grid, kept, fromText);
}

const Kernel &OperatorKernel::get() const {
  std::call_once(once, [&] { loaded = load(op, kernel); });
  return loaded;
}
