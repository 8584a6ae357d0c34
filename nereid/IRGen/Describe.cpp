//===- Describe.cpp - Kernels as data, and host expressions -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/IRGen.h"

#include "nereid/IRGen/Host/HostAnswers.h"
#include "nereid/IRGen/Host/HostArguments.h"
#include "nereid/IRGen/Session.h"
#include "nereid/Support/Knobs.h"

#include "mlir/IR/MLIRContext.h"

namespace nereid::irgen {

/// Host evaluation emits nothing, but a builder wants a context: one, shared,
/// that never loads a dialect.
static mlir::MLIRContext *hostContext() {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return &context;
}

Session::Session(mlir::MLIRContext *context, const Source &source)
    : emitter(context ? context : hostContext(), diag),
      evaluator(modules, emitter, diag) {
  emitter.language = modules.language =
      source.language.value_or(knobs().languageVersion());
  // A failure leaves its diagnostic, and `main` null.
  (void)modules.addMain(source, diag);
}

//===----------------------------------------------------------------------===//
// listKernels
//===----------------------------------------------------------------------===//

/// By syntax: `@...jit` or `f = ...jit(g)`. Nothing is evaluated, so that a
/// file with broken host code still lists.
static bool bindsKernel(const ast::Stmt *statement) {
  if (const auto *def = ast::dynCast<ast::FunctionDef>(statement)) {
    return llvm::any_of(def->decoratorList, saysJit);
  }
  const auto *assign = ast::dynCast<ast::Assign>(statement);
  return assign && ast::isa<ast::Call>(assign->value) && saysJit(assign->value);
}

std::vector<std::string> Session::kernelNames() {
  std::vector<std::pair<uint32_t, std::string>> found;
  for (const auto &entry : modules.main->bindings) {
    for (const GlobalBinding &binding : entry.second) {
      if (bindsKernel(binding.statement)) {
        found.emplace_back(binding.statement->span.line, entry.getKey().str());
        break;
      }
    }
  }
  for (const auto &entry : modules.main->nestedKernels) {
    if (!modules.main->bindings.contains(entry.getKey())) {
      found.emplace_back(entry.second.statement->span.line,
                         entry.getKey().str());
    }
  }
  llvm::sort(found);
  std::vector<std::string> names;
  for (auto &[line, name] : found) {
    names.push_back(std::move(name));
  }
  return names;
}

Expected<std::vector<std::string>> listKernels(const Source &source) {
  Session session(nullptr, source);
  if (!session.ok()) {
    return session.failure(ErrorCode::CompileError, "");
  }
  return session.kernelNames();
}

//===----------------------------------------------------------------------===//
// describe
//===----------------------------------------------------------------------===//

/// What an annotation other than tl.constexpr fixes: `tl.int64`, "*fp16",
/// tl.const. Anything else (torch.Tensor, int) says nothing.
static void readAnnotation(Session &session, const Function &kernel,
                           const ast::Expr *annotation,
                           ParameterDescription &parameter) {
  Diagnostics::Mark mark = session.diag.mark();
  FailureOr<Value> value = session.evaluator.evaluateIn(
      kernel.module, kernel.module->parsed->source, annotation, {});
  if (failed(value)) {
    session.diag.forget(mark);
    return;
  }
  if (value->isClass() && value->pythonClass().name == "const") {
    parameter.isConst = true;
  } else if (value->isType() && !value->type().isBlock) {
    parameter.dtype = value->type().scalar.dtype;
    parameter.isPointer = value->type().scalar.isPointer;
    parameter.isConst = value->type().scalar.isConst;
  } else if (value->isString()) {
    llvm::StringRef text(value->string());
    parameter.isPointer = text.consume_front("*");
    parameter.isConst = parameter.isPointer && text.consume_front("k");
    parameter.dtype = parseDType(std::string_view(text.data(), text.size()));
  }
}

static std::optional<Failure>
describeParameters(Session &session, const Function &kernel,
                   KernelDescription &description) {
  const SourceText &source = kernel.module->parsed->source;
  const ast::Arguments &args = kernel.arguments();
  if (args.vararg || args.kwarg) {
    const ast::Arg *culprit = args.vararg ? args.vararg : args.kwarg;
    Diagnostic diagnostic =
        source.error(culprit->span, "a kernel cannot have variadic parameters",
                     "list the parameters one by one");
    return Failure{ErrorCode::CompileError, diagnostic.message, {diagnostic}};
  }
  std::vector<const ast::Arg *> parameters = parametersOf(kernel);
  size_t positional = parameters.size() - args.kwonlyargs.size();
  size_t firstDefault = positional - args.defaults.size();
  for (size_t i = 0; i < parameters.size(); ++i) {
    ParameterDescription parameter;
    parameter.name = std::string(parameters[i]->arg);
    parameter.location = source.location(parameters[i]->span);
    const ast::Expr *annotation = parameters[i]->annotation;
    parameter.isStatic =
        annotation && Evaluator::isConstexprAnnotation(annotation);
    if (annotation && !parameter.isStatic) {
      readAnnotation(session, kernel, annotation, parameter);
    }
    if (kernel.decorations) {
      parameter.specialize =
          !kernel.decorations->doNotSpecialize.contains(parameter.name, i);
      parameter.specializeAlignment =
          parameter.specialize &&
          !kernel.decorations->doNotSpecializeOnAlignment.contains(
              parameter.name, i);
    }
    if (parameter.isStatic && !parameter.specialize) {
      Diagnostic diagnostic =
          source.error(parameters[i]->span, "'" + parameter.name +
                                                "' is both tl.constexpr and in "
                                                "do_not_specialize");
      return Failure{ErrorCode::CompileError, diagnostic.message, {diagnostic}};
    }
    const ast::Expr *initial = nullptr;
    if (i >= positional) {
      initial = args.kwDefaults[i - positional];
    } else if (i >= firstDefault) {
      initial = args.defaults[i - firstDefault];
    }
    if (initial) {
      Diagnostics::Mark mark = session.diag.mark();
      FailureOr<Value> value =
          session.evaluator.evaluateIn(kernel.module, source, initial, {});
      if (succeeded(value)) {
        parameter.defaultValue = toStaticValue(*value);
        if (value->isOpaque()) {
          (void)session.diag.error("the default of '" + parameter.name +
                                       "' is " + value->describe(),
                                   session.evaluator.bindHint(*value));
          session.diag.errors.back().location = source.location(initial->span);
          session.diag.errors.back().sourceLine =
              source.line(initial->span.line);
        }
      }
      if (session.diag.hasError()) {
        // The launch may give it.
        for (Diagnostic &why : session.diag.errors) {
          why.severity = Severity::Note;
          description.unknown.push_back(why);
        }
        session.diag.forget(mark);
      }
    }
    description.parameters.push_back(std::move(parameter));
  }
  return std::nullopt;
}

/// A field of triton.Config that must be a positive number.
static void readCount(const Value &value, uint32_t &option) {
  if (value.isIntegral() && value.integer() > 0 &&
      value.integer() <= UINT32_MAX) {
    option = static_cast<uint32_t>(value.integer());
  }
}

/// Values that only the host program knows (the number of processors, asked of
/// torch) are left out: the launch has to give them.
static ConfigDescription describeConfig(const Aggregate &config) {
  ConfigDescription result;
  for (const auto &[key, value] : config.find("kwargs")->dict()) {
    std::optional<StaticValue> plain = toStaticValue(value);
    if (key.isString() && plain) {
      result.values.emplace(key.string(), std::move(*plain));
    }
  }
  result.hasHook = !config.find("pre_hook")->isNone();
  uint32_t withoutEffect = 0;
  std::pair<const char *, uint32_t *> options[] = {
      {"num_warps", &result.options.numWarps},
      {"num_stages", &result.options.numStages},
      {"num_ctas", &result.options.numCtas},
      {"maxnreg", &result.options.maxRegisters},
      {"minnreg", &result.options.minRegisters},
      {"waves_per_eu", &result.options.wavesPerUnit},
      {"matrix_instr_nonkdim", &result.options.matrixSize},
      {"kpack", &withoutEffect}};
  for (auto [name, option] : options) {
    if (const Value *field = config.find(name)) {
      readCount(*field, *option);
    }
    auto it = result.values.find(name);
    if (it != result.values.end()) {
      readCount(Value::fromStatic(it->second), *option);
      result.values.erase(it);
    }
  }
  return result;
}

Expected<KernelDescription> describe(const Source &source,
                                     const std::string &name) {
  Session session(nullptr, source);
  if (!session.ok()) {
    return session.failure(ErrorCode::CompileError, "");
  }
  Failure why;
  std::shared_ptr<const Function> kernel = session.findKernel(name, why);
  if (!kernel) {
    return why;
  }
  KernelDescription description;
  description.name = name;
  description.location =
      kernel->module->parsed->source.location(kernel->def->span);
  if (auto failed = describeParameters(session, *kernel, description)) {
    return *failed;
  }
  if (const Decorations *decorations = kernel->decorations.get()) {
    llvm::append_range(description.unknown, decorations->unknown);
    for (const Value &config : decorations->configs) {
      description.configs.push_back(describeConfig(config.aggregate()));
    }
    description.tuneKey = decorations->tuneKey;
    description.resetToZero = decorations->resetToZero;
    description.restoreValue = decorations->restoreValue;
    description.hasPreHook = !decorations->preHook.isNone();
    description.hasPostHook = !decorations->postHook.isNone();
    description.prunesConfigs = !decorations->pruneConfigsBy.isNone();
    for (const auto &heuristic : decorations->heuristics) {
      if (!llvm::is_contained(description.heuristics, heuristic.first)) {
        description.heuristics.push_back(heuristic.first);
      }
    }
  }
  description.sourceHash = sourceHash(session.modules, name);
  return description;
}

//===----------------------------------------------------------------------===//
// evaluate
//===----------------------------------------------------------------------===//

/// Names that a grid expression may use though the file does not import them.
static void addGridNames(Evaluator &evaluator, const SourceModule &module,
                         std::vector<std::pair<std::string, Value>> &locals) {
  auto has = [&](llvm::StringRef name) {
    return module.bindings.contains(name) ||
           llvm::any_of(locals, [&](const auto &l) { return l.first == name; });
  };
  const BuiltinTable &table = BuiltinTable::get();
  for (const char *name : {"cdiv", "next_power_of_2"}) {
    if (!has(name)) {
      locals.emplace_back(name, Value(table.find("triton", name)));
    }
  }
  if (!has("triton")) {
    locals.emplace_back("triton", Value(ModuleValue{"triton", nullptr}));
  }
}

static Expected<StaticValue>
plainResult(Session &session, FailureOr<Value> value, const std::string &what) {
  if (failed(value)) {
    return session.failure(ErrorCode::CompileError, "");
  }
  std::optional<StaticValue> plain = toStaticValue(*value);
  if (!plain) {
    return Failure{ErrorCode::InvalidArgument,
                   what + " gives " + value->describe() +
                       "; expected a number, a string or a tuple",
                   {}};
  }
  return *plain;
}

static Expected<StaticValue> evaluateHeuristic(Session &session,
                                               const EvaluateRequest &request) {
  Failure why;
  std::shared_ptr<const Function> kernel =
      session.findKernel(request.kernel, why);
  if (!kernel) {
    return why;
  }
  const Value *function = nullptr;
  if (kernel->decorations) {
    for (const auto &[name, value] : kernel->decorations->heuristics) {
      if (name == request.heuristic) {
        function = &value;
        break;
      }
    }
  }
  if (!function) {
    return Failure{ErrorCode::NotFound,
                   "kernel '" + request.kernel + "' has no heuristic for '" +
                       request.heuristic + "'",
                   {}};
  }
  Value argument = hostArguments(request.values);
  FailureOr<Value> value =
      session.evaluator.callIn(kernel->module, kernel->def->span, *function,
                               {Argument{"", argument, kernel->def->span}});
  return plainResult(session, value,
                     "the heuristic for '" + request.heuristic + "'");
}

Expected<StaticValue> evaluate(const EvaluateRequest &request) {
  Session session(nullptr, request.source);
  if (!session.ok()) {
    return session.failure(ErrorCode::CompileError, "");
  }
  session.evaluator.target = request.target;
  if (request.expression.empty()) {
    return evaluateHeuristic(session, request);
  }
  Expected<std::shared_ptr<ParsedExpression>> parsed =
      parseExpression("<expression>", request.expression);
  if (!parsed.ok()) {
    return parsed.failure();
  }
  std::vector<std::pair<std::string, Value>> locals;
  for (const auto &[name, value] : request.values) {
    locals.emplace_back(name, hostArgument(name, value));
  }
  addGridNames(session.evaluator, *session.modules.main, locals);
  FailureOr<Value> value = session.evaluator.evaluateIn(
      session.modules.main, (*parsed)->source, (*parsed)->expr, locals);
  if (succeeded(value) && value->isFunction()) {
    // A grid given as `lambda META: ...`.
    Value argument = hostArguments(request.values);
    value = session.evaluator.callIn(
        session.modules.main, (*parsed)->expr->span, *value,
        {Argument{"", argument, (*parsed)->expr->span}}, &(*parsed)->source);
  }
  return plainResult(session, value,
                     "the expression '" + request.expression + "'");
}

} // namespace nereid::irgen
