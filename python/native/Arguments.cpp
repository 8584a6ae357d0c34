//===- Arguments.cpp - Numbers, texts, tuples and dtypes ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/native/Arguments.h"

namespace nereid::python {

std::optional<DType> dtypeOfObject(PyObject *dtype) {
  if (!PyObject_TypeCheck(
          dtype, reinterpret_cast<PyTypeObject *>(registered.dtypeType))) {
    return std::nullopt;
  }
  Ref index = attribute(dtype, registered.names.index);
  if (!PyLong_Check(index.get())) {
    return std::nullopt;
  }
  long value = PyLong_AsLong(index.get());
  return value >= 0 && value < numDTypes
             ? std::optional(static_cast<DType>(value))
             : std::nullopt;
}

static bool isA(PyObject *object, PyObject *type) {
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject *>(type));
}

static std::string argumentName(PyObject *parameter) {
  return "argument '" + std::string(textOf(parameter)) + "'";
}

/// The number's 64 bits; `isUnsigned` from 2^63 on.
static int64_t integerOf(PyObject *number, PyObject *parameter,
                         bool &isUnsigned) {
  int overflow = 0;
  isUnsigned = false;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (!overflow) {
    if (value == -1 && PyErr_Occurred()) {
      throw PythonError();
    }
    return value;
  }
  if (overflow > 0) {
    unsigned long long large = PyLong_AsUnsignedLongLong(number);
    if (!PyErr_Occurred()) {
      isUnsigned = true;
      return static_cast<int64_t>(large);
    }
    PyErr_Clear();
  }
  Ref text = Ref::steal(PyObject_Str(number));
  raisePython(PyExc_OverflowError,
              argumentName(parameter) +
                  ": expected an integer from -2**63 to 2**64 - 1, got " +
                  std::string(textOf(text.get())));
}

static Argument integerArgument(PyObject *number, PyObject *parameter) {
  bool isUnsigned = false;
  int64_t value = integerOf(number, parameter, isUnsigned);
  return isUnsigned ? Argument(static_cast<uint64_t>(value)) : Argument(value);
}

static std::vector<std::string> fieldNames(PyObject *tuple) {
  std::vector<std::string> names;
  if (PyTuple_CheckExact(tuple) || !PyTuple_Check(tuple)) {
    return names;
  }
  if (Ref fields = attributeOrNull(tuple, registered.names.fields)) {
    Ref items = Ref::steal(PySequence_Fast(fields.get(), "_fields"));
    for (Py_ssize_t i = 0; i < itemCount(items.get()); ++i) {
      names.emplace_back(textOf(itemAt(items.get(), i)));
    }
  }
  return names;
}

static bool isNumber(Argument::Kind kind) {
  return kind == Argument::Kind::Bool || kind == Argument::Kind::Int ||
         kind == Argument::Kind::UInt || kind == Argument::Kind::Float;
}

static Argument tupleArgument(PyObject *sequence, Held &held,
                              PyObject *parameter) {
  if (Py_EnterRecursiveCall(" in a tuple of arguments")) {
    throw PythonError();
  }
  struct Leave {
    ~Leave() { Py_LeaveRecursiveCall(); }
  } leave;
  Ref items = Ref::steal(PySequence_Fast(sequence, "a tuple"));
  std::vector<Argument> arguments;
  for (Py_ssize_t i = 0; i < itemCount(items.get()); ++i) {
    PyObject *item = itemAt(items.get(), i);
    arguments.push_back(toArgument(item, held, parameter));
    arguments.back().isConstexpr =
        isA(item, registered.constexprType) && isNumber(arguments.back().kind);
  }
  std::vector<std::string> names = fieldNames(sequence);
  if (names.empty()) {
    return held.tuples.add(Tuple(std::move(arguments)));
  }
  Ref type = attribute(reinterpret_cast<PyObject *>(Py_TYPE(sequence)),
                       registered.names.name);
  return held.tuples.add(Tuple::named(std::string(textOf(type.get())),
                                      std::move(names), std::move(arguments)));
}

static Shape shapeOf(PyObject *sequence, PyObject *parameter) {
  Ref items = Ref::steal(PySequence_Fast(sequence, "expected a sequence"));
  Shape shape;
  for (Py_ssize_t i = 0; i < itemCount(items.get()); ++i) {
    Ref number = Ref::steal(PyNumber_Index(itemAt(items.get(), i)));
    bool isUnsigned = false;
    shape.push_back(integerOf(number.get(), parameter, isUnsigned));
  }
  return shape;
}

static Argument descriptorArgument(PyObject *descriptor, Held &held,
                                   PyObject *parameter) {
  const auto &names = registered.names;
  Ref base = attribute(descriptor, names.base);
  bool before = std::exchange(held.asAddresses, false);
  std::optional<Argument> array = arrayOf(base.get(), held, parameter);
  held.asAddresses = before;
  if (!array || array->kind != Argument::Kind::Tensor) {
    raisePython(PyExc_TypeError, argumentName(parameter) +
                                     ": expected a descriptor of a tensor, "
                                     "got one of " +
                                     typeName(base.get()));
  }
  auto read = [&](PyObject *name) {
    return shapeOf(attribute(descriptor, name).get(), parameter);
  };
  Ref padding = attribute(descriptor, names.padding);
  bool padsWithNan =
      PyUnicode_Check(padding.get()) && textOf(padding.get()) == "nan";
  return held.descriptors.add(
      TensorDescriptor(*array->tensor, read(names.shape), read(names.strides),
                       read(names.blockShape),
                       padsWithNan ? TensorDescriptor::Padding::Nan
                                   : TensorDescriptor::Padding::Zero));
}

static Argument functionArgument(PyObject *function, Held &held) {
  if (held.functions) {
    if (PyObject *name = PyDict_GetItemWithError(held.functions, function)) {
      return FunctionName{textOf(name)};
    }
    if (PyErr_Occurred()) {
      throw PythonError();
    }
  }
  if (!held.missing) {
    held.missing = Ref::steal(PyList_New(0));
  }
  if (PyList_Append(held.missing.get(), function)) {
    throw PythonError();
  }
  return none;
}

/// Numbers of other libraries, and subclasses of Python's.
static std::optional<Argument> numberArgument(PyObject *object,
                                              PyObject *parameter) {
  if (PyLong_Check(object)) {
    return integerArgument(object, parameter);
  }
  if (PyFloat_Check(object)) {
    return PyFloat_AsDouble(object);
  }
  if (PyIndex_Check(object)) {
    Ref number = Ref::steal(PyNumber_Index(object));
    return integerArgument(number.get(), parameter);
  }
  if (PyType_GetSlot(Py_TYPE(object), Py_nb_float)) {
    double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) {
      throw PythonError();
    }
    return value;
  }
  return std::nullopt;
}

static Argument otherArgument(PyObject *object, Held &held,
                              PyObject *parameter) {
  if (isA(object, registered.constexprType)) {
    Ref value = attribute(object, registered.names.value);
    // The object keeps its value.
    return toArgument(value.get(), held, parameter);
  }
  if (std::optional<DType> dtype = dtypeOfObject(object)) {
    return *dtype;
  }
  if (isA(object, registered.jitType)) {
    return functionArgument(object, held);
  }
  if (isA(object, registered.descriptorType)) {
    return descriptorArgument(object, held, parameter);
  }
  if (PyTuple_Check(object) || PyList_Check(object)) {
    return tupleArgument(object, held, parameter);
  }
  if (std::optional<Argument> number = numberArgument(object, parameter)) {
    return *number;
  }
  if (held.takesAnyObject && PyObject_Hash(object) != -1) {
    return textOf(
        held.texts.emplace_back(Ref::steal(PyObject_Repr(object))).get());
  }
  PyErr_Clear(); // of what has no hash
  raisePython(PyExc_TypeError,
              argumentName(parameter) +
                  ": expected a tensor, a number, a bool, a str, a dtype, a "
                  "tuple, a jit function or None, got " +
                  typeName(object));
}

Argument toArgument(PyObject *object, Held &held, PyObject *parameter) {
  if (PyLong_CheckExact(object)) {
    return integerArgument(object, parameter);
  }
  if (object == Py_None) {
    return none;
  }
  if (PyBool_Check(object)) {
    return object == Py_True;
  }
  if (PyFloat_CheckExact(object)) {
    return PyFloat_AsDouble(object);
  }
  if (PyUnicode_Check(object)) {
    return textOf(object);
  }
  if (!PyTuple_Check(object) && !PyList_Check(object)) {
    if (std::optional<Argument> array = arrayOf(object, held, parameter)) {
      return *array;
    }
  }
  return otherArgument(object, held, parameter);
}

//===----------------------------------------------------------------------===//
// Values like those of an earlier call
//===----------------------------------------------------------------------===//

static uint8_t traitsOf(int64_t value) {
  return static_cast<uint8_t>((value != static_cast<int32_t>(value)) |
                              (value == 1) << 1 | (value % 16 == 0) << 2);
}

/// Objects that mean the same as long as they live.
static bool isConstant(PyObject *object, const Held &held) {
  if (object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) ||
      PyFloat_CheckExact(object) || PyUnicode_CheckExact(object)) {
    return true;
  }
  if (isA(object, registered.jitType)) {
    return held.functions && PyDict_GetItemWithError(held.functions, object);
  }
  return dtypeOfObject(object).has_value();
}

std::optional<ArgumentRule> ruleOf(PyObject *object, bool isStatic,
                                   const Held &held, std::vector<Ref> &keep) {
  using Read = ArgumentRule::Read;
  if (std::optional<ArgumentRule> array = ruleOfArray(object)) {
    keep.push_back(Ref::borrow(reinterpret_cast<PyObject *>(Py_TYPE(object))));
    return isStatic ? std::nullopt : array;
  }
  if (!isConstant(object, held)) {
    return std::nullopt;
  }
  ArgumentRule rule;
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) {
      return std::nullopt;
    }
    rule.read = isStatic ? Read::Number : Read::Integer;
    rule.number = value;
    rule.traits = traitsOf(value);
    return rule;
  }
  if (PyFloat_CheckExact(object) && !isStatic) {
    rule.read = Read::Float;
    return rule;
  }
  rule.read = Read::Same;
  rule.object = object;
  keep.push_back(Ref::borrow(object));
  return rule;
}

bool readLike(const ArgumentRule &rule, PyObject *object, Held &held,
              Argument &found) {
  using Read = ArgumentRule::Read;
  switch (rule.read) {
  case Read::Array:
    return readArrayLike(rule, object, held, found);
  case Read::Same:
    return object == rule.object;
  case Read::Number:
  case Read::Integer: {
    if (!PyLong_CheckExact(object)) {
      return false;
    }
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (rule.read == Read::Number) {
      return value == rule.number && !overflow;
    }
    found.integer = value;
    return !overflow && traitsOf(value) == rule.traits;
  }
  case Read::Float:
    if (!PyFloat_CheckExact(object)) {
      return false;
    }
    found.real = PyFloat_AsDouble(object);
    return true;
  case Read::Unread:
    return true;
  }
  return false;
}

StaticValue toStatic(PyObject *object) {
  if (isA(object, registered.constexprType)) {
    return toStatic(attribute(object, registered.names.value).get());
  }
  if (object == Py_None) {
    return StaticValue();
  }
  if (PyBool_Check(object)) {
    return object == Py_True;
  }
  if (std::optional<DType> dtype = dtypeOfObject(object)) {
    return *dtype;
  }
  if (PyUnicode_Check(object)) {
    return std::string(textOf(object));
  }
  if (PyTuple_Check(object) || PyList_Check(object)) {
    Ref items = Ref::steal(PySequence_Fast(object, "a tuple"));
    StaticValue::Tuple values;
    for (Py_ssize_t i = 0; i < itemCount(items.get()); ++i) {
      values.push_back(toStatic(itemAt(items.get(), i)));
    }
    return values;
  }
  if (PyDict_Check(object)) {
    StaticValue::Dict values;
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t i = 0; PyDict_Next(object, &i, &key, &value);) {
      values[std::string(textOf(key))] = toStatic(value);
    }
    return values;
  }
  if (PyFloat_Check(object)) {
    return PyFloat_AsDouble(object);
  }
  Ref number = Ref::steal(PyNumber_Index(object));
  Ref name = Ref::steal(PyUnicode_FromString("a global"));
  bool isUnsigned = false;
  int64_t value = integerOf(number.get(), name.get(), isUnsigned);
  return isUnsigned ? StaticValue(static_cast<uint64_t>(value))
                    : StaticValue(value);
}

} // namespace nereid::python
