//===- TorchTensors.cpp - A tensor by torch's C functions -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/native/TorchTensors.h"

#include <dlfcn.h>

#include <cstring>

namespace nereid::python {

namespace {
struct Functions {
  int32_t (*data)(void *tensor, void **data) = nullptr;
  int32_t (*dtype)(void *tensor, int32_t *dtype) = nullptr;
  int32_t (*deviceType)(void *tensor, int32_t *type) = nullptr;
  int32_t (*deviceIndex)(void *tensor, int32_t *index) = nullptr;
  bool areAll() const { return data && dtype && deviceType && deviceIndex; }
};
} // namespace

static Functions functions;

/// Of the libtorch that is loaded; it stays loaded.
static bool findFunctions() {
  static const bool found = [] {
    void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) {
      return false;
    }
    auto find = [&](auto &place, const char *name) {
      place = reinterpret_cast<std::remove_reference_t<decltype(place)>>(
          dlsym(library, name));
    };
    find(functions.data, "aoti_torch_get_data_ptr");
    find(functions.dtype, "aoti_torch_get_dtype");
    find(functions.deviceType, "aoti_torch_get_device_type");
    find(functions.deviceIndex, "aoti_torch_get_device_index");
    return functions.areAll();
  }();
  return found;
}

/// What torch calls a tensor's `_cdata`; 0 where it has none.
static uintptr_t implementationOf(PyObject *object) {
  PyObject *value = PyObject_GetAttrString(object, "_cdata");
  uintptr_t number = value && PyLong_CheckExact(value)
                         ? reinterpret_cast<uintptr_t>(PyLong_AsVoidPtr(value))
                         : 0;
  Py_XDECREF(value);
  PyErr_Clear();
  return number;
}

uint16_t placeOfTensor(PyObject *object) {
  constexpr size_t mostWords = 6;
  uintptr_t wanted = implementationOf(object);
  if (!wanted || !findFunctions()) {
    return 0;
  }
  uint16_t place = 0;
  for (size_t at = sizeof(PyObject);
       at < sizeof(PyObject) + mostWords * sizeof(uintptr_t);
       at += sizeof(uintptr_t)) {
    uintptr_t word;
    std::memcpy(&word, reinterpret_cast<const char *>(object) + at,
                sizeof(word));
    if (word == wanted) {
      if (place) {
        return 0;
      }
      place = static_cast<uint16_t>(at);
    }
  }
  return place;
}

bool readTensor(PyObject *object, uint16_t place, void *&data,
                TorchFacts &facts) {
  void *tensor = reinterpret_cast<char *>(object) + place;
  return !functions.data(tensor, &data) &&
         !functions.dtype(tensor, &facts.dtype) &&
         !functions.deviceType(tensor, &facts.deviceType) &&
         !functions.deviceIndex(tensor, &facts.deviceIndex);
}

} // namespace nereid::python
