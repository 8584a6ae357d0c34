//===- Launch.cpp - kernel[grid](...) -------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names meet parameters here, and not in the runtime: defaults are Python's
// values, and a grid function wants all arguments by name. What is left of a
// launch is the runtime's, without the GIL.
//
//===----------------------------------------------------------------------===//

#include "python/native/Core.h"

#include "nereid/Runtime/Stream.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

namespace nereid::python {

namespace {
/// Python's arguments by parameter, and the options.
struct Bound {
  std::vector<PyObject *> more;
  std::array<PyObject *, 64> few;
  PyObject **values;
  std::vector<std::pair<PyObject *, PyObject *>> options;

  explicit Bound(size_t n) : values(few.data()) {
    if (n > few.size()) {
      more.resize(n);
      values = more.data();
    }
    std::fill_n(values, n, nullptr);
  }
};
} // namespace

[[noreturn, gnu::cold]] static void raiseTooMany(const CoreState &state,
                                                 Py_ssize_t given) {
  raisePython(PyExc_TypeError, state.name + "() takes " +
                                   std::to_string(state.parameters.size()) +
                                   " positional arguments but " +
                                   std::to_string(given) + " were given");
}

[[noreturn, gnu::cold]] static void raiseMissing(const CoreState &state,
                                                 const Bound &bound) {
  std::string names;
  for (size_t i = 0; i < state.parameters.size(); ++i) {
    if (!bound.values[i]) {
      names += (names.empty() ? "'" : ", '") +
               std::string(textOf(state.parameters[i].name.get())) + "'";
    }
  }
  raisePython(PyExc_TypeError, state.name + "() missing arguments: " + names);
}

static size_t parameterCalled(const CoreState &state, PyObject *name) {
  const auto &all = state.parameters;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.get() == name) {
      return i;
    }
  }
  std::string_view text = textOf(name);
  for (size_t i = 0; i < all.size(); ++i) {
    if (textOf(all[i].name.get()) == text) {
      return i;
    }
  }
  return all.size();
}

static void bind(const CoreState &state, const Call &call, Bound &bound) {
  size_t count = state.parameters.size();
  if (static_cast<size_t>(call.positional) > count) {
    raiseTooMany(state, call.positional);
  }
  std::copy_n(call.arguments, call.positional, bound.values);
  Py_ssize_t named = call.names ? PyTuple_Size(call.names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject *name = PyTuple_GetItem(call.names, i);
    PyObject *value = call.arguments[call.positional + i];
    size_t parameter = parameterCalled(state, name);
    if (parameter == count) {
      if (isLaunchOption(state, name)) {
        bound.options.emplace_back(name, value);
      }
    } else if (bound.values[parameter]) {
      raisePython(PyExc_TypeError, state.name +
                                       "() got multiple values for argument '" +
                                       std::string(textOf(name)) + "'");
    } else {
      bound.values[parameter] = value;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (!bound.values[i]) {
      bound.values[i] = state.parameters[i].defaultValue.get();
      if (!bound.values[i]) {
        raiseMissing(state, bound);
      }
    }
  }
}

/// Puts all arguments into `meta`, by name.
static void addAll(const CoreState &state, const Bound &bound, PyObject *meta) {
  for (size_t i = 0; i < state.parameters.size(); ++i) {
    if (PyDict_SetItem(meta, state.parameters[i].name.get(), bound.values[i])) {
      throw PythonError();
    }
  }
  for (auto [name, value] : bound.options) {
    if (PyDict_SetItem(meta, name, value)) {
      throw PythonError();
    }
  }
}

static Ref metaOf(const CoreState &state, const Bound &bound) {
  Ref meta = Ref::steal(PyDict_New());
  addAll(state, bound, meta.get());
  return meta;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

static int64_t gridSize(const CoreState &state, PyObject *size) {
  if (PyLong_CheckExact(size)) [[likely]] {
    long long value = PyLong_AsLongLong(size);
    if (value == -1 && PyErr_Occurred()) {
      throw PythonError();
    }
    return value;
  }
  if (!PyIndex_Check(size)) {
    raisePython(
        PyExc_TypeError,
        state.name + ": the grid: expected integers, got " + typeName(size) +
            "; hint: triton.cdiv(n, BLOCK) and n // BLOCK are integers");
  }
  Ref number = Ref::steal(PyNumber_Index(size));
  long long value = PyLong_AsLongLong(number.get());
  if (value == -1 && PyErr_Occurred()) {
    throw PythonError();
  }
  return value;
}

Grid gridOf(const CoreState &state, PyObject *grid) {
  if (!PyTuple_Check(grid) && !PyList_Check(grid)) {
    if (!PyIndex_Check(grid)) {
      raisePython(PyExc_TypeError,
                  state.name +
                      ": the grid: expected a tuple of one to three integers, "
                      "or a function that gives one, got " +
                      typeName(grid));
    }
    return Grid(gridSize(state, grid));
  }
  Py_ssize_t rank = itemCount(grid);
  if (rank < 1 || rank > Grid::maxRank) {
    raisePython(PyExc_ValueError,
                state.name + ": the grid: expected one to three sizes, got " +
                    std::to_string(rank));
  }
  std::array<int64_t, Grid::maxRank> sizes = {1, 1, 1};
  for (Py_ssize_t i = 0; i < rank; ++i) {
    sizes[i] = gridSize(state, itemAt(grid, i));
  }
  return Grid(std::span<const int64_t>(sizes.data(), rank));
}

static Grid evaluatedGrid(const CoreState &state, const Call &call,
                          const Bound &bound) {
  if (call.compilesOnly) {
    return Grid(1);
  }
  if (PyTuple_CheckExact(call.grid) || !PyCallable_Check(call.grid)) {
    return gridOf(state, call.grid);
  }
  Ref meta = metaOf(state, bound);
  Ref sizes =
      Ref::steal(PyObject_CallFunctionObjArgs(call.grid, meta.get(), nullptr));
  return gridOf(state, sizes.get());
}

//===----------------------------------------------------------------------===//
// What distinguishes compiled forms
//===----------------------------------------------------------------------===//

static void addWord(std::string &key, char tag, uint64_t word) {
  key.push_back(tag);
  key.append(reinterpret_cast<const char *>(&word), sizeof(word));
}

/// At least as fine as the runtime's own key (Specialize.h).
static void addToKey(std::string &key, bool isStatic, const Argument &a,
                     bool tellsOne = true, bool tellsAlignment = true) {
  char tag = static_cast<char>(a.kind);
  auto isOdd = [&](const void *address) {
    return tellsAlignment && reinterpret_cast<uintptr_t>(address) & 15;
  };
  switch (a.kind) {
  case Argument::Kind::Tensor:
    return addWord(key, tag,
                   static_cast<uint64_t>(a.tensor->dtype()) << 8 |
                       isOdd(a.tensor->data()));
  case Argument::Kind::Pointer:
    return addWord(key, static_cast<char>(Argument::Kind::Tensor),
                   static_cast<uint64_t>(a.pointee) << 8 | isOdd(a.address));
  case Argument::Kind::Int: {
    bool isWide = a.integer != static_cast<int32_t>(a.integer);
    return addWord(key, isStatic ? char(64) : tag,
                   isStatic ? static_cast<uint64_t>(a.integer)
                            : isWide | (tellsOne && a.integer == 1) << 1 |
                                  (tellsAlignment && a.integer % 16 == 0) << 2);
  }
  case Argument::Kind::UInt:
    return addWord(key, tag,
                   isStatic ? static_cast<uint64_t>(a.integer)
                            : tellsAlignment && a.integer % 16 == 0);
  case Argument::Kind::Bool:
    return addWord(key, tag, isStatic ? static_cast<uint64_t>(a.integer) : 0);
  case Argument::Kind::Float:
    return addWord(key, tag,
                   isStatic ? std::bit_cast<uint64_t>(a.real) : uint64_t{0});
  case Argument::Kind::DType:
    return addWord(key, tag, static_cast<uint64_t>(a.dtype));
  case Argument::Kind::String:
  case Argument::Kind::Function:
    addWord(key, tag, a.length);
    key.append(a.characters, a.length);
    return;
  case Argument::Kind::Tuple:
    addWord(key, tag, a.tuple->items.size());
    key += a.tuple->type;
    for (const Argument &item : a.tuple->items) {
      addToKey(key, isStatic || item.isConstexpr, item);
    }
    return;
  case Argument::Kind::Descriptor:
    addToKey(key, false, Argument(a.descriptor->base()));
    for (int64_t size : a.descriptor->blockShape()) {
      addWord(key, tag, static_cast<uint64_t>(size));
    }
    for (const Shape *sizes :
         {&a.descriptor->shape(), &a.descriptor->strides()}) {
      for (int64_t size : *sizes) {
        addToKey(key, false, Argument(size));
      }
    }
    return;
  case Argument::Kind::None:
  case Argument::Kind::Static:
    return addWord(key, tag, 0);
  }
}

/// The key of a launch on `device`.
static void makeKey(const CoreState &state, std::string &key,
                    std::span<const LaunchArgument> arguments, Device device) {
  key.clear();
  addWord(key, static_cast<char>(device.kind()),
          static_cast<uint64_t>(device.index()));
  size_t i = 0;
  for (const LaunchArgument &argument : arguments) {
    if (i < state.parameters.size()) {
      const CoreParameter &p = state.parameters[i];
      addToKey(key, p.isStatic, argument.value, p.tellsOne, p.tellsAlignment);
    } else {
      key += argument.name;
      addToKey(key, true, argument.value);
    }
    ++i;
  }
}

/// Of the launch of `kernel`, which was the core's at its build number `build`.
static Ref formOf(Core *core, const Kernel &kernel, uint64_t build,
                  const Bound &bound, std::span<const LaunchArgument> arguments,
                  Device device, bool compilesOnly) {
  CoreState &state = *core->state;
  auto make = [&](std::string_view key, bool &needsSizes) {
    return makeForm(
        {core->owner, kernel, arguments, key,
         specializationOf(state, bound.values, bound.options, arguments),
         state.lines, compilesOnly},
        needsSizes);
  };
  if (state.builds != build) [[unlikely]] { // by another thread, meanwhile
    bool needsSizes = false;
    return make("", needsSizes);
  }
  std::string &key = state.key;
  makeKey(state, key, arguments, device);
  if (state.latestForm && key == state.latestKey) [[likely]] {
    return Ref::borrow(state.latestForm);
  }
  Ref made; // goes last: that may run Python
  auto found = state.forms.find(key);
  if (found == state.forms.end()) {
    // Others may launch meanwhile: with a key of their own.
    std::string own = key;
    bool needsSizes = false;
    made = make(own, needsSizes);
    if (needsSizes && state.builds == build && !state.needsSizes) {
      state.needsSizes = true;
      state.memos.clear(); // those with addresses alone
    }
    if (state.builds != build) [[unlikely]] {
      return made;
    }
    found = state.forms.try_emplace(own, made).first;
  }
  state.latestKey = found->first;
  state.latestForm = found->second.get();
  return found->second;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Streams of others, kept. Their launches have arrays of others alone, and
/// the stream may be one that is being recorded.
static const Stream &streamOf(void *handle, Device device) {
  static auto &known =
      *new std::map<std::tuple<Device::Kind, int, void *>, Stream>();
  static struct {
    void *handle;
    Device device; ///< at first the host, which has no streams
    const Stream *stream;
  } latest;
  if (latest.device == device && latest.handle == handle) [[likely]] {
    return *latest.stream;
  }
  // CUDA's legacy default stream has no handle of its own; the driver's name of
  // it is CU_STREAM_LEGACY. HIP's null stream is its device's.
  bool isCuda = device.kind() == Device::Kind::Cuda;
  void *named =
      handle || !isCuda ? handle : reinterpret_cast<void *>(uintptr_t{1});
  std::tuple key(device.kind(), device.index(), named);
  auto found = known.find(key);
  if (found == known.end()) {
    found =
        known.emplace(key, Stream::borrow(named, device, StreamMemory::None))
            .first;
  }
  latest = {handle, device, &found->second};
  return found->second;
}

/// Globals are compared by identity first: nearly always they are the same.
static void checkGlobals(Core *core) {
  for (const UsedGlobal &g : core->state->globals) {
    PyObject *now = PyDict_GetItemWithError(g.scope.get(), g.name.get());
    if (now == g.value.get()) [[likely]] {
      continue;
    }
    if (!now && PyErr_Occurred()) {
      throw PythonError();
    }
    // Raises, or leaves the kernel to be built again.
    Ref value = Ref::borrow(now ? now : Py_None), name = g.name,
        before = g.value;
    Ref::steal(PyObject_CallMethodObjArgs(
        core->owner, registered.names.globalsChanged, core, name.get(),
        before.get(), value.get(), nullptr));
    return;
  }
}

static void requireBuilt(Core *core) {
  if (core->state->isBuilt) [[likely]] {
    checkGlobals(core);
  }
  while (!core->state->isBuilt) [[unlikely]] {
    uint64_t before = core->state->builds;
    Ref::steal(PyObject_CallMethodObjArgs(core->owner, registered.names.build,
                                          core, nullptr));
    // Another thread may have reset it since.
    if (core->state->builds == before) {
      raisePython(PyExc_RuntimeError,
                  core->state->name + ": its source was not given");
    }
  }
}

static Device deviceOf(const Held &held) {
  if (held.place) {
    return held.place->isHost() ? held.host : *held.place;
  }
  if (registered.defaultDevice) {
    Ref index = Ref::steal(PyObject_CallNoArgs(registered.defaultDevice));
    if (PyLong_Check(index.get())) {
      return gpuOf(static_cast<int>(PyLong_AsLong(index.get())));
    }
  }
  return held.host;
}

static void run(const Kernel &kernel, const Grid &grid,
                std::span<const LaunchArgument> arguments, Device device,
                const Held &held) {
  if (device.isHost()) {
    WithoutGil others;
    kernel.launch(grid, arguments);
    return;
  }
  const Stream &stream = streamOf(currentStream(held.api, device), device);
  WithoutGil others;
  StreamGuard guard(stream);
  kernel.launch(grid, arguments);
}

/// The launch with a kernel that also has the functions among its arguments.
static PyObject *launchVariant(Core *core, const Call &call, const Held &held) {
  Ref variant = Ref::steal(PyObject_CallMethodObjArgs(
      core->owner, registered.names.variant, held.missing.get(), nullptr));
  if (Py_TYPE(variant.get()) != Py_TYPE(reinterpret_cast<PyObject *>(core))) {
    raisePython(PyExc_TypeError, "expected a Core");
  }
  auto *other = reinterpret_cast<Core *>(variant.get());
  requireBuilt(other);
  return launch(other, call);
}

/// Checks of addresses want to know where arrays end.
static bool checksAddresses() {
  static const bool checks = std::getenv("NEREID_CHECK");
  return checks;
}

static bool takesAddresses(const CoreState &state) {
  // The first launch tells whether sizes are needed.
  return !state.forms.empty() && !state.needsSizes && !checksAddresses();
}

//===----------------------------------------------------------------------===//
// Launches like earlier ones
//===----------------------------------------------------------------------===//

/// Of the name at place `i` of a call's: where its value is in the launch.
static std::optional<size_t> placeOfName(const CoreState &state, Bound &bound,
                                         PyObject *name) {
  size_t count = state.parameters.size();
  size_t parameter = parameterCalled(state, name);
  if (parameter < count) {
    return parameter;
  }
  for (size_t i = 0; i < bound.options.size(); ++i) {
    if (bound.options[i].first == name) {
      return count + i;
    }
  }
  return std::nullopt;
}

/// A launch that went well, for calls like it, unless the core was built again
/// meanwhile.
static void remember(CoreState &state, const Call &call, Bound &bound,
                     const Held &held,
                     const std::vector<LaunchArgument> &arguments,
                     const Kernel &kernel, Device device, const Ref &form,
                     uint64_t build) {
  Py_ssize_t named = call.names ? PyTuple_Size(call.names) : 0;
  if (!held.place || !held.texts.empty() ||
      arguments.size() > LaunchArguments::most ||
      held.asAddresses != takesAddresses(state) || !state.memos.isOpen()) {
    return;
  }
  for (const LaunchArgument &argument : arguments) {
    if (argument.value.kind > Argument::Kind::String &&
        argument.value.kind != Argument::Kind::Function) {
      return;
    }
  }
  for (size_t i = 0; i < state.parameters.size(); ++i) {
    if (arguments[i].value.kind == Argument::Kind::String &&
        !PyUnicode_CheckExact(bound.values[i])) {
      return; // a text inside of another object, which may change
    }
  }
  auto memo = std::make_unique<LaunchMemo>();
  std::vector<ArgumentRule> arrays;
  for (Py_ssize_t i = 0; i < call.positional + named; ++i) {
    std::optional<size_t> place =
        i < call.positional
            ? static_cast<size_t>(i)
            : placeOfName(state, bound,
                          PyTuple_GetItem(call.names, i - call.positional));
    ArgumentRule rule;
    if (place) {
      bool isStatic = *place >= state.parameters.size() ||
                      state.parameters[*place].isStatic;
      std::optional<ArgumentRule> found =
          ruleOf(call.arguments[i], isStatic, held, memo->kept);
      if (!found) {
        return;
      }
      rule = *found;
      rule.argument = static_cast<uint16_t>(*place);
    }
    rule.given = static_cast<uint16_t>(i);
    (rule.read == ArgumentRule::Read::Array ? arrays : memo->rules)
        .push_back(rule);
  }
  memo->rules.insert(memo->rules.end(), arrays.begin(), arrays.end());
  memo->kept.push_back(Ref::borrow(held.functions)); // names of functions
  memo->names = Ref::borrow(call.names);
  memo->positional = call.positional;
  memo->arguments = arguments;
  memo->kernel = kernel;
  memo->device = device;
  memo->asAddresses = held.asAddresses;
  memo->form = form;
  if (state.builds == build) {
    state.memos.add(std::move(memo));
  }
}

/// All arguments by name, in a dict that is used again: making one costs more
/// than the rest of a launch.
static Ref sizesFrom(const CoreState &state, const Call &call,
                     LaunchMemo &memo) {
  Bound bound(state.parameters.size());
  bind(state, call, bound);
  Ref meta = std::exchange(memo.meta, Ref());
  if (!meta) {
    meta = metaOf(state, bound);
  } else {
    addAll(state, bound, meta.get());
  }
  Py_ssize_t size = PyDict_Size(meta.get());
  PyObject *given[] = {meta.get()};
  Ref sizes = Ref::steal(PyObject_Vectorcall(call.grid, given, 1, nullptr));
  // Not where the function has kept it, or changed more than values.
  if (Py_REFCNT(meta.get()) == 1 && PyDict_Size(meta.get()) == size) {
    for (const ArgumentRule &rule : memo.rules) {
      if (rule.read == ArgumentRule::Read::Array &&
          PyDict_SetItem(meta.get(), state.parameters[rule.argument].name.get(),
                         Py_None)) {
        throw PythonError();
      }
    }
    memo.meta = std::move(meta);
  }
  return sizes;
}

/// Null where no earlier launch is like this one. No exception is set then.
static PyObject *launchLike(Core *core, const Call &call) {
  CoreState &state = *core->state;
  Held held;
  held.host = state.isInterpreted ? Device::interp() : Device::cpu();
  LaunchArguments arguments;
  LaunchMemo *memo = state.memos.find(call, held, arguments);
  if (!memo) {
    return nullptr;
  }
  PinnedMemo pinned(*memo);
  Grid grid = PyTuple_CheckExact(call.grid) || !PyCallable_Check(call.grid)
                  ? gridOf(state, call.grid)
                  : gridOf(state, sizesFrom(state, call, *memo).get());
  run(memo->kernel, grid, arguments.all(), memo->device, held);
  return Ref(memo->form).release();
}

//===----------------------------------------------------------------------===//
// Launches, argument by argument
//===----------------------------------------------------------------------===//

/// Null where `asAddresses` hides what is wrong: arrays of several devices.
static PyObject *launchBound(Core *core, const Call &call, Bound &bound,
                             bool asAddresses) {
  CoreState &state = *core->state;
  size_t count = state.parameters.size();
  Held held;
  held.asAddresses = asAddresses;
  held.host = state.isInterpreted ? Device::interp() : Device::cpu();
  Ref functions = state.functions;
  held.functions = functions.get();
  held.takesDTypesAsArrays = call.compilesOnly;
  std::vector<LaunchArgument> arguments;
  arguments.reserve(count + bound.options.size());
  for (size_t i = 0; i < count; ++i) {
    held.takesAnyObject = state.parameters[i].isStatic;
    arguments.emplace_back(
        "", toArgument(bound.values[i], held, state.parameters[i].name.get()));
  }
  if (asAddresses && held.isMixed) [[unlikely]] {
    return nullptr;
  }
  if (held.missing) [[unlikely]] {
    return launchVariant(core, call, held);
  }
  held.takesAnyObject = false;
  bool hasDebug = false, hasFusion = false;
  for (auto [name, value] : bound.options) {
    bool isDebug = textOf(name) == "debug";
    hasDebug |= isDebug;
    hasFusion |= textOf(name) == "enable_fp_fusion";
    arguments.emplace_back(textOf(name), isDebug && state.alwaysAsserts
                                             ? Argument(true)
                                             : toArgument(value, held, name));
  }
  if (state.alwaysAsserts || state.asserts) [[unlikely]] {
    if (!hasDebug) {
      arguments.emplace_back("debug", Argument(true));
    }
  }
  if (!state.fuses && !hasFusion) [[unlikely]] {
    arguments.emplace_back("enable_fp_fusion", Argument(false));
  }
  if (!call.target.empty()) {
    std::string key;
    makeKey(state, key, arguments, Device::cuda());
    Kernel kernel = state.kernel;
    return makeFormFor(
               {core->owner, kernel, arguments, key,
                specializationOf(state, bound.values, bound.options, arguments),
                state.lines, true},
               call.target)
        .release();
  }
  Device device = deviceOf(held);
  Kernel kernel = state.kernel.on(device);
  uint64_t build = state.builds;
  Grid grid = evaluatedGrid(state, call, bound);
  if (!call.compilesOnly) {
    run(kernel, grid, arguments, device, held);
  }
  Ref form =
      formOf(core, kernel, build, bound, arguments, device, call.compilesOnly);
  if (!call.compilesOnly && state.builds == build) {
    remember(state, call, bound, held, arguments, kernel, device, form, build);
  }
  return form.release();
}

PyObject *launch(Core *core, const Call &call) {
  CoreState &state = *core->state;
  requireBuilt(core);
  if (!call.compilesOnly) {
    if (PyObject *form = launchLike(core, call)) [[likely]] {
      return form;
    }
  }
  Bound bound(state.parameters.size());
  bind(state, call, bound);
  if (takesAddresses(state)) {
    if (PyObject *form = launchBound(core, call, bound, true)) {
      return form;
    }
  }
  return launchBound(core, call, bound, false);
}

} // namespace nereid::python
