//===- Checks.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/Checks.h"
#include "nereid/Runtime/Error.h"

#include <cstdio>

using namespace nereid;
using namespace nereid::kernels;

static std::string listText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i ? ", " : "";
    text += shape[i] < 0 ? "any" : std::to_string(shape[i]);
  }
  return text + "]";
}

static std::string because(const char *why) {
  return *why ? std::string(" (") + why + ")" : "";
}

void Checks::fail(const char *name, Text expected,
                  const std::string &got) const {
  raise({ErrorCode::InvalidArgument,
         std::string(op) + ": argument '" + name + "': expected " +
             expected.str() + ", got " + got,
         {}});
}

void Checks::require(bool holds, const char *name, Text expected,
                     double got) const {
  if (!holds) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", got);
    fail(name, expected, text);
  }
}

Checks::Argument Checks::check(const char *name, const Tensor &tensor) {
  if (!tensor.defined()) {
    fail(name, "a tensor", "an undefined tensor");
  }
  if (!device) {
    device = tensor.device();
    first = name;
  } else if (tensor.device() != *device) {
    fail(name, "a tensor on " + device->str() + ", where '" + first + "' is",
         tensor.str() + " on " + tensor.device().str());
  }
  return Argument(*this, name, &tensor);
}

Checks::Argument Checks::floats(const char *name, const Tensor &tensor) {
  Argument argument = check(name, tensor);
  if (DType t = tensor.dtype(); t != f32 && t != f16 && t != bf16) {
    fail(name, "a tensor of fp32, fp16 or bf16", tensor.str());
  }
  return argument;
}

Checks::Argument Checks::gradients(const char *name, const Tensor &tensor) {
  Argument argument = check(name, tensor);
  DType t = tensor.dtype();
  if (t != f32 && t != f16 && t != bf16 && t != f64) {
    fail(name, "a tensor of fp32, fp16, bf16 or fp64", tensor.str());
  }
  return argument;
}

Checks::Argument Checks::integers(const char *name, const Tensor &tensor) {
  Argument argument = check(name, tensor);
  if (DType t = tensor.dtype(); t != i32 && t != i64) {
    fail(name, "a tensor of i32 or i64", tensor.str());
  }
  return argument;
}

Checks::Argument Checks::any(const char *name, const Tensor &tensor) {
  return check(name, tensor);
}

Checks::Argument Checks::optional(const char *name, const Tensor &tensor) {
  return tensor.defined() ? floats(name, tensor)
                          : Argument(*this, name, nullptr);
}

const Checks::Argument &Checks::Argument::rank(int least, int most) const {
  if (tensor && (tensor->rank() < least || tensor->rank() > most)) {
    checks.fail(name,
                least == most ? std::to_string(least) + " dimensions"
                              : "from " + std::to_string(least) + " to " +
                                    std::to_string(most) + " dimensions",
                tensor->str());
  }
  return *this;
}

const Checks::Argument &
Checks::Argument::shape(std::span<const int64_t> expected,
                        const char *why) const {
  bool fits = !tensor || tensor->rank() == static_cast<int>(expected.size());
  for (size_t i = 0; tensor && fits && i < expected.size(); ++i) {
    fits = expected[i] < 0 || tensor->shape()[i] == expected[i];
  }
  if (!fits) {
    checks.fail(name, "shape " + listText(expected) + because(why),
                tensor->str());
  }
  return *this;
}

const Checks::Argument &Checks::Argument::dtype(DType expected,
                                                const char *why) const {
  if (tensor && tensor->dtype() != expected) {
    checks.fail(name,
                std::string(shortName(expected)) + " elements" + because(why),
                tensor->str());
  }
  return *this;
}

const Checks::Argument &Checks::Argument::contiguous() const {
  if (tensor && !tensor->isContiguous()) {
    checks.fail(name, "a row-major tensor", tensor->str());
  }
  return *this;
}

const Checks::Argument &Checks::Argument::writable() const {
  if (tensor && tensor->sharesElements()) {
    checks.fail(name, "a tensor whose elements are places of their own",
                tensor->str());
  }
  return *this;
}
