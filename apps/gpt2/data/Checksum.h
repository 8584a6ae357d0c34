//===- Checksum.h - Checksums of tokens -------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XXH64 with seed 0, four lanes of 64-bit multiplications: about 10 bytes a
// nanosecond on one core.
//
// Source: the xxHash specification of Yann Collet.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_CHECKSUM_H
#define NEREID_APPS_GPT2_DATA_CHECKSUM_H

#include <cstddef>
#include <cstdint>

namespace nereid::gpt2 {

uint64_t checksum(const void *data, size_t bytes);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_CHECKSUM_H
