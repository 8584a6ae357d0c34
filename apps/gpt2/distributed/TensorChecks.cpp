//===- TensorChecks.cpp - What a communicator asks of tensors -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/TensorChecks.h"

#include "nereid/Runtime/Error.h"

using namespace nereid;

[[noreturn]] static void fail(const char *call, const std::string &expected,
                              const std::string &got) {
  raise({ErrorCode::InvalidArgument,
         std::string(call) + ": expected " + expected + ", got " + got,
         {}});
}

void gpt2::checkTensor(const char *call, const Tensor &tensor, bool isHost) {
  if (!tensor.defined() || !tensor.isContiguous() ||
      tensor.device().isHost() != isHost) {
    fail(call,
         std::string("a contiguous tensor of ") + (isHost ? "a host" : "a GPU"),
         tensor.defined() ? tensor.str() + " of " + tensor.device().str()
                          : "an undefined one");
  }
}

void gpt2::checkSummed(const char *call, const Tensor &tensor, bool isHost) {
  checkTensor(call, tensor, isHost);
  DType dtype = tensor.dtype();
  if (dtype == DType::Int1 || (isFloat(dtype) && byteSize(dtype) == 1)) {
    fail(call, "integers, or floats of 16 bits and more", tensor.str());
  }
}

bool gpt2::isNarrow(const Tensor &tensor) {
  return tensor.dtype() == bf16 || tensor.dtype() == f16;
}

static void checkSizes(const char *call, const Tensor &part, const Tensor &all,
                       int size, bool isHost, bool maySum) {
  gpt2::checkTensor(call, part, isHost);
  gpt2::checkTensor(call, all, isHost);
  bool fits = part.dtype() == all.dtype() ||
              (maySum && part.dtype() == f32 && gpt2::isNarrow(all));
  if (!fits || part.numel() * size != all.numel()) {
    fail(call, std::to_string(size) + " parts like " + part.str() + " together",
         all.str());
  }
}

void gpt2::checkParts(const char *call, const Tensor &part, const Tensor &all,
                      int size, bool isHost) {
  checkSizes(call, part, all, size, isHost, false);
}

void gpt2::checkSumOfParts(const char *call, const Tensor &sum,
                           const Tensor &parts, int size, bool isHost) {
  checkSizes(call, sum, parts, size, isHost, true);
}

void gpt2::checkRoot(const Tensor &tensor, int root, int size, bool isHost) {
  checkTensor("broadcast", tensor, isHost);
  if (root < 0 || root >= size) {
    fail("broadcast", "a process from 0 to " + std::to_string(size - 1),
         std::to_string(root));
  }
}
