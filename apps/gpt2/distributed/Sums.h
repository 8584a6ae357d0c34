//===- Sums.h - Sums over processes, on the host ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DISTRIBUTED_SUMS_H
#define NEREID_APPS_GPT2_DISTRIBUTED_SUMS_H

#include "nereid/ABI/DType.h"

#include <cstdint>
#include <span>

namespace nereid::gpt2 {

/// out[i] = parts[0][i] + parts[1][i] + ..., from left to right, in fp32 for
/// floats of 32 bits and less, rounded once. `out` may be one of the parts.
/// False where there is no sum of the type: fp8 and int1.
bool sumInOrder(DType dtype, std::span<const void *const> parts, void *out,
                int64_t count);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DISTRIBUTED_SUMS_H
