//===- TensorCopy.cpp - Copies with conversion ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Tensor.h"
#include "nereid/Runtime/device/DeviceCopy.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Runtime/tensor/Convert.h"

#include <algorithm>

namespace nereid {
namespace {

/// The common iteration space of a destination and a source.
struct Walk {
  struct Dimension {
    int64_t size, dstStride, srcStride;
  };
  std::vector<Dimension> outer;
  Dimension inner = {1, 1, 1};
};

/// Neighbouring dimensions that both sides step through as one become one, so
/// that contiguous tensors are a single row.
Walk planWalk(const Tensor &dst, const Tensor &src) {
  std::vector<Walk::Dimension> dims;
  for (int i = 0; i < dst.rank(); ++i) {
    Walk::Dimension d = {dst.size(i), dst.stride(i), src.stride(i)};
    if (d.size == 1) {
      continue;
    }
    if (!dims.empty() && dims.back().dstStride == d.size * d.dstStride &&
        dims.back().srcStride == d.size * d.srcStride) {
      d.size *= dims.back().size;
      dims.pop_back();
    }
    dims.push_back(d);
  }
  Walk walk;
  if (!dims.empty()) {
    walk.inner = dims.back();
    dims.pop_back();
  }
  walk.outer = std::move(dims);
  return walk;
}

} // namespace

/// Elements [begin, end) of the walk's row-major order, row piece by row piece.
static void copyRange(const Walk &walk, const Tensor &dst, const Tensor &src,
                      ConvertFunction convert, int64_t begin, int64_t end) {
  auto *out = static_cast<std::byte *>(dst.data());
  auto *in = static_cast<const std::byte *>(src.data());
  int64_t outBytes = static_cast<int64_t>(byteSize(dst.dtype()));
  int64_t inBytes = static_cast<int64_t>(byteSize(src.dtype()));
  while (begin < end) {
    int64_t row = begin / walk.inner.size, column = begin % walk.inner.size;
    int64_t part = std::min(end - begin, walk.inner.size - column);
    int64_t outOffset = column * walk.inner.dstStride;
    int64_t inOffset = column * walk.inner.srcStride;
    for (size_t i = walk.outer.size(); i-- > 0;) {
      const Walk::Dimension &d = walk.outer[i];
      outOffset += row % d.size * d.dstStride;
      inOffset += row % d.size * d.srcStride;
      row /= d.size;
    }
    convert(in + inOffset * inBytes, walk.inner.srcStride,
            out + outOffset * outBytes, walk.inner.dstStride, part);
    begin += part;
  }
}

static bool overlap(const Tensor &a, const Tensor &b) {
  if (a.device() != b.device() &&
      !(a.device().isHost() && b.device().isHost())) {
    return false;
  }
  auto *x = static_cast<const std::byte *>(a.data());
  auto *y = static_cast<const std::byte *>(b.data());
  return x < y + b.extentBytes() && y < x + a.extentBytes();
}

/// Sizes, counted from the last, are equal or 1.
static bool broadcasts(const Shape &from, const Shape &to) {
  if (from.size() > to.size()) {
    return false;
  }
  size_t extra = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != to[i + extra]) {
      return false;
    }
  }
  return true;
}

const Tensor &Tensor::copyFrom(const Tensor &source) const {
  requireDefined("copyFrom");
  source.requireDefined("copyFrom");
  if (!broadcasts(source.shape_, shape_)) {
    raise({ErrorCode::InvalidArgument,
           "copyFrom: expected a source that broadcasts to " + str() +
               ", got " + source.str(),
           {}});
  }
  requireElementsApart("copyFrom");
  Tensor from = source.expand(shape_);
  if (numel_ == 0) {
    return *this;
  }
  noteWrite();
  if (overlap(*this, from)) {
    bool same = data_ == from.data_ && dtype_ == from.dtype_ &&
                strides_ == from.strides_;
    if (same) {
      return *this;
    }
    from = source.clone().expand(shape_);
  }
  if (!device_.isHost() || !from.device_.isHost()) {
    copyAcrossDevices(*this, from);
    return *this;
  }
  WatchedActivity watched(Activity::Kind::Copy, "copy", device_,
                          static_cast<uint64_t>(bytes()));
  Walk walk = planWalk(*this, from);
  ConvertFunction convert = convertFunction(from.dtype_, dtype_);
  // Below 64 Ki elements the threads' start-up costs more than it saves.
  parallelRanges(numel_, int64_t{1} << 16, [&](int64_t begin, int64_t end) {
    copyRange(walk, *this, from, convert, begin, end);
  });
  return *this;
}

Tensor Tensor::clone() const {
  requireDefined("clone");
  Tensor copy = empty(shape_, dtype_, device_);
  copy.copyFrom(*this);
  return copy;
}

Tensor Tensor::contiguous() const {
  requireDefined("contiguous");
  return isContiguous() ? *this : clone();
}

Tensor Tensor::to(Device device) const {
  requireDefined("to");
  if (device == device_) {
    return *this;
  }
  Tensor copy = empty(shape_, dtype_, device);
  copy.copyFrom(*this);
  return copy;
}

Tensor Tensor::to(DType dtype) const {
  requireDefined("to");
  if (dtype == dtype_) {
    return *this;
  }
  Tensor copy = empty(shape_, dtype, device_);
  copy.copyFrom(*this);
  return copy;
}

const Tensor &Tensor::fill(double value) const { return fillWith(&value, f64); }

const Tensor &Tensor::fillWith(const void *value, DType dtype) const {
  requireDefined("fill");
  requireElementsApart("fill");
  Tensor scalar = borrow(const_cast<void *>(value), {}, dtype);
  if (!device_.isHost() && isContiguous()) {
    if (fillOnDevice(*this, scalar.to(dtype_))) {
      noteWrite();
      return *this;
    }
  }
  // The element is uploaded, then repeated where this tensor is.
  return copyFrom(scalar.to(dtype_).to(device_));
}

std::vector<double> Tensor::toFloat64() const { return toVector<double>(); }

Tensor Tensor::element(std::initializer_list<int64_t> index) const {
  Tensor element = *this;
  if (static_cast<int>(index.size()) != rank()) {
    raise({ErrorCode::InvalidArgument,
           "at of " + str() + ": expected " + std::to_string(rank()) +
               " indices, got " + std::to_string(index.size()),
           {}});
  }
  for (int64_t i : index) {
    element = element.select(0, i);
  }
  return element;
}

double Tensor::at(std::initializer_list<int64_t> index) const {
  return element(index).item();
}

double Tensor::item() const { return item<double>(); }

void Tensor::readItem(void *value, DType dtype) const {
  requireDefined("item");
  if (numel_ != 1) {
    raise({ErrorCode::InvalidArgument,
           "item: expected a tensor of exactly one element, got " + str(),
           {}});
  }
  Tensor here = onHost();
  convertFunction(dtype_, dtype)(here.data_, 1, value, 1, 1);
}

} // namespace nereid
