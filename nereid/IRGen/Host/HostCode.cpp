//===- HostCode.cpp - Python functions about objects and code ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// super, setattr, vars, issubclass; globals, exec and eval of text: statements
// that import and assign, run in the module's namespace with the same limits as
// everything else.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/BranchChain.h"
#include "nereid/IRGen/Host/HostLibrary.h"
#include "nereid/IRGen/Host/Objects.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

/// Text that exec and eval take.
static constexpr size_t maxCodeBytes = 64 << 10;

static std::shared_ptr<const PythonClass> namespaceClass() {
  static const auto type = [] {
    auto cls = std::make_shared<PythonClass>();
    cls->name = "module namespace";
    return std::shared_ptr<const PythonClass>(std::move(cls));
  }();
  return type;
}

SourceModule *namespaceOf(const Value &value) {
  if (!value.isObject() || value.object().cls != namespaceClass()) {
    return nullptr;
  }
  const Value *module = value.object().find("module");
  return module && module->isModule() ? module->module().source.get() : nullptr;
}

FailureOr<Value> Evaluator::namespaceEntry(const HostObject &space,
                                           const Value &key) {
  const Value *module = space.find("module");
  if (!module || !key.isString()) {
    return diag.raises("KeyError")
        .error("globals() has no key " + key.repr() +
               "; expected a name of the module");
  }
  const std::shared_ptr<SourceModule> &source = module->module().source;
  if (!hasGlobal(*source, key.string())) {
    return diag.raises("KeyError")
        .error("the module has no global " + key.repr() +
               "; expected a name that it binds");
  }
  return global(source, key.string());
}

//===----------------------------------------------------------------------===//
// exec, eval
//===----------------------------------------------------------------------===//

/// The text given, if it is short enough; and the namespace, if it is a
/// module's.
static FailureOr<std::string> codeOf(Diagnostics &diag,
                                     llvm::ArrayRef<Argument> arguments) {
  const Value &code = arguments[0].value;
  if (!code.isString() || code.string().size() > maxCodeBytes) {
    return diag.hostError("exec and eval take a text of at most 64 KB, got " +
                          code.describe());
  }
  for (const Argument &argument : arguments.drop_front()) {
    if (!argument.value.isNone() && !namespaceOf(argument.value)) {
      return diag.hostError("exec and eval work in globals() only, got " +
                            argument.value.describe());
    }
  }
  return code.string();
}

/// A text that is not Python, at the call.
static LogicalResult syntaxError(Diagnostics &diag, const Failure &why) {
  std::string message =
      why.diagnostics.empty() ? why.message : why.diagnostics.front().message;
  return diag.raises("SyntaxError").error("the text that is run: " + message);
}

FailureOr<Value>
Evaluator::HostLibrary::execute(llvm::ArrayRef<Argument> arguments,
                                bool isExpression) {
  FailureOr<std::string> text = codeOf(diag, arguments);
  if (failed(text)) {
    return failure();
  }
  if (isExpression) {
    auto parsed =
        parseExpression("<eval>", std::string(llvm::StringRef(*text).trim()));
    if (!parsed.ok()) {
      return syntaxError(diag, parsed.failure());
    }
    e.host.expressions.push_back(*parsed);
    FrameScope own(e, e.frame->module, nullptr, false, e.frame->scope,
                   &(*parsed)->source);
    e.frame->isModuleCode = true;
    return e.evaluate((*parsed)->expr);
  }
  auto parsed = parseModule("<exec>", *text);
  if (!parsed.ok()) {
    return syntaxError(diag, parsed.failure());
  }
  e.host.executed.push_back(*parsed);
  FrameScope own(e, e.frame->module, nullptr, false, std::make_shared<Scope>(),
                 &(*parsed)->source);
  e.frame->isModuleCode = true;
  for (const ast::Stmt *statement : (*parsed)->module->body) {
    switch (statement->kind) {
    case ast::Kind::Import:
    case ast::Kind::ImportFrom:
    case ast::Kind::Assign:
    case ast::Kind::AugAssign:
    case ast::Kind::ExprStmt:
    case ast::Kind::Pass:
      break;
    default: {
      SpanScope at(diag, statement->span);
      return diag.hostError("exec runs imports, assignments and expressions "
                            "only");
    }
    }
    BranchChain branches(e);
    if (failed(e.runStatement(statement, branches))) {
      return failure();
    }
  }
  return Value();
}

/// super() in a method, or super(Class, self): an object that looks names up
/// after Class.
FailureOr<Value>
Evaluator::HostLibrary::superObject(llvm::ArrayRef<Argument> arguments) {
  static const auto superClass = [] {
    auto cls = std::make_shared<PythonClass>();
    cls->name = "super";
    return std::shared_ptr<const PythonClass>(std::move(cls));
  }();
  Value from, self;
  if (arguments.size() == 2) {
    from = arguments[0].value;
    self = arguments[1].value;
  } else if (arguments.empty() && e.frame->function) {
    std::shared_ptr<const PythonClass> owner = e.frame->function->owner.lock();
    std::vector<const ast::Arg *> parameters = parametersOf(*e.frame->function);
    if (owner && !parameters.empty()) {
      from = Value(owner);
      self = e.frame->scope->variables[parameters.front()->arg].value;
    }
  }
  bool isKnown = from.isClass() && (self.isObject() || self.isClass());
  if (!isKnown) {
    return diag.hostError("super() is not understood here; expected it in a "
                          "method of a class of the program");
  }
  std::shared_ptr<HostObject> object = e.host.make(superClass);
  object->set("__thisclass__", from);
  object->set("__self__", self);
  return Value(object);
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

/// Functions of Python that are no rows of the table of built-ins: they concern
/// the host only. Nullopt: not one of them, or not called in a known way.
Evaluator::HostLibrary::Result
Evaluator::HostLibrary::callPython(llvm::StringRef name,
                                   llvm::ArrayRef<Argument> arguments) {
  size_t count = arguments.size();
  auto at = [&](size_t i) -> const Value & { return arguments[i].value; };
  if (name == "super") {
    return superObject(arguments);
  }
  if (name == "setattr" && count == 3 && at(1).isString()) {
    if (failed(e.setAttribute(at(0), at(1).string(), at(2)))) {
      return FailureOr<Value>(failure());
    }
    return FailureOr<Value>(Value());
  }
  if (name == "delattr" && count == 2 && at(0).isObject() && at(1).isString()) {
    llvm::erase_if(at(0).object().attributes, [&](const auto &entry) {
      return entry.first == at(1).string();
    });
    return FailureOr<Value>(Value());
  }
  if (name == "vars" && count == 1 && at(0).isObject()) {
    return e.objectAttribute(at(0), "__dict__");
  }
  if (name == "issubclass" && count == 2 && at(0).isClass()) {
    auto derives = [&](const Value &other) {
      return other.isClass() &&
             llvm::any_of(
                 lookupOrder(at(0).pythonClass()), [&](const PythonClass *cls) {
                   return cls == &other.pythonClass() ||
                          (!cls->def && cls->name == other.pythonClass().name);
                 });
    };
    return FailureOr<Value>(Value(at(1).isSequence()
                                      ? llvm::any_of(at(1).items(), derives)
                                      : derives(at(1))));
  }
  if (name == "globals" && count == 0) {
    std::shared_ptr<HostObject> space = e.host.make(namespaceClass());
    space->set("module",
               Value(ModuleValue{e.frame->module->name, e.frame->module}));
    return FailureOr<Value>(Value(std::move(space)));
  }
  if ((name == "exec" || name == "eval") && count >= 1 && !e.emits()) {
    return execute(arguments, name == "eval");
  }
  // A tree, or code, of a text is the text.
  if ((name == "compile" || name == "ast.parse") && count >= 1 &&
      at(0).isString()) {
    return FailureOr<Value>(at(0));
  }
  if (name == "property" || name == "classmethod" || name == "staticmethod") {
    return std::nullopt;
  }
  if (isExceptionName(name) && !name.contains('(')) {
    return FailureOr<Value>(e.host.makeException(name, valuesOf(arguments)));
  }
  return std::nullopt;
}

} // namespace nereid::irgen
