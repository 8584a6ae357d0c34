//===- Globals.cpp - Names of a module's top level --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A global is evaluated when it is first read. Of several statements that bind
// it, the last one counts whose conditions hold; where that cannot be known
// (the condition asks torch, a `try` surrounds it) the first that evaluates.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"

namespace nereid::irgen {

bool Evaluator::isConstexprAnnotation(const ast::Expr *annotation) {
  if (const auto *attribute = ast::dynCast<ast::Attribute>(annotation)) {
    return attribute->attr == "constexpr";
  }
  if (const auto *name = ast::dynCast<ast::Name>(annotation)) {
    return name->id == "constexpr";
  }
  if (const auto *subscript = ast::dynCast<ast::Subscript>(annotation)) {
    return isConstexprAnnotation(subscript->value);
  }
  const auto *text = ast::dynCast<ast::Constant>(annotation);
  return text && text->constantKind == ast::ConstantKind::Str &&
         llvm::StringRef(text->text).ends_with("constexpr");
}

bool Evaluator::hasGlobal(const SourceModule &module, llvm::StringRef name) {
  return module.bindings.contains(name) ||
         module.given.count(name.str()) != 0 ||
         module.nestedKernels.contains(name) || module.state.contains(name) ||
         !module.starImports.empty();
}

/// The value that a statement gives to `name`, evaluated in a frame of the
/// module.
FailureOr<Value> Evaluator::bindingValue(const ast::Stmt *statement,
                                         llvm::StringRef name) {
  SpanScope at(diag, statement->span);
  if (const auto *def = ast::dynCast<ast::FunctionLike>(statement)) {
    return defineFunction(def);
  }
  switch (statement->kind) {
  case ast::Kind::ClassDef:
    return defineClass(ast::cast<ast::ClassDef>(statement));
  case ast::Kind::AnnAssign: {
    const auto *assign = ast::cast<ast::AnnAssign>(statement);
    FailureOr<Value> value = evaluate(assign->value);
    if (succeeded(value)) {
      value->constexprGlobal |= isConstexprAnnotation(assign->annotation);
    }
    return value;
  }
  case ast::Kind::AugAssign: {
    const auto *assign = ast::cast<ast::AugAssign>(statement);
    FailureOr<Value> old = readName(name);
    FailureOr<Value> operand = failed(old) ? old : evaluate(assign->value);
    return failed(operand) ? operand : binary(assign->op, *old, *operand);
  }
  case ast::Kind::For:
  case ast::Kind::While: {
    FailureOr<std::shared_ptr<Scope>> left =
        runModuleLoop(frame->module, statement);
    if (failed(left)) {
      return failure();
    }
    auto it = (*left)->variables.find(name);
    if (it != (*left)->variables.end()) {
      return it->second.value;
    }
    // `configs += [...]` changes what was there before.
    auto known = frame->module->values.find(name);
    return known != frame->module->values.end()
               ? FailureOr<Value>(known->second)
               : FailureOr<Value>(undefinedName(name));
  }
  default:
    break;
  }
  const auto *assignment = ast::cast<ast::Assign>(statement);
  FailureOr<Value> value = evaluate(assignment->value);
  if (failed(value)) {
    return failure();
  }
  for (const ast::Expr *target : assignment->targets) {
    const auto *simple = ast::dynCast<ast::Name>(target);
    if (simple && simple->id == std::string_view(name)) {
      return value;
    }
    if (!simple && !value->isOpaque()) {
      if (failed(assign(target, *value))) {
        return failure();
      }
      auto it = frame->scope->variables.find(name);
      if (it != frame->scope->variables.end()) {
        return it->second.value;
      }
    }
  }
  return value;
}

FailureOr<Value>
Evaluator::evaluateBinding(const std::shared_ptr<SourceModule> &module,
                           llvm::StringRef name, const GlobalBinding &binding) {
  FrameScope scope(*this, module, nullptr, /*isKernel=*/false,
                   std::make_shared<Scope>());
  frame->statementLine = binding.statement->span.line;
  SpanScope at(diag, binding.statement->span);
  if (const auto *import = ast::dynCast<ast::Import>(binding.statement)) {
    return importName(import, binding.alias);
  }
  if (const auto *from = ast::dynCast<ast::ImportFrom>(binding.statement)) {
    return importFrom(from, binding.alias->name);
  }
  return bindingValue(binding.statement, name);
}

std::optional<bool>
Evaluator::conditionsHold(const std::shared_ptr<SourceModule> &module,
                          const GlobalBinding &binding) {
  bool known = true;
  for (auto [test, side] : binding.conditions) {
    FrameScope scope(*this, module, nullptr, /*isKernel=*/false,
                     std::make_shared<Scope>());
    Diagnostics::Mark mark = diag.mark();
    FailureOr<Value> value = evaluate(test);
    if (failed(value) || value->isOpaque()) {
      diag.forget(mark);
      known = false;
    } else if (truth(*value) != side) {
      return false;
    }
  }
  return known ? std::optional<bool>(true) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What a global means
//===----------------------------------------------------------------------===//

/// One look-up of a module's name that has no value yet.
class Evaluator::GlobalSearch {
public:
  Evaluator &e;
  const std::shared_ptr<SourceModule> &module;
  llvm::StringRef name;

  FailureOr<Value> unbound();
  FailureOr<Value> among(const std::vector<GlobalBinding> &bindings);
  std::optional<FailureOr<Value>> earlier();

private:
  struct Order {
    llvm::SmallVector<size_t, 4> numbers;
    bool isCertain = false; ///< the first one is what the name means
  };
  FailureOr<Value> selfDefined();
  FailureOr<Order> order(const std::vector<GlobalBinding> &bindings,
                         size_t end);
};

/// A name that no statement of the module binds: of a kernel inside a function,
/// of a star import, of Python.
FailureOr<Value> Evaluator::GlobalSearch::unbound() {
  auto nested = module->nestedKernels.find(name);
  if (nested != module->nestedKernels.end()) {
    FailureOr<Value> value = e.evaluateBinding(module, name, nested->second);
    if (succeeded(value)) {
      module->values[name] = *value;
    }
    return value;
  }
  auto inStarImports = [&]() -> std::optional<Value> {
    for (const ast::ImportFrom *import : llvm::reverse(module->starImports)) {
      FrameScope scope(e, module, nullptr, false, std::make_shared<Scope>());
      Diagnostics::Mark mark = e.diag.mark();
      FailureOr<Value> value = e.importFrom(import, name);
      if (succeeded(value) && !value->isOpaque()) {
        return *value;
      }
      e.diag.forget(mark);
    }
    return std::nullopt;
  };
  if (module->soughtInStarImports.insert(name).second) {
    std::optional<Value> value = inStarImports();
    module->soughtInStarImports.erase(name);
    if (value) {
      return *value;
    }
  }
  FailureOr<Value> python = e.builtinModuleAttribute("builtins", name);
  if (succeeded(python)) {
    return python;
  }
  const Builtin *builtin = BuiltinTable::get().find("python", name);
  return builtin ? FailureOr<Value>(Value(builtin))
                 : FailureOr<Value>(e.undefinedName(name));
}

/// A name that is asked for while its first binding is evaluated.
FailureOr<Value> Evaluator::GlobalSearch::selfDefined() {
  // `from package import child` in package/__init__.py itself.
  FailureOr<std::shared_ptr<SourceModule>> child =
      module->isPackage ? e.modules.import(*module, name, 1, e.diag)
                        : FailureOr<std::shared_ptr<SourceModule>>(nullptr);
  if (failed(child)) {
    return failure();
  }
  if (*child) {
    return Value(ModuleValue{module->name + "." + name.str(), *child});
  }
  return e.diag.error("the global '" + name.str() +
                      "' is defined by itself; expected a value that does not "
                      "need the name itself");
}

/// The bindings of `name` before number `end` that may be what it means, the
/// likeliest first: certain ones (the last one wins), then possible ones, then
/// those of handlers.
FailureOr<Evaluator::GlobalSearch::Order>
Evaluator::GlobalSearch::order(const std::vector<GlobalBinding> &bindings,
                               size_t end) {
  // A condition that asks for the name itself means what it was before.
  auto bindingHolds = [&](size_t index) {
    size_t before = module->inProgress.lookup(name);
    module->inProgress[name] = index + 1;
    std::optional<bool> holds = e.conditionsHold(module, bindings[index]);
    module->inProgress[name] = before;
    return holds;
  };
  Order found;
  llvm::SmallVector<size_t, 4> possible, otherSide, handlers;
  for (size_t i = end; i-- > 0;) {
    auto loop = module->loops.find(bindings[i].statement);
    if (loop != module->loops.end() && loop->second.isRunning) {
      continue;
    }
    FailureOr<std::optional<bool>> runs = e.triesReach(*module, bindings[i]);
    if (failed(runs)) {
      return failure();
    }
    if (*runs && !**runs) {
      continue;
    }
    if (bindings[i].inHandler && !*runs) {
      handlers.push_back(i);
    } else if (bindings[i].conditions.empty()) {
      found.numbers.push_back(i);
    } else if (auto holds = bindingHolds(i)) {
      if (*holds) {
        found.numbers.push_back(i);
      }
    } else {
      bool side = bindings[i].conditions.back().second;
      (side ? possible : otherSide).push_back(i);
    }
  }
  found.isCertain = handlers.empty() && !found.numbers.empty();
  found.numbers.append(possible);
  found.numbers.append(otherSide);
  found.numbers.append(handlers.rbegin(), handlers.rend());
  return found;
}

FailureOr<Value>
Evaluator::GlobalSearch::among(const std::vector<GlobalBinding> &bindings) {
  size_t end = bindings.size();
  if (size_t running = module->inProgress.lookup(name)) {
    end = running - 1; // `f = jit(f)`: the name means what it meant before
  }
  if (end == 0) {
    return selfDefined();
  }
  auto attempt = [&](size_t index) {
    size_t before = module->inProgress.lookup(name);
    module->inProgress[name] = index + 1;
    // A function is no value to give; what its decorators read may be.
    bool isValue = !ast::isa<ast::FunctionLike>(bindings[index].statement);
    if (isValue) {
      e.evaluating.push_back((module->name.empty() ? "" : module->name + ".") +
                             name.str());
    }
    FailureOr<Value> value = e.evaluateBinding(module, name, bindings[index]);
    if (isValue) {
      e.evaluating.pop_back();
    }
    module->inProgress[name] = before;
    return value;
  };
  // A loop that runs right now reads what its variables were before it.
  std::shared_ptr<Scope> running;
  const ast::Stmt *until =
      end < bindings.size() ? bindings[end].statement : nullptr;
  for (const GlobalBinding &binding : bindings) {
    auto loop = module->loops.find(binding.statement);
    if (loop != module->loops.end() && loop->second.isRunning) {
      running = loop->second.variables;
      until = binding.statement;
    }
  }
  if (running) {
    auto it = running->variables.find(name);
    if (it != running->variables.end()) {
      return it->second.value;
    }
  }
  FailureOr<Order> found = order(bindings, end);
  if (failed(found)) {
    return failure();
  }
  std::optional<Value> opaque;
  for (size_t i : found->numbers) {
    bool isLast = i == found->numbers.back();
    Diagnostics::Mark mark = e.diag.mark();
    FailureOr<Value> value = attempt(i);
    if (failed(value)) {
      if ((found->isCertain || isLast) && !opaque) {
        return failure();
      }
      e.diag.forget(mark);
      continue;
    }
    if (value->isOpaque() && !isLast && !found->isCertain) {
      opaque = opaque ? opaque : std::optional<Value>(*value);
      continue;
    }
    module->values[name] = *value;
    e.startEffects(*module, name, *bindings[i].statement, until);
    if (e.hasPendingEffects(*module, name)) {
      value = e.afterEffects(module, name);
    }
    if (running && succeeded(value)) {
      module->values.erase(name);
      running->variables[name].value = *value;
    }
    return value;
  }
  if (opaque) {
    module->values[name] = *opaque;
    return *opaque;
  }
  return e.undefinedName(name);
}

/// What the name means to a statement of the module's top level that stands
/// between its bindings. Nullopt: it does not.
std::optional<FailureOr<Value>> Evaluator::GlobalSearch::earlier() {
  if (!e.frame || e.frame->function || e.frame->module != module ||
      e.frame->statementLine == 0 || module->inProgress.lookup(name) != 0 ||
      module->given.count(name.str()) != 0) {
    return std::nullopt;
  }
  auto found = module->bindings.find(name);
  if (found == module->bindings.end()) {
    return std::nullopt;
  }
  const std::vector<GlobalBinding> &bindings = found->second;
  size_t before = llvm::count_if(bindings, [&](const GlobalBinding &binding) {
    return binding.statement->span.line < e.frame->statementLine;
  });
  if (before == 0 || before == bindings.size()) {
    return std::nullopt;
  }
  std::pair key(name.str(), before);
  auto known = module->earlier.find(key);
  if (known != module->earlier.end()) {
    return FailureOr<Value>(known->second);
  }
  // The last binding's value, and what is still to happen to it, come back.
  std::optional<Value> last;
  if (module->values.contains(name)) {
    last = module->values[name];
  }
  std::vector<size_t> pending = module->pendingEffects.lookup(name);
  module->values.erase(name);
  module->inProgress[name] = before + 1;
  FailureOr<Value> value = among(bindings);
  module->inProgress[name] = 0;
  module->values.erase(name);
  if (last) {
    module->values[name] = *last;
  }
  module->pendingEffects[name] = std::move(pending);
  if (succeeded(value)) {
    module->earlier[key] = *value;
  }
  return value;
}

FailureOr<Value> Evaluator::global(const std::shared_ptr<SourceModule> &module,
                                   llvm::StringRef name) {
  bool seesState =
      frame && !frame->isKernel && (frame->function || frame->isModuleCode);
  auto changed = module->state.find(name);
  if (seesState && changed != module->state.end()) {
    return changed->second;
  }
  GlobalSearch search{*this, module, name};
  if (std::optional<FailureOr<Value>> value = search.earlier()) {
    return *value;
  }
  auto known = module->values.find(name);
  if (known != module->values.end()) {
    if (hasPendingEffects(*module, name)) {
      return afterEffects(module, name);
    }
    return known->second;
  }
  auto given = module->given.find(name.str());
  if (given != module->given.end()) {
    Value value = Value::fromStatic(given->second);
    value.constexprGlobal = true;
    return value;
  }
  if (module->changedByFunctions.contains(name) && !seesChangedGlobals) {
    return Value(Opaque{name.str()});
  }
  auto found = module->bindings.find(name);
  return found == module->bindings.end() ? search.unbound()
                                         : search.among(found->second);
}

FailureOr<Value>
Evaluator::evaluateIn(const std::shared_ptr<SourceModule> &module,
                      const SourceText &source, const ast::Expr *expr,
                      llvm::ArrayRef<std::pair<std::string, Value>> locals) {
  auto scope = std::make_shared<Scope>();
  for (const auto &[name, value] : locals) {
    scope->variables[name].value = value;
  }
  FrameScope own(*this, module, nullptr, /*isKernel=*/false, scope, &source);
  return evaluate(expr);
}

FailureOr<Value> Evaluator::callIn(const std::shared_ptr<SourceModule> &module,
                                   const ast::Span &span, const Value &callee,
                                   llvm::ArrayRef<Argument> arguments,
                                   const SourceText *source) {
  FrameScope own(*this, module, nullptr, /*isKernel=*/false,
                 std::make_shared<Scope>(), source);
  SpanScope at(diag, span);
  return call(callee, arguments);
}

} // namespace nereid::irgen
