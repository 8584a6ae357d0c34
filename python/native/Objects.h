//===- Objects.h - Python's objects, counted --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Ref owns a reference. What fails with a Python exception set throws
// PythonError; `guarded` is the border to Python, which turns this and every
// exception of Nereid's into Python's. All of it needs the GIL.
//
// Of Python's C API only what is in the limited one of 3.12 is used: the same
// extension serves all versions from there on.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PYTHON_NATIVE_OBJECTS_H
#define NEREID_PYTHON_NATIVE_OBJECTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "nereid/Runtime/Error.h"

#include <exception>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace nereid::python {

/// A Python exception is set.
struct PythonError {};

class Ref {
public:
  Ref() = default;
  /// Takes the caller's reference. Null throws PythonError.
  static Ref steal(PyObject *object) {
    if (!object) {
      throw PythonError();
    }
    return Ref(object);
  }
  static Ref borrow(PyObject *object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(const Ref &other) : object(other.object) { Py_XINCREF(object); }
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() { Py_XDECREF(object); }

  PyObject *get() const { return object; }
  PyObject *release() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object != nullptr; }

private:
  explicit Ref(PyObject *object) : object(object) {}
  PyObject *object = nullptr;
};

/// Diagnostics as Python has them: a tuple of tuples of their fields.
Ref tupleOf(std::span<const Diagnostic> diagnostics);

/// Sets TypeError, KeyError ... and throws.
[[noreturn, gnu::cold]] void raisePython(PyObject *type,
                                         const std::string &text);
/// Sets the exception that stands for a failure of the compiler or runtime:
/// what `register(error=...)` gave makes it. `lines` says where lines of a
/// kernel's text come from; null: the text is its file's.
[[gnu::cold]] void setFailure(const Failure &failure,
                              PyObject *lines = nullptr);

/// Items of a list or a tuple, borrowed.
inline Py_ssize_t itemCount(PyObject *sequence) {
  return PyTuple_Check(sequence) ? PyTuple_Size(sequence)
                                 : PyList_Size(sequence);
}
inline PyObject *itemAt(PyObject *sequence, Py_ssize_t i) {
  return PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, i)
                                 : PyList_GetItem(sequence, i);
}

/// The name of the object's type, without its module.
std::string typeName(PyObject *object);
/// Is the type `module`.`name`?
bool isNamed(PyTypeObject *type, std::string_view module,
             std::string_view name);

Ref attribute(PyObject *object, PyObject *name);
/// Null where there is none.
Ref attributeOrNull(PyObject *object, PyObject *name);
/// Of a str; valid as long as the object.
std::string_view textOf(PyObject *text);

/// Runs `f`, whose failures become Python's: null with an exception set. `fail`
/// sets that of a Failure.
template <typename F, typename Fail>
PyObject *guarded(F &&f, Fail &&fail) noexcept {
  try {
    return f();
  } catch (const PythonError &) {
  } catch (const Error &error) {
    fail(error.failure());
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

template <typename F>
PyObject *guarded(F &&f) noexcept {
  return guarded(f, [](const Failure &failure) { setFailure(failure); });
}

/// Others run Python meanwhile.
class WithoutGil {
public:
  WithoutGil() : state(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state); }
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;

private:
  PyThreadState *state;
};

/// What the Python part of the package gave (`register`), and names that are
/// asked for often. Lives as long as the process.
struct Registered {
  PyObject *constexprType = nullptr, *dtypeType = nullptr, *jitType = nullptr,
           *descriptorType = nullptr;
  /// (code, message, diagnostics, lines) -> exception
  PyObject *error = nullptr;
  /// (jit function, Form) -> what a launch returns
  PyObject *compiled = nullptr;
  /// () -> index of the CUDA device for launches without arrays, or None
  PyObject *defaultDevice = nullptr;
  /// (index) -> handle of the current CUDA stream
  PyObject *currentStream = nullptr;
  /// The dict of settings with the hooks of launches, and the hooks that stand
  /// there from the start: lists of functions.
  PyObject *settings = nullptr, *enterHook = nullptr, *exitHook = nullptr,
           *enterCalls = nullptr, *exitCalls = nullptr;
  /// The two hooks are those in `settings`, as far as `hooks_changed` has
  /// reported.
  bool hooksAreKnown = false;
  struct {
    PyObject *value, *index, *dataPtr, *dtype, *device, *fields, *name, *base,
        *shape, *strides, *blockShape, *padding, *dlpack, *exchangeApi, *type,
        *module, *dict, *deviceIndex, *build, *variant, *globalsChanged, *core,
        *run, *preRunHooks, *subscript, *enterHook, *exitHook;
  } names = {};
};
extern Registered registered;
void internNames();

} // namespace nereid::python

#endif // NEREID_PYTHON_NATIVE_OBJECTS_H
