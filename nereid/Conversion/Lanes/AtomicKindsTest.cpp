//===- AtomicKindsTest.cpp - Atomic operations in LLVM's words ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/AtomicKinds.h"

#include <gtest/gtest.h>

#include <set>

using namespace nereid;
using namespace nereid::lanes;
using Ordering = mlir::LLVM::AtomicOrdering;

namespace {

TEST(AtomicKinds, EveryKindHasItsOwnOperation) {
  std::set<mlir::LLVM::AtomicBinOp> seen;
  unsigned kinds = 0;
  for (unsigned i = 0; i <= tile::getMaxEnumValForAtomicKind(); ++i) {
    if (auto kind = tile::symbolizeAtomicKind(i)) {
      seen.insert(binOpOf(*kind));
      ++kinds;
    }
  }
  EXPECT_EQ(kinds, 12u);
  EXPECT_EQ(seen.size(), kinds);
  EXPECT_EQ(binOpOf(tile::AtomicKind::FMax), mlir::LLVM::AtomicBinOp::fmax);
}

TEST(AtomicKinds, OnlySumsAndExtremaComputeOnFloats) {
  EXPECT_TRUE(isFloatKind(tile::AtomicKind::FAdd));
  EXPECT_TRUE(isFloatKind(tile::AtomicKind::FMin));
  EXPECT_FALSE(isFloatKind(tile::AtomicKind::Add));
  EXPECT_FALSE(isFloatKind(tile::AtomicKind::Xchg));
}

TEST(AtomicKinds, AFailedExchangeReleasesNothing) {
  for (auto semantic :
       {tile::MemSemantic::Relaxed, tile::MemSemantic::Acquire,
        tile::MemSemantic::Release, tile::MemSemantic::AcqRel}) {
    EXPECT_EQ(failureOrdering(orderingOf(semantic)),
              isAcquire(semantic) ? Ordering::acquire : Ordering::monotonic);
    EXPECT_EQ(isAcquire(semantic) && isRelease(semantic),
              orderingOf(semantic) == Ordering::acq_rel);
  }
}

} // namespace
