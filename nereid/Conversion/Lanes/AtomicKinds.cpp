//===- AtomicKinds.cpp - Atomic operations in LLVM's words ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/AtomicKinds.h"

using namespace mlir;

namespace nereid::lanes {

LLVM::AtomicBinOp binOpOf(tile::AtomicKind kind) {
  using K = tile::AtomicKind;
  using B = LLVM::AtomicBinOp;
  switch (kind) {
  case K::Add:
    return B::add;
  case K::FAdd:
    return B::fadd;
  case K::Max:
    return B::max;
  case K::Min:
    return B::min;
  case K::UMax:
    return B::umax;
  case K::UMin:
    return B::umin;
  case K::FMax:
    return B::fmax;
  case K::FMin:
    return B::fmin;
  case K::And:
    return B::_and;
  case K::Or:
    return B::_or;
  case K::Xor:
    return B::_xor;
  case K::Xchg:
    return B::xchg;
  }
  llvm_unreachable("all kinds are handled");
}

bool isFloatKind(tile::AtomicKind kind) {
  using K = tile::AtomicKind;
  return llvm::is_contained({K::FAdd, K::FMax, K::FMin}, kind);
}

LLVM::AtomicOrdering orderingOf(tile::MemSemantic semantic) {
  switch (semantic) {
  case tile::MemSemantic::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::MemSemantic::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::MemSemantic::Release:
    return LLVM::AtomicOrdering::release;
  case tile::MemSemantic::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("all orderings are handled");
}

LLVM::AtomicOrdering failureOrdering(LLVM::AtomicOrdering success) {
  return success == LLVM::AtomicOrdering::monotonic ||
                 success == LLVM::AtomicOrdering::release
             ? LLVM::AtomicOrdering::monotonic
             : LLVM::AtomicOrdering::acquire;
}

bool isAcquire(tile::MemSemantic semantic) {
  return semantic == tile::MemSemantic::Acquire ||
         semantic == tile::MemSemantic::AcqRel;
}

bool isRelease(tile::MemSemantic semantic) {
  return semantic == tile::MemSemantic::Release ||
         semantic == tile::MemSemantic::AcqRel;
}

} // namespace nereid::lanes
