//===- Tensor.h - Typed, strided arrays -------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Tensor is a handle: copies share memory, as views do. Strides count
// elements, may be zero (broadcast), and are not negative. Memory is owned
// (64-byte aligned; page-aligned from 4 KiB on, with huge pages asked for from
// 4 MiB on), borrowed from the caller, or borrowed from a DLPack producer.
//
// Every function works for tensors of every device and for mixtures of them.
// On a cuda device data() is an address of the device, which the host must not
// touch. Copies go to the current stream (Stream.h): one to the host returns
// when it is done; one from the host returns when the source may be changed.
// Between tensors of one dtype that are both contiguous the bytes are copied as
// they are; all else is converted on the host, and a destination with gaps
// between its elements is then read and written back as a whole.
//
// Converting numbers (`to(dtype)`, `copyFrom`, generators):
//   float -> narrower float   round to nearest, ties to even; fp8 saturates to
//                             its largest finite value, NaN stays NaN
//   float -> integer          towards zero, saturating; NaN gives 0
//   anything -> int1          value != 0
//   integer -> integer        two's complement truncation
//
// A tensor whose elements share memory (expand) is for reading: what would
// write to one throws InvalidArgument.
//
// A Tensor handle is not thread-safe to modify; distinct handles are.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_TENSOR_H
#define NEREID_RUNTIME_TENSOR_H

#include "nereid/ABI/DType.h"
#include "nereid/Runtime/Device.h"

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nereid {

/// Element types under the names kernels use.
inline constexpr DType i1 = DType::Int1, i8 = DType::Int8, i16 = DType::Int16,
                       i32 = DType::Int32, i64 = DType::Int64,
                       u8 = DType::UInt8, u16 = DType::UInt16,
                       u32 = DType::UInt32, u64 = DType::UInt64,
                       fp8e4nv = DType::Float8E4M3, fp8e5 = DType::Float8E5M2,
                       f16 = DType::Float16, bf16 = DType::BFloat16,
                       f32 = DType::Float32, f64 = DType::Float64;

using Shape = std::vector<int64_t>;

/// The DType whose elements a C++ T holds bit for bit; nothing for others.
template <typename T>
constexpr std::optional<DType> dtypeOf() {
  if constexpr (std::is_same_v<T, bool>) {
    return i1;
  } else if constexpr (std::is_same_v<T, float>) {
    return f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return f64;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr DType table[2][4] = {{u8, u16, u32, u64}, {i8, i16, i32, i64}};
    constexpr int log2Bytes = sizeof(T) == 1   ? 0
                              : sizeof(T) == 2 ? 1
                              : sizeof(T) == 4 ? 2
                                               : 3;
    return table[std::is_signed_v<T>][log2Bytes];
  } else {
    return std::nullopt;
  }
}

class Tensor {
public:
  /// An undefined tensor, as one that was moved from is: it has no elements,
  /// and whatever needs some throws InvalidArgument.
  Tensor() = default;
  Tensor(const Tensor &) = default;
  Tensor(Tensor &&other) noexcept
      : owner(std::move(other.owner)),
        data_(std::exchange(other.data_, nullptr)),
        dtype_(std::exchange(other.dtype_, DType::Float32)),
        device_(std::exchange(other.device_, Device())),
        dims(std::move(other.dims)), numel_(std::exchange(other.numel_, 0)),
        extentBytes_(std::exchange(other.extentBytes_, 0)) {}
  Tensor &operator=(const Tensor &) = default;
  Tensor &operator=(Tensor &&other) noexcept {
    Tensor(std::move(other)).swap(*this);
    return *this;
  }
  ~Tensor() = default;

  /// Memory of the caller, which must outlive every view. `strides` in
  /// elements; row-major when absent. Throws InvalidArgument on a null pointer
  /// with elements, a negative size, or a pointer that is not aligned to the
  /// element.
  static Tensor borrow(void *data, Shape shape, DType dtype,
                       Device device = Device::cpu(),
                       std::optional<Shape> strides = std::nullopt);
  /// The same, keeping `owner` alive as long as any view.
  static Tensor adopt(std::shared_ptr<void> owner, void *data, Shape shape,
                      DType dtype, Device device = Device::cpu(),
                      std::optional<Shape> strides = std::nullopt);
  /// A copy of `values` as a tensor of `shape` (one dimension when absent).
  template <typename T>
  static Tensor fromVector(const std::vector<T> &values,
                           std::optional<Shape> shape = std::nullopt,
                           Device device = Device::cpu()) {
    static_assert(dtypeOf<T>().has_value(), "no dtype holds this C++ type");
    return fromValues(values.size(), *dtypeOf<T>(), std::move(shape), device,
                      [&](size_t i) { return static_cast<T>(values[i]); });
  }

  bool defined() const { return owner != nullptr; }
  /// Is this the only handle or view of memory that Nereid made? Then nothing
  /// else can see it change. Memory that is borrowed or adopted is another's.
  bool isUnique() const { return owner.use_count() == 1 && owner->isOwn; }
  /// How often its memory was written to, by `copyFrom`, `fill`, the library's
  /// operators that work in place, and callers of `noteWrite`: kernels
  /// that a program launches itself count only so. What borrows memory counts
  /// for itself and its views.
  uint64_t writes() const { return owner ? owner->writes.load() : 0; }
  void noteWrite() const {
    if (owner) {
      ++owner->writes;
    }
  }
  /// Are several elements one place in memory, as in a dimension of stride 0?
  bool sharesElements() const;
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  int rank() const { return static_cast<int>(shape().size()); }
  const Shape &shape() const { return dims ? dims->shape : noDims(); }
  const Shape &strides() const { return dims ? dims->strides : noDims(); }
  /// The shape, for what outlives the tensor, without a copy; null of an
  /// undefined one.
  std::shared_ptr<const Shape> sharedShape() const {
    return dims ? std::shared_ptr<const Shape>(dims, &dims->shape) : nullptr;
  }
  /// Size and stride (elements) of a dimension; a negative axis counts from
  /// the end. Throws InvalidArgument when out of range.
  int64_t size(int axis) const { return shape()[checkedAxis(axis)]; }
  int64_t stride(int axis) const { return strides()[checkedAxis(axis)]; }
  int64_t numel() const { return numel_; }
  /// Bytes of the elements: numel * byteSize(dtype).
  int64_t bytes() const { return numel_ * int64_t(byteSize(dtype_)); }
  /// Bytes from the first to one past the last element in memory.
  int64_t extentBytes() const { return extentBytes_; }
  bool isContiguous() const;

  void *data() const { return data_; }
  /// Throws InvalidArgument when T does not match the dtype. The 2-byte floats
  /// may be read as uint16_t, the fp8 types as uint8_t.
  template <typename T>
  T *data() const {
    checkElementType(dtypeOf<std::remove_const_t<T>>());
    return static_cast<T *>(data_);
  }

  // Views: share memory, O(rank). Throw InvalidArgument naming the shapes.
  Tensor view(Shape shape) const;    ///< of the same memory; one -1 is inferred
  Tensor reshape(Shape shape) const; ///< a view if possible, else a copy
  Tensor flatten() const { return reshape({numel_}); }
  Tensor transpose(int a, int b) const;
  Tensor permute(const std::vector<int> &order) const;
  /// Any sizes and strides from the first element on that reach no further than
  /// the last one in memory.
  Tensor asStrided(Shape shape, Shape strides) const;
  /// Elements start, start + step, ... below stop; negatives count from the
  /// end and out-of-range bounds are clipped, as in Python.
  Tensor slice(int axis, int64_t start, int64_t stop = INT64_MAX,
               int64_t step = 1) const;
  Tensor select(int axis, int64_t index) const; ///< drops the dimension
  /// Dimensions of size 1 repeat, with stride 0; -1 keeps a size.
  Tensor expand(Shape shape) const;
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor unsqueeze(int axis) const;
  Tensor squeeze(int axis) const;
  /// The same bits as another type of the same size.
  Tensor bitcast(DType dtype) const;

  // Copies.
  Tensor clone() const;           ///< row-major
  Tensor contiguous() const;      ///< *this when it is already
  Tensor to(Device device) const; ///< *this when it is there already
  Tensor to(DType dtype) const;   ///< *this when it has it already
  /// Element by element with conversion; `source` is broadcast to this shape.
  const Tensor &copyFrom(const Tensor &source) const;
  const Tensor &fill(double value) const;
  /// Exactly: a double has 53 bits of an integer.
  template <typename T>
    requires(std::is_integral_v<T> && sizeof(T) == 8)
  const Tensor &fill(T value) const {
    return fillWith(&value, *dtypeOf<T>());
  }
  const Tensor &zero() const { return fill(0); }

  /// Every element as a double, row-major: what references compute with.
  std::vector<double> toFloat64() const;
  /// Every element converted to T, row-major.
  template <typename T>
  std::vector<T> toVector() const {
    static_assert(dtypeOf<T>().has_value(), "no dtype holds this C++ type");
    Tensor rowMajor = onHost().to(*dtypeOf<T>()).contiguous();
    const T *first = static_cast<const T *>(rowMajor.data());
    return std::vector<T>(first, first + numel_);
  }
  /// One element as a double. `index` has one entry a dimension.
  double at(std::initializer_list<int64_t> index) const;
  /// The only element. Throws when there is not exactly one.
  double item() const;
  /// The same as a T: int64_t for integers beyond 2^53.
  template <typename T>
  T at(std::initializer_list<int64_t> index) const {
    return element(index).item<T>();
  }
  template <typename T>
  T item() const {
    static_assert(dtypeOf<T>().has_value(), "no dtype holds this C++ type");
    T value;
    readItem(&value, *dtypeOf<T>());
    return value;
  }

  /// *this when the host can read it, else a copy on the cpu device.
  Tensor onHost() const { return device_.isHost() ? *this : to(Device::cpu()); }

  /// "fp32[4096, 4096]", with the strides when not row-major.
  std::string str() const;

private:
  friend Tensor empty(Shape, DType, Device);

  /// What all views of one memory share.
  struct Storage {
    explicit Storage(std::shared_ptr<void> memory, bool isOwn = false)
        : memory(std::move(memory)), isOwn(isOwn) {}
    std::shared_ptr<void> memory; ///< null: borrowed
    bool isOwn;                   ///< made by `empty`
    std::atomic<uint64_t> writes = 0;
  };

  /// What a tensor and its copies share, since most tensors are copies: a copy
  /// allocates nothing.
  struct Dims {
    Shape shape, strides;
  };

  Tensor(std::shared_ptr<Storage> owner, void *data, DType dtype, Device device,
         Shape shape, Shape strides);
  /// Of an undefined tensor.
  [[gnu::cold]] static const Shape &noDims();
  const Tensor &fillWith(const void *value, DType dtype) const;
  Tensor element(std::initializer_list<int64_t> index) const;
  void readItem(void *value, DType dtype) const;
  void requireElementsApart(const char *call) const;
  void swap(Tensor &other) noexcept;
  /// `call`: what is asked of the tensor, for the message.
  void requireDefined(const char *call) const {
    if (!defined()) [[unlikely]] {
      raiseUndefined(call);
    }
  }
  [[noreturn, gnu::cold]] static void raiseUndefined(const char *call);
  int checkedAxis(int axis) const {
    int ranks = rank(), wrapped = axis < 0 ? axis + ranks : axis;
    if (!defined() || wrapped < 0 || wrapped >= ranks) [[unlikely]] {
      raiseAxis(axis);
    }
    return wrapped;
  }
  [[noreturn, gnu::cold]] void raiseAxis(int axis) const;
  void checkElementType(std::optional<DType> requested) const;
  template <typename Get>
  static Tensor fromValues(size_t count, DType dtype,
                           std::optional<Shape> shape, Device device, Get get);

  std::shared_ptr<Storage> owner;
  void *data_ = nullptr;
  DType dtype_ = DType::Float32;
  Device device_;
  std::shared_ptr<const Dims> dims; ///< null: undefined
  int64_t numel_ = 0, extentBytes_ = 0;
};

// Makers. Random numbers come from Philox4x32-10 with `seed` as key: element
// 4k + j is lane j of counter k, so that a value depends on its index and the
// seed only, never on the number of threads. Without a seed, each call takes
// the next of the process's sequence, which is the same in every run of a
// program whose calls come in one order.

/// The process's sequence of seeds begins again. Thread-safe.
void manualSeed(uint64_t seed);
/// The next of the sequence, for what draws numbers in another way (dropout).
uint64_t nextSeed();

Tensor empty(Shape shape, DType dtype = f32, Device device = Device::best());
Tensor emptyLike(const Tensor &model);
Tensor zeros(Shape shape, DType dtype = f32, Device device = Device::best());
Tensor full(Shape shape, double value, DType dtype = f32,
            Device device = Device::best());
/// Exactly: a double has 53 bits of an integer.
template <typename T>
  requires(std::is_integral_v<T> && sizeof(T) == 8)
Tensor full(Shape shape, T value, DType dtype = f32,
            Device device = Device::best()) {
  Tensor result = empty(std::move(shape), dtype, device);
  result.fill(value);
  return result;
}
/// start, start + step, ... in row-major order.
Tensor arange(Shape shape, DType dtype = i32, Device device = Device::best(),
              double start = 0, double step = 1);
/// Uniform in [0, 1).
Tensor rand(Shape shape, DType dtype = f32, Device device = Device::best(),
            std::optional<uint64_t> seed = std::nullopt);
/// Standard normal (Box-Muller in float32).
Tensor randn(Shape shape, DType dtype = f32, Device device = Device::best(),
             std::optional<uint64_t> seed = std::nullopt);
/// Uniform integers in [low, high). Throws when low >= high or the dtype
/// cannot hold them.
Tensor randint(Shape shape, int64_t low, int64_t high, DType dtype = i32,
               Device device = Device::best(),
               std::optional<uint64_t> seed = std::nullopt);

template <typename Get>
Tensor Tensor::fromValues(size_t count, DType dtype, std::optional<Shape> shape,
                          Device device, Get get) {
  Tensor flat = empty({static_cast<int64_t>(count)}, dtype,
                      device.isHost() ? device : Device::cpu());
  auto *out = static_cast<decltype(get(0)) *>(flat.data());
  for (size_t i = 0; i < count; ++i) {
    out[i] = get(i);
  }
  return (shape ? flat.view(std::move(*shape)) : flat).to(device);
}

} // namespace nereid

#endif // NEREID_RUNTIME_TENSOR_H
