//===- InstructionEnums.h - Words that vendors' dialects share --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each vendor's dialect has enums of its own, with these enumerators.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_INSTRUCTIONENUMS_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_INSTRUCTIONENUMS_H

#include "nereid/Conversion/TileGPUToLLVM/Instructions.h"

namespace nereid::togpu {

template <typename Order>
Order orderAs(tile::MemSemantic semantic) {
  switch (semantic) {
  case tile::MemSemantic::Relaxed:
    return Order::Relaxed;
  case tile::MemSemantic::Acquire:
    return Order::Acquire;
  case tile::MemSemantic::Release:
    return Order::Release;
  case tile::MemSemantic::AcqRel:
    return Order::AcqRel;
  }
  llvm_unreachable("all semantics are handled");
}

template <typename Update>
Update updateAs(tile::AtomicKind kind) {
  using K = tile::AtomicKind;
  switch (kind) {
  case K::Add:
    return Update::Add;
  case K::FAdd:
    return Update::FAdd;
  case K::And:
    return Update::And;
  case K::Or:
    return Update::Or;
  case K::Xor:
    return Update::Xor;
  case K::Xchg:
    return Update::Exchange;
  case K::Max:
    return Update::Max;
  case K::Min:
    return Update::Min;
  case K::UMax:
    return Update::UMax;
  case K::UMin:
    return Update::UMin;
  case K::FMax:
  case K::FMin:
    break;
  }
  llvm_unreachable("extrema of floats have no instruction");
}

template <typename Rounding>
Rounding roundingAs(IntegerRounding rounding) {
  switch (rounding) {
  case IntegerRounding::Nearest:
    return Rounding::Nearest;
  case IntegerRounding::Zero:
    return Rounding::Zero;
  case IntegerRounding::Down:
    return Rounding::Down;
  case IntegerRounding::Up:
    return Rounding::Up;
  }
  llvm_unreachable("all roundings are handled");
}

} // namespace nereid::togpu

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_INSTRUCTIONENUMS_H
