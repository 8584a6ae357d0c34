//===- DLPack.cpp - Exchanging tensors without copies ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/DLPack.h"

#include "nereid/Runtime/Error.h"

#include <array>

namespace nereid {

using namespace dlpack;

[[noreturn]] static void unsupported(const std::string &what) {
  raise({ErrorCode::Unsupported, "DLPack: " + what, {}});
}

static DataType toDataType(DType dtype) {
  auto bits = static_cast<uint8_t>(8 * byteSize(dtype)); // a bool has 8
  uint8_t code = dtype == i1                  ? TypeBool
                 : dtype == bf16              ? TypeBFloat
                 : dtype == DType::Float8E4M3 ? TypeFloat8E4M3FN
                 : dtype == DType::Float8E5M2 ? TypeFloat8E5M2
                 : isFloat(dtype)             ? TypeFloat
                 : isSigned(dtype)            ? TypeInt
                                              : TypeUInt;
  return {code, bits, 1};
}

static DType fromDataType(DataType type) {
  for (int i = 0; i < numDTypes; ++i) {
    auto dtype = static_cast<DType>(i);
    DataType known = toDataType(dtype);
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) {
      return dtype;
    }
  }
  unsupported("elements of type code " + std::to_string(type.code) + " with " +
              std::to_string(type.bits) + " bits and " +
              std::to_string(type.lanes) + " lanes");
}

static DeviceId toDeviceId(Device device) {
  switch (device.kind()) {
  case Device::Kind::Cuda:
    return {DeviceCuda, device.index()};
  case Device::Kind::Hip:
    return {DeviceRocm, device.index()};
  case Device::Kind::Cpu:
  case Device::Kind::Interp:
    break;
  }
  return {DeviceCpu, 0};
}

static Device fromDeviceId(DeviceId id) {
  switch (id.type) {
  case DeviceCpu:
  case DeviceCudaHost:
  case DeviceRocmHost:
    return Device::cpu();
  case DeviceCuda:
    return Device::parse("cuda:" + std::to_string(id.index));
  case DeviceRocm:
    return Device::parse("hip:" + std::to_string(id.index));
  default:
    unsupported("memory of device type " + std::to_string(id.type) +
                "; host memory (1, 3, 11), cuda memory (2) and hip memory (10) "
                "are known");
  }
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

namespace {
/// What the consumer holds on to: the struct and the tensor after it.
template <typename Managed>
struct Exported {
  Managed managed;
  Tensor tensor;
  Shape shape, strides;
};
} // namespace

template <typename Managed>
static Managed *exportTensor(const Tensor &tensor) {
  if (!tensor.defined()) {
    raise({ErrorCode::InvalidArgument, "DLPack: an undefined tensor", {}});
  }
  auto *out =
      new Exported<Managed>{{}, tensor, tensor.shape(), tensor.strides()};
  out->managed.context = out;
  out->managed.deleter = [](Managed *self) {
    delete static_cast<Exported<Managed> *>(self->context);
  };
  out->managed.tensor = {tensor.data(),
                         toDeviceId(tensor.device()),
                         tensor.rank(),
                         toDataType(tensor.dtype()),
                         out->shape.data(),
                         out->strides.data(),
                         0};
  return &out->managed;
}

ManagedTensor *toDLPack(const Tensor &tensor) {
  return exportTensor<ManagedTensor>(tensor);
}

ManagedTensorVersioned *toDLPackVersioned(const Tensor &tensor) {
  auto *managed = exportTensor<ManagedTensorVersioned>(tensor);
  managed->version = {1, 0};
  managed->flags = 0;
  return managed;
}

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

template <typename Managed>
static Tensor importTensor(Managed *managed) {
  if (!managed) {
    raise({ErrorCode::InvalidArgument, "DLPack: a null tensor", {}});
  }
  const TensorView &view = managed->tensor;
  Device device = fromDeviceId(view.device);
  if (view.rank < 0 || (view.rank > 0 && !view.shape)) {
    raise({ErrorCode::InvalidArgument, "DLPack: a tensor without a shape", {}});
  }
  DType dtype = fromDataType(view.dtype);
  Shape shape(view.shape, view.shape + view.rank);
  std::optional<Shape> strides;
  if (view.strides) {
    strides = Shape(view.strides, view.strides + view.rank);
    for (size_t i = 0; i < shape.size(); ++i) {
      // Producers may leave anything in the stride of a size-1 dimension.
      if (shape[i] == 1 && (*strides)[i] < 0) {
        (*strides)[i] = 0;
      }
    }
  }
  void *data = view.data ? static_cast<std::byte *>(view.data) + view.byteOffset
                         : nullptr;
  // Checked before the struct is taken over, so that an exception leaves it
  // to the caller.
  Tensor::borrow(data, shape, dtype, device, strides);
  std::shared_ptr<void> owner(managed, [](Managed *m) {
    if (m->deleter) {
      m->deleter(m);
    }
  });
  return Tensor::adopt(std::move(owner), data, std::move(shape), dtype, device,
                       std::move(strides));
}

Tensor fromDLPack(ManagedTensor *managed) { return importTensor(managed); }

Tensor fromDLPack(ManagedTensorVersioned *managed) {
  if (managed && managed->version.major != 1) {
    unsupported("version " + std::to_string(managed->version.major) +
                "; version 1 is known");
  }
  return importTensor(managed);
}

} // namespace nereid
