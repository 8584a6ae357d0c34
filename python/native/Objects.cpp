//===- Objects.cpp - Exceptions on their way to Python --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/native/Objects.h"

namespace nereid::python {

Registered registered;

void internNames() {
  auto &n = registered.names;
  const std::pair<PyObject **, const char *> all[] = {
      {&n.value, "value"},
      {&n.index, "_index"},
      {&n.dataPtr, "data_ptr"},
      {&n.dtype, "dtype"},
      {&n.device, "device"},
      {&n.fields, "_fields"},
      {&n.name, "__name__"},
      {&n.base, "base"},
      {&n.shape, "shape"},
      {&n.strides, "strides"},
      {&n.blockShape, "block_shape"},
      {&n.padding, "padding"},
      {&n.dlpack, "__dlpack__"},
      {&n.exchangeApi, "__dlpack_c_exchange_api__"},
      {&n.type, "type"},
      {&n.module, "__module__"},
      {&n.dict, "__dict__"},
      {&n.deviceIndex, "index"},
      {&n.build, "_build"},
      {&n.variant, "_variant"},
      {&n.globalsChanged, "_globals_changed"},
      {&n.core, "_core"},
      {&n.run, "run"},
      {&n.preRunHooks, "pre_run_hooks"},
      {&n.subscript, "_subscript"},
      {&n.enterHook, "launch_enter_hook"},
      {&n.exitHook, "launch_exit_hook"},
  };
  for (auto [place, text] : all) {
    *place = Ref::steal(PyUnicode_InternFromString(text)).release();
  }
}

void raisePython(PyObject *type, const std::string &text) {
  PyErr_SetString(type, text.c_str());
  throw PythonError();
}

std::string typeName(PyObject *object) {
  Ref name = attribute(reinterpret_cast<PyObject *>(Py_TYPE(object)),
                       registered.names.name);
  return std::string(textOf(name.get()));
}

bool isNamed(PyTypeObject *type, std::string_view module,
             std::string_view name) {
  auto *object = reinterpret_cast<PyObject *>(type);
  Ref called = attributeOrNull(object, registered.names.name);
  if (!called || !PyUnicode_Check(called.get()) ||
      textOf(called.get()) != name) {
    return false;
  }
  Ref home = attributeOrNull(object, registered.names.module);
  return home && PyUnicode_Check(home.get()) && textOf(home.get()) == module;
}

Ref attribute(PyObject *object, PyObject *name) {
  return Ref::steal(PyObject_GetAttr(object, name));
}

Ref attributeOrNull(PyObject *object, PyObject *name) {
  PyObject *found = PyObject_GetAttr(object, name);
  if (!found) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
      throw PythonError();
    }
    PyErr_Clear();
    return Ref();
  }
  return Ref::steal(found);
}

std::string_view textOf(PyObject *text) {
  Py_ssize_t length = 0;
  const char *characters = PyUnicode_AsUTF8AndSize(text, &length);
  if (!characters) {
    throw PythonError();
  }
  return {characters, static_cast<size_t>(length)};
}

/// (severity, file, line, column, end line, end column, message, source line,
/// hint, notes), as Python has it.
static Ref tupleOf(const Diagnostic &d) {
  static constexpr const char *severities[] = {"error", "warning", "note",
                                               "remark"};
  Ref notes = tupleOf(d.notes);
  const SourceLocation &at = d.location;
  return Ref::steal(Py_BuildValue(
      "(ssIIIIsssO)", severities[static_cast<int>(d.severity)], at.file.c_str(),
      at.line, at.column, at.endLine, at.endColumn, d.message.c_str(),
      d.sourceLine.c_str(), d.hint.c_str(), notes.get()));
}

Ref tupleOf(std::span<const Diagnostic> all) {
  Ref made = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(all.size())));
  for (size_t i = 0; i < all.size(); ++i) {
    PyTuple_SetItem(made.get(), static_cast<Py_ssize_t>(i),
                    tupleOf(all[i]).release());
  }
  return made;
}

static void setFailureOrThrow(const Failure &failure, PyObject *lines) {
  Ref diagnostics = tupleOf(failure.diagnostics);
  Ref error = Ref::steal(PyObject_CallFunction(
      registered.error, "ssOO", name(failure.code), failure.message.c_str(),
      diagnostics.get(), lines ? lines : Py_None));
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.get())),
                  error.get());
}

void setFailure(const Failure &failure, PyObject *lines) {
  if (!registered.error) {
    PyErr_SetString(PyExc_RuntimeError, failure.str().c_str());
    return;
  }
  try {
    setFailureOrThrow(failure, lines);
  } catch (const PythonError &) {
  }
}

} // namespace nereid::python
