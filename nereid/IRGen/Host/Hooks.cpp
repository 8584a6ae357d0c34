//===- Hooks.cpp - Functions given to triton.autotune ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hooks are host code that acts on tensors. They are evaluated as all host code
// is; what they do to tensors is noted and returned, and what has no note is an
// error at its line.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Host/HostArguments.h"
#include "nereid/IRGen/IRGen.h"
#include "nereid/IRGen/Session.h"

namespace nereid::irgen {

namespace {

/// The session of a request, and the kernel that it names.
class HookSession {
public:
  explicit HookSession(const HookRequest &request)
      : request(request), session(nullptr, request.source) {
    session.evaluator.target = request.target;
  }

  /// Null, with the reason in `why`.
  const Decorations *open(Failure &why) {
    if (!session.ok()) {
      why = session.failure(ErrorCode::CompileError, "");
      return nullptr;
    }
    kernel = session.findKernel(request.kernel, why);
    if (!kernel) {
      return nullptr;
    }
    if (!kernel->decorations) {
      why = Failure{ErrorCode::NotFound,
                    "kernel '" + request.kernel + "' is not autotuned",
                    {}};
      return nullptr;
    }
    return kernel->decorations.get();
  }

  FailureOr<Value> call(const Value &function,
                        llvm::ArrayRef<Argument> arguments) {
    return session.evaluator.callIn(kernel->module, kernel->def->span, function,
                                    arguments);
  }

  Argument argument(const char *keyword, Value value) const {
    return {keyword, std::move(value), kernel->def->span};
  }

  /// The launch's arguments as keywords, as far as the function takes them.
  void addKeywords(const Value &function, size_t positional,
                   llvm::SmallVectorImpl<Argument> &arguments) const {
    if (!function.isFunction()) {
      return;
    }
    const ast::Arguments &declared = function.function().arguments();
    std::vector<const ast::Arg *> named = parametersOf(function.function());
    named.erase(named.begin(), named.begin() + static_cast<long>(std::min(
                                                   positional, named.size())));
    for (const auto &[name, value] : request.values) {
      bool isNamed = llvm::any_of(named, [&](const ast::Arg *parameter) {
        return llvm::StringRef(parameter->arg) == name;
      });
      if (declared.kwarg || isNamed) {
        arguments.push_back(
            {name, hostArgument(name, value), kernel->def->span});
      }
    }
  }

  const HookRequest &request;
  Session session;
  std::shared_ptr<const Function> kernel;
};

bool hasParameter(const Value &function, llvm::StringRef name) {
  return function.isFunction() &&
         (function.function().arguments().kwarg ||
          llvm::any_of(parametersOf(function.function()),
                       [&](const ast::Arg *parameter) {
                         return llvm::StringRef(parameter->arg) == name;
                       }));
}

} // namespace

Expected<std::vector<HookAction>> runHook(const HookRequest &request) {
  HookSession hook(request);
  Failure why;
  const Decorations *decorations = hook.open(why);
  if (!decorations) {
    return why;
  }
  Value function;
  std::string what = "pre_hook of a triton.Config";
  llvm::SmallVector<Argument> arguments = {
      hook.argument("", hostArguments(request.values))};
  switch (request.hook) {
  case HookRequest::Hook::Config:
    if (request.config < decorations->configs.size()) {
      function =
          *decorations->configs[request.config].aggregate().find("pre_hook");
    }
    break;
  case HookRequest::Hook::Before:
    function = decorations->preHook;
    what = "pre_hook of triton.autotune";
    if (request.resetOnly && hasParameter(function, "reset_only")) {
      arguments.push_back(hook.argument("reset_only", Value(true)));
    }
    break;
  case HookRequest::Hook::After:
    function = decorations->postHook;
    what = "post_hook of triton.autotune";
    arguments.push_back(hook.argument("exception", Value()));
    break;
  }
  if (function.isOpaque()) {
    return Failure{ErrorCode::Unsupported,
                   "kernel '" + request.kernel + "': the " + what + " is " +
                       function.describe() +
                       "; expected a function of the file that fills or copies "
                       "tensors",
                   {}};
  }
  std::vector<HookAction> actions;
  hook.session.evaluator.hookActions = &actions;
  FailureOr<Value> result = hook.call(function, arguments);
  hook.session.evaluator.hookActions = nullptr;
  if (failed(result)) {
    return hook.session.failure(ErrorCode::CompileError, "");
  }
  return actions;
}

//===----------------------------------------------------------------------===//
// prune_configs_by
//===----------------------------------------------------------------------===//

namespace {

class Pruning {
public:
  Pruning(HookSession &hook, const Decorations &decorations)
      : hook(hook), diag(hook.session.diag), configs(decorations.configs),
        options(decorations.pruneConfigsBy) {}

  FailureOr<std::vector<size_t>> run() {
    if (!options.isDict()) {
      return diag.error("prune_configs_by: expected a dict of functions, got " +
                        options.describe());
    }
    std::vector<size_t> left;
    for (size_t i = 0; i < configs.size(); ++i) {
      left.push_back(i);
    }
    Value early = option("early_config_prune");
    if (!early.isNone() && failed(pruneEarly(early, left))) {
      return failure();
    }
    Value model = option("perf_model");
    if (!model.isNone()) {
      if (failed(checkMost())) {
        return failure();
      }
      // Only speed depends on a model that cannot be computed here.
      Diagnostics::Mark mark = diag.mark();
      if (failed(keepBest(model, left))) {
        diag.forget(mark);
      }
    }
    return left;
  }

private:
  Value option(const char *name) const {
    for (const auto &[key, value] : options.dict()) {
      if (key.isString() && key.string() == name) {
        return value;
      }
    }
    return {};
  }

  LogicalResult pruneEarly(const Value &function, std::vector<size_t> &left) {
    llvm::SmallVector<Argument> arguments = {
        hook.argument("", Value::list(configs)),
        hook.argument("", hostArguments(hook.request.values))};
    hook.addKeywords(function, 2, arguments);
    FailureOr<Value> result = hook.call(function, arguments);
    if (failed(result)) {
      return failure();
    }
    if (!result->isSequence()) {
      return diag.error("early_config_prune returns " + result->describe() +
                        "; expected a list of configurations");
    }
    left.clear();
    for (const Value &item : result->items()) {
      auto found = llvm::find_if(configs, [&](const Value &config) {
        return item.isAggregate() && &item.aggregate() == &config.aggregate();
      });
      if (found == configs.end()) {
        found = llvm::find_if(
            configs, [&](const Value &config) { return equal(item, config); });
      }
      if (found == configs.end()) {
        return diag.error("early_config_prune returns " + item.describe() +
                          ", which is none of the configurations; expected a "
                          "list of configurations out of those it was given");
      }
      left.push_back(static_cast<size_t>(found - configs.begin()));
    }
    return success();
  }

  LogicalResult checkMost() {
    Value most = option("top_k");
    if (most.isNone() || (most.isInt() && most.integer() > 0) ||
        (most.isFloat() && most.number() >= 0 && most.number() <= 1)) {
      return success();
    }
    return diag.error("prune_configs_by: top_k is " + most.describe() +
                      "; expected how many configurations the perf_model is to "
                      "leave: an int from 1, or a float from 0.0 to 1.0");
  }

  /// A fraction is of what early_config_prune left, and leaves one at least.
  LogicalResult keepBest(const Value &model, std::vector<size_t> &left) {
    Value most = option("top_k");
    size_t count = configs.size();
    if (most.isFloat() && most.number() >= 0 && most.number() <= 1) {
      count = std::max<size_t>(
          1, static_cast<size_t>(most.number() *
                                 static_cast<double>(left.size())));
    } else if (most.isInt() && most.integer() > 0) {
      count = static_cast<size_t>(
          std::min<Int>(most.integer(), static_cast<Int>(configs.size())));
    }
    if (left.size() <= count) {
      return success();
    }
    std::vector<std::pair<double, size_t>> times;
    for (size_t i : left) {
      llvm::SmallVector<Argument> arguments;
      FailureOr<Value> all =
          hook.session.evaluator.attribute(configs[i], "all_kwargs");
      all = failed(all) ? all : hook.call(*all, {});
      if (failed(all)) {
        return failure();
      }
      hook.addKeywords(model, 0, arguments);
      for (const auto &[key, value] : all->dict()) {
        llvm::erase_if(arguments, [&](const Argument &a) {
          return a.keyword == key.string();
        });
        if (hasParameter(model, key.string())) {
          arguments.push_back(hook.argument(key.string().c_str(), value));
        }
      }
      FailureOr<Value> time = hook.call(model, arguments);
      if (failed(time) || !time->isNumber()) {
        return failure();
      }
      times.emplace_back(time->number(), i);
    }
    llvm::sort(times); // equal ones in their order
    left.clear();
    for (size_t k = 0; k < count; ++k) {
      left.push_back(times[k].second);
    }
    return success();
  }

  HookSession &hook;
  Diagnostics &diag;
  const std::vector<Value> &configs;
  const Value &options;
};

} // namespace

Expected<std::vector<size_t>> pruneConfigs(const HookRequest &request) {
  HookSession hook(request);
  Failure why;
  const Decorations *decorations = hook.open(why);
  if (!decorations) {
    return why;
  }
  hook.session.diag.stack.push_back({&hook.kernel->module->parsed->source,
                                     request.kernel, hook.kernel->def->span,
                                     false});
  FailureOr<std::vector<size_t>> left = Pruning(hook, *decorations).run();
  hook.session.diag.stack.pop_back();
  if (failed(left)) {
    return hook.session.failure(ErrorCode::CompileError, "");
  }
  return *left;
}

} // namespace nereid::irgen
