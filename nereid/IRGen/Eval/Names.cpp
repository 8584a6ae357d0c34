//===- Names.cpp - Reading and binding variables ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/Objects.h"

#include "llvm/Support/SaveAndRestore.h"

namespace nereid::irgen {

Evaluator::FrameScope::FrameScope(Evaluator &evaluator,
                                  std::shared_ptr<SourceModule> module,
                                  std::shared_ptr<const Function> function,
                                  bool isKernel, std::shared_ptr<Scope> scope,
                                  const SourceText *source)
    : evaluator(evaluator), languageBefore(evaluator.emitter.language) {
  evaluator.emitter.language = evaluator.modules.languageOf(module.get());
  own.parent = evaluator.frame;
  own.depth = own.parent ? own.parent->depth + 1 : 0;
  own.function = std::move(function);
  own.module = std::move(module);
  own.isKernel = isKernel;
  own.scope = std::move(scope);
  Diagnostics::Frame visible;
  visible.source = source ? source : &own.module->parsed->source;
  visible.function = own.function ? own.function->name : "";
  if (own.function && own.function->def) {
    visible.span = own.function->def->span;
  }
  visible.isLibrary = own.module && own.module->isLibrary;
  evaluator.diag.stack.push_back(std::move(visible));
  evaluator.frame = &own;
}

Evaluator::FrameScope::~FrameScope() {
  evaluator.diag.stack.pop_back();
  evaluator.frame = own.parent;
  evaluator.emitter.language = languageBefore;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Names that a kernel may read from its module whatever their value: what a
/// value of another kind means could change between compilation and launch.
static bool readableInKernel(const Value &value) {
  return value.constexprGlobal || value.isType() || value.isFunction() ||
         value.isBuiltin() || value.isModule() || value.isClass() ||
         value.isMethod() || value.isOpaque() || value.isAggregate() ||
         value.isObject();
}

FailureOr<Value> Evaluator::readName(llvm::StringRef name) {
  auto outer = frame->outerNames.find(name);
  if (outer != frame->outerNames.end() && outer->second) {
    llvm::SaveAndRestore own(seesChangedGlobals, true);
    return hasGlobal(*frame->module, name)
               ? global(frame->module, name)
               : FailureOr<Value>(undefinedName(name));
  }
  for (const Scope *scope = frame->scope.get(); scope;
       scope = scope->parent.get()) {
    auto it = scope->variables.find(name);
    if (it != scope->variables.end()) {
      if (!it->second.poison.empty()) {
        return diag.error(it->second.poison,
                          "expected it assigned with one type on every way "
                          "here: give it a value before");
      }
      return it->second.value;
    }
  }
  if (frame->module && hasGlobal(*frame->module, name)) {
    FailureOr<Value> value = global(frame->module, name);
    if (succeeded(value) && frame->isKernel && isEnumMember(*value)) {
      value = plainValue(*value);
    }
    if (succeeded(value) && frame->isKernel && !frame->module->isLibrary &&
        !readableInKernel(*value)) {
      return diag.error(
          "the global '" + name.str() + "' (" + value->describe() +
              ") is not a compile-time constant; kernels read only globals "
              "that are tl.constexpr",
          "declare it '" + name.str() +
              ": tl.constexpr = ...', or pass it as "
              "an argument");
    }
    return value;
  }
  const BuiltinTable &table = BuiltinTable::get();
  if (const Builtin *builtin = table.find("python", name)) {
    return Value(builtin);
  }
  FailureOr<Value> cls = builtinModuleAttribute("builtins", name);
  if (succeeded(cls)) {
    return cls;
  }
  return undefinedName(name);
}

LogicalResult Evaluator::undefinedName(llvm::StringRef name) {
  std::vector<std::string> candidates;
  for (const Scope *scope = frame->scope.get(); scope;
       scope = scope->parent.get()) {
    for (const auto &entry : scope->variables) {
      candidates.push_back(entry.getKey().str());
    }
  }
  if (frame->module) {
    for (const auto &entry : frame->module->bindings) {
      candidates.push_back(entry.getKey().str());
    }
  }
  for (std::string &builtin : BuiltinTable::get().names("python")) {
    candidates.push_back(std::move(builtin));
  }
  llvm::sort(candidates);
  std::string hint = suggestion(name, candidates);
  if (hint.empty() && (name == "tl" || name == "triton")) {
    hint = name == "tl" ? "add 'import triton.language as tl'"
                        : "add 'import triton'";
  }
  if (hint.empty()) {
    hint = "expected a parameter, a variable that was assigned before, or a "
           "name of this module";
  }
  return diag.error("the name '" + name.str() + "' is not defined", hint);
}

/// Does the name that was assigned at `span` stand among others?
static bool isUnpacked(const SourceText &source, const ast::Span &span) {
  llvm::StringRef all(source.text()), name(source.text(span));
  size_t begin = name.data() - all.data();
  llvm::StringRef before = all.take_front(begin).rtrim(" "),
                  after = all.drop_front(begin + name.size()).ltrim(" ");
  return before.ends_with(",") || before.ends_with("(") ||
         before.ends_with("[") || before.ends_with("*") ||
         after.starts_with(",");
}

std::string Evaluator::constexprHint(const ast::Span &span) const {
  std::string general = "declare the parameter 'NAME: tl.constexpr' in the "
                        "kernel; a plain variable 'x = 4' is a run-time value, "
                        "'x: tl.constexpr = 4' is not";
  const SourceText *source = diag.stack.back().source;
  if (!frame || !frame->function || !source) {
    return general;
  }
  llvm::StringRef text(source->text(span));
  while (!text.empty()) {
    text = text.drop_until([](char c) { return llvm::isAlpha(c) || c == '_'; });
    llvm::StringRef word =
        text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    text = text.drop_front(word.size());
    auto it = frame->scope->variables.find(word);
    if (it == frame->scope->variables.end() || it->second.value.isStatic()) {
      continue;
    }
    const ast::Arguments &args = frame->function->arguments();
    for (const auto &list : {args.posonlyargs, args.args, args.kwonlyargs}) {
      for (const ast::Arg *parameter : list) {
        if (word == llvm::StringRef(parameter->arg)) {
          return "declare the parameter '" + word.str() +
                 ": tl.constexpr' of '" + frame->function->name + "'";
        }
      }
    }
    if (isUnpacked(*source, it->second.span)) {
      return "'" + word.str() +
             "' is unpacked, so a run-time value, and Python has no "
             "annotations "
             "in an unpacking; write '" +
             word.str() + ": tl.constexpr = TUPLE[INDEX]' on a line of its own";
    }
    return "'" + word.str() + "' is a plain variable, so a run-time value; " +
           "write '" + word.str() +
           ": tl.constexpr = ...' where it is assigned";
  }
  return general;
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

void Evaluator::bind(llvm::StringRef name, Scope::Binding binding) {
  auto outer = frame->outerNames.find(name);
  if (frame->isModuleCode ||
      (outer != frame->outerNames.end() && outer->second)) {
    frame->module->state[name] = std::move(binding.value);
    return;
  }
  if (outer != frame->outerNames.end()) {
    for (Scope *scope = frame->scope->parent.get(); scope;
         scope = scope->parent.get()) {
      auto it = scope->variables.find(name);
      if (it != scope->variables.end()) {
        it->second = std::move(binding);
        return;
      }
    }
  }
  auto [it, isNew] = frame->scope->variables.try_emplace(name);
  if (frame->journalling) {
    std::optional<Scope::Binding> old;
    if (!isNew) {
      old = std::move(it->second);
    }
    frame->journal.push_back({name.str(), std::move(old)});
  }
  it->second = std::move(binding);
}

void Evaluator::unbind(llvm::StringRef name) {
  auto it = frame->scope->variables.find(name);
  if (it == frame->scope->variables.end()) {
    return;
  }
  if (frame->journalling) {
    frame->journal.push_back({name.str(), std::move(it->second)});
  }
  frame->scope->variables.erase(it);
}

LogicalResult Evaluator::assignName(const ast::Name *target, Value value) {
  Scope::Binding binding;
  binding.span = target->span;
  binding.isConstexpr =
      frame->isKernel && frame->pendingConstexpr.erase(target->id);
  if (binding.isConstexpr && (value.isTensor() || !value.isStatic())) {
    // As upstream: a mistake only where a compile-time value is needed.
    diag.warning(target->span,
                 "'" + std::string(target->id) +
                     "' is declared tl.constexpr, but its value is " +
                     value.describe() +
                     (value.isTensor() ? ", known only at run time" : ""),
                 "drop the annotation, or declare what the value is computed "
                 "from tl.constexpr too");
    binding.isConstexpr = false;
  }
  if (frame->isKernel && !binding.isConstexpr) {
    FailureOr<Value> decayed = emitter.decay(value);
    if (failed(decayed)) {
      return failure();
    }
    value = std::move(*decayed);
    if (failed(withinBudget())) {
      return failure();
    }
  }
  binding.value = std::move(value);
  bind(target->id, std::move(binding));
  return success();
}

LogicalResult Evaluator::unpack(llvm::ArrayRef<ast::Expr *> targets,
                                const Value &value) {
  FailureOr<std::vector<Value>> items = iterate(value, "unpacking");
  if (failed(items)) {
    return failure();
  }
  size_t star = targets.size();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (ast::isa<ast::Starred>(targets[i])) {
      star = i;
    }
  }
  bool hasStar = star != targets.size();
  size_t fixed = targets.size() - (hasStar ? 1 : 0);
  if (hasStar ? items->size() < fixed : items->size() != fixed) {
    return diag.error("cannot unpack " + std::to_string(items->size()) +
                      " values into " + std::to_string(targets.size()) +
                      " variables; expected as many values as variables");
  }
  for (size_t i = 0, next = 0; i < targets.size(); ++i) {
    if (i == star) {
      size_t count = items->size() - fixed;
      std::vector<Value> rest(items->begin() + next,
                              items->begin() + next + count);
      next += count;
      const auto *starred = ast::cast<ast::Starred>(targets[i]);
      if (failed(assign(starred->value, inKernel()
                                            ? Value::tuple(std::move(rest))
                                            : Value::list(std::move(rest))))) {
        return failure();
      }
    } else if (failed(assign(targets[i], (*items)[next++]))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Evaluator::assign(const ast::Expr *target, const Value &value) {
  switch (target->kind) {
  case ast::Kind::Name:
    return assignName(ast::cast<ast::Name>(target), value);
  case ast::Kind::Tuple: {
    const auto &elts = ast::cast<ast::Tuple>(target)->elts;
    return unpack({elts.begin(), elts.size()}, value);
  }
  case ast::Kind::List: {
    const auto &elts = ast::cast<ast::List>(target)->elts;
    return unpack({elts.begin(), elts.size()}, value);
  }
  default:
    return storeInto(target, value);
  }
}

/// The last name of a field's annotation: `x: tl.constexpr` -> "constexpr".
static llvm::StringRef annotationOf(const PythonClass &cls,
                                    llvm::StringRef field) {
  for (const ast::Stmt *statement : cls.def->body) {
    const auto *declared = ast::dynCast<ast::AnnAssign>(statement);
    const auto *name =
        declared ? ast::dynCast<ast::Name>(declared->target) : nullptr;
    if (!name || llvm::StringRef(name->id) != field) {
      continue;
    }
    if (const auto *path = ast::dynCast<ast::Attribute>(declared->annotation)) {
      return path->attr;
    }
    const auto *own = ast::dynCast<ast::Name>(declared->annotation);
    return own ? llvm::StringRef(own->id) : llvm::StringRef();
  }
  return {};
}

/// `self.x = v` in the __init__ of an aggregate.
LogicalResult Evaluator::storeField(const ast::Attribute *target,
                                    const Value &object, const Value &value) {
  SpanScope at(diag, target->span);
  if (!frame->isKernel && (object.isObject() || object.isClass() ||
                           object.isModule() || object.isOpaque())) {
    return setAttribute(object, target->attr, value);
  }
  const auto *name = ast::dynCast<ast::Name>(target->value);
  bool isOwn = object.isAggregate() && object.aggregate().type->userClass;
  bool isInit = frame->function && frame->function->name == "__init__";
  if (!name || !isOwn || !isInit) {
    return diag.error("assigning to an attribute is not supported",
                      isOwn ? "an aggregate keeps the values that its __init__ "
                              "gave it: make a new one"
                            : "expected a variable: name = value");
  }
  Aggregate changed = object.aggregate();
  const std::vector<std::string> &fields = changed.type->fields;
  size_t index = llvm::find(fields, target->attr) - fields.begin();
  if (index == fields.size()) {
    return diag.error("'" + changed.type->name + "' has no field '" +
                          std::string(target->attr) + "'",
                      choices(target->attr, fields));
  }
  llvm::StringRef wanted = annotationOf(*changed.type->userClass, target->attr);
  if ((wanted == "tensor" && !value.isTensor()) ||
      (wanted == "constexpr" && !value.isStatic())) {
    return diag.error("the field '" + std::string(target->attr) + "' of '" +
                          changed.type->name + "' is annotated tl." +
                          wanted.str() + ", got " + value.describe(),
                      wanted == "tensor"
                          ? "make the number a scalar: tl.to_tensor(value)"
                          : "annotate it tl.tensor");
  }
  changed.fields[index] = value;
  bind(name->id, {Value(std::move(changed)), false, target->span});
  return success();
}

/// `x[i] = v`: host containers only.
LogicalResult Evaluator::storeInto(const ast::Expr *target,
                                   const Value &value) {
  if (const auto *field = ast::dynCast<ast::Attribute>(target)) {
    if (hookActions && !frame->isKernel) {
      return storeAttribute(field, value);
    }
    FailureOr<Value> object = evaluate(field->value);
    return failed(object) ? failure() : storeField(field, *object, value);
  }
  SpanScope at(diag, target->span);
  const auto *element = ast::dynCast<ast::Subscript>(target);
  if (frame->isKernel || !element) {
    return diag.error("a kernel cannot assign to an element",
                      "blocks are immutable: write to memory with "
                      "tl.store(pointer + offset, value), or build a new block "
                      "with tl.where");
  }
  FailureOr<Value> object = evaluate(element->value);
  FailureOr<Value> index = failed(object) ? object : evaluate(element->slice);
  if (failed(index)) {
    return failure();
  }
  if (object->isDict()) {
    for (auto &[key, old] : object->dict()) {
      if (equal(key, *index)) {
        old = value;
        return success();
      }
    }
    object->dict().emplace_back(*index, value);
    return success();
  }
  if (object->isList() && index->isIntegral()) {
    Int size = static_cast<Int>(object->list().size());
    Int i = index->integer() < 0 ? index->integer() + size : index->integer();
    if (i >= 0 && i < size) {
      object->list()[static_cast<size_t>(i)] = value;
      return success();
    }
    return diag.error("the index " + index->repr() +
                          " is out of range for a list of " + toString(size) +
                          "; expected an index from 0 on, below the length",
                      "negative ones count from the end");
  }
  if (auto stored = callSpecial(*object, "__setitem__", {*index, value})) {
    return LogicalResult::success(succeeded(*stored));
  }
  if (SourceModule *space = namespaceOf(*object)) {
    if (!index->isString()) {
      return diag.raises("TypeError")
          .error("a name of a module is a string; "
                 "expected a string before '='");
    }
    space->state[index->string()] = value;
    return success();
  }
  if (object->isOpaque()) {
    return diag.hostError("cannot assign to an element of " +
                          object->describe());
  }
  return diag.error("cannot assign to an element of " + object->describe() +
                        "; expected a list or a dict",
                    "write memory with tl.store");
}

} // namespace nereid::irgen
