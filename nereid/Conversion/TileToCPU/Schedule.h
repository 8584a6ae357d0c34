//===- Schedule.h - The loops of a nest ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_SCHEDULE_H
#define NEREID_CONVERSION_TILETOCPU_SCHEDULE_H

#include "nereid/Conversion/TileToCPU/Emitter.h"

namespace nereid::tocpu {

/// A load of a nest whose neighbours in memory lie along dimension `fast` of
/// its own, while the nest's vectors lie along its dimension `vector`.
struct TurnedLoad {
  tile::LoadAccess load;
  int vector, fast;
};

/// From outside to inside: a loop for each dimension in `outer`, the loop over
/// chunks of the vector dimension, and the loop along the axis of a reduction
/// unless that is the vector dimension itself.
struct Schedule {
  llvm::SmallVector<int> outer;
  /// The dimensions whose row-major linear index is vectorised: one, or all but
  /// the axis where none alone fills a vector.
  llvm::SmallVector<int> vector;
  int64_t extent = 1; ///< product of the sizes of `vector`
  int axis = -1;      ///< that a reduction runs along, or -1
  bool axisIsVector = false;
  /// Lanes of the main loop and of the loop over what remains. The first is a
  /// multiple of the second: several registers a value, which is several
  /// independent chains and accumulators.
  unsigned lanes = 1, restLanes = 1;
  llvm::SmallVector<TurnedLoad> turned;

  bool collapsed() const { return vector.size() > 1; }
};

/// `scalarOnly`: a combine region has no vector form. `sameLanes`: no value is
/// known that leaves a combination unchanged.
Schedule chooseSchedule(LoopEmitter &kernel, const Step &step, bool scalarOnly,
                        bool sameLanes);
/// The dimension along which the elements of a block are computed fastest: that
/// of its accesses' neighbours, mostly.
int fastDimension(LoopEmitter &kernel, mlir::Value block);

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_SCHEDULE_H
