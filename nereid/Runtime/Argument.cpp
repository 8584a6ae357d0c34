//===- Argument.cpp - What a kernel is called with ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Argument.h"

#include <cstdio>

namespace nereid {

Argument::Argument(const StaticValue &v) {
  struct Visitor {
    Argument &out;
    const StaticValue &whole;
    void operator()(StaticValue::None) { out.kind = Kind::None; }
    void operator()(bool b) {
      out.kind = Kind::Bool;
      out.integer = b;
    }
    void operator()(int64_t i) {
      out.kind = Kind::Int;
      out.integer = i;
    }
    void operator()(uint64_t i) {
      out.kind = Kind::UInt;
      out.integer = static_cast<int64_t>(i);
    }
    void operator()(double d) {
      out.kind = Kind::Float;
      out.real = d;
    }
    void operator()(const std::string &s) {
      out.kind = Kind::String;
      out.characters = s.data();
      out.length = s.size();
    }
    void operator()(nereid::DType d) {
      out.kind = Kind::DType;
      out.dtype = d;
    }
    void operator()(const StaticValue::Tuple &) { list(); }
    void operator()(const StaticValue::Dict &) { list(); }
    void list() {
      out.kind = Kind::Static;
      out.value = &whole;
    }
  };
  std::visit(Visitor{*this, v}, v.value);
}

static std::string addressText(const void *address) {
  char text[24];
  std::snprintf(
      text, sizeof(text), "0x%llx",
      static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(address)));
  return text;
}

static StaticValue tensorFacts(const Tensor &tensor) {
  if (!tensor.defined()) {
    return {};
  }
  StaticValue::Tuple shape, stride;
  for (int i = 0; i < tensor.rank(); ++i) {
    shape.emplace_back(tensor.shape()[i]);
    stride.emplace_back(tensor.strides()[i]);
  }
  return StaticValue::Dict{{"dtype", tensor.dtype()},
                           {"shape", std::move(shape)},
                           {"stride", std::move(stride)}};
}

StaticValue Argument::toStatic() const {
  switch (kind) {
  case Kind::None:
    return {};
  case Kind::Bool:
    return integer != 0;
  case Kind::Int:
    return integer;
  case Kind::UInt:
    return static_cast<uint64_t>(integer);
  case Kind::Float:
    return real;
  case Kind::DType:
    return dtype;
  case Kind::String:
    return std::string(string());
  case Kind::Static:
    return *value;
  case Kind::Pointer:
    return static_cast<int64_t>(reinterpret_cast<intptr_t>(address));
  case Kind::Tensor:
    return tensorFacts(*tensor);
  }
  return {};
}

std::string Argument::describe() const {
  switch (kind) {
  case Kind::None:
    return "None";
  case Kind::Bool:
  case Kind::DType:
  case Kind::Static:
    return toStatic().str();
  case Kind::Int:
    return "the int " + std::to_string(integer);
  case Kind::UInt:
    return "the int " + std::to_string(static_cast<uint64_t>(integer));
  case Kind::Float:
    return "the float " + toStatic().str();
  case Kind::String:
    return "the string " + toStatic().str();
  case Kind::Pointer:
    return "the address " + addressText(address) + " of " +
           std::string(shortName(pointee)) + "s";
  case Kind::Tensor:
    return tensor->defined() ? "the tensor " + tensor->str()
                             : "an undefined tensor";
  }
  return "";
}

} // namespace nereid
