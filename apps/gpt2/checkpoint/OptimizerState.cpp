//===- OptimizerState.cpp -------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/OptimizerState.h"

#include "nereid/Runtime/Error.h"

using namespace nereid;
using namespace nereid::gpt2;

std::vector<NamedTensor>
gpt2::optimizerTensors(const kernels::AdamW &optimizer,
                       std::span<const std::string> names) {
  std::vector<kernels::AdamW::Moments> moments = optimizer.moments();
  if (moments.size() != names.size()) {
    raise({ErrorCode::InvalidArgument,
           "optimizerTensors: expected names of " +
               std::to_string(moments.size()) + " parameters, got " +
               std::to_string(names.size()),
           {}});
  }
  std::vector<NamedTensor> result;
  for (size_t i = 0; i < names.size(); ++i) {
    result.push_back({"m." + names[i], moments[i].m});
    result.push_back({"v." + names[i], moments[i].v});
    if (moments[i].master.defined()) {
      result.push_back({"master." + names[i], moments[i].master});
    }
  }
  if (!names.empty()) {
    result.push_back({"powers", optimizer.powers()});
  }
  return result;
}
