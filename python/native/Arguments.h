//===- Arguments.h - Python's values as a launch's arguments ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments are views (Runtime/Argument.h): a Held owns what they look at, and
// must outlive the launch. The Python objects are the caller's.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PYTHON_NATIVE_ARGUMENTS_H
#define NEREID_PYTHON_NATIVE_ARGUMENTS_H

#include "python/native/Objects.h"
#include "python/native/TorchTensors.h"

#include "nereid/Runtime/Argument.h"

#include <deque>
#include <optional>
#include <vector>

namespace nereid::python {

/// Elements that do not move, the first `n` of them without an allocation.
template <typename T, size_t n>
class Pool {
public:
  Pool() {} // leaves `storage` as it is
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool() {
    for (size_t i = 0; i < used; ++i) {
      at(i)->~T();
    }
  }
  T &add(T &&value) {
    if (used < n) {
      T *made = new (storage + used * sizeof(T)) T(std::move(value));
      ++used;
      return *made;
    }
    if (!more) {
      more = std::make_unique<std::deque<T>>();
    }
    return more->emplace_back(std::move(value));
  }

private:
  T *at(size_t i) {
    return std::launder(reinterpret_cast<T *>(storage + i * sizeof(T)));
  }
  alignas(T) std::byte storage[n * sizeof(T)];
  size_t used = 0;
  std::unique_ptr<std::deque<T>> more;
};

/// The GPU that PyTorch calls cuda:N: a build of it for ROCm names AMD's so.
Device gpuOf(int index);

/// DLPack's C table of a type of tensors (`__dlpack_c_exchange_api__`).
struct ExchangeApi;

struct Held {
  Pool<Tensor, 24> tensors;
  Pool<Tuple, 2> tuples;
  Pool<TensorDescriptor, 2> descriptors;
  /// The device of arrays in the host's memory: cpu, or interp.
  Device host;
  /// Of the first array, cpu for all of the host's memory; others are compared
  /// by the runtime.
  std::optional<Device> place;
  /// That of the first array with one, for its streams.
  const ExchangeApi *api = nullptr;
  /// Arrays on GPUs become addresses, which cost less than tensors; then
  /// `isMixed` says that not all are on one device, which the runtime cannot
  /// see of addresses.
  bool asAddresses = false, isMixed = false;
  /// A dict from jit functions to their names in the kernel's text; those that
  /// are not in it go to `missing`.
  PyObject *functions = nullptr;
  Ref missing = {};
  /// The parameter is a constexpr: an object of any class that has a hash is
  /// its repr.
  bool takesAnyObject = false;
  std::vector<Ref> texts = {}; ///< such reprs
  /// dtypes stand for arrays of them (warmup).
  bool takesDTypesAsArrays = false;

  /// Before arguments are read once more.
  void forgetArrays() {
    place.reset();
    api = nullptr;
    isMixed = false;
  }
};

/// A value of an earlier call, by what another one must have in common with it
/// to have the same form.
struct ArgumentRule {
  enum class Read : uint8_t {
    Same,   ///< the same object
    Number, ///< the same int: compiled in
    Integer,
    Float,
    Array, ///< of a type with a C table
    Unread ///< an option that is ignored
  };
  Read read = Read::Unread;
  /// Of an integer: 1 beyond 32 bits, 2 it is one, 4 a multiple of 16. Of an
  /// array: 1 its address is no multiple of 16.
  uint8_t traits = 0;
  DType element = DType::Int1; ///< of an array
  uint16_t given = 0;          ///< its place in the call
  uint16_t argument = 0;       ///< and in the launch
  /// Of an array: DLPack's type, in 32 bits.
  uint32_t type = 0;
  union {
    int64_t number = 0;
    PyObject *object;
    PyTypeObject *arrays;
  };
  const ExchangeApi *api = nullptr;
  Device place; ///< of an array
  /// Of a tensor of torch on a GPU: where readTensor finds it, and what it
  /// says; 0: by `api`.
  uint16_t tensorPlace = 0;
  TorchFacts facts;
};

/// The rule of `object`, which an argument was made of; nothing where none can
/// be. `keep` takes what the rule refers to.
std::optional<ArgumentRule> ruleOf(PyObject *object, bool isStatic,
                                   const Held &held, std::vector<Ref> &keep);

/// Does the rule hold of `object`? Then `found`, which was the argument of the
/// rule's own, is that of `object`. Raises nothing.
bool readLike(const ArgumentRule &rule, PyObject *object, Held &held,
              Argument &found);

/// The two of arrays.
std::optional<ArgumentRule> ruleOfArray(PyObject *object);
bool readArrayLike(const ArgumentRule &rule, PyObject *object, Held &held,
                   Argument &found);

/// Throws PythonError with TypeError or OverflowError; `describe` says which
/// parameter, for the message.
Argument toArgument(PyObject *object, Held &held, PyObject *parameter);

/// An array of any library; nothing if the object is not an array.
std::optional<Argument> arrayOf(PyObject *object, Held &held,
                                PyObject *parameter);

/// The stream that `api`'s library works on (CUstream).
void *currentStream(const ExchangeApi *api, Device device);

/// A value in plain form: None, bool, int, float, str, dtype, tuple, dict.
StaticValue toStatic(PyObject *object);

/// Of a language dtype; nothing for those that are no element type.
std::optional<DType> dtypeOfObject(PyObject *dtype);

} // namespace nereid::python

#endif // NEREID_PYTHON_NATIVE_ARGUMENTS_H
