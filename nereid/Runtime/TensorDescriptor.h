//===- TensorDescriptor.h - Tensor descriptors of the host -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel takes as `desc` and uses as desc.load([i, j]): an array in
// memory, and the shape of the blocks that are moved. Every access is checked
// against the shape; elements outside are read as zeros, or NaN, and not
// written. The block shape is compiled in.
//
//   TensorDescriptor a(x, {128, 64});           // x.shape(), x.strides()
//   kernel[{m, n}](a, TensorDescriptor(y, shape, strides, {128, 64}));
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_TENSORDESCRIPTOR_H
#define NEREID_RUNTIME_TENSORDESCRIPTOR_H

#include "nereid/Runtime/Tensor.h"

namespace nereid {

class TensorDescriptor {
public:
  enum class Padding : uint8_t { Zero, Nan };

  /// Strides count elements. Throws InvalidArgument for what the language
  /// refuses: a rank outside of 1 to 5, ranks that differ, a base that is not
  /// divisible by 16, sizes below 1, block sizes that are no powers of two, a
  /// last stride other than 1, other strides of no multiple of 16 bytes, NaN
  /// for integers.
  TensorDescriptor(Tensor base, Shape shape, Shape strides, Shape blockShape,
                   Padding padding = Padding::Zero);
  TensorDescriptor(const Tensor &tensor, Shape blockShape,
                   Padding padding = Padding::Zero)
      : TensorDescriptor(tensor, tensor.shape(), tensor.strides(),
                         std::move(blockShape), padding) {}

  const Tensor &base() const { return base_; }
  const Shape &shape() const { return shape_; }
  const Shape &strides() const { return strides_; }
  const Shape &blockShape() const { return blockShape_; }
  Padding padding() const { return padding_; }
  /// The same with blocks of another shape, of the same rank.
  TensorDescriptor withBlockShape(Shape blockShape) const;

private:
  Tensor base_;
  Shape shape_, strides_, blockShape_;
  Padding padding_;
};

} // namespace nereid

#endif // NEREID_RUNTIME_TENSORDESCRIPTOR_H
