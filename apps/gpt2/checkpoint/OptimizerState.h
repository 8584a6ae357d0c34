//===- OptimizerState.h - AdamW's tensors under names ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CHECKPOINT_OPTIMIZERSTATE_H
#define NEREID_APPS_GPT2_CHECKPOINT_OPTIMIZERSTATE_H

#include "kernels/adamw/AdamW.h"
#include "nereid/Weights/Safetensors.h"

namespace nereid::gpt2 {

/// "m.NAME", "v.NAME", "master.NAME" where there is one, and "powers": the
/// optimiser's own memory. `names`: of its parameters, in the order in which
/// they were added. To go on from a checkpoint, `copyInto` these.
std::vector<NamedTensor> optimizerTensors(const kernels::AdamW &optimizer,
                                          std::span<const std::string> names);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_OPTIMIZERSTATE_H
