//===- TensorChecks.h - What a communicator asks of tensors ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All throw InvalidArgument.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_TENSORCHECKS_H
#define NEREID_APPS_GPT2_DISTRIBUTED_TENSORCHECKS_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::gpt2 {

/// Contiguous, on a host or on a GPU.
void checkTensor(const char *call, const Tensor &tensor, bool isHost);
/// A type that sums are taken of, too.
void checkSummed(const char *call, const Tensor &tensor, bool isHost);
/// `all` has `size` times as many elements as `part`, of its type.
void checkParts(const char *call, const Tensor &part, const Tensor &all,
                int size, bool isHost);
/// The same, but for a `sum` of floats of 16 bits, which may be fp32.
void checkSumOfParts(const char *call, const Tensor &sum, const Tensor &parts,
                     int size, bool isHost);
bool isNarrow(const Tensor &tensor); ///< bf16 or fp16
void checkRoot(const Tensor &tensor, int root, int size, bool isHost);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_TENSORCHECKS_H
