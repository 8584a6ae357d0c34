//===- TorchTensors.h - A tensor by torch's C functions ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libtorch has C functions that are kept stable (aoti_torch_get_data_ptr, ...).
// They take the address of an at::Tensor, and cost less than DLPack's table,
// which fills in a shape (docs/design/Python.md). Where a Python object has its
// at::Tensor no interface says: it is found by the value that `_cdata` gives,
// and is used only where exactly one word of the object has that value, and the
// functions say of the tensor what DLPack's table said.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PYTHON_NATIVE_TORCHTENSORS_H
#define NEREID_PYTHON_NATIVE_TORCHTENSORS_H

#include "python/native/Objects.h"

#include <cstdint>

namespace nereid::python {

/// In torch's own numbers, which are compared alone.
struct TorchFacts {
  int32_t dtype = 0, deviceType = 0, deviceIndex = 0;
  bool operator==(const TorchFacts &) const = default;
};

/// In bytes from the object's beginning; 0 where it is not known. Raises
/// nothing.
uint16_t placeOfTensor(PyObject *object);

/// Of an object that has its tensor at `place`. False where torch refuses.
bool readTensor(PyObject *object, uint16_t place, void *&data,
                TorchFacts &facts);

} // namespace nereid::python

#endif // NEREID_PYTHON_NATIVE_TORCHTENSORS_H
