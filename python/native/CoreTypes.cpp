//===- CoreTypes.cpp - Core and Launcher, by hand -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written on the C API: a launcher's call is a vectorcall without a tuple, a
// dict or a look-up of overloads.
//
//===----------------------------------------------------------------------===//

#include "python/native/Core.h"

#include <structmember.h>

#include <map>

namespace nereid::python {

static PyTypeObject *coreType, *launcherType;

/// Of a folder of images; empty: the default one. They live as long as the
/// process, as kernels may be launched while Python ends.
static Context &contextOf(const std::string &cacheDirectory) {
  static auto &known = *new std::map<std::string, Context *>();
  Context *&context = known[cacheDirectory];
  if (!context) {
    ContextOptions options;
    options.cacheDirectory = cacheDirectory;
    context = new Context(createKernelCompiler(), options);
  }
  return *context;
}

//===----------------------------------------------------------------------===//
// Core
//===----------------------------------------------------------------------===//

static Ref attributeOfTuple(PyObject *tuple, Py_ssize_t i) {
  return Ref::borrow(PyTuple_GetItem(tuple, i));
}

/// Core(owner, name, ((name, is_constexpr, specialized[, default]), ...)),
/// where `specialized` is 2 of an integer's values and alignment, 1 of values
/// alone, 0 of nothing.
static PyObject *newCore(PyTypeObject *type, PyObject *args, PyObject *) {
  return guarded([&]() -> PyObject * {
    PyObject *owner = nullptr, *parameters = nullptr;
    const char *name = nullptr;
    if (!PyArg_ParseTuple(args, "OsO!", &owner, &name, &PyTuple_Type,
                          &parameters)) {
      throw PythonError();
    }
    auto state = std::make_unique<CoreState>();
    state->name = name;
    for (Py_ssize_t i = 0; i < PyTuple_Size(parameters); ++i) {
      PyObject *given = PyTuple_GetItem(parameters, i);
      PyObject *called = nullptr, *fallback = nullptr;
      int isStatic = 0, specialized = 0;
      if (!PyArg_ParseTuple(given, "Upi|O", &called, &isStatic, &specialized,
                            &fallback)) {
        throw PythonError();
      }
      Py_INCREF(called);
      PyUnicode_InternInPlace(&called);
      state->parameters.push_back({Ref::steal(called), isStatic != 0,
                                   Ref::borrow(fallback), specialized > 0,
                                   specialized > 1});
    }
    Ref self = Ref::steal(PyType_GenericAlloc(type, 0));
    auto *core = reinterpret_cast<Core *>(self.get());
    core->owner = Ref::borrow(owner).release();
    core->state = state.release();
    return self.release();
  });
}

static int traverseCore(PyObject *self, visitproc visit, void *arg) {
  auto *core = reinterpret_cast<Core *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(core->owner);
  if (core->state) {
    for (const UsedGlobal &g : core->state->globals) {
      Py_VISIT(g.scope.get());
      Py_VISIT(g.value.get());
    }
    Py_VISIT(core->state->functions.get());
    Py_VISIT(core->state->lines.get());
    for (const auto &[key, form] : core->state->forms) {
      Py_VISIT(form.get());
    }
    if (int stop = core->state->memos.traverse(visit, arg)) {
      return stop;
    }
  }
  return 0;
}

static int clearCore(PyObject *self) {
  auto *core = reinterpret_cast<Core *>(self);
  Py_CLEAR(core->owner);
  if (CoreState *state = std::exchange(core->state, nullptr)) {
    delete state;
  }
  return 0;
}

static void freeCore(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clearCore(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/// Failures name lines of the files that the core's text was made of.
template <typename F>
static PyObject *guardedBy(PyObject *self, F &&f) {
  Ref core = Ref::borrow(self);
  return guarded(f, [&](const Failure &failure) {
    CoreState *state = reinterpret_cast<Core *>(core.get())->state;
    setFailure(failure, state ? state->lines.get() : nullptr);
  });
}

/// build(text, path, bindings, globals, functions, cache_directory,
/// interpreted, lines): the kernel's text, what its names mean, what to watch,
/// and where the text's lines come from.
static PyObject *buildCore(PyObject *self, PyObject *args) {
  return guardedBy(self, [&]() -> PyObject * {
    auto *core = reinterpret_cast<Core *>(self);
    const char *text = nullptr, *path = nullptr, *cache = nullptr;
    Py_ssize_t length = 0;
    PyObject *bindings = nullptr, *globals = nullptr, *functions = nullptr,
             *lines = nullptr;
    int interpreted = 0;
    if (!PyArg_ParseTuple(args, "s#sO!O!O!spO", &text, &length, &path,
                          &PyDict_Type, &bindings, &PyTuple_Type, &globals,
                          &PyDict_Type, &functions, &cache, &interpreted,
                          &lines)) {
      throw PythonError();
    }
    Source source;
    source.text.assign(text, static_cast<size_t>(length));
    source.path = path;
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t i = 0; PyDict_Next(bindings, &i, &key, &value);) {
      source.bindings[std::string(textOf(key))] = toStatic(value);
    }
    std::vector<UsedGlobal> used;
    for (Py_ssize_t i = 0; i < PyTuple_Size(globals); ++i) {
      PyObject *g = PyTuple_GetItem(globals, i);
      if (!PyTuple_Check(g) || PyTuple_Size(g) != 3 ||
          !PyDict_Check(PyTuple_GetItem(g, 0))) {
        raisePython(PyExc_TypeError, "expected (dict, name, value)");
      }
      used.push_back({attributeOfTuple(g, 0), attributeOfTuple(g, 1),
                      attributeOfTuple(g, 2)});
    }
    // Before anything can fail: messages name lines by it.
    core->state->lines = Ref::borrow(lines);
    Context &context = contextOf(cache);
    Kernel kernel;
    std::string name = core->state->name;
    {
      WithoutGil others;
      kernel = Kernel::fromSource(std::move(source), name, context);
    }
    CoreState &state = *core->state;
    // What was before goes last: that may run Python, and other threads.
    auto oldForms = std::exchange(state.forms, {});
    auto oldGlobals = std::exchange(state.globals, std::move(used));
    Ref oldFunctions = std::exchange(state.functions, Ref::borrow(functions));
    std::swap(state.kernel, kernel);
    state.latestForm = nullptr;
    state.needsSizes = false;
    state.isInterpreted = interpreted != 0;
    ++state.builds;
    state.isBuilt = true;
    state.memos.clear();
    Py_RETURN_NONE;
  });
}

/// The next launch has it built again, and what launches gave back is
/// forgotten.
static PyObject *resetCore(PyObject *self, PyObject *) {
  CoreState &state = *reinterpret_cast<Core *>(self)->state;
  state.isBuilt = false;
  state.latestForm = nullptr;
  auto oldForms = std::exchange(state.forms, {}); // goes last
  state.memos.clear();
  Py_RETURN_NONE;
}

/// set_defaults(debug, always_debug, fp_fusion): options of launches that do
/// not give them, and `debug` of all.
static PyObject *setDefaultsOfCore(PyObject *self, PyObject *args) {
  int asserts = 0, always = 0, fuses = 1;
  if (!PyArg_ParseTuple(args, "ppp", &asserts, &always, &fuses)) {
    return nullptr;
  }
  CoreState &state = *reinterpret_cast<Core *>(self)->state;
  state.asserts = asserts != 0;
  state.alwaysAsserts = always != 0;
  state.fuses = fuses != 0;
  Py_RETURN_NONE;
}

/// forms(): what launches gave back.
static PyObject *formsOfCore(PyObject *self, PyObject *) {
  return guarded([&]() -> PyObject * {
    const auto &forms = reinterpret_cast<Core *>(self)->state->forms;
    // A new list may have garbage collected, which may run Python.
    std::vector<Ref> all;
    for (const auto &[key, form] : forms) {
      all.push_back(form);
    }
    Ref list = Ref::steal(PyList_New(static_cast<Py_ssize_t>(all.size())));
    for (size_t i = 0; i < all.size(); ++i) {
      PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), all[i].release());
    }
    return list.release();
  });
}

/// run(grid, args, kwargs, compile_only[, target]): a launch as a plain call.
static PyObject *runCore(PyObject *self, PyObject *args) {
  return guardedBy(self, [&]() -> PyObject * {
    PyObject *grid = nullptr, *positional = nullptr, *named = nullptr;
    int compilesOnly = 0;
    const char *target = "";
    if (!PyArg_ParseTuple(args, "OO!O!p|s", &grid, &PyTuple_Type, &positional,
                          &PyDict_Type, &named, &compilesOnly, &target)) {
      throw PythonError();
    }
    std::vector<PyObject *> all;
    Py_ssize_t count = PyTuple_Size(positional);
    for (Py_ssize_t i = 0; i < count; ++i) {
      all.push_back(PyTuple_GetItem(positional, i));
    }
    Ref names = Ref::steal(PyTuple_New(PyDict_Size(named)));
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t n = 0;
    for (Py_ssize_t i = 0; PyDict_Next(named, &i, &key, &value); ++n) {
      PyTuple_SetItem(names.get(), n, Ref::borrow(key).release());
      all.push_back(value);
    }
    return launch(
        reinterpret_cast<Core *>(self),
        {grid, all.data(), count, names.get(), compilesOnly != 0, target});
  });
}

//===----------------------------------------------------------------------===//
// Launcher: kernel[grid]
//===----------------------------------------------------------------------===//

namespace {
struct Launcher {
  PyObject_HEAD vectorcallfunc call;
  Core *core;
  PyObject *grid;
};
} // namespace

static PyObject *callLauncher(PyObject *self, PyObject *const *args,
                              size_t flags, PyObject *names) {
  auto *launcher = reinterpret_cast<Launcher *>(self);
  return guardedBy(reinterpret_cast<PyObject *>(launcher->core), [&] {
    return launch(launcher->core,
                  {launcher->grid, args, PyVectorcall_NARGS(flags), names});
  });
}

/// The memory of the latest launcher that is gone, for the next one: most live
/// for one call.
static PyObject *spareLauncher;

/// core[grid]
static PyObject *subscriptCore(PyObject *self, PyObject *grid) {
  bool isUsedAgain = spareLauncher;
  PyObject *made =
      isUsedAgain
          ? PyObject_Init(std::exchange(spareLauncher, nullptr), launcherType)
          : PyType_GenericAlloc(launcherType, 0);
  if (!made) {
    return nullptr;
  }
  auto *launcher = reinterpret_cast<Launcher *>(made);
  launcher->call = callLauncher;
  Py_INCREF(self);
  launcher->core = reinterpret_cast<Core *>(self);
  Py_INCREF(grid);
  launcher->grid = grid;
  if (isUsedAgain) {
    PyObject_GC_Track(made);
  }
  return made;
}

static int traverseLauncher(PyObject *self, visitproc visit, void *arg) {
  auto *launcher = reinterpret_cast<Launcher *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(launcher->core);
  Py_VISIT(launcher->grid);
  return 0;
}

static int clearLauncher(PyObject *self) {
  auto *launcher = reinterpret_cast<Launcher *>(self);
  Py_CLEAR(launcher->core);
  Py_CLEAR(launcher->grid);
  return 0;
}

static void freeLauncher(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clearLauncher(self);
  if (spareLauncher) {
    PyObject_GC_Del(self);
  } else {
    spareLauncher = self;
  }
  Py_DECREF(type);
}

//===----------------------------------------------------------------------===//
// Subscripted: jit_function[grid]
//===----------------------------------------------------------------------===//

namespace {
/// What launches of a function depend on, beside its type's dict: one place
/// instead of a look-up of each by name.
struct Subscripted {
  PyObject_HEAD PyObject *core, *hooks; ///< null: none, or no list
  bool isReplaced;                      ///< it has a `run` of its own
};
} // namespace

/// Are the hooks of launches those of the start, and empty?
static bool areHooksIdle() {
  Registered &r = registered;
  if (!r.hooksAreKnown) {
    r.hooksAreKnown =
        r.settings &&
        PyDict_GetItemWithError(r.settings, r.names.enterHook) == r.enterHook &&
        PyDict_GetItemWithError(r.settings, r.names.exitHook) == r.exitHook;
  }
  return r.hooksAreKnown && PyList_Size(r.enterCalls) == 0 &&
         PyList_Size(r.exitCalls) == 0;
}

/// The core's own launcher where nothing else has a say in launches of the
/// function; what its `_subscript` gives otherwise.
static PyObject *subscriptFunction(PyObject *self, PyObject *grid) {
  return guarded([&]() -> PyObject * {
    auto *own = reinterpret_cast<Subscripted *>(self);
    if (reinterpret_cast<PyObject *>(Py_TYPE(self)) == registered.jitType &&
        own->core && own->hooks && !own->isReplaced &&
        PyList_Size(own->hooks) == 0 && areHooksIdle()) [[likely]] {
      return subscriptCore(own->core, grid);
    }
    if (PyErr_Occurred()) {
      throw PythonError();
    }
    return PyObject_CallMethodObjArgs(self, registered.names.subscript, grid,
                                      nullptr);
  });
}

/// Names of attributes are interned when they are set.
static int setAttribute(PyObject *self, PyObject *name, PyObject *value) {
  if (PyObject_GenericSetAttr(self, name, value)) {
    return -1;
  }
  auto *own = reinterpret_cast<Subscripted *>(self);
  const auto &names = registered.names;
  PyObject **place = nullptr;
  if (name == names.run) {
    own->isReplaced = value != nullptr;
  } else if (name == names.core) {
    place = &own->core;
    value = value && Py_TYPE(value) == coreType ? value : nullptr;
  } else if (name == names.preRunHooks) {
    place = &own->hooks;
    value = value && PyList_Check(value) ? value : nullptr;
  }
  if (place) {
    Py_XINCREF(value);
    Py_XDECREF(std::exchange(*place, value));
  }
  return 0;
}

static int traverseSubscripted(PyObject *self, visitproc visit, void *arg) {
  auto *own = reinterpret_cast<Subscripted *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(own->core);
  Py_VISIT(own->hooks);
  return 0;
}

static int clearSubscripted(PyObject *self) {
  auto *own = reinterpret_cast<Subscripted *>(self);
  Py_CLEAR(own->core);
  Py_CLEAR(own->hooks);
  return 0;
}

static void freeSubscripted(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clearSubscripted(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

void addCoreTypes(PyObject *module) {
  static PyMethodDef methods[] = {
      {"build", buildCore, METH_VARARGS, nullptr},
      {"set_defaults", setDefaultsOfCore, METH_VARARGS, nullptr},
      {"reset", resetCore, METH_NOARGS, nullptr},
      {"forms", formsOfCore, METH_NOARGS, nullptr},
      {"run", runCore, METH_VARARGS, nullptr},
      {nullptr, nullptr, 0, nullptr},
  };
  static PyType_Slot coreSlots[] = {
      {Py_tp_new, reinterpret_cast<void *>(newCore)},
      {Py_tp_dealloc, reinterpret_cast<void *>(freeCore)},
      {Py_tp_traverse, reinterpret_cast<void *>(traverseCore)},
      {Py_tp_clear, reinterpret_cast<void *>(clearCore)},
      {Py_tp_methods, methods},
      {Py_mp_subscript, reinterpret_cast<void *>(subscriptCore)},
      {0, nullptr},
  };
  static PyType_Spec coreSpec = {"nereid._native.Core", sizeof(Core), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                 coreSlots};
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launcher, call), READONLY,
       nullptr},
      {"grid", T_OBJECT, offsetof(Launcher, grid), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  static PyType_Slot launcherSlots[] = {
      {Py_tp_dealloc, reinterpret_cast<void *>(freeLauncher)},
      {Py_tp_traverse, reinterpret_cast<void *>(traverseLauncher)},
      {Py_tp_clear, reinterpret_cast<void *>(clearLauncher)},
      {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
      {Py_tp_members, members},
      {0, nullptr},
  };
  static PyType_Spec launcherSpec = {
      "nereid._native.Launcher", sizeof(Launcher), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
          Py_TPFLAGS_DISALLOW_INSTANTIATION,
      launcherSlots};
  static PyType_Slot subscriptedSlots[] = {
      {Py_mp_subscript, reinterpret_cast<void *>(subscriptFunction)},
      {Py_tp_setattro, reinterpret_cast<void *>(setAttribute)},
      {Py_tp_dealloc, reinterpret_cast<void *>(freeSubscripted)},
      {Py_tp_traverse, reinterpret_cast<void *>(traverseSubscripted)},
      {Py_tp_clear, reinterpret_cast<void *>(clearSubscripted)},
      {0, nullptr},
  };
  static PyType_Spec subscriptedSpec = {
      "nereid._native.Subscripted", sizeof(Subscripted), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
      subscriptedSlots};
  static PyTypeObject *subscriptedType;
  for (auto [type, spec, name] :
       {std::tuple(&coreType, &coreSpec, "Core"),
        std::tuple(&subscriptedType, &subscriptedSpec, "Subscripted"),
        std::tuple(&launcherType, &launcherSpec, "Launcher")}) {
    Ref made = Ref::steal(PyType_FromSpec(spec));
    *type = reinterpret_cast<PyTypeObject *>(made.get());
    if (PyModule_AddObjectRef(module, name, made.get())) {
      throw PythonError();
    }
    made.release();
  }
}

} // namespace nereid::python
