//===- Arrays.cpp - Tensors of torch, arrays of NumPy and others ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In this order: the C table that a library has for its type (one call, no
// object made), the buffer protocol, __dlpack__, and data_ptr() with dtype, as
// upstream asks for them. The table is asked for once a type, and only where
// the type itself has it: a subclass may be a tensor without memory.
//
//===----------------------------------------------------------------------===//

#include "python/native/Arguments.h"

#include "nereid/Runtime/DLPack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace nereid::python {

/// Of DLPack 1.3, written from its specification.
struct ExchangeApi {
  dlpack::Version version;
  const ExchangeApi *previous;
  void *allocate;
  void *managedFromObject;
  void *objectFromManaged;
  int (*viewFromObject)(void *object, dlpack::TensorView *view);
  int (*currentStream)(int32_t deviceType, int32_t deviceIndex, void **stream);
};

static std::optional<DType> dtypeOfView(dlpack::DataType type) {
  if (type.lanes != 1) {
    return std::nullopt;
  }
  auto by = [&](DType d8, DType d16, DType d32,
                DType d64) -> std::optional<DType> {
    switch (type.bits) {
    case 8:
      return d8;
    case 16:
      return d16;
    case 32:
      return d32;
    case 64:
      return d64;
    default:
      return std::nullopt;
    }
  };
  switch (type.code) {
  case dlpack::TypeInt:
    return by(i8, i16, i32, i64);
  case dlpack::TypeUInt:
    return by(u8, u16, u32, u64);
  case dlpack::TypeFloat:
    return type.bits == 8 ? std::nullopt : by(f16, f16, f32, f64);
  case dlpack::TypeBFloat:
    return type.bits == 16 ? std::optional(bf16) : std::nullopt;
  case dlpack::TypeBool:
    return type.bits == 8 ? std::optional(i1) : std::nullopt;
  case dlpack::TypeFloat8E4M3FN:
    return fp8e4nv;
  case dlpack::TypeFloat8E5M2:
    return fp8e5;
  default:
    return std::nullopt;
  }
}

[[noreturn, gnu::cold]] static void raiseDType(PyObject *object,
                                               PyObject *parameter) {
  Ref dtype = attributeOrNull(object, registered.names.dtype);
  Ref text = Ref::steal(dtype ? PyObject_Str(dtype.get())
                              : PyUnicode_FromString("an unknown dtype"));
  raisePython(PyExc_TypeError,
              "argument '" + std::string(textOf(parameter)) +
                  "': expected an array of integers, bool or floats (fp8e4nv, "
                  "fp8e5, fp16, bf16, fp32, fp64), got one of " +
                  std::string(textOf(text.get())) +
                  "; hint: convert it, or view it as such");
}

Device gpuOf(int index) {
  static const bool isHip = Device::best().kind() == Device::Kind::Hip;
  return isHip ? Device::hip(index) : Device::cuda(index);
}

static Device deviceOf(Held &held, Device place) {
  if (!held.place) {
    held.place = place;
  } else if (*held.place != place) [[unlikely]] {
    held.isMixed = true;
  }
  return place.isHost() ? held.host : place;
}

/// Strides that a Tensor does not have: of reversed arrays. Their address is
/// all that a kernel needs.
static bool isReversed(const int64_t *strides, int rank) {
  for (int i = 0; strides && i < rank; ++i) {
    if (strides[i] < 0) {
      return true;
    }
  }
  return false;
}

static Argument argumentOf(void *data, int rank, const int64_t *shape,
                           const int64_t *strides, DType dtype, Device device,
                           Held &held) {
  if ((held.asAddresses && !device.isHost()) || isReversed(strides, rank)) {
    return Pointer(data, dtype);
  }
  std::optional<Shape> steps;
  if (strides) {
    steps.emplace(strides, strides + rank);
  }
  return held.tensors.add(Tensor::borrow(data, Shape(shape, shape + rank),
                                         dtype, device, std::move(steps)));
}

static Device placeOf(const dlpack::TensorView &view, PyObject *parameter) {
  switch (view.device.type) {
  case dlpack::DeviceCuda:
    return Device::cuda(view.device.index);
  case dlpack::DeviceRocm:
    return Device::hip(view.device.index);
  case dlpack::DeviceCpu:
  case dlpack::DeviceCudaHost:
  case dlpack::DeviceRocmHost:
    return Device();
  default:
    raisePython(
        PyExc_TypeError,
        "argument '" + std::string(textOf(parameter)) +
            "': expected an array on cpu, cuda or hip, got one on a device "
            "of DLPack's type " +
            std::to_string(view.device.type));
  }
}

static void *addressOf(const dlpack::TensorView &view) {
  return view.data ? static_cast<char *>(view.data) + view.byteOffset : nullptr;
}

/// Has it elements, but no memory? Of a tensor whose storage was let go.
static bool lacksMemory(const dlpack::TensorView &view) {
  if (view.data) [[likely]] {
    return false;
  }
  return std::count(view.shape, view.shape + view.rank, 0) == 0;
}

static Argument argumentOf(const dlpack::TensorView &view, PyObject *object,
                           Held &held, PyObject *parameter) {
  std::optional<DType> dtype = dtypeOfView(view.dtype);
  if (!dtype) [[unlikely]] {
    raiseDType(object, parameter);
  }
  Device place = placeOf(view, parameter);
  if (lacksMemory(view)) [[unlikely]] {
    raisePython(PyExc_ValueError,
                "argument '" + std::string(textOf(parameter)) +
                    "': expected an array with memory, got one of dtype " +
                    std::string(languageName(*dtype)) +
                    " whose memory was freed");
  }
  void *data = addressOf(view);
  return argumentOf(data, view.rank, view.shape, view.strides, *dtype,
                    deviceOf(held, place), held);
}

//===----------------------------------------------------------------------===//
// The C table of a type
//===----------------------------------------------------------------------===//

namespace {
struct KnownType {
  PyTypeObject *type; ///< kept, so that no other gets its address
  const ExchangeApi *api;
};
} // namespace

/// torch.Tensor has the table from its base, torch's Parameter from Tensor.
static bool isTypeItself(PyTypeObject *type) {
  if (isNamed(type, "torch", "Tensor") ||
      isNamed(type, "torch.nn.parameter", "Parameter")) {
    return true;
  }
  Ref own =
      attribute(reinterpret_cast<PyObject *>(type), registered.names.dict);
  return PySequence_Contains(own.get(), registered.names.exchangeApi) == 1;
}

static const ExchangeApi *findApi(PyTypeObject *type) {
  Ref capsule = attributeOrNull(reinterpret_cast<PyObject *>(type),
                                registered.names.exchangeApi);
  if (!capsule || !isTypeItself(type) ||
      !PyCapsule_IsValid(capsule.get(), "dlpack_exchange_api")) {
    return nullptr;
  }
  const auto *api = static_cast<const ExchangeApi *>(
      PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
  while (api && api->version.major != 1) {
    api = api->previous;
  }
  return api && api->viewFromObject ? api : nullptr;
}

/// Once a tensor of it was seen.
static const ExchangeApi *torchsApi;

/// Null: the type has none, which is not remembered.
static const ExchangeApi *apiOf(PyTypeObject *type) {
  static std::array<KnownType, 8> known = {};
  for (const KnownType &k : known) {
    if (k.type == type) {
      return k.api;
    }
    if (!k.type) {
      break;
    }
  }
  const ExchangeApi *api = findApi(type);
  if (api) {
    if (isNamed(type, "torch", "Tensor")) {
      torchsApi = api;
    }
    for (KnownType &k : known) {
      if (!k.type) {
        Py_INCREF(reinterpret_cast<PyObject *>(type));
        k = {type, api};
        break;
      }
    }
  }
  return api;
}

//===----------------------------------------------------------------------===//
// Arrays like those of an earlier call
//===----------------------------------------------------------------------===//

static bool isMisaligned(const void *data) {
  return reinterpret_cast<uintptr_t>(data) & 15;
}

static bool isMisaligned(const dlpack::TensorView &view) {
  return isMisaligned(addressOf(view));
}

/// On the host all of DLPack's devices are one; these have memory on GPUs.
static std::optional<Device> placeOrNone(dlpack::DeviceId device) {
  switch (device.type) {
  case dlpack::DeviceCpu:
    return Device();
  case dlpack::DeviceCuda:
    return Device::cuda(device.index);
  case dlpack::DeviceRocm:
    return Device::hip(device.index);
  default:
    return std::nullopt;
  }
}

std::optional<ArgumentRule> ruleOfArray(PyObject *object) {
  ArgumentRule rule;
  rule.read = ArgumentRule::Read::Array;
  rule.arrays = Py_TYPE(object);
  rule.api = apiOf(rule.arrays);
  dlpack::TensorView view;
  if (!rule.api) {
    return std::nullopt;
  }
  if (rule.api->viewFromObject(object, &view)) {
    PyErr_Clear();
    return std::nullopt;
  }
  std::optional<DType> element = dtypeOfView(view.dtype);
  std::optional<Device> place = placeOrNone(view.device);
  if (!element || !place) {
    return std::nullopt;
  }
  rule.element = *element;
  rule.place = *place;
  rule.type = std::bit_cast<uint32_t>(view.dtype);
  rule.traits = isMisaligned(view);
  if (!rule.place.isHost()) {
    rule.tensorPlace = placeOfTensor(object);
    void *data = nullptr;
    if (rule.tensorPlace &&
        (!readTensor(object, rule.tensorPlace, data, rule.facts) ||
         data != addressOf(view))) {
      rule.tensorPlace = 0;
    }
  }
  return rule;
}

bool readArrayLike(const ArgumentRule &rule, PyObject *object, Held &held,
                   Argument &found) {
  if (Py_TYPE(object) != rule.arrays) {
    return false;
  }
  held.api = rule.api;
  if (rule.tensorPlace && held.asAddresses) {
    TorchFacts facts;
    void *data = nullptr;
    if (!readTensor(object, rule.tensorPlace, data, facts) ||
        facts != rule.facts || isMisaligned(data) != (rule.traits != 0) ||
        !data) { // of an empty one, or one whose memory was freed
      return false;
    }
    found.address = data;
    return found.kind == Argument::Kind::Pointer;
  }
  dlpack::TensorView view;
  if (rule.api->viewFromObject(object, &view)) {
    PyErr_Clear(); // reading it again says what is wrong
    return false;
  }
  if (lacksMemory(view) || std::bit_cast<uint32_t>(view.dtype) != rule.type ||
      isMisaligned(view) != (rule.traits != 0) ||
      placeOrNone(view.device) != rule.place) {
    return false;
  }
  void *data = addressOf(view);
  if (held.asAddresses && !rule.place.isHost()) {
    found.address = data;
    return found.kind == Argument::Kind::Pointer;
  }
  found = argumentOf(data, view.rank, view.shape, view.strides, rule.element,
                     deviceOf(held, rule.place), held);
  return true;
}

void *currentStream(const ExchangeApi *api, Device device) {
  void *stream = nullptr;
  if (!api) { // no array among the arguments
    api = torchsApi;
  }
  if (api && api->currentStream) {
    if (api->currentStream(device.kind() == Device::Kind::Hip
                               ? dlpack::DeviceRocm
                               : dlpack::DeviceCuda,
                           device.index(), &stream)) {
      throw PythonError();
    }
    return stream;
  }
  if (registered.currentStream) {
    Ref handle = Ref::steal(
        PyObject_CallFunction(registered.currentStream, "i", device.index()));
    stream = PyLong_AsVoidPtr(handle.get());
    if (!stream && PyErr_Occurred()) {
      throw PythonError();
    }
  }
  return stream;
}

//===----------------------------------------------------------------------===//
// Buffers, __dlpack__, data_ptr()
//===----------------------------------------------------------------------===//

static std::optional<DType> dtypeOfFormat(const char *format, size_t bytes) {
  if (!format) {
    return std::nullopt;
  }
  if (*format == '@' || *format == '=' || *format == '<') {
    ++format;
  }
  if (!*format || format[1]) {
    return std::nullopt;
  }
  auto sized = [&](DType a, DType b, DType c, DType d) -> std::optional<DType> {
    return bytes == 1 ? a : bytes == 2 ? b : bytes == 4 ? c : d;
  };
  switch (*format) {
  case '?':
    return i1;
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
  case 'n':
    return sized(i8, i16, i32, i64);
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
  case 'N':
    return sized(u8, u16, u32, u64);
  case 'e':
    return f16;
  case 'f':
    return f32;
  case 'd':
    return f64;
  default:
    return std::nullopt;
  }
}

static Argument fromBuffer(PyObject *object, Held &held, PyObject *parameter) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_STRIDES | PyBUF_FORMAT)) {
    throw PythonError();
  }
  // NumPy keeps the memory where it is; the caller keeps the array.
  struct Release {
    Py_buffer *buffer;
    ~Release() { PyBuffer_Release(buffer); }
  } release{&buffer};
  if (buffer.readonly) {
    raisePython(PyExc_ValueError,
                "argument '" + std::string(textOf(parameter)) +
                    "': expected an array that may be written to, got a "
                    "read-only one; hint: pass a copy of it");
  }
  auto bytes = static_cast<size_t>(buffer.itemsize);
  std::optional<DType> dtype = dtypeOfFormat(buffer.format, bytes);
  if (!dtype || byteSize(*dtype) != bytes) {
    raiseDType(object, parameter);
  }
  Device device = deviceOf(held, {});
  std::vector<int64_t> shape(buffer.ndim), strides(buffer.ndim);
  for (int i = 0; i < buffer.ndim; ++i) {
    shape[i] = buffer.shape[i];
    if (buffer.strides[i] % buffer.itemsize) {
      return Pointer(buffer.buf, *dtype); // a field of records
    }
    strides[i] = buffer.strides[i] / buffer.itemsize;
  }
  return argumentOf(buffer.buf, buffer.ndim, shape.data(), strides.data(),
                    *dtype, device, held);
}

static Argument fromDLPackMethod(PyObject *object, Held &held,
                                 PyObject *parameter) {
  Ref capsule = Ref::steal(
      PyObject_CallMethodObjArgs(object, registered.names.dlpack, nullptr));
  const char *name = "dltensor";
  if (!PyCapsule_IsValid(capsule.get(), name)) {
    raisePython(PyExc_TypeError, "argument '" + std::string(textOf(parameter)) +
                                     "': expected __dlpack__() to give a "
                                     "capsule 'dltensor', got another object");
  }
  auto *managed = static_cast<dlpack::ManagedTensor *>(
      PyCapsule_GetPointer(capsule.get(), name));
  if (!dtypeOfView(managed->tensor.dtype)) {
    raiseDType(object, parameter);
  }
  Tensor tensor = nereid::fromDLPack(managed);
  PyCapsule_SetName(capsule.get(), "used_dltensor");
  if (!held.place) {
    held.place = tensor.device();
  }
  return held.tensors.add(std::move(tensor));
}

/// "torch.float32" -> float32
static std::optional<DType> dtypeByName(PyObject *dtype) {
  if (std::optional<DType> known = dtypeOfObject(dtype)) {
    return known;
  }
  Ref text = Ref::steal(PyObject_Str(dtype));
  std::string_view name = textOf(text.get());
  name.remove_prefix(name.rfind('.') + 1);
  if (name == "bool") {
    return i1;
  }
  if (name == "float8_e4m3fn") {
    return fp8e4nv;
  }
  if (name == "float8_e5m2") {
    return fp8e5;
  }
  std::optional<DType> found = parseDType(name);
  return found && languageName(*found) == name ? found : std::nullopt;
}

static Argument fromDataPtr(PyObject *object, Held &held, PyObject *parameter) {
  Ref address = Ref::steal(
      PyObject_CallMethodObjArgs(object, registered.names.dataPtr, nullptr));
  void *data = PyLong_AsVoidPtr(address.get());
  if (!data && PyErr_Occurred()) {
    throw PythonError();
  }
  Ref dtype = attribute(object, registered.names.dtype);
  std::optional<DType> element = dtypeByName(dtype.get());
  if (!element) {
    raiseDType(object, parameter);
  }
  // A tensor under another dtype (triton.reinterpret).
  if (Ref base = attributeOrNull(object, registered.names.base)) {
    dlpack::TensorView view;
    const ExchangeApi *api = apiOf(Py_TYPE(base.get()));
    if (api && !api->viewFromObject(base.get(), &view) &&
        view.dtype.bits == 8 * byteSize(*element)) {
      held.api = held.api ? held.api : api;
      Device at = placeOf(view, parameter);
      return argumentOf(data, view.rank, view.shape, view.strides, *element,
                        deviceOf(held, at), held);
    }
    PyErr_Clear();
  }
  Device place;
  bool isPlaced = false;
  if (Ref device = attributeOrNull(object, registered.names.device)) {
    if (Ref type = attributeOrNull(device.get(), registered.names.type)) {
      Ref index = attributeOrNull(device.get(), registered.names.deviceIndex);
      isPlaced = true;
      if (PyUnicode_Check(type.get()) && textOf(type.get()) == "cuda") {
        bool isNumber = index && PyLong_Check(index.get());
        place =
            gpuOf(isNumber ? static_cast<int>(PyLong_AsLong(index.get())) : 0);
      }
    }
  }
  // What only stands for an array is nowhere: the active device is compiled
  // for.
  if (isPlaced || !held.takesDTypesAsArrays) {
    deviceOf(held, place);
  }
  return Pointer(data, *element);
}

std::optional<Argument> arrayOf(PyObject *object, Held &held,
                                PyObject *parameter) {
  PyTypeObject *type = Py_TYPE(object);
  static PyTypeObject *numpysArray; // once one was seen
  if (type == numpysArray) {
    return fromBuffer(object, held, parameter);
  }
  if (const ExchangeApi *api = apiOf(type)) {
    dlpack::TensorView view;
    if (api->viewFromObject(object, &view)) {
      throw PythonError();
    }
    if (!held.api) {
      held.api = api;
    }
    return argumentOf(view, object, held, parameter);
  }
  auto *asObject = reinterpret_cast<PyObject *>(type);
  if (attributeOrNull(asObject, registered.names.dataPtr)) {
    return fromDataPtr(object, held, parameter);
  }
  if (isNamed(type, "numpy", "ndarray")) {
    Py_INCREF(asObject);
    numpysArray = type;
    return fromBuffer(object, held, parameter);
  }
  if (attributeOrNull(asObject, registered.names.dlpack)) {
    return fromDLPackMethod(object, held, parameter);
  }
  if (held.takesDTypesAsArrays && isNamed(type, "torch", "dtype")) {
    if (std::optional<DType> dtype = dtypeByName(object)) {
      deviceOf(held, {});
      return Pointer(nullptr, *dtype);
    }
  }
  return std::nullopt;
}

} // namespace nereid::python
