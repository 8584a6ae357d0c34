//===- Run.h - A training run from its options ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_RUN_H
#define NEREID_APPS_GPT2_TRAIN_RUN_H

#include "apps/gpt2/Options.h"

namespace nereid::gpt2 {

/// The device that `device` names, or the CPU where there is no GPU, which is
/// then said on standard error. Throws for names that are no device.
Device deviceOf(const std::string &device);

/// The type that the options name: f32, bf16 or f16.
DType dtypeOf(const Options &options, Device device);

GptConfig configOf(const Options &options, int64_t vocabulary, Device device);

/// "layer norm: fused with the residual sum; attention: ...": which kernels the
/// model is computed by.
std::string describeKernels(const GptConfig &config, Device device,
                            bool isCaptured);

/// Trains, evaluates each interval, logs, and writes checkpoints. `options` and
/// `notes`: of optionsOfRun (Resume.h). Returns the signal that has stopped it,
/// or 0.
int train(const Options &options, const std::vector<std::string> &notes);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_RUN_H
