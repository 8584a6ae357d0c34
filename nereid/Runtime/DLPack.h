//===- DLPack.h - Exchanging tensors without copies -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The DLPack ABI (https://dmlc.github.io/dlpack), written from its
// specification: the unversioned struct of v0.8 and the versioned one of v1.0.
// The structs below have the layout of DLTensor, DLManagedTensor and
// DLManagedTensorVersioned; a program that includes dlpack.h may
// reinterpret_cast between the two.
//
// Exporting shares memory and lives until the consumer calls the deleter.
// Importing takes the struct over: its deleter runs when the last view dies.
// Neither waits for anything: both sides agree on a stream, or synchronise.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DLPACK_H
#define NEREID_RUNTIME_DLPACK_H

#include "nereid/Runtime/Tensor.h"

namespace nereid {
namespace dlpack {

enum DeviceType : int32_t {
  DeviceCpu = 1,
  DeviceCuda = 2,
  DeviceCudaHost = 3,
  DeviceRocm = 10,
  DeviceRocmHost = 11,
};

/// DLDataTypeCode. The float8 codes are those of v1.1.
enum TypeCode : uint8_t {
  TypeInt = 0,
  TypeUInt = 1,
  TypeFloat = 2,
  TypeBFloat = 4,
  TypeBool = 6,
  TypeFloat8E4M3FN = 10,
  TypeFloat8E5M2 = 12,
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DeviceId {
  int32_t type;
  int32_t index;
};

struct TensorView {
  void *data;
  DeviceId device;
  int32_t rank;
  DataType dtype;
  int64_t *shape;
  int64_t *strides; ///< elements; null means row-major (before v1.2)
  uint64_t byteOffset;
};

struct ManagedTensor {
  TensorView tensor;
  void *context;
  void (*deleter)(ManagedTensor *self);
};

struct Version {
  uint32_t major, minor;
};

enum Flags : uint64_t { FlagReadOnly = 1, FlagIsCopied = 2 };

struct ManagedTensorVersioned {
  Version version;
  void *context;
  void (*deleter)(ManagedTensorVersioned *self);
  uint64_t flags;
  TensorView tensor;
};

static_assert(sizeof(TensorView) == 48 && sizeof(ManagedTensor) == 64 &&
              sizeof(ManagedTensorVersioned) == 80);

} // namespace dlpack

/// The caller (or the one that it hands the result to) calls result->deleter.
dlpack::ManagedTensor *toDLPack(const Tensor &tensor);
dlpack::ManagedTensorVersioned *toDLPackVersioned(const Tensor &tensor);

/// Throws Unsupported for memory of other devices than the host and cuda,
/// vector lanes, element types without a DType, negative strides, and a major
/// version other than 1; NotFound for a cuda device that this process has not.
/// On an exception the struct is not consumed.
Tensor fromDLPack(dlpack::ManagedTensor *managed);
Tensor fromDLPack(dlpack::ManagedTensorVersioned *managed);

} // namespace nereid

#endif // NEREID_RUNTIME_DLPACK_H
