//===- Kernel.cpp - A kernel that can be launched -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Kernel.h"

#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/library/Precompiled.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"

#include <algorithm>
#include <cstdio>

namespace nereid {

int64_t cdiv(int64_t a, int64_t b) {
  if (b == 0) {
    raise({ErrorCode::InvalidArgument,
           "cdiv: division by zero; expected a divisor other than 0",
           {}});
  }
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

int64_t nextPowerOf2(int64_t n) {
  int64_t power = 1;
  while (power < n && power < int64_t{1} << 62) {
    power <<= 1;
  }
  return power;
}

KernelState::KernelState(Context::State &context, Source source,
                         KernelDescription description)
    : context(context), keptContext(context.shared_from_this()),
      source(std::move(source)), description(std::move(description)),
      keptName(keptText(this->description.name)), configs(this->description) {
  for (const ParameterDescription &p : this->description.parameters) {
    defaults.push_back(p.defaultValue ? Argument(*p.defaultValue)
                                      : Argument(nullptr));
  }
  for (const std::string &name : this->description.heuristics) {
    if (std::optional<size_t> i = findParameter(name)) {
      heuristicParameters.push_back(static_cast<uint16_t>(*i));
    }
  }
}

std::optional<size_t> KernelState::findParameter(std::string_view name) const {
  for (size_t i = 0; i < description.parameters.size(); ++i) {
    if (description.parameters[i].name == name) {
      return i;
    }
  }
  return std::nullopt;
}

std::string KernelState::signature() const {
  std::string text = description.name + "(";
  for (const ParameterDescription &p : description.parameters) {
    text += (text.back() == '(' ? "" : ", ") + p.name;
    text += p.isStatic ? ": tl.constexpr" : "";
    if (p.defaultValue) {
      text += " = " + p.defaultValue->str();
    }
  }
  return text + ")";
}

std::string KernelState::sourceLine(uint32_t line) const {
  std::string_view text = source.text;
  for (uint32_t i = 1; line && i < line; ++i) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return "";
    }
    text.remove_prefix(end + 1);
  }
  text = line ? text.substr(0, text.find('\n')) : "";
  return std::string(text);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// `name`, or the only kernel of the source.
static std::string chooseKernel(KernelCompiler &compiler, const Source &source,
                                const std::string &name) {
  std::vector<std::string> kernels = valueOrThrow(compiler.listKernels(source));
  if (name.empty() && kernels.size() == 1) {
    return kernels[0];
  }
  if (std::find(kernels.begin(), kernels.end(), name) != kernels.end()) {
    return name;
  }
  if (!name.empty()) {
    // A function that another decorator makes a kernel is not listed. Of what
    // is there and no kernel the compiler says why.
    Expected<KernelDescription> described = compiler.describe(source, name);
    if (described.ok()) {
      return name;
    }
    if (described.failure().code != ErrorCode::NotFound) {
      raise(described.failure());
    }
  }
  std::string list;
  for (const std::string &kernel : kernels) {
    list += (list.empty() ? "" : ", ") + kernel;
  }
  std::string what = name.empty() ? "says no kernel, and has "
                                  : "has no kernel '" + name + "'";
  std::string have =
      kernels.empty() ? "no @triton.jit function" : "the kernels " + list;
  raise(
      {ErrorCode::NotFound,
       (kernels.empty() ? "'" + source.path +
                              "': expected a kernel, got a "
                              "file that "
                        : source.path + " ") +
           (name.empty()
                ? "has " + have + (kernels.empty() ? "" : "; name one of them")
                : what +
                      (kernels.empty() ? "; it has " + have
                                       : "; expected one of " + list) +
                      didYouMean(name, kernels)),
       {}});
}

Kernel Kernel::fromSource(Source source, Text name, Context &context) {
  ContextScope scope(context);
  KernelCompiler *compiler = context.compiler();
  if (!compiler) {
    raise(noCompiler("loading the kernel source " + source.path,
                     context.state()));
  }
  Clock &clock = *context.state().clock;
  int64_t begin = clock.now();
  WatchedSlice watched;
  // What it means stays, though the settings change.
  source.language = source.language.value_or(knobs().languageVersion());
  std::string chosen = chooseKernel(*compiler, source, name.str());
  KernelDescription description =
      valueOrThrow(compiler->describe(source, chosen));
  if (knobs().time) {
    std::fprintf(stderr, "nereid: time: %s described in %.2f ms\n",
                 chosen.c_str(), clock.millisecondsSince(begin));
  }
  if (watched.isWatched()) {
    watched.finish(
        {"compile", "read " + chosen, 0, 0, {{"file", source.path}}});
  }
  return Kernel(std::make_shared<KernelState>(
      context.state(), std::move(source), std::move(description)));
}

Kernel Kernel::fromSource(Text text, Text name, Context &context) {
  return fromSource(Source{"<source>", text.str(), {}}, name, context);
}

Kernel Kernel::load(Text path, Text name, Context &context) {
  std::string text = valueOrThrow(readFile(path.str()));
  return fromSource(Source{path.str(), std::move(text), {}}, name, context);
}

Kernel Kernel::fromLibrary(const KernelLibrary &library, Text name,
                           Context &context) {
  auto precompiled = valueOrThrow(findPrecompiled(library, name.str()));
  auto state = std::make_shared<KernelState>(
      context.state(), Source{precompiled->kernel.path, "", {}},
      describePrecompiled(precompiled->kernel));
  state->precompiled = std::move(precompiled);
  return Kernel(std::move(state));
}

Kernel Kernel::keptBy(Context &context, const std::string &key,
                      const std::function<Kernel(Context &)> &make) {
  Context::State &owner = context.state();
  auto find = [&]() -> KernelState * {
    auto found = owner.kept.find(key);
    return found == owner.kept.end() ? nullptr : found->second.get();
  };
  KernelState *kept;
  {
    std::lock_guard lock(owner.keeping);
    kept = find();
  }
  if (!kept) {
    // Without the lock: it may take long, and ask for other kept kernels.
    std::shared_ptr<KernelState> made = makeToKeep(context, make);
    std::lock_guard lock(owner.keeping);
    kept = owner.kept.try_emplace(key, made).first->second.get();
  }
  return Kernel(std::shared_ptr<KernelState>(owner.shared_from_this(), kept));
}

std::shared_ptr<KernelState>
Kernel::makeToKeep(Context &context,
                   const std::function<Kernel(Context &)> &make) {
  std::shared_ptr<KernelState> made = make(context).state;
  if (!made) {
    raise({ErrorCode::InvalidArgument,
           "Kernel::keptBy: expected a kernel of the context that keeps it, "
           "got an empty one; hint: `make` returns what Kernel::fromSource, "
           "Kernel::load or Kernel::fromLibrary made",
           {}});
  }
  if (&made->context != &context.state()) {
    raise({ErrorCode::InvalidArgument,
           "Kernel::keptBy: expected a kernel of the context that keeps it, "
           "got '" +
               made->description.name + "' of another one",
           {}});
  }
  made->keptContext.reset(); // it would keep the one that keeps it
  return made;
}

static std::atomic<uint64_t> kernelsOfContexts = 0;

KernelOfContexts::KernelOfContexts() : number(++kernelsOfContexts) {}

const Kernel &
KernelOfContexts::in(Context::State &context,
                     const std::function<Kernel(Context &)> &make) const {
  using OwnKernel = Context::State::OwnKernel;
  WordKey key;
  key.add(number);
  OwnKernel *own = context.ownKernels.find(key);
  if (!own) {
    Context handle = context.handle();
    auto made = std::make_unique<OwnKernel>();
    made->state = Kernel::makeToKeep(handle, make);
    made->view = Kernel(made->state).uncounted();
    own = context.ownKernels.insert(key, std::move(made));
  }
  return own->view;
}

Kernel
KernelOfContexts::handleIn(Context::State &context,
                           const std::function<Kernel(Context &)> &make) const {
  return Kernel(std::shared_ptr<KernelState>(context.shared_from_this(),
                                             in(context, make).state.get()));
}

//===----------------------------------------------------------------------===//
// The handle
//===----------------------------------------------------------------------===//

KernelState &Kernel::require() const {
  if (!state) [[unlikely]] {
    raiseEmpty();
  }
  return *state;
}

void Kernel::raiseEmpty() {
  raise({ErrorCode::InvalidArgument,
         "this Kernel is empty; make one with Kernel::load",
         {}});
}

const std::string &Kernel::name() const { return require().description.name; }

const KernelDescription &Kernel::description() const {
  return require().description;
}

bool Kernel::isAheadOfTime() const { return require().precompiled != nullptr; }

Kernel Kernel::on(Device device) const {
  Kernel copy = *this;
  copy.device = device;
  return copy;
}

Kernel Kernel::uncounted() const {
  Kernel copy;
  copy.state =
      std::shared_ptr<KernelState>(std::shared_ptr<void>(), state.get());
  copy.device = device;
  return copy;
}

CompiledInfo Kernel::compile(std::span<const LaunchArgument> arguments) const {
  return valueOrThrow(compileKernel(require(), device, arguments));
}

CompiledElsewhere
Kernel::compileFor(Text target,
                   std::span<const LaunchArgument> arguments) const {
  return valueOrThrow(compileKernelFor(require(), target.str(), arguments));
}

LaunchPreview Kernel::preview(const Grid &grid,
                              std::span<const LaunchArgument> arguments) const {
  return valueOrThrow(previewLaunch(require(), device, grid, arguments));
}

} // namespace nereid
