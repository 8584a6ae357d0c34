//===- Specialize.cpp - What an argument specializes ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/launch/Specialize.h"

#include "nereid/ABI/Encoding.h"
#include "nereid/Support/FloatFormats.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace nereid {

static uint64_t floatBits(DType dtype, double value) {
  switch (dtype) {
  case DType::Float16:
    return encodeFloat16(value);
  case DType::BFloat16:
    return encodeBFloat16(value);
  case DType::Float8E4M3:
    return encodeFloat8E4M3(value);
  case DType::Float8E5M2:
    return encodeFloat8E5M2(value);
  case DType::Float64:
    return std::bit_cast<uint64_t>(value);
  default:
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  }
}

/// Is the integer (Int: signed; UInt: above int64) a value of the type?
static bool integerFits(const Argument &a, DType dtype) {
  if (a.kind == Argument::Kind::UInt) {
    return dtype == DType::UInt64;
  }
  int64_t v = a.integer;
  unsigned bits = bitWidth(dtype);
  if (isSigned(dtype)) {
    return bits == 64 ||
           (v >= -(int64_t{1} << (bits - 1)) && v < int64_t{1} << (bits - 1));
  }
  return v >= 0 && (bits == 64 || v < int64_t{1} << bits);
}

static bool isNumber(Argument::Kind kind) {
  return kind == Argument::Kind::Bool || kind == Argument::Kind::Int ||
         kind == Argument::Kind::UInt || kind == Argument::Kind::Float;
}

static double asDouble(const Argument &a) {
  switch (a.kind) {
  case Argument::Kind::Float:
    return a.real;
  case Argument::Kind::UInt:
    return static_cast<double>(static_cast<uint64_t>(a.integer));
  default:
    return static_cast<double>(a.integer);
  }
}

static bool divisible(const ParameterDescription &p, uint64_t value) {
  return p.specialize && p.specializeAlignment && value % 16 == 0;
}

/// A tensor, or an address.
static ArgumentMismatch specializePointer(const ParameterDescription &p,
                                          const void *address, DType dtype,
                                          Specialized &out) {
  if (p.dtype && !p.isPointer) {
    return ArgumentMismatch::ScalarGotTensor;
  }
  if (p.dtype && *p.dtype != dtype) {
    return ArgumentMismatch::PointeeMismatch;
  }
  out.slot = reinterpret_cast<uintptr_t>(address);
  out.runtime.dtype = dtype;
  out.runtime.isPointer = true;
  out.runtime.isConst = p.isConst;
  out.runtime.divisibleBy16 = divisible(p, out.slot);
  return ArgumentMismatch::None;
}

/// A number for a parameter whose annotation names a scalar type.
static ArgumentMismatch specializeTyped(const ParameterDescription &p,
                                        const Argument &a, Specialized &out) {
  DType dtype = *p.dtype;
  out.runtime.dtype = dtype;
  if (isFloat(dtype)) {
    out.slot = floatBits(dtype, asDouble(a));
    return ArgumentMismatch::None;
  }
  if (a.kind == Argument::Kind::Float) {
    return ArgumentMismatch::IntegerGotFloat;
  }
  if (!integerFits(a, dtype)) {
    return ArgumentMismatch::OutOfRange;
  }
  out.slot = static_cast<uint64_t>(a.integer);
  out.runtime.divisibleBy16 = dtype != DType::Int1 && divisible(p, out.slot);
  return ArgumentMismatch::None;
}

static ArgumentMismatch specializeNumber(const ParameterDescription &p,
                                         const Argument &a, Specialized &out) {
  if (p.dtype) {
    return p.isPointer ? ArgumentMismatch::PointerGotScalar
                       : specializeTyped(p, a, out);
  }
  switch (a.kind) {
  case Argument::Kind::Bool:
    out.runtime.dtype = DType::Int1;
    out.slot = static_cast<uint64_t>(a.integer);
    return ArgumentMismatch::None;
  case Argument::Kind::Float:
    out.runtime.dtype = DType::Float32;
    out.slot = floatBits(DType::Float32, a.real);
    return ArgumentMismatch::None;
  default:
    break;
  }
  if (a.kind == Argument::Kind::Int && a.integer == 1 && p.specialize) {
    out.isStatic = true;
    out.slot = 1; // code compiled ahead of time may take it as any other
    return ArgumentMismatch::None;
  }
  out.runtime.dtype = integerFits(a, DType::Int32)   ? DType::Int32
                      : integerFits(a, DType::Int64) ? DType::Int64
                                                     : DType::UInt64;
  out.slot = static_cast<uint64_t>(a.integer);
  out.runtime.divisibleBy16 = divisible(p, out.slot);
  return ArgumentMismatch::None;
}

/// A tensor, an address or a descriptor, or a tuple that holds one.
static bool holdsAddress(const Argument &a) {
  using Kind = Argument::Kind;
  return a.kind == Kind::Tensor || a.kind == Kind::Pointer ||
         a.kind == Kind::Descriptor ||
         (a.kind == Kind::Tuple &&
          std::any_of(a.tuple->items.begin(), a.tuple->items.end(),
                      holdsAddress));
}

ArgumentMismatch specialize(const ParameterDescription &p, const Argument &a,
                            Specialized &out) {
  using Kind = Argument::Kind;
  if (p.isStatic || a.kind == Kind::None) {
    out.isStatic = true;
    return holdsAddress(a) ? ArgumentMismatch::ConstexprGotTensor
                           : ArgumentMismatch::None;
  }
  if (a.kind == Kind::Tensor) {
    return a.tensor->defined()
               ? specializePointer(p, a.tensor->data(), a.tensor->dtype(), out)
               : ArgumentMismatch::UndefinedTensor;
  }
  if (a.kind == Kind::Pointer) {
    return specializePointer(p, a.address, a.pointee, out);
  }
  if (isNumber(a.kind)) {
    return specializeNumber(p, a, out);
  }
  if (a.kind == Kind::String || a.kind == Kind::Function) {
    return ArgumentMismatch::StringGiven;
  }
  if (p.dtype) {
    return p.isPointer ? ArgumentMismatch::PointerGotScalar
                       : ArgumentMismatch::NumberExpected;
  }
  out.isStatic = true;
  return ArgumentMismatch::None;
}

/// A constant's type and value.
static void appendStatic(WordKey &key, const Argument &a) {
  using Kind = Argument::Kind;
  key.add(uint64_t{2} | static_cast<uint64_t>(a.kind) << 8);
  switch (a.kind) {
  case Kind::None:
    break;
  case Kind::Bool:
  case Kind::Int:
  case Kind::UInt:
    key.add(static_cast<uint64_t>(a.integer));
    break;
  case Kind::Float:
    key.add(std::bit_cast<uint64_t>(a.real));
    break;
  case Kind::DType:
    key.add(static_cast<uint64_t>(a.dtype));
    break;
  case Kind::String:
  case Kind::Function:
    key.add(a.string());
    break;
  case Kind::Static:
    key.add(std::string_view(Encoder().add(*a.value).bytes));
    break;
  case Kind::Tuple:
  case Kind::Descriptor:
    key.add(std::string_view(Encoder().add(a.toStatic()).bytes));
    break;
  case Kind::Tensor:
    break;
  case Kind::Pointer:
    key.add(reinterpret_cast<uintptr_t>(a.address));
    break;
  }
}

void appendKey(WordKey &key, const Specialized &s, const Argument &a) {
  if (s.isStatic) {
    appendStatic(key, a);
    return;
  }
  key.add(uint64_t{1} | static_cast<uint64_t>(s.runtime.dtype) << 8 |
          static_cast<uint64_t>(s.runtime.isPointer) << 16 |
          static_cast<uint64_t>(s.runtime.divisibleBy16) << 17);
}

void appendValue(WordKey &key, const Argument &a) {
  appendStatic(key, a);
  if (a.kind != Argument::Kind::Tensor || !a.tensor->defined()) {
    return;
  }
  const Tensor &tensor = *a.tensor;
  key.add(static_cast<uint64_t>(tensor.dtype()) << 8 |
          static_cast<uint64_t>(tensor.rank()));
  for (int i = 0; i < tensor.rank(); ++i) {
    key.add(static_cast<uint64_t>(tensor.shape()[i]));
    key.add(static_cast<uint64_t>(tensor.strides()[i]));
  }
}

ArgumentSpec specOf(const Specialized &s, const Argument &a) {
  if (s.isStatic) {
    return a.toStatic();
  }
  return s.runtime;
}

} // namespace nereid
