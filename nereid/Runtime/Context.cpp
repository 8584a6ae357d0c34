//===- Context.cpp - A compiler, a cache, and what they keep --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Context.h"

#include "nereid/Runtime/autotune/ConfigSelection.h"
#include "nereid/Runtime/cache/ImageStore.h"

#include <atomic>

namespace nereid {

Context::Context(std::unique_ptr<KernelCompiler> compiler,
                 ContextOptions options)
    : Context(
          std::make_shared<State>(std::move(compiler), std::move(options))) {
  ConfigSelection::useTrials();
}

Context::~Context() = default;

// Constant-initialised: setSharedCompiler may be called by a static object.
static constinit std::atomic<Context::CompilerFactory> sharedCompiler = nullptr;

void Context::setSharedCompiler(CompilerFactory factory) {
  sharedCompiler = factory;
  ConfigSelection::useTrials();
}

Context &Context::shared() {
  // Never destroyed: kernels in static objects may outlive any order.
  static Context *instance = [] {
    CompilerFactory factory = sharedCompiler;
    const detail::SharedDefaults *defaults = &detail::sharedDefaults;
    if (defaults) {
      defaults->useTrials();
      factory = factory ? factory : defaults->compiler;
    }
    return new Context(std::make_shared<State>(factory ? factory() : nullptr,
                                               ContextOptions()));
  }();
  return *instance;
}

KernelCompiler *Context::compiler() const { return state_->compiler.get(); }

CacheCounters Context::cacheCounters() const {
  return {state_->memoryHits, state_->diskHits, state_->compiled};
}

} // namespace nereid
