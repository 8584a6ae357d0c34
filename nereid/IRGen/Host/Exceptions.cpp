//===- Exceptions.cpp - try, raise and Python's exceptions ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code: a failure that Python has too names its exception
// (Diagnostics::raises) and goes to the handler that catches it. A failure
// because something of the host is not known is no exception: Python would not
// have raised one, so that a handler would be the wrong way to go on.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/Objects.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::irgen {

/// What an exception of Python's derives from; empty: it is no exception.
static llvm::StringRef parentOf(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"Exception", "KeyboardInterrupt", "SystemExit"}, "BaseException")
      .Cases({"ArithmeticError", "AssertionError", "AttributeError", "EOFError",
              "ImportError", "LookupError", "MemoryError", "NameError",
              "OSError", "RuntimeError", "StopIteration", "SyntaxError",
              "TypeError", "ValueError", "Warning", "YAMLError"},
             "Exception")
      .Cases({"ZeroDivisionError", "OverflowError", "FloatingPointError"},
             "ArithmeticError")
      .Cases({"KeyError", "IndexError"}, "LookupError")
      .Case("ModuleNotFoundError", "ImportError")
      .Case("PackageNotFoundError", "ModuleNotFoundError")
      .Cases({"FileNotFoundError", "PermissionError", "IsADirectoryError",
              "FileExistsError", "TimeoutError", "ConnectionError"},
             "OSError")
      .Cases({"NotImplementedError", "RecursionError"}, "RuntimeError")
      .Cases({"JSONDecodeError", "UnicodeError"}, "ValueError")
      .Cases({"UserWarning", "DeprecationWarning", "RuntimeWarning",
              "FutureWarning"},
             "Warning")
      .Default("");
}

/// Second names of the same class, and the last name of a path.
static llvm::StringRef plainName(llvm::StringRef name) {
  llvm::StringRef last = name.rsplit('.').second;
  last = last.empty() ? name : last;
  return last == "IOError" || last == "EnvironmentError" ? "OSError" : last;
}

bool isExceptionName(llvm::StringRef name) {
  name = plainName(name);
  return name == "BaseException" || !parentOf(name).empty();
}

bool isException(const PythonClass &cls) {
  return llvm::any_of(lookupOrder(cls), [](const PythonClass *base) {
    return !base->def && isExceptionName(base->name);
  });
}

bool isCaughtBy(llvm::StringRef raised, llvm::StringRef handler) {
  handler = plainName(handler);
  for (raised = plainName(raised); !raised.empty(); raised = parentOf(raised)) {
    if (raised == handler) {
      return true;
    }
  }
  return false;
}

/// An exception of Python's own, by name.
static std::shared_ptr<const PythonClass> exceptionClass(llvm::StringRef name) {
  auto cls = std::make_shared<PythonClass>();
  cls->name = plainName(name).str();
  return cls;
}

std::vector<Value> valuesOf(llvm::ArrayRef<Argument> arguments) {
  std::vector<Value> values;
  for (const Argument &argument : arguments) {
    values.push_back(argument.value);
  }
  return values;
}

Value HostState::makeException(llvm::StringRef name,
                               std::vector<Value> arguments) {
  std::shared_ptr<HostObject> object = make(exceptionClass(name));
  object->set("args", Value::tuple(std::move(arguments)));
  return Value(std::move(object));
}

/// The exception that the failure is, for `except ... as`.
static Value raisedException(HostState &host, const Diagnostics &diag) {
  if (host.raised.isObject() && host.raised.object().cls &&
      host.raised.object().cls->name == diag.exception) {
    return host.raised;
  }
  std::string text = diag.errors.empty() ? "" : diag.errors.front().message;
  return host.makeException(
      diag.exception.empty() ? "Exception" : llvm::StringRef(diag.exception),
      {Value(std::move(text))});
}

//===----------------------------------------------------------------------===//
// raise
//===----------------------------------------------------------------------===//

/// The exception that `raise` names: an object, or a class that is called.
static std::optional<Value> exceptionIn(Evaluator &e, const Value &value) {
  if (value.isObject() && value.object().cls &&
      isException(*value.object().cls)) {
    return value;
  }
  return std::nullopt;
}

/// The exception of a handler goes on to the next `try`.
static LogicalResult raiseAgain(HostState &host, Diagnostics &diag,
                                const HostState::Caught &caught) {
  diag.errors.push_back(caught.error);
  diag.exception = caught.exception;
  diag.dueToHost = caught.dueToHost;
  host.raised = caught.object;
  return failure();
}

LogicalResult Evaluator::runRaise(const ast::Raise *statement) {
  if (!statement->exc && !host.handling.empty() && !frame->isKernel) {
    return raiseAgain(host, diag, host.handling.back());
  }
  std::string what = "'raise' is reached", name = "Exception";
  Value object;
  const auto *call = ast::dynCast<ast::Call>(statement->exc);
  const ast::Expr *cls = call ? call->func : statement->exc;
  Diagnostics::Mark mark = diag.mark();
  if (cls && !frame->isKernel) {
    FailureOr<Value> kind = evaluate(cls);
    if (failed(kind)) {
      diag.forget(mark);
    } else if (kind->isOpaque()) {
      name = plainName(kind->opaque().name).str();
    } else if (kind->isClass()) {
      name = kind->pythonClass().name;
      FailureOr<Value> made = kind->pythonClass().def
                                  ? evaluate(statement->exc)
                                  : FailureOr<Value>(failure());
      if (succeeded(made) && made->isClass()) {
        made = this->call(*made, {});
      }
      if (failed(made)) {
        diag.forget(mark);
      } else if (auto known = exceptionIn(*this, *made)) {
        object = *known;
      }
    } else if (auto known = exceptionIn(*this, *kind)) {
      object = *known;
      name = object.object().cls->name;
      for (const HostState::Caught &caught : llvm::reverse(host.handling)) {
        if (equal(caught.object, object)) {
          return raiseAgain(host, diag, caught);
        }
      }
    }
  }
  if (object.isObject()) {
    FailureOr<std::string> text = textOf(object);
    if (failed(text)) {
      diag.forget(mark);
    } else if (!text->empty()) {
      what += ": " + *text;
    }
  }
  if (call && !call->args.empty() && !object.isObject()) {
    FailureOr<Value> text = evaluate(call->args.front());
    if (failed(text)) {
      diag.forget(mark);
    } else if (text->isStatic()) {
      what += ": " + text->str();
      if (isExceptionName(name) && !frame->isKernel) {
        object = host.makeException(name, {*text});
      }
    }
  }
  host.raised = object;
  return diag.raises(name).error(
      what, "expected a specialization that does not get here");
}

//===----------------------------------------------------------------------===//
// try
//===----------------------------------------------------------------------===//

/// Whether a handler's class, or one of a tuple of them, catches it.
static bool catches(const Value &type, const Value &object,
                    llvm::StringRef name) {
  if (type.isSequence()) {
    return llvm::any_of(type.items(), [&](const Value &item) {
      return catches(item, object, name);
    });
  }
  std::string wanted = type.isClass()    ? type.pythonClass().name
                       : type.isOpaque() ? type.opaque().name
                                         : "";
  if (object.isObject() && object.object().cls) {
    for (const PythonClass *cls : lookupOrder(*object.object().cls)) {
      if (type.isClass() ? cls == &type.pythonClass() ||
                               (!cls->def && isCaughtBy(cls->name, wanted))
                         : !cls->def && isCaughtBy(cls->name, wanted)) {
        return true;
      }
    }
  }
  return isCaughtBy(name, wanted);
}

FailureOr<Outcome> Evaluator::runHandlers(const ast::TryLike *statement,
                                          Diagnostics::Mark mark) {
  bool isRefusal = diag.exception.empty() && diag.dueToHost;
  if (isRefusal || diag.errors.empty() || Budget::exceeded()) {
    return failure();
  }
  HostState::Caught caught{diag.errors.front(), diag.exception,
                           raisedException(host, diag), diag.dueToHost};
  diag.forget(mark);
  for (const ast::ExceptHandler *handler : statement->handlers) {
    // What Python calls the exception is not always known.
    bool matches = !handler->type || caught.exception.empty();
    if (!matches) {
      FailureOr<Value> type = evaluate(handler->type);
      if (failed(type)) {
        return failure();
      }
      matches = catches(*type, caught.object, caught.exception);
    }
    if (!matches) {
      continue;
    }
    if (!handler->name.empty()) {
      bind(handler->name, {caught.object, false, handler->span});
    }
    host.handling.push_back(caught);
    FailureOr<Outcome> outcome = runBody(handler->body);
    host.handling.pop_back();
    return outcome;
  }
  return raiseAgain(host, diag, caught);
}

/// `finally` runs on every way out.
FailureOr<Outcome> Evaluator::runTry(const ast::TryLike *statement) {
  Diagnostics::Mark mark = diag.mark();
  FailureOr<bool> lacks = importsMissing(*frame->module, statement->body);
  if (failed(lacks)) {
    return failure();
  }
  FailureOr<Outcome> outcome = failure();
  if (*lacks && !statement->handlers.empty()) {
    (void)diag.raises("ModuleNotFoundError")
        .hostError("a module that the 'try' imports is not found");
  } else {
    outcome = runBody(statement->body);
  }
  if (failed(outcome) && !statement->handlers.empty()) {
    outcome = runHandlers(statement, mark);
  } else if (succeeded(outcome) && outcome->kind == Outcome::Falls) {
    outcome = runBody(statement->orelse);
  }
  if (failed(outcome)) {
    return failure();
  }
  FailureOr<Outcome> last = runBody(statement->finalbody);
  return failed(last) || last->kind != Outcome::Falls ? last : outcome;
}

//===----------------------------------------------------------------------===//
// with
//===----------------------------------------------------------------------===//

/// The objects of the program and open files are entered and left; of anything
/// else the name is unknown.
FailureOr<Outcome> Evaluator::runWith(const ast::With *statement) {
  std::vector<Value> entered;
  for (const ast::WithItem *item : statement->items) {
    Diagnostics::Mark mark = diag.mark();
    FailureOr<Value> value = evaluate(item->contextExpr);
    if (failed(value)) {
      if (!diag.exception.empty() || Budget::exceeded()) {
        return failure();
      }
      value = Value(Opaque{"with", diag.reason()});
      diag.forget(mark);
    }
    if (value->isObject()) {
      entered.push_back(*value);
      if (auto inner = callSpecial(*value, "__enter__")) {
        value = *inner;
      }
      if (failed(value)) {
        return failure();
      }
    }
    if (item->optionalVars && failed(assign(item->optionalVars, *value))) {
      return failure();
    }
  }
  FailureOr<Outcome> outcome = runBody(statement->body);
  if (failed(outcome)) {
    return failure();
  }
  for (const Value &object : llvm::reverse(entered)) {
    auto left = callSpecial(object, "__exit__", {Value(), Value(), Value()});
    if (left && failed(*left)) {
      return failure();
    }
  }
  return outcome;
}

} // namespace nereid::irgen
