//===- GlobalEffects.cpp - Statements of a module's top level ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Globals are evaluated one by one, when they are read. What changes a list, a
// dict, an object or a class afterwards (`configs.append(...)`, `TABLE["x"] =
// ...`, `loader.size = 3`, a loop of them) runs once, before the first read of
// that name is answered. A statement that cannot be evaluated leaves the name
// unknown and not half filled.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/BranchChain.h"
#include "nereid/IRGen/Host/HostAnswers.h"

namespace nereid::irgen {

using State = GlobalEffect::State;

bool Evaluator::hasPendingEffects(const SourceModule &module,
                                  llvm::StringRef name) {
  auto it = module.pendingEffects.find(name);
  return it != module.pendingEffects.end() && !it->second.empty();
}

/// What stands before the binding that counts changed another object; what
/// stands after `until`, the binding that asks for the older value, the new
/// one.
void Evaluator::startEffects(SourceModule &module, llvm::StringRef name,
                             const ast::Stmt &binding, const ast::Stmt *until) {
  auto it = module.effectsOn.find(name);
  if (it == module.effectsOn.end()) {
    return;
  }
  std::vector<size_t> &pending = module.pendingEffects[name];
  pending.clear();
  for (size_t effect : it->second) {
    uint32_t line = module.effects[effect].where.statement->span.line;
    if (line > binding.span.line && (!until || line < until->span.line)) {
      pending.push_back(effect);
    }
  }
}

FailureOr<Value>
Evaluator::afterEffects(const std::shared_ptr<SourceModule> &module,
                        llvm::StringRef name) {
  while (hasPendingEffects(*module, name)) {
    const Value &value = module->values[name];
    std::vector<size_t> &pending = module->pendingEffects[name];
    if (!value.isList() && !value.isDict() && !value.isObject() &&
        !value.isClass()) {
      pending.clear();
      break;
    }
    size_t index = pending.front();
    if (module->effects[index].state == State::Running) {
      break; // the statement itself reads the name
    }
    if (module->effects[index].state == State::Pending) {
      module->effects[index].state = State::Running;
      Diagnostics::Mark mark = diag.mark();
      bool done = succeeded(runEffect(module, module->effects[index].where));
      module->effects[index].state = done ? State::Done : State::Failed;
      if (!done) {
        module->values[name] = Value(Opaque{name.str(), diag.reason()});
        diag.forget(mark);
      }
    }
    if (module->effects[index].state == State::Failed &&
        !module->values[name].isOpaque()) {
      module->values[name] = Value(Opaque{name.str()});
    }
    std::vector<size_t> &left = module->pendingEffects[name];
    if (!left.empty() && left.front() == index) {
      left.erase(left.begin());
    }
  }
  return module->values[name];
}

LogicalResult Evaluator::runEffect(const std::shared_ptr<SourceModule> &module,
                                   const GlobalBinding &effect) {
  FailureOr<std::optional<bool>> runs = triesReach(*module, effect);
  if (failed(runs)) {
    return failure();
  }
  bool isInHandler = llvm::any_of(
      effect.tries, [](const auto &entry) { return entry.second; });
  if (*runs ? !**runs : isInHandler) {
    return success();
  }
  std::optional<bool> holds = conditionsHold(module, effect);
  if (!holds) {
    return diag.hostError("whether it runs depends on the host");
  }
  if (!*holds) {
    return success();
  }
  FrameScope scope(*this, module, nullptr, /*isKernel=*/false,
                   std::make_shared<Scope>());
  if (ast::isa<ast::For>(effect.statement) ||
      ast::isa<ast::While>(effect.statement)) {
    return LogicalResult::success(
        succeeded(runModuleLoop(module, effect.statement)));
  }
  BranchChain branches(*this);
  return LogicalResult::success(
      succeeded(runStatement(effect.statement, branches)));
}

FailureOr<std::shared_ptr<Scope>>
Evaluator::runModuleLoop(const std::shared_ptr<SourceModule> &module,
                         const ast::Stmt *loop) {
  auto known = module->loops.find(loop);
  if (known != module->loops.end()) {
    return known->second.variables;
  }
  auto variables = std::make_shared<Scope>();
  module->loops[loop] = {variables, /*isRunning=*/true};
  FrameScope scope(*this, module, nullptr, /*isKernel=*/false, variables);
  BranchChain branches(*this);
  if (failed(runStatement(loop, branches))) {
    module->loops.erase(loop);
    return failure();
  }
  module->loops[loop].isRunning = false;
  return variables;
}

//===----------------------------------------------------------------------===//
// try
//===----------------------------------------------------------------------===//

/// The name that a statement asks for by importlib.import_module("NAME") or
/// importlib.metadata.version("NAME"), which raise where it is not installed.
static std::optional<llvm::StringRef> probedName(const ast::Stmt *statement) {
  const ast::Expr *value = nullptr;
  if (const auto *assign = ast::dynCast<ast::Assign>(statement)) {
    value = assign->value;
  } else if (const auto *alone = ast::dynCast<ast::ExprStmt>(statement)) {
    value = alone->value;
  }
  const auto *call = value ? ast::dynCast<ast::Call>(value) : nullptr;
  const auto *name = call ? ast::dynCast<ast::Attribute>(call->func) : nullptr;
  const auto *text = call && call->args.size() == 1
                         ? ast::dynCast<ast::Constant>(call->args[0])
                         : nullptr;
  if (!name || !text || text->constantKind != ast::ConstantKind::Str) {
    return std::nullopt;
  }
  const auto *module = ast::dynCast<ast::Attribute>(name->value);
  bool asksVersion =
      name->attr == "version" && module && module->attr == "metadata";
  return asksVersion || name->attr == "import_module"
             ? std::optional(llvm::StringRef(text->text))
             : std::nullopt;
}

/// Whether a body imports, or asks for, a module that the machine does not
/// have.
FailureOr<bool> Evaluator::importsMissing(const SourceModule &module,
                                          ast::Body body) {
  auto isMissing = [&](llvm::StringRef name, int level) -> FailureOr<bool> {
    if (level == 0 && (isBuiltinModule(name) || hostHasModule(name))) {
      return false;
    }
    FailureOr<std::shared_ptr<SourceModule>> found =
        modules.import(module, name, level, diag);
    if (failed(found)) {
      return failure();
    }
    return !*found;
  };
  for (const ast::Stmt *statement : body) {
    FailureOr<bool> missing = false;
    if (const auto *import = ast::dynCast<ast::Import>(statement)) {
      for (const ast::Alias *alias : import->names) {
        missing = isMissing(alias->name, 0);
        if (failed(missing) || *missing) {
          return missing;
        }
      }
    } else if (const auto *from = ast::dynCast<ast::ImportFrom>(statement)) {
      missing = isMissing(from->module, from->level);
    } else if (std::optional<llvm::StringRef> name = probedName(statement)) {
      missing = isMissing(*name, 0);
    }
    if (failed(missing) || *missing) {
      return missing;
    }
  }
  return false;
}

/// Whether the `try` statements around a binding let it run: not the body where
/// an import in it fails, and then surely the handler. Nullopt: a handler of a
/// body that may succeed.
FailureOr<std::optional<bool>>
Evaluator::triesReach(const SourceModule &module,
                      const GlobalBinding &binding) {
  std::optional<bool> result = true;
  for (auto [statement, inHandler] : binding.tries) {
    FailureOr<bool> fails = importsMissing(module, statement->body);
    if (failed(fails)) {
      return failure();
    }
    if (!inHandler && *fails && !statement->handlers.empty()) {
      return std::optional<bool>(false);
    }
    if (inHandler && !*fails) {
      result = std::nullopt;
    }
  }
  return result;
}

} // namespace nereid::irgen
