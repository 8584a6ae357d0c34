//===- AccessWords.h - How instructions name memory -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_ACCESSWORDS_H
#define NEREID_SIM_ACCESSWORDS_H

#include "nereid/Sim/Decoder.h"

namespace nereid::sim {

/// Says where, how ordered, how wide, or what caches do.
bool isAccessWord(std::string_view word);
/// By the opcode; a variable of a call lies in local memory whatever it says.
Space spaceOf(const Decoder &d, const Operand &address);
/// 32 of "f32", "u32", "f16x2".
unsigned typeBits(Decoder &d, std::string_view type);

} // namespace nereid::sim

#endif // NEREID_SIM_ACCESSWORDS_H
