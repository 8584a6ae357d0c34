//===- Tensor.cpp - Construction and views --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Tensor.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/device/HostMemory.h"
#include "nereid/Runtime/gpu/GpuDevice.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

namespace nereid {

[[noreturn]] static void invalid(std::string message) {
  raise({ErrorCode::InvalidArgument, std::move(message), {}});
}

static std::string listText(const Shape &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(values[i]);
  }
  return text + "]";
}

/// What a process can address: 47 bits on x86-64.
static constexpr int64_t addressBytes = int64_t{1} << 47;

/// Elements of a shape. Shapes larger than the address space are refused, so
/// that no later product of sizes and strides can overflow.
static int64_t checkedCount(const Shape &shape, DType dtype) {
  int64_t count = 1, bytes = static_cast<int64_t>(byteSize(dtype));
  for (int64_t size : shape) {
    if (size < 0) {
      invalid("a tensor's shape: expected sizes from 0 on, got " +
              listText(shape));
    }
    if (__builtin_mul_overflow(count, size, &count)) {
      count = INT64_MAX;
    }
  }
  if (count > addressBytes / bytes) {
    // A zero anywhere makes the product zero, whatever was multiplied before.
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
      return 0;
    }
    invalid("a tensor of shape " + listText(shape) +
            " is larger than the address space; expected at most 2^63 bytes, "
            "got more");
  }
  return count;
}

static Shape rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

Tensor::Tensor(std::shared_ptr<Storage> owner, void *data, DType dtype,
               Device device, Shape shape, Shape strides)
    : owner(std::move(owner)), data_(data), dtype_(dtype), device_(device),
      dims(std::make_shared<const Dims>(
          Dims{std::move(shape), std::move(strides)})) {
  numel_ = 1;
  int64_t last = 0; // index of the last element in memory
  for (size_t i = 0; i < dims->shape.size(); ++i) {
    numel_ *= dims->shape[i];
    last += (dims->shape[i] - 1) * dims->strides[i];
  }
  extentBytes_ =
      numel_ ? (last + 1) * static_cast<int64_t>(byteSize(dtype_)) : 0;
}

void Tensor::swap(Tensor &other) noexcept {
  std::swap(owner, other.owner);
  std::swap(data_, other.data_);
  std::swap(dtype_, other.dtype_);
  std::swap(device_, other.device_);
  std::swap(dims, other.dims);
  std::swap(numel_, other.numel_);
  std::swap(extentBytes_, other.extentBytes_);
}

const Shape &Tensor::noDims() {
  static const Shape none;
  return none;
}

void Tensor::raiseUndefined(const char *call) {
  invalid(std::string(call) +
          ": expected a tensor with memory, got an undefined tensor");
}

Tensor empty(Shape shape, DType dtype, Device device) {
  int64_t count = checkedCount(shape, dtype);
  size_t bytes = static_cast<size_t>(count) * byteSize(dtype);
  Shape strides = rowMajorStrides(shape);
  if (!device.isHost()) {
    auto memory = valueOrThrow(
        valueOrThrow(gpu::DeviceState::get(device))->memory.allocate(bytes));
    void *address = memory.get();
    return Tensor(
        std::make_shared<Tensor::Storage>(std::move(memory), /*isOwn=*/true),
        address, dtype, device, std::move(shape), std::move(strides));
  }
  std::shared_ptr<void> memory = allocateHostMemory(bytes);
  if (!memory) {
    raise({ErrorCode::OutOfMemory,
           "no memory for a tensor of shape " + listText(shape) + ", " +
               std::string(shortName(dtype)) + ": " + std::to_string(bytes) +
               " bytes",
           {}});
  }
  void *address = memory.get();
  return Tensor(
      std::make_shared<Tensor::Storage>(std::move(memory), /*isOwn=*/true),
      address, dtype, device, std::move(shape), std::move(strides));
}

Tensor emptyLike(const Tensor &model) {
  if (!model.defined()) {
    invalid(
        "emptyLike: expected a tensor with memory, got an undefined tensor");
  }
  return empty(model.shape(), model.dtype(), model.device());
}

static void checkStrides(const Shape &shape, const Shape &strides,
                         int64_t count) {
  if (strides.size() != shape.size()) {
    invalid("strides " + listText(strides) + " for the shape " +
            listText(shape) + ": expected one a dimension, got " +
            std::to_string(strides.size()) + " for " +
            std::to_string(shape.size()));
  }
  int64_t extent = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t reach = 0;
    if (strides[i] < 0) {
      invalid("a tensor's strides: expected numbers from 0 on, since negative "
              "strides are not supported, got " +
              listText(strides));
    }
    if (count && (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
                  __builtin_add_overflow(extent, reach, &extent) ||
                  extent > addressBytes)) {
      invalid("a tensor's strides: expected elements of the address space, "
              "got " +
              listText(strides) + ", which for the shape " + listText(shape) +
              " reach beyond the address space");
    }
  }
}

Tensor Tensor::adopt(std::shared_ptr<void> owner, void *data, Shape shape,
                     DType dtype, Device device, std::optional<Shape> strides) {
  int64_t count = checkedCount(shape, dtype);
  if (!data && count) {
    invalid("a tensor of shape " + listText(shape) +
            ": expected an address, got a null address");
  }
  if (reinterpret_cast<uintptr_t>(data) % byteSize(dtype)) {
    std::string unit = std::to_string(byteSize(dtype));
    invalid("a tensor of " + std::string(languageName(dtype)) +
            ": expected an address that is a multiple of " + unit +
            " bytes, got one that is not a multiple of " + unit + " bytes");
  }
  if (!strides) {
    strides = rowMajorStrides(shape);
  }
  checkStrides(shape, *strides, count);
  return Tensor(std::make_shared<Storage>(std::move(owner)), data, dtype,
                device, std::move(shape), std::move(*strides));
}

Tensor Tensor::borrow(void *data, Shape shape, DType dtype, Device device,
                      std::optional<Shape> strides) {
  return adopt(nullptr, data, std::move(shape), dtype, device,
               std::move(strides));
}

bool Tensor::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = shape().size(); i-- > 0;) {
    if (shape()[i] != 1 && strides()[i] != expected) {
      return numel_ == 0;
    }
    expected *= shape()[i];
  }
  return true;
}

bool Tensor::sharesElements() const {
  for (size_t i = 0; numel_ && i < shape().size(); ++i) {
    if (shape()[i] > 1 && strides()[i] == 0) {
      return true;
    }
  }
  return false;
}

void Tensor::requireElementsApart(const char *call) const {
  if (sharesElements()) {
    invalid(std::string(call) +
            ": expected a tensor whose elements are places of their own, got " +
            str() + "; hint: contiguous() of an expanded tensor has its own");
  }
}

void Tensor::raiseAxis(int axis) const {
  requireDefined("a dimension");
  invalid("a dimension of " + str() + ": expected " +
          (rank() ? "a number from " + std::to_string(-rank()) + " to " +
                        std::to_string(rank() - 1)
                  : std::string("a tensor with dimensions")) +
          ", got dimension " + std::to_string(axis));
}

void Tensor::checkElementType(std::optional<DType> requested) const {
  requireDefined("data");
  bool fits = requested && *requested == dtype_;
  // Bits of the types that C++ does not have.
  fits |= requested == u16 && (dtype_ == f16 || dtype_ == bf16);
  fits |=
      requested == u8 && (dtype_ == fp8e5 || dtype_ == fp8e4nv || dtype_ == i1);
  if (!fits) {
    invalid("data<T>() of " + str() +
            ": expected a T that holds its elements, "
            "got " +
            (requested ? std::string(languageName(*requested))
                       : std::string("no element type")));
  }
}

std::string Tensor::str() const {
  if (!defined()) {
    return "an undefined tensor";
  }
  std::string text = std::string(shortName(dtype_)) + listText(shape());
  return isContiguous() ? text : text + " with strides " + listText(strides());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Replaces the one -1 of `shape` by what makes it hold `count` elements.
static Shape inferShape(Shape shape, int64_t count, const Tensor &from) {
  auto hole = std::find(shape.begin(), shape.end(), -1);
  if (std::count_if(shape.begin(), shape.end(), [](int64_t size) {
        return size < 0;
      }) > (hole != shape.end())) {
    invalid("view of " + from.str() +
            ": expected sizes from 0 on, and -1 once at most, got " +
            listText(shape));
  }
  if (hole != shape.end()) {
    *hole = 1;
    int64_t rest = checkedCount(shape, DType::Int8);
    *hole = rest ? count / rest : 0;
  }
  if (checkedCount(shape, DType::Int8) != count) {
    if (hole != shape.end()) {
      *hole = -1;
    }
    invalid("view of " + from.str() + ": expected a shape of " +
            std::to_string(count) + " elements, got " + listText(shape));
  }
  return shape;
}

/// The strides by which `shape`, of as many elements, reads those of `t` in the
/// same order, if there are any. Dimensions of `t` that one stride steps
/// through are a run; each dimension of `shape` has to lie within one.
static std::optional<Shape> stridesOfView(const Tensor &t, const Shape &shape) {
  if (t.isContiguous() || t.numel() == 0) {
    return rowMajorStrides(shape);
  }
  struct Run {
    int64_t count, stride;
  };
  std::vector<Run> runs; // innermost first
  for (int axis = t.rank(); axis-- > 0;) {
    int64_t size = t.size(axis), stride = t.stride(axis);
    if (size == 1) {
      continue;
    }
    if (!runs.empty() && stride == runs.back().count * runs.back().stride) {
      runs.back().count *= size;
    } else {
      runs.push_back({size, stride});
    }
  }
  Shape strides(shape.size());
  auto run = runs.begin();
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (run->count == 1 && shape[axis] != 1) {
      ++run;
    }
    if (run->count % shape[axis] != 0) {
      return std::nullopt;
    }
    strides[axis] = run->stride;
    run->stride *= shape[axis];
    run->count /= shape[axis];
  }
  return strides;
}

Tensor Tensor::view(Shape shape) const {
  requireDefined("view");
  shape = inferShape(std::move(shape), numel_, *this);
  std::optional<Shape> strides = stridesOfView(*this, shape);
  if (!strides) {
    invalid("view: expected a tensor that strides of " + listText(shape) +
            " can read in its order, got " + str() +
            "; hint: reshape makes a copy where there is no view");
  }
  return Tensor(owner, data_, dtype_, device_, std::move(shape),
                std::move(*strides));
}

Tensor Tensor::reshape(Shape shape) const {
  requireDefined("reshape");
  shape = inferShape(std::move(shape), numel_, *this);
  if (std::optional<Shape> strides = stridesOfView(*this, shape)) {
    return Tensor(owner, data_, dtype_, device_, std::move(shape),
                  std::move(*strides));
  }
  return contiguous().view(std::move(shape));
}

Tensor Tensor::permute(const std::vector<int> &order) const {
  requireDefined("permute");
  Shape shape, strides;
  std::vector<bool> seen(dims->shape.size());
  for (int axis : order) {
    int a = checkedAxis(axis);
    if (seen[a]) {
      invalid("permute of " + str() + ": expected each dimension once, got " +
              "dimension " + std::to_string(axis) + " twice");
    }
    seen[a] = true;
    shape.push_back(dims->shape[a]);
    strides.push_back(dims->strides[a]);
  }
  if (shape.size() != dims->shape.size()) {
    invalid("permute of " + str() + ": expected " + std::to_string(rank()) +
            " dimensions, got " + std::to_string(order.size()));
  }
  return Tensor(owner, data_, dtype_, device_, std::move(shape),
                std::move(strides));
}

Tensor Tensor::transpose(int a, int b) const {
  a = checkedAxis(a);
  b = checkedAxis(b);
  Shape shape = this->shape(), strides = this->strides();
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  return Tensor(owner, data_, dtype_, device_, std::move(shape),
                std::move(strides));
}

Tensor Tensor::asStrided(Shape shape, Shape strides) const {
  requireDefined("asStrided");
  checkStrides(shape, strides, checkedCount(shape, dtype_));
  Tensor view(owner, data_, dtype_, device_, std::move(shape),
              std::move(strides));
  if (view.extentBytes() > extentBytes()) {
    invalid("asStrided of " + str() + ": expected sizes and strides within " +
            std::to_string(extentBytes()) + " bytes, got " + view.str() +
            ", which reaches " + std::to_string(view.extentBytes()));
  }
  return view;
}

Tensor Tensor::slice(int axis, int64_t start, int64_t stop,
                     int64_t step) const {
  int a = checkedAxis(axis);
  if (step < 1) {
    invalid("slice of " + str() + ": expected a step from 1 on, got step " +
            std::to_string(step));
  }
  int64_t size = dims->shape[a];
  auto clip = [size](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  start = clip(start);
  stop = std::max(start, clip(stop));
  Shape shape = dims->shape, strides = dims->strides;
  shape[a] = (stop - start + step - 1) / step;
  strides[a] *= step;
  int64_t offset = shape[a] ? start * dims->strides[a] : 0;
  return Tensor(owner,
                static_cast<std::byte *>(data_) +
                    offset * static_cast<int64_t>(byteSize(dtype_)),
                dtype_, device_, std::move(shape), std::move(strides));
}

Tensor Tensor::select(int axis, int64_t index) const {
  int a = checkedAxis(axis);
  int64_t wrapped = index < 0 ? index + shape()[a] : index;
  if (wrapped < 0 || wrapped >= shape()[a]) {
    invalid("select of " + str() + ": expected an index " +
            (shape()[a] ? "from " + std::to_string(-shape()[a]) + " to " +
                              std::to_string(shape()[a] - 1)
                        : std::string("of a dimension with elements")) +
            ", got index " + std::to_string(index) + " of dimension " +
            std::to_string(axis));
  }
  return slice(a, wrapped, wrapped + 1).squeeze(a);
}

Tensor Tensor::expand(Shape shape) const {
  requireDefined("expand");
  size_t extra = shape.size() - std::min(shape.size(), dims->shape.size());
  bool fits = shape.size() >= dims->shape.size();
  for (size_t i = 0; fits && i < dims->shape.size(); ++i) {
    int64_t own = dims->shape[i], wanted = shape[i + extra];
    fits = own == wanted || wanted == -1 || own == 1;
  }
  if (!fits) {
    invalid("expand of " + str() +
            ": expected a shape whose last sizes are the tensor's where those "
            "are not 1, got " +
            listText(shape));
  }
  Shape strides(shape.size(), 0);
  for (size_t i = 0; i < dims->shape.size(); ++i) {
    int64_t own = dims->shape[i], &wanted = shape[i + extra];
    wanted = wanted == -1 ? own : wanted;
    strides[i + extra] = own == wanted ? dims->strides[i] : 0;
  }
  checkedCount(shape, dtype_);
  return Tensor(owner, data_, dtype_, device_, std::move(shape),
                std::move(strides));
}

Tensor Tensor::unsqueeze(int axis) const {
  requireDefined("unsqueeze");
  int wrapped = axis < 0 ? axis + rank() + 1 : axis;
  if (wrapped < 0 || wrapped > rank()) {
    invalid("unsqueeze of " + str() + ": expected a dimension from " +
            std::to_string(-rank() - 1) + " to " + std::to_string(rank()) +
            ", got dimension " + std::to_string(axis));
  }
  const Shape &from = this->shape(), &by = this->strides();
  auto with = [&](const Shape &values, int64_t value) {
    Shape more(values.size() + 1, value);
    auto at = values.begin() + wrapped;
    std::copy(at, values.end(),
              std::copy(values.begin(), at, more.begin()) + 1);
    return more;
  };
  Shape shape = with(from, 1);
  Shape strides = with(by, wrapped < rank() ? from[wrapped] * by[wrapped] : 1);
  return Tensor(owner, data_, dtype_, device_, std::move(shape),
                std::move(strides));
}

Tensor Tensor::squeeze(int axis) const {
  int a = checkedAxis(axis);
  if (shape()[a] != 1) {
    invalid("squeeze of " + str() +
            ": expected a dimension of size 1, got dimension " +
            std::to_string(axis) + " of size " + std::to_string(shape()[a]));
  }
  Shape shape = this->shape(), strides = this->strides();
  shape.erase(shape.begin() + a);
  strides.erase(strides.begin() + a);
  return Tensor(owner, data_, dtype_, device_, std::move(shape),
                std::move(strides));
}

Tensor Tensor::bitcast(DType dtype) const {
  requireDefined("bitcast");
  if (byteSize(dtype) != byteSize(dtype_)) {
    invalid("bitcast of " + str() + ": expected a type of " +
            std::to_string(byteSize(dtype_)) + " bytes, got " +
            std::string(shortName(dtype)) + " of " +
            std::to_string(byteSize(dtype)));
  }
  Tensor result = *this;
  result.dtype_ = dtype;
  return result;
}

} // namespace nereid
