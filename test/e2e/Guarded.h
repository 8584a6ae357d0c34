//===- Guarded.h - An output with poison around it --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_E2E_GUARDED_H
#define NEREID_TEST_E2E_GUARDED_H

#include "nereid/nereid.h"

#include <cstring>

namespace nereid::e2e {

/// An array of `shape` inside a larger one full of 0xab.
class Guarded {
public:
  Guarded(Shape shape, DType dtype, Device device, Shape strides = {})
      : device(device) {
    int64_t extent = 1;
    if (strides.empty()) {
      strides = Shape(shape.size(), 1);
      for (int i = int(shape.size()) - 2; i >= 0; --i) {
        strides[i] = strides[i + 1] * shape[i + 1];
      }
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      extent += (shape[i] - 1) * strides[i];
    }
    size_t itemSize = byteSize(dtype);
    bytes.assign(2 * guard + extent * itemSize, std::byte(0xab));
    auto size = static_cast<int64_t>(bytes.size());
    Tensor host = Tensor::borrow(bytes.data(), {size}, u8, Device::cpu());
    memory = device.isHost() ? host : host.to(device);
    tensor_ = Tensor::borrow(static_cast<std::byte *>(memory.data()) + guard,
                             shape, dtype, device, strides);
  }
  // The tensor borrows from `bytes`.
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;

  const Tensor &tensor() const { return tensor_; }

  /// Bytes that changed although no element of the tensor lies there.
  size_t strayBytes() const {
    std::vector<uint8_t> now = memory.toVector<uint8_t>();
    std::vector<std::byte> clean(bytes.size());
    std::memcpy(clean.data(), now.data(), now.size());
    auto inHost = [&](std::vector<std::byte> &from) {
      return Tensor::borrow(from.data() + guard, tensor_.shape(),
                            tensor_.dtype(), Device::cpu(), tensor_.strides());
    };
    std::vector<std::byte> poison(bytes.size(), std::byte(0xab));
    inHost(clean).copyFrom(inHost(poison));
    size_t count = 0;
    for (std::byte b : clean) {
      count += b != std::byte(0xab);
    }
    return count;
  }

private:
  static constexpr size_t guard = 4096;
  Device device;
  std::vector<std::byte> bytes;
  Tensor memory; ///< all of it, on the device
  Tensor tensor_;
};

} // namespace nereid::e2e

#endif // NEREID_TEST_E2E_GUARDED_H
