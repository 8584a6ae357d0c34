//===- ClassDefinitions.cpp - What `class` statements define ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classes of fields (NamedTuple, dataclass, aggregate) make aggregates; all
// other classes make objects of the host (Host/Objects.cpp). A body runs in
// order and sees the names that it has bound.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/BranchChain.h"
#include "nereid/IRGen/Host/Objects.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

/// One `class` statement.
class Evaluator::ClassBuilder {
public:
  ClassBuilder(Evaluator &evaluator, const ast::ClassDef *def);

  FailureOr<Value> run();

private:
  void addBase(const Value &base);
  Value enumValue(const std::string &name, Value value);
  void keep(const std::string &name, Value value);
  FailureOr<Value> valueOf(const ast::Expr *expr);
  LogicalResult addField(const ast::AnnAssign *field);
  LogicalResult addMethod(const ast::FunctionLike *method);
  void addConstants(const ast::Assign *assignment);
  void runOther(const ast::Stmt *statement);

  Evaluator &e;
  Diagnostics &diag;
  const ast::ClassDef *def;
  std::shared_ptr<PythonClass> cls = std::make_shared<PythonClass>();
  std::shared_ptr<AggregateType> aggregate = std::make_shared<AggregateType>();
  /// The body's own variables; methods do not see them.
  std::shared_ptr<Scope> body = std::make_shared<Scope>();
  bool isAggregate = false, isTuple = false;
  bool isPlainEnum = false; ///< members are numbers or texts
  Int automatic = 0;        ///< enum.auto()
};

/// Bases that say nothing about instances.
static bool isHarmlessBase(llvm::StringRef name) {
  llvm::StringRef last = name.split('[').first.rsplit('.').second;
  last = last.empty() ? name.split('[').first : last;
  return llvm::StringSwitch<bool>(last)
      .Cases({"ABC", "Generic", "Protocol", "object"}, true)
      .Default(false);
}

void Evaluator::ClassBuilder::addBase(const Value &base) {
  if (base.isOpaque()) {
    llvm::StringRef name(base.opaque().name);
    if (name.ends_with("NamedTuple")) {
      isAggregate = isTuple = true;
    } else if (isEnumBase(name)) {
      cls->isEnum = true;
      isPlainEnum |= isPlainEnumBase(name);
    } else if (isExceptionName(name)) {
      auto parent = std::make_shared<PythonClass>();
      parent->name = name.rsplit('.').second.str();
      parent->name = parent->name.empty() ? name.str() : parent->name;
      cls->bases.push_back(std::move(parent));
    } else if (!isHarmlessBase(name)) {
      cls->unknown = "its base class '" + name.str() + "' is host code";
    }
    return;
  }
  if (!base.isClass()) {
    cls->unknown = "its base class is " + base.describe();
    return;
  }
  const PythonClass &parent = base.pythonClass();
  if (parent.aggregate) {
    isAggregate = true;
    isTuple |= parent.aggregate->isTuple;
    aggregate->fields = parent.aggregate->fields;
    cls->defaults = parent.defaults;
  } else if (!parent.def && (parent.name == "int" || parent.name == "str" ||
                             parent.name == "float")) {
    isPlainEnum = true; // class Mode(str, Enum)
  }
  bool isKnown = parent.def || parent.aggregate ||
                 isExceptionName(parent.name) || parent.name == "object" ||
                 isPlainEnum;
  if (!isKnown) {
    cls->unknown = "its base class '" + parent.name + "' is host code";
  }
  cls->unknown = cls->unknown.empty() ? parent.unknown : cls->unknown;
  cls->isEnum |= parent.isEnum;
  cls->bases.push_back(base.pythonClassPtr());
}

Value Evaluator::ClassBuilder::enumValue(const std::string &name, Value value) {
  cls->enumMembers.push_back(name);
  if (isPlainEnum) {
    return value;
  }
  for (const Value &member : enumMembers(*cls)) {
    if (equal(plainValue(member), value)) {
      return member;
    }
  }
  std::shared_ptr<HostObject> object = e.host.make(cls);
  object->set("name", Value(name));
  object->set("value", std::move(value));
  return Value(std::move(object));
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

void Evaluator::ClassBuilder::keep(const std::string &name, Value value) {
  value.constexprGlobal = true;
  body->variables[name].value = value;
  cls->setMember(name, std::move(value));
}

FailureOr<Value> Evaluator::ClassBuilder::valueOf(const ast::Expr *expr) {
  FrameScope own(e, e.frame->module, e.frame->function, false, body);
  SpanScope at(diag, expr->span);
  return e.evaluate(expr);
}

LogicalResult Evaluator::ClassBuilder::addField(const ast::AnnAssign *field) {
  const auto *name = ast::dynCast<ast::Name>(field->target);
  if (!name) {
    return success();
  }
  std::optional<Value> initial;
  if (field->value) {
    FailureOr<Value> value = valueOf(field->value);
    if (failed(value)) {
      return failure();
    }
    initial = *value;
  }
  aggregate->fields.emplace_back(name->id);
  cls->defaults.push_back(initial);
  if (initial) {
    keep(std::string(name->id), *initial);
  }
  return success();
}

LogicalResult
Evaluator::ClassBuilder::addMethod(const ast::FunctionLike *method) {
  bool isSetter =
      llvm::any_of(method->decoratorList, [](const ast::Expr *decorator) {
        return decoratorName(decorator) == "setter" ||
               decoratorName(decorator) == "deleter";
      });
  if (isSetter) {
    return success(); // assigning to a property is refused
  }
  FailureOr<Value> value = e.defineFunction(method);
  if (failed(value)) {
    return failure();
  }
  if (value->isFunction()) {
    auto owned = std::make_shared<Function>(value->function());
    owned->owner = cls;
    value = Value(std::shared_ptr<const Function>(std::move(owned)));
  }
  cls->setMember(method->name, *value);
  return success();
}

void Evaluator::ClassBuilder::addConstants(const ast::Assign *assignment) {
  Diagnostics::Mark mark = diag.mark();
  FailureOr<Value> value = valueOf(assignment->value);
  if (failed(value)) {
    std::string target(e.frame->module->parsed->source.text(
        assignment->targets.front()->span));
    value = Value(Opaque{cls->name + "." + target, diag.reason()});
    diag.forget(mark);
  }
  for (const ast::Expr *target : assignment->targets) {
    const auto *name = ast::dynCast<ast::Name>(target);
    if (!name) {
      continue;
    }
    // enum.auto() counts.
    if (value->isOpaque() &&
        llvm::StringRef(value->opaque().name).ends_with("auto(...)")) {
      value = Value(++automatic);
    } else if (value->isInt()) {
      automatic = value->integer();
    }
    std::string text(name->id);
    bool isMember = cls->isEnum && text.front() != '_';
    keep(text, isMember ? enumValue(text, *value) : *value);
  }
}

/// Branches, loops and tries may bind names too.
void Evaluator::ClassBuilder::runOther(const ast::Stmt *statement) {
  if (!ast::isa<ast::If>(statement) && !ast::isa<ast::For>(statement) &&
      !ast::isa<ast::Try>(statement)) {
    return;
  }
  Diagnostics::Mark mark = diag.mark();
  FrameScope own(e, e.frame->module, e.frame->function, false, body);
  BranchChain branches(e);
  if (failed(e.runStatement(statement, branches))) {
    cls->unknown = diag.reason();
    diag.forget(mark);
  }
  for (const auto &entry : body->variables) {
    if (!cls->ownMember(entry.getKey())) {
      cls->setMember(entry.getKey(), entry.second.value);
    }
  }
}

Evaluator::ClassBuilder::ClassBuilder(Evaluator &evaluator,
                                      const ast::ClassDef *def)
    : e(evaluator), diag(evaluator.diag), def(def) {
  cls->name = aggregate->name = std::string(def->name);
  cls->def = def;
  cls->module = e.frame->module;
  e.host.classes.push_back(cls);
  body->parent = e.frame->scope;
  for (const ast::Expr *decorator : def->decoratorList) {
    isAggregate |= decoratorName(decorator) == "aggregate" ||
                   decoratorName(decorator) == "_aggregate" ||
                   decoratorName(decorator) == "dataclass";
  }
}

FailureOr<Value> Evaluator::ClassBuilder::run() {
  for (const ast::Expr *expr : def->bases) {
    FailureOr<Value> base = e.evaluate(expr);
    if (failed(base)) {
      return failure();
    }
    addBase(*base);
  }
  for (const ast::Keyword *keyword : def->keywords) {
    llvm::StringRef meta = decoratorName(keyword->value);
    if (keyword->arg == "metaclass" && meta != "ABCMeta" &&
        meta != "EnumMeta" && meta != "EnumType") {
      cls->unknown = "it has a metaclass, '" + meta.str() + "'";
    }
  }
  for (const ast::Stmt *statement : def->body) {
    SpanScope at(diag, statement->span);
    LogicalResult added = success();
    if (const auto *field = ast::dynCast<ast::AnnAssign>(statement)) {
      added = addField(field);
    } else if (const auto *method =
                   ast::dynCast<ast::FunctionLike>(statement)) {
      added = addMethod(method);
    } else if (const auto *constants = ast::dynCast<ast::Assign>(statement)) {
      addConstants(constants);
    } else {
      runOther(statement);
    }
    if (failed(added)) {
      return failure();
    }
  }
  if (isAggregate) {
    aggregate->isTuple = isTuple;
    cls->aggregate = aggregate;
  }
  return Value(std::shared_ptr<const PythonClass>(cls));
}

FailureOr<Value> Evaluator::defineClass(const ast::ClassDef *def) {
  return ClassBuilder(*this, def).run();
}

} // namespace nereid::irgen
