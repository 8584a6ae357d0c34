//===- Context.cpp - A compiler, a cache, and what they keep --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Context.h"

#include "nereid/Runtime/OfContexts.h"
#include "nereid/Runtime/autotune/ConfigSelection.h"
#include "nereid/Runtime/cache/ImageStore.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace nereid {

Context::Context(std::unique_ptr<KernelCompiler> compiler,
                 ContextOptions options)
    : Context(
          std::make_shared<State>(std::move(compiler), std::move(options))) {
  ConfigSelection::useTrials();
}

Context::~Context() = default;

//===----------------------------------------------------------------------===//
// The shared one
//===----------------------------------------------------------------------===//

// Constant-initialised: setSharedCompiler may be called by a static object.
static constinit std::atomic<Context::CompilerFactory> sharedCompiler = nullptr;
static constinit std::atomic<const detail::SharedDefaults *> installed =
    nullptr;
static constinit std::atomic<const DeviceFunctions *> installedFunctions =
    nullptr;
/// Guards that the shared context is made, and given a compiler.
static constinit std::mutex sharedMutex;
static constinit std::atomic<Context *> sharedContext = nullptr;

void Context::setSharedCompiler(CompilerFactory factory) {
  sharedCompiler = factory;
  ConfigSelection::useTrials();
}

const detail::SharedDefaults *detail::presentDefaults() {
  // What is linked is not there at all in a program without the header, and
  // where the library that has it was opened later than this one.
  const SharedDefaults *linked = &sharedDefaults;
  return linked ? linked : installed.load();
}

void detail::installDeviceFunctions(const DeviceFunctions &functions) {
  installedFunctions = &functions;
}

void detail::installDefaults(const SharedDefaults &defaults) {
  std::lock_guard lock(sharedMutex);
  installed = &defaults;
  if (Context *context = sharedContext; context && !context->compiler()) {
    defaults.useTrials();
    context->state().compiler.give(defaults.compiler());
  }
}

Context &Context::shared() {
  if (Context *made = sharedContext.load(std::memory_order_acquire)) {
    return *made;
  }
  std::lock_guard lock(sharedMutex);
  if (!sharedContext) {
    CompilerFactory factory = sharedCompiler;
    if (const detail::SharedDefaults *defaults = detail::presentDefaults()) {
      defaults->useTrials();
      factory = factory ? factory : defaults->compiler;
    }
    // Never destroyed: kernels in static objects may outlive any order.
    sharedContext = new Context(std::make_shared<State>(
        factory ? factory() : nullptr, ContextOptions()));
  }
  return *sharedContext;
}

//===----------------------------------------------------------------------===//
// The thread's
//===----------------------------------------------------------------------===//

static constinit thread_local Context::State *contextOfThread = nullptr;

Context::State *Context::State::ofThread() { return contextOfThread; }

Context::State &Context::State::current() {
  State *own = contextOfThread;
  return own ? *own : shared().state();
}

Context Context::current() {
  return Context(State::current().shared_from_this());
}

const DeviceFunctions &deviceFunctions() {
  static constexpr DeviceFunctions none;
  Context::State *own = contextOfThread;
  if (own && own->deviceFunctions) {
    return *own->deviceFunctions;
  }
  const DeviceFunctions *linked = &detail::operatorFunctions;
  const DeviceFunctions *present = linked ? linked : installedFunctions.load();
  return present ? *present : none;
}

ContextScope::ContextScope(Context::State *context)
    : outer(std::exchange(contextOfThread, context)),
      settings(context ? context->ownSettings() : nullptr) {}

ContextScope::~ContextScope() { contextOfThread = outer; }

//===----------------------------------------------------------------------===//
// Any
//===----------------------------------------------------------------------===//

uint64_t detail::nextObjectOfContexts() {
  static std::atomic<uint64_t> count = 0;
  return ++count;
}

void *detail::objectOfContext(uint64_t number,
                              std::shared_ptr<void> (*make)()) {
  auto &objects = Context::State::current().objects;
  WordKey key;
  key.add(number);
  std::shared_ptr<void> *found = objects.find(key);
  if (!found) {
    found =
        objects.insert(key, std::make_unique<std::shared_ptr<void>>(make()));
  }
  return found->get();
}

KernelCompiler *Context::compiler() const { return state_->compiler.get(); }

CacheCounters Context::cacheCounters() const {
  return {state_->memoryHits, state_->diskHits, state_->compiled};
}

} // namespace nereid
