//===- Decorators.cpp - Functions, classes and their decorators -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// jit, autotune, heuristics and constexpr_function are read and kept as data.
// Any other decorator is host code about which nothing is known; it is skipped,
// which is right for every wrapper that only changes how a kernel is launched.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"
#include "nereid/IRGen/Eval/Evaluator.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

namespace nereid::irgen {

bool ParameterSelection::contains(llvm::StringRef name, size_t index) const {
  return llvm::is_contained(names, name) ||
         llvm::is_contained(indices, static_cast<int64_t>(index));
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

/// The function, with why its configurations or heuristics are not known.
/// A warning where the decorator itself is wrong, a note where the host is.
static Value withUnknownTuning(const Value &function,
                               std::vector<Diagnostic> why, bool dueToHost) {
  for (Diagnostic &diagnostic : why) {
    diagnostic.severity = dueToHost ? Severity::Note : Severity::Warning;
  }
  auto copy = std::make_shared<Function>(function.function());
  auto decorations = copy->decorations
                         ? std::make_shared<Decorations>(*copy->decorations)
                         : std::make_shared<Decorations>();
  decorations->unknown.insert(decorations->unknown.end(), why.begin(),
                              why.end());
  copy->decorations = decorations;
  return Value(std::shared_ptr<const Function>(copy));
}

FailureOr<Value> Evaluator::decorate(Value function,
                                     llvm::ArrayRef<ast::Expr *> decorators) {
  for (const ast::Expr *expr : llvm::reverse(decorators)) {
    bool tunes = llvm::StringSwitch<bool>(decoratorName(expr))
                     .Cases({"autotune", "heuristics"}, true)
                     .Default(false);
    if (tunes && skipsTuning) {
      continue;
    }
    bool ours =
        llvm::StringSwitch<bool>(decoratorName(expr))
            .Cases({"jit", "autotune", "heuristics", "constexpr_function",
                    "aggregate", "_aggregate", "extern", "builtin"},
                   true)
            .Default(false);
    Diagnostics::Mark mark = diag.mark();
    SpanScope at(diag, expr->span);
    llvm::SaveAndRestore objects(host.skipsObjects,
                                 host.skipsObjects || (skipsTuning && !ours));
    FailureOr<Value> decorator = evaluate(expr);
    FailureOr<Value> result = failure();
    if (succeeded(decorator) && !decorator->isOpaque()) {
      result = call(*decorator, {Argument{"", function, expr->span}});
    }
    // A wrapper of the host around a kernel launches it: the kernel stays.
    bool wraps = succeeded(result) && result->isFunction() &&
                 result->function().kind == Function::Kind::Host &&
                 function.isFunction() &&
                 function.function().kind == Function::Kind::Jit;
    bool isSupported = succeeded(result) && result->isBuiltin() &&
                       result->builtin().emit != emitUnsupported;
    if (succeeded(result) && !wraps &&
        (result->isFunction() || result->isClass() || isSupported)) {
      function = *result;
    } else if (diag.hasError()) {
      if (diag.isUnforgivable || (ours && !tunes && !diag.dueToHost)) {
        return failure();
      }
      // How to launch is the launch's business: it may say everything itself.
      if (tunes && function.isFunction()) {
        function = withUnknownTuning(function, diag.errors, diag.dueToHost);
      }
      diag.forget(mark);
    }
  }
  return function;
}

/// A function that is handed upstream's compiler emits operations, also where
/// no decorator says so: methods of aggregates are written like that.
static bool takesCompiler(const Function &function) {
  return llvm::any_of(parametersOf(function), [](const ast::Arg *parameter) {
    return parameter->arg == "_semantic" || parameter->arg == "_builder";
  });
}

FailureOr<Value> Evaluator::defineFunction(const ast::FunctionLike *def) {
  auto function = std::make_shared<Function>();
  function->name = std::string(def->name);
  function->def = def;
  function->module = frame->module;
  if (frame->function) {
    function->closure = closures.emplace_back(frame->scope);
  }
  if (takesCompiler(*function)) {
    function->kind = Function::Kind::Extern;
  }
  return decorate(Value(std::shared_ptr<const Function>(function)),
                  {def->decoratorList.begin(), def->decoratorList.size()});
}

FailureOr<Value> Evaluator::lambda(const ast::Lambda *expr) {
  if (frame->isKernel) {
    return diag.error("a lambda is not supported in a kernel",
                      "define a function with @triton.jit at module level");
  }
  if (frame->isModuleCode) {
    return diag.hostError("exec and eval make no functions; expected imports, "
                          "assignments and expressions");
  }
  auto function = std::make_shared<Function>();
  function->name = "<lambda>";
  function->lambda = expr;
  function->module = frame->module;
  function->closure = closures.emplace_back(frame->scope);
  return Value(std::shared_ptr<const Function>(function));
}

//===----------------------------------------------------------------------===//
// triton.jit and its kin, as built-ins
//===----------------------------------------------------------------------===//

/// A copy of the function with its decorations changed.
template <typename Change>
static Value changed(const Value &function, Change change) {
  auto copy = std::make_shared<Function>(function.function());
  auto decorations = copy->decorations
                         ? std::make_shared<Decorations>(*copy->decorations)
                         : std::make_shared<Decorations>();
  change(*copy, *decorations);
  copy->decorations = decorations;
  return Value(std::shared_ptr<const Function>(copy));
}

/// The names (or positions) of parameters in a list.
static LogicalResult readSelection(CallContext &ctx, const Value &list,
                                   ParameterSelection &selection) {
  if (list.isNone()) {
    return success();
  }
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(list, "a list of parameter names");
  if (failed(items)) {
    return failure();
  }
  for (const Value &item : *items) {
    if (item.isString()) {
      selection.names.push_back(item.string());
    } else if (item.isInt()) {
      selection.indices.push_back(static_cast<int64_t>(item.integer()));
    } else {
      return ctx.diag.error(ctx.name() + ": expected parameter names, got " +
                            item.describe());
    }
  }
  return success();
}

/// What a decorator with arguments gives: a function of the function.
static Value decorator(llvm::StringRef apply, std::vector<Value> options) {
  BoundMethod method;
  method.self = Value::tuple(std::move(options));
  method.name = apply.str();
  method.builtin = BuiltinTable::get().find("triton", apply);
  return Value(std::move(method));
}

/// Warns of names in a decorator that no parameter has: they say nothing.
static void checkNames(CallContext &ctx, const Function &function,
                       llvm::StringRef option,
                       llvm::ArrayRef<std::string> names) {
  std::vector<std::string> known;
  for (const ast::Arg *parameter : parametersOf(function)) {
    known.emplace_back(parameter->arg);
  }
  for (const std::string &name : names) {
    if (!llvm::is_contained(known, name)) {
      std::string near = suggestion(name, known);
      ctx.diag.warning(option.str() + ": '" + function.name +
                           "' has no parameter '" + name + "'",
                       near.empty() ? "it has " + llvm::join(known, ", ")
                                    : near);
    }
  }
}

/// Of key, reset_to_zero and restore_value. Since 3.9 upstream refuses the file
/// for a name that is no parameter.
static LogicalResult checkTunedNames(CallContext &ctx, const Function &function,
                                     llvm::StringRef option,
                                     llvm::ArrayRef<std::string> names) {
  if (!ctx.emitter.means(LanguageVersion::V3_9)) {
    checkNames(ctx, function, option, names);
    return success();
  }
  std::vector<std::string> known;
  for (const ast::Arg *parameter : parametersOf(function)) {
    known.emplace_back(parameter->arg);
  }
  for (const std::string &name : names) {
    if (!llvm::is_contained(known, name)) {
      std::string near = suggestion(name, known);
      return ctx.diag.raises("ValueError")
          .unforgivable()
          .error(option.str() + ": expected parameters of '" + function.name +
                     "', " + llvm::join(known, ", ") + ", got '" + name + "'",
                 (near.empty() ? "" : near + " ") +
                     "before triton 3.9 the name was ignored, as with "
                     "NEREID_LANGUAGE=3.8");
    }
  }
  return success();
}

/// Of decorators that only a launch looks at: warnings since `from` stay with
/// the kernel.
static std::vector<Diagnostic> takeWarnings(Diagnostics &diag, size_t from) {
  std::vector<Diagnostic> taken(
      diag.warnings.begin() + static_cast<int64_t>(from), diag.warnings.end());
  diag.warnings.resize(from);
  return taken;
}

static FailureOr<Value> applyJit(CallContext &ctx, const BoundArguments &args) {
  llvm::ArrayRef<Value> options = args["options"].items();
  const Value &target = args["fn"];
  if (target.isClass() || !target.isFunction()) {
    return ctx.diag.error("triton.jit: expected a function, got " +
                          target.describe());
  }
  if (!target.function().def) {
    return ctx.diag.error("triton.jit: expected a function, got a lambda",
                          "write it as a function: def kernel(...):");
  }
  if (target.function().def->kind == ast::Kind::AsyncFunctionDef) {
    return ctx.diag.error("triton.jit: '" + target.function().name +
                              "' is an async function, which cannot be a "
                              "kernel",
                          "write 'def' without 'async'");
  }
  ParameterSelection values, alignments;
  if (failed(readSelection(ctx, options[0], values)) ||
      failed(readSelection(ctx, options[1], alignments))) {
    return failure();
  }
  checkNames(ctx, target.function(), "do_not_specialize", values.names);
  checkNames(ctx, target.function(), "do_not_specialize_on_alignment",
             alignments.names);
  return changed(target, [&](Function &function, Decorations &decorations) {
    function.kind = Function::Kind::Jit;
    decorations.doNotSpecialize = values;
    decorations.doNotSpecializeOnAlignment = alignments;
  });
}

static FailureOr<Value> jit(CallContext &ctx, const BoundArguments &args) {
  Value method =
      decorator("_apply_jit", {args["do_not_specialize"],
                               args["do_not_specialize_on_alignment"]});
  if (args.isNone("fn")) {
    return method;
  }
  return ctx.evaluator.call(method,
                            {Argument{"", args["fn"], args.span("fn")}});
}

static FailureOr<Value> constexprFunction(CallContext &ctx,
                                          const BoundArguments &args) {
  if (!args["fn"].isFunction()) {
    return ctx.diag.error(
        "triton.constexpr_function: expected a function, got " +
        args["fn"].describe());
  }
  return changed(args["fn"], [&](Function &function, Decorations &) {
    function.kind = Function::Kind::Constexpr;
  });
}

static FailureOr<Value> applyMustUse(CallContext &ctx,
                                     const BoundArguments &args) {
  if (!args["fn"].isFunction()) {
    return ctx.diag.error(ctx.name() + ": expected a function, got " +
                          args["fn"].describe());
  }
  std::string why = args["options"].items()[0].string();
  return changed(args["fn"], [&](Function &, Decorations &decorations) {
    decorations.mustUse = why;
  });
}

/// `@must_use_result`, or `@must_use_result("why")`.
static FailureOr<Value> mustUseResult(CallContext &ctx,
                                      const BoundArguments &args) {
  const Value &x = args["x"];
  Value method = decorator("_apply_must_use", {x.isString() ? x : Value("")});
  return x.isString()
             ? FailureOr<Value>(method)
             : ctx.evaluator.call(method, {Argument{"", x, args.span("x")}});
}

static FailureOr<Value> externFunction(CallContext &ctx,
                                       const BoundArguments &args) {
  if (!args["fn"].isFunction()) {
    return ctx.diag.error(ctx.name() + ": expected a function, got " +
                          args["fn"].describe());
  }
  return changed(args["fn"], [&](Function &function, Decorations &) {
    function.kind = Function::Kind::Extern;
  });
}

static FailureOr<Value> aggregate(CallContext &ctx,
                                  const BoundArguments &args) {
  return args["cls"];
}

/// A call of the class, with every field by name.
static FailureOr<Value> aggregateReplace(CallContext &ctx,
                                         const BoundArguments &args) {
  const Value &instance = args["instance"];
  if (!instance.isAggregate() || !instance.aggregate().type->userClass) {
    return ctx.diag.error(ctx.name() +
                              ": argument 'instance': expected an aggregate, "
                              "got " +
                              instance.describe(),
                          "write tl.aggregate_replace(instance, field=value)");
  }
  const Aggregate &aggregate = instance.aggregate();
  llvm::SmallVector<Argument> fields;
  for (auto [name, value] :
       llvm::zip_equal(aggregate.type->fields, aggregate.fields)) {
    fields.push_back({name, value, args.span("instance")});
  }
  for (const auto &[name, value] : args["changes"].dict()) {
    auto at = llvm::find(aggregate.type->fields, name.string());
    if (at == aggregate.type->fields.end()) {
      return ctx.diag.error("'" + aggregate.type->name + "' has no field '" +
                                name.string() + "'",
                            choices(name.string(), aggregate.type->fields));
    }
    fields[at - aggregate.type->fields.begin()].value = value;
  }
  return ctx.evaluator.call(Value(aggregate.type->userClass), fields);
}

static const std::shared_ptr<const AggregateType> &configType() {
  static const auto type = std::make_shared<const AggregateType>(
      AggregateType{"Config",
                    {"kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg",
                     "pre_hook", "minnreg"},
                    /*isTuple=*/false,
                    "triton_config",
                    nullptr});
  return type;
}

static FailureOr<Value> config(CallContext &ctx, const BoundArguments &args) {
  if (!args["kwargs"].isDict()) {
    return ctx.diag.error("triton.Config: expected a dict of meta-parameters, "
                          "got " +
                              args["kwargs"].describe(),
                          "write triton.Config({'BLOCK': 128}, num_warps=4)");
  }
  int64_t warps = args.integer("num_warps");
  if (warps < 1 || warps > 32 || (warps & (warps - 1)) != 0) {
    return ctx.diag.error("triton.Config: 'num_warps': expected a power of two "
                          "from 1 to 32, got " +
                          std::to_string(warps));
  }
  return Value(Aggregate{configType(),
                         {args["kwargs"], args["num_warps"], args["num_stages"],
                          args["num_ctas"], args["maxnreg"], args["pre_hook"],
                          args["minnreg"]}});
}

static FailureOr<Value> autotune(CallContext &ctx, const BoundArguments &args) {
  FailureOr<std::vector<Value>> configs =
      ctx.evaluator.iterate(args["configs"], "triton.autotune's configs");
  if (failed(configs)) {
    return failure();
  }
  for (const Value &item : *configs) {
    if (item.isOpaque()) {
      return ctx.diag.hostError("triton.autotune: a config is " +
                                item.describe());
    }
    if (!item.isAggregate() || item.aggregate().type != configType()) {
      return ctx.diag.error("triton.autotune: expected a list of "
                            "triton.Config, got " +
                            item.describe());
    }
  }
  return decorator("_apply_autotune",
                   {Value::tuple(std::move(*configs)), args["key"],
                    args["reset_to_zero"], args["restore_value"],
                    args["pre_hook"], args["post_hook"],
                    args["prune_configs_by"]});
}

static FailureOr<Value> applyAutotune(CallContext &ctx,
                                      const BoundArguments &args) {
  llvm::ArrayRef<Value> options = args["options"].items();
  if (!args["fn"].isFunction()) {
    return ctx.diag.error("triton.autotune: expected a jit function, got " +
                          args["fn"].describe());
  }
  ParameterSelection key, reset, restore;
  if (failed(readSelection(ctx, options[1], key)) ||
      failed(readSelection(ctx, options[2], reset)) ||
      failed(readSelection(ctx, options[3], restore))) {
    return failure();
  }
  const Function &target = args["fn"].function();
  size_t warnings = ctx.diag.warnings.size();
  if (failed(
          checkTunedNames(ctx, target, "triton.autotune's key", key.names)) ||
      failed(checkTunedNames(ctx, target, "reset_to_zero", reset.names)) ||
      failed(checkTunedNames(ctx, target, "restore_value", restore.names))) {
    return failure();
  }
  std::vector<std::string> tuned;
  for (const Value &item : options[0].items()) {
    for (const auto &[name, value] : item.aggregate().fields[0].dict()) {
      if (name.isString() && !llvm::is_contained(tuned, name.string())) {
        tuned.push_back(name.string());
      }
    }
  }
  checkNames(ctx, target, "triton.Config", tuned);
  return changed(args["fn"], [&](Function &, Decorations &decorations) {
    llvm::append_range(decorations.unknown, takeWarnings(ctx.diag, warnings));
    decorations.isAutotuned = true;
    decorations.configs = options[0].items();
    decorations.tuneKey = key.names;
    decorations.resetToZero = reset.names;
    decorations.restoreValue = restore.names;
    decorations.preHook = options[4];
    decorations.postHook = options[5];
    decorations.pruneConfigsBy = options[6];
  });
}

static FailureOr<Value> heuristics(CallContext &ctx,
                                   const BoundArguments &args) {
  if (!args["values"].isDict()) {
    std::string message = "triton.heuristics: expected a dict of functions, "
                          "got " +
                          args["values"].describe();
    return args["values"].isOpaque() ? ctx.diag.hostError(message)
                                     : ctx.diag.error(message);
  }
  return decorator("_apply_heuristics", {args["values"]});
}

static FailureOr<Value> applyHeuristics(CallContext &ctx,
                                        const BoundArguments &args) {
  if (!args["fn"].isFunction()) {
    return ctx.diag.error("triton.heuristics: expected a jit function, got " +
                          args["fn"].describe());
  }
  size_t warnings = ctx.diag.warnings.size();
  std::vector<std::pair<std::string, Value>> added;
  for (const auto &[name, function] : args["options"].items()[0].dict()) {
    if (!name.isString()) {
      return ctx.diag.error("triton.heuristics: expected parameter names as "
                            "keys, got " +
                            name.describe());
    }
    added.emplace_back(name.string(), function);
    checkNames(ctx, args["fn"].function(), "triton.heuristics",
               {name.string()});
  }
  return changed(args["fn"], [&](Function &, Decorations &decorations) {
    llvm::append_range(decorations.unknown, takeWarnings(ctx.diag, warnings));
    // The outermost decorator's values are computed first.
    decorations.heuristics.insert(decorations.heuristics.begin(), added.begin(),
                                  added.end());
  });
}

void registerDecorators(BuiltinTable &table) {
  unsigned inner = HostToo | Internal;
  table.add({"triton",
             "jit(fn=None, *, version=None, repr=None, launch_metadata=None, "
             "do_not_specialize=None, do_not_specialize_on_alignment=None, "
             "debug=None, noinline=None)",
             jit, "Marks a function as a kernel, or as callable from one.",
             HostToo});
  table.add({"triton", "_apply_jit(options, fn)", applyJit, "", inner});
  table.add(
      {"triton", "_apply_must_use(options, fn)", applyMustUse, "", inner});
  table.add({"triton", "must_use_result(x, s=True)", mustUseResult,
             "Marks a function whose result a call must not leave unused.",
             HostToo});
  table.add({"triton", "constexpr_function(fn)", constexprFunction,
             "Marks host code that kernels may call with static values.",
             HostToo});
  table.add({"tl", "aggregate_replace(instance, **changes)", aggregateReplace,
             "A copy of an aggregate with some fields changed, each by name."});
  table.add({"triton", "aggregate(cls)", aggregate,
             "Marks a class whose fields are values of a kernel.", HostToo});
  table.add(
      {"tl", "_aggregate(cls)", aggregate, "As triton.aggregate.", HostToo});
  for (const char *signature : {"extern(fn)", "builtin(fn)"}) {
    table.add({"tl", signature, externFunction,
               "Marks host code that kernels call and that calls built-ins.",
               HostToo});
  }
  table.add({"triton",
             "Config(kwargs, num_warps: int=4, num_stages: int=3, "
             "num_ctas: int=1, maxnreg=None, pre_hook=None, ir_override=None, "
             "minnreg=None)",
             config, "One point of the space that autotune searches.",
             HostToo});
  table.add({"triton",
             "autotune(configs, key=(), prune_configs_by=None, "
             "reset_to_zero=None, restore_value=None, pre_hook=None, "
             "post_hook=None, warmup=None, rep=None, use_cuda_graph=False, "
             "do_bench=None, cache_results=False)",
             autotune,
             "The configurations to measure, and what they depend "
             "on.",
             HostToo});
  table.add(
      {"triton", "_apply_autotune(options, fn)", applyAutotune, "", inner});
  table.add({"triton", "heuristics(values)", heuristics,
             "Parameters computed from the arguments.", HostToo});
  table.add(
      {"triton", "_apply_heuristics(options, fn)", applyHeuristics, "", inner});
}

} // namespace nereid::irgen
