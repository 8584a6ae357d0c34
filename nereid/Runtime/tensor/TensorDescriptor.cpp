//===- TensorDescriptor.cpp - Tensor descriptors of the host --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/TensorDescriptor.h"

#include "nereid/Runtime/Error.h"

#include <bit>

namespace nereid {

[[noreturn]] static void expected(const std::string &what,
                                  const std::string &got) {
  raise({ErrorCode::InvalidArgument,
         "tensor descriptor: expected " + what + ", got " + got,
         {}});
}

static std::string listText(const Shape &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(values[i]);
  }
  return text + "]";
}

TensorDescriptor::TensorDescriptor(Tensor base, Shape shape, Shape strides,
                                   Shape blockShape, Padding padding)
    : base_(std::move(base)), shape_(std::move(shape)),
      strides_(std::move(strides)), blockShape_(std::move(blockShape)),
      padding_(padding) {
  if (!base_.defined()) {
    expected("a tensor with memory", "an undefined tensor");
  }
  size_t rank = shape_.size();
  if (rank < 1 || rank > 5) {
    expected("1 to 5 dimensions", "the shape " + listText(shape_));
  }
  if (strides_.size() != rank || blockShape_.size() != rank) {
    expected("one stride and one block size a dimension of " + listText(shape_),
             "strides " + listText(strides_) + " and blocks of " +
                 listText(blockShape_));
  }
  if (reinterpret_cast<uintptr_t>(base_.data()) % 16) {
    expected("a base whose address is divisible by 16",
             base_.str() + " at another");
  }
  auto bytes = static_cast<int64_t>(byteSize(base_.dtype()));
  for (size_t i = 0; i < rank; ++i) {
    if (shape_[i] < 1 || shape_[i] > INT32_MAX) {
      expected("sizes from 1 to 2147483647", listText(shape_));
    }
    if (blockShape_[i] < 1 ||
        !std::has_single_bit(static_cast<uint64_t>(blockShape_[i]))) {
      expected("blocks whose sizes are powers of two", listText(blockShape_));
    }
    if (i + 1 < rank && (strides_[i] < 0 || strides_[i] * bytes % 16)) {
      expected("strides of multiples of 16 bytes but for the last",
               listText(strides_) + " elements of " + std::to_string(bytes));
    }
  }
  if (strides_.back() != 1) {
    expected("a last stride of 1", listText(strides_));
  }
  if (padding_ == Padding::Nan && !isFloat(base_.dtype())) {
    expected("padding with zeros for elements of " +
                 std::string(languageName(base_.dtype())),
             "NaN");
  }
}

TensorDescriptor TensorDescriptor::withBlockShape(Shape blockShape) const {
  return {base_, shape_, strides_, std::move(blockShape), padding_};
}

} // namespace nereid
