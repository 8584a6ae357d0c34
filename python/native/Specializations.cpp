//===- Specializations.cpp - What of a launch is compiled in --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled form as hooks and `preload` describe it: each parameter's type by
// upstream's names ("*fp32", "i32", "constexpr"), its value where that is
// compiled in, and whether it is a multiple of 16.
//
//===----------------------------------------------------------------------===//

#include "python/native/Arguments.h"
#include "python/native/Core.h"

namespace nereid::python {

static Ref textRef(std::string_view text) {
  return Ref::steal(PyUnicode_FromStringAndSize(
      text.data(), static_cast<Py_ssize_t>(text.size())));
}

static bool isMultipleOf16(const Argument &a) {
  switch (a.kind) {
  case Argument::Kind::Int:
  case Argument::Kind::UInt:
    return a.integer % 16 == 0;
  case Argument::Kind::Tensor:
    return reinterpret_cast<uintptr_t>(a.tensor->data()) % 16 == 0;
  case Argument::Kind::Pointer:
    return reinterpret_cast<uintptr_t>(a.address) % 16 == 0;
  default:
    return false;
  }
}

static std::string typeOf(const Argument &a) {
  switch (a.kind) {
  case Argument::Kind::Tensor:
    return "*" + std::string(shortName(a.tensor->dtype()));
  case Argument::Kind::Pointer:
    return "*" + std::string(shortName(a.pointee));
  case Argument::Kind::Int:
    return a.integer == static_cast<int32_t>(a.integer) ? "i32" : "i64";
  case Argument::Kind::UInt:
    return "u64";
  case Argument::Kind::Bool:
    return "u1";
  case Argument::Kind::Float:
    return "fp32";
  case Argument::Kind::Descriptor: {
    std::string type =
        "tensordesc<" + std::string(shortName(a.descriptor->base().dtype()));
    for (const char *between = "["; int64_t size : a.descriptor->blockShape()) {
      type += between + std::to_string(size);
      between = ", ";
    }
    return type + "]>";
  }
  default:
    return "constexpr";
  }
}

/// (name, type, value, is a multiple of 16); of a tuple the last three are
/// tuples. `object` is what the caller gave.
static Ref parameterOf(std::string_view name, const Argument &a,
                       PyObject *object, bool isStatic, bool tellsOne,
                       bool tellsAlignment) {
  Ref called = textRef(name);
  if (a.kind == Argument::Kind::Tuple && !isStatic &&
      (PyTuple_Check(object) || PyList_Check(object))) {
    size_t count = a.tuple->items.size();
    auto size = static_cast<Py_ssize_t>(count);
    Ref parts[3] = {Ref::steal(PyTuple_New(size)),
                    Ref::steal(PyTuple_New(size)),
                    Ref::steal(PyTuple_New(size))};
    for (size_t i = 0; i < count; ++i) {
      const Argument &item = a.tuple->items[i];
      Ref part = parameterOf("", item, itemAt(object, i), item.isConstexpr,
                             tellsOne, tellsAlignment);
      for (Py_ssize_t k = 0; k < 3; ++k) {
        PyTuple_SetItem(
            parts[k].get(), static_cast<Py_ssize_t>(i),
            Ref::borrow(PyTuple_GetItem(part.get(), k + 1)).release());
      }
    }
    return Ref::steal(PyTuple_Pack(4, called.get(), parts[0].get(),
                                   parts[1].get(), parts[2].get()));
  }
  bool isOne = a.kind == Argument::Kind::Int && a.integer == 1 && tellsOne;
  std::string type = isStatic || isOne ? "constexpr" : typeOf(a);
  bool isValue = type == "constexpr";
  Ref spelled = textRef(type);
  return Ref::steal(PyTuple_Pack(
      4, called.get(), spelled.get(), isValue ? object : Py_None,
      !isValue && tellsAlignment && isMultipleOf16(a) ? Py_True : Py_False));
}

Ref specializationOf(const CoreState &state, PyObject *const *values,
                     std::span<const std::pair<PyObject *, PyObject *>> options,
                     std::span<const LaunchArgument> arguments) {
  size_t count = state.parameters.size();
  Ref all = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    const CoreParameter &p = state.parameters[i];
    Ref parameter =
        parameterOf(textOf(p.name.get()), arguments[i].value, values[i],
                    p.isStatic, p.tellsOne, p.tellsAlignment);
    PyTuple_SetItem(all.get(), static_cast<Py_ssize_t>(i), parameter.release());
  }
  Ref named = Ref::steal(PyDict_New());
  for (auto [name, value] : options) {
    if (PyDict_SetItem(named.get(), name, value)) {
      throw PythonError();
    }
  }
  return Ref::steal(PyTuple_Pack(2, all.get(), named.get()));
}

} // namespace nereid::python
