//===- Core.h - A jit function, as launches know it -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Core belongs to a Python jit function, its owner. It knows the parameters
// from the start; the kernel is built by the owner (`_build`) when it is first
// launched, and after a global that it captured has changed.
//
// Everything but the launch itself happens under the GIL, which is the lock of
// a Core. The launch has a handle of the kernel of its own.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PYTHON_NATIVE_CORE_H
#define NEREID_PYTHON_NATIVE_CORE_H

#include "python/native/LaunchMemo.h"

#include "nereid/Runtime/Kernel.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace nereid::python {

struct CoreParameter {
  Ref name; ///< interned
  bool isStatic = false;
  Ref defaultValue; ///< null: none
  /// What distinguishes values of it, beside their types: 1, and multiples of
  /// 16.
  bool tellsOne = true, tellsAlignment = true;
};

/// A global of Python that the kernel's text was made with.
struct UsedGlobal {
  Ref scope, name, value;
};

struct CoreState {
  std::vector<CoreParameter> parameters;
  std::string name;
  Kernel kernel;
  bool isBuilt = false, isInterpreted = false;
  uint64_t builds = 0; ///< how often it was built
  /// The option `debug` of launches that do not give it, and of all.
  bool asserts = false, alwaysAsserts = false;
  /// The option `enable_fp_fusion` of launches that do not give it.
  bool fuses = true;
  std::vector<UsedGlobal> globals;
  /// From jit functions that may be arguments to their names in the text.
  Ref functions;
  /// Where lines of the text come from, for messages.
  Ref lines;
  /// What launches gave back, by what distinguishes compiled forms; and the
  /// key of the latest launch, with its form.
  std::unordered_map<std::string, Ref> forms;
  std::string key, latestKey;
  PyObject *latestForm = nullptr;
  LaunchMemos memos;
  /// A form describes arrays to a GPU by their sizes (tensor maps).
  bool needsSizes = false;
};

struct Core {
  PyObject_HEAD PyObject *owner;
  CoreState *state;
};

/// One call as it came in: positional arguments, then one for each name.
struct Call {
  PyObject *grid;
  PyObject *const *arguments;
  Py_ssize_t positional;
  PyObject *names; ///< a tuple, or null
  bool compilesOnly = false;
  /// Compiles for this target ("sm_90a"), whose device need not be there;
  /// empty: for the device of the arrays.
  std::string_view target = {};
};

/// Launches, or compiles; gives what `register(compiled=...)` made of the form.
PyObject *launch(Core *core, const Call &call);

/// What an option that is no parameter comes to: given to the launch, ignored,
/// or KeyError.
bool isLaunchOption(const CoreState &state, PyObject *name);

/// One to three sizes: a tuple or list, or a number. Throws TypeError or
/// ValueError.
Grid gridOf(const CoreState &state, PyObject *grid);

/// What of a launch is compiled in: a tuple of (name, type, value, is a
/// multiple of 16) for each parameter, and a dict of the options. `values` are
/// the objects that `arguments` were made of.
Ref specializationOf(const CoreState &state, PyObject *const *values,
                     std::span<const std::pair<PyObject *, PyObject *>> options,
                     std::span<const LaunchArgument> arguments);

/// A launch that is to have a form of its own.
struct FormRequest {
  PyObject *owner;
  const Kernel &kernel;
  std::span<const LaunchArgument> arguments;
  std::string_view key;
  Ref specialization;
  /// Where lines of the kernel's text come from; None: the text is its file's.
  Ref lines;
  bool compilesOnly;
};

/// A launch's compiled form, as a Python object.
/// `needsSizes` becomes true where it describes arrays by their sizes.
Ref makeForm(const FormRequest &request, bool &needsSizes);

/// That of a kernel that is compiled for a target and not loaded.
Ref makeFormFor(const FormRequest &request, std::string_view target);

/// Adds Core and Launcher to the module.
void addCoreTypes(PyObject *module);

} // namespace nereid::python

#endif // NEREID_PYTHON_NATIVE_CORE_H
