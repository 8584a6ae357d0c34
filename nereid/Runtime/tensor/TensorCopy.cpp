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
#include <cstdlib>

namespace nereid {
namespace {

/// The common iteration space of a destination and a source.
struct Walk {
  struct Dimension {
    int64_t size, dstStride, srcStride;
  };
  std::vector<Dimension> outer;
  /// Along which the source's elements are neighbours where they are not along
  /// `inner`.
  Dimension across = {1, 0, 0};
  Dimension inner = {1, 1, 1};
};

/// Of blocks of a walk with `across`: along it, and along `inner`. Whole lines
/// of a cache on both sides.
constexpr int64_t blockRows = 64, blockColumns = 64;

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
  // Fewer rows than this lie in the caches together.
  constexpr int64_t few = 8;
  auto distance = [](const Walk::Dimension &d) {
    return std::abs(d.srcStride);
  };
  auto nearest = std::ranges::min_element(dims, {}, [&](const auto &d) {
    return d.srcStride == 0 ? INT64_MAX : distance(d);
  });
  if (nearest != dims.end() && nearest->srcStride != 0 &&
      distance(*nearest) < distance(walk.inner) && nearest->size >= few &&
      walk.inner.size >= few) {
    walk.across = *nearest;
    dims.erase(nearest);
  }
  walk.outer = std::move(dims);
  return walk;
}

/// Of a place in the dimensions `outer`, in elements.
struct Offsets {
  Offsets(const std::vector<Walk::Dimension> &outer, int64_t place) {
    for (size_t i = outer.size(); i-- > 0;) {
      dst += place % outer[i].size * outer[i].dstStride;
      src += place % outer[i].size * outer[i].srcStride;
      place /= outer[i].size;
    }
  }
  int64_t dst = 0, src = 0;
};

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
    Offsets at(walk.outer, row);
    at.dst += column * walk.inner.dstStride;
    at.src += column * walk.inner.srcStride;
    convert(in + at.src * inBytes, walk.inner.srcStride,
            out + at.dst * outBytes, walk.inner.dstStride, part);
    begin += part;
  }
}

static int64_t pieces(int64_t size, int64_t piece) {
  return (size + piece - 1) / piece;
}

/// out[r * rowStride + c * columnStride] = block[c * blockRows + r].
template <typename T>
static void transpose(const void *block, void *out, int64_t rowStride,
                      int64_t columnStride, int64_t rows, int64_t columns) {
  auto *from = static_cast<const T *>(block);
  auto *to = static_cast<T *>(out);
  if (columnStride == 1 && columns == blockColumns) { // a number: unrolled
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < blockColumns; ++c) {
        to[r * rowStride + c] = from[c * blockRows + r];
      }
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      to[r * rowStride + c * columnStride] = from[c * blockRows + r];
    }
  }
}

/// For elements of so many bytes.
static auto transposeFunction(int64_t bytes) {
  return bytes == 1   ? &transpose<uint8_t>
         : bytes == 2 ? &transpose<uint16_t>
         : bytes == 4 ? &transpose<uint32_t>
                      : &transpose<uint64_t>;
}

/// Blocks [begin, end) of a walk with `across`. A block is read along the
/// source's lines into memory of its own: lines that are a power of two apart
/// would drive each other out of a cache before all of one was used.
static void copyBlocks(const Walk &walk, const Tensor &dst, const Tensor &src,
                       int64_t begin, int64_t end) {
  int64_t outBytes = static_cast<int64_t>(byteSize(dst.dtype()));
  int64_t inBytes = static_cast<int64_t>(byteSize(src.dtype()));
  ConvertFunction convert = convertFunction(src.dtype(), dst.dtype());
  auto transpose = transposeFunction(outBytes);
  constexpr int64_t mostBytes = 8; // of an element
  alignas(64) std::byte block[blockRows * blockColumns * mostBytes];
  const auto &[outer, across, inner] = walk;
  int64_t blocksOfRow = pieces(inner.size, blockColumns),
          blocksOfColumn = pieces(across.size, blockRows);
  for (; begin < end; ++begin) {
    Offsets at(outer, begin / blocksOfRow / blocksOfColumn);
    int64_t column = begin % blocksOfRow * blockColumns,
            columns = std::min(blockColumns, inner.size - column);
    int64_t row = begin / blocksOfRow % blocksOfColumn * blockRows,
            rows = std::min(blockRows, across.size - row);
    at.dst += row * across.dstStride + column * inner.dstStride;
    at.src += row * across.srcStride + column * inner.srcStride;
    auto *in = static_cast<const std::byte *>(src.data()) + at.src * inBytes;
    for (int64_t c = 0; c < columns; ++c) {
      convert(in + c * inner.srcStride * inBytes, across.srcStride,
              block + c * blockRows * outBytes, 1, rows);
    }
    transpose(block, static_cast<std::byte *>(dst.data()) + at.dst * outBytes,
              across.dstStride, inner.dstStride, rows, columns);
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
  if (!broadcasts(source.shape(), shape())) {
    raise({ErrorCode::InvalidArgument,
           "copyFrom: expected a source that broadcasts to " + str() +
               ", got " + source.str(),
           {}});
  }
  requireElementsApart("copyFrom");
  Tensor from = source.expand(shape());
  if (numel_ == 0) {
    return *this;
  }
  noteWrite();
  if (overlap(*this, from)) {
    bool same = data_ == from.data_ && dtype_ == from.dtype_ &&
                strides() == from.strides();
    if (same) {
      return *this;
    }
    from = source.clone().expand(shape());
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
  constexpr int64_t grain = int64_t{1} << 16;
  if (walk.across.size > 1) {
    int64_t blocks = pieces(walk.inner.size, blockColumns) *
                     pieces(walk.across.size, blockRows);
    parallelRanges(numel_ / walk.inner.size / walk.across.size * blocks,
                   grain / (blockRows * blockColumns),
                   [&](int64_t begin, int64_t end) {
                     copyBlocks(walk, *this, from, begin, end);
                   });
    return *this;
  }
  parallelRanges(numel_, grain, [&](int64_t begin, int64_t end) {
    copyRange(walk, *this, from, convert, begin, end);
  });
  return *this;
}

Tensor Tensor::clone() const {
  requireDefined("clone");
  Tensor copy = empty(shape(), dtype_, device_);
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
  Tensor copy = empty(shape(), dtype_, device);
  copy.copyFrom(*this);
  return copy;
}

Tensor Tensor::to(DType dtype) const {
  requireDefined("to");
  if (dtype == dtype_) {
    return *this;
  }
  Tensor copy = empty(shape(), dtype, device_);
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
