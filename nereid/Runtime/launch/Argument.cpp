//===- Argument.cpp - What a kernel is called with ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Argument.h"

#include "nereid/Runtime/Error.h"

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
    void operator()(const StaticValue::Function &f) {
      out.kind = Kind::Function;
      out.characters = f.name.data();
      out.length = f.name.size();
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

static StaticValue listOf(const Shape &values) {
  return StaticValue::Tuple(values.begin(), values.end());
}

static StaticValue descriptorFacts(const TensorDescriptor &descriptor) {
  return StaticValue::Dict{{"base", tensorFacts(descriptor.base())},
                           {"shape", listOf(descriptor.shape())},
                           {"strides", listOf(descriptor.strides())},
                           {"block_shape", listOf(descriptor.blockShape())}};
}

static StaticValue itemsOf(const Tuple &tuple) {
  StaticValue::Tuple items;
  for (const Argument &item : tuple.items) {
    items.push_back(item.toStatic());
  }
  return items;
}

std::string_view Text::raiseNull() {
  raise({ErrorCode::InvalidArgument,
         "expected a text, got a null const char *",
         {}});
}

void Argument::raiseNullString() {
  raise({ErrorCode::InvalidArgument,
         "an argument: expected a string, got a null const char *; write "
         "nereid::none for None",
         {}});
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
  case Kind::Function:
    return StaticValue::Function{std::string(string()), {}};
  case Kind::Descriptor:
    return descriptorFacts(*descriptor);
  case Kind::Tuple:
    return itemsOf(*tuple);
  }
  return {};
}

Tuple Tuple::named(Text type, std::vector<std::string> names,
                   std::vector<Argument> items) {
  if (names.size() != items.size()) {
    raise({ErrorCode::InvalidArgument,
           "the tuple " + type.str() + ": expected one name an item, got " +
               std::to_string(names.size()) + " names for " +
               std::to_string(items.size()) + " items",
           {}});
  }
  Tuple tuple(std::move(items));
  tuple.names = std::move(names);
  tuple.type = type.str();
  return tuple;
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
  case Kind::Function:
    return "the function '" + std::string(string()) + "'";
  case Kind::Descriptor:
    return "a descriptor of the tensor " + descriptor->base().str();
  case Kind::Tuple: {
    std::string text = tuple->type + "(";
    for (size_t i = 0; i < tuple->items.size(); ++i) {
      text += (i ? ", " : "") + tuple->items[i].describe();
    }
    return text + ")";
  }
  case Kind::Tensor:
    return tensor->defined() ? "the tensor " + tensor->str()
                             : "an undefined tensor";
  }
  return "";
}

} // namespace nereid
