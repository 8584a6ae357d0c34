//===- Memory.h - Single elements of the launch's memory --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_MEMORY_H
#define NEREID_INTERP_MEMORY_H

#include "nereid/Interp/Machine.h"
#include "nereid/Interp/Walk.h"

namespace nereid::interp {

uint64_t readBits(uint64_t address, unsigned bytes);
void writeBits(uint64_t address, unsigned bytes, uint64_t bits);

/// Element `i` of `r` from memory, with the error it was stored with. In the
/// mode Float64WithBounds a float that this run stored comes back unrounded.
void loadElement(Machine &m, TileValue &r, int64_t i, uint64_t address);
/// Element `i` of `value` to memory, with its bound.
void storeElement(Machine &m, const TileValue &value, int64_t i,
                  uint64_t address);

/// What is at the address after this may be anything elsewhere.
void markUnknown(Machine &m, const Element &element, uint64_t address);

/// Logs the access of one element. Outside: it must not be made.
AccessLog::Outcome enter(Machine &m, const Step &step, AccessLog::Kind kind,
                         uint64_t address, unsigned bytes);

/// Is element `i` unmasked? `mask` is the op's, at operand index `operand`.
bool isActive(const Machine &m, const Step &step, mlir::Value mask,
              unsigned operand, int64_t i);
/// Does that depend on a rounding?
bool isActivityUnknown(const Machine &m, const Step &step, mlir::Value mask,
                       unsigned operand, int64_t i);

} // namespace nereid::interp

#endif // NEREID_INTERP_MEMORY_H
