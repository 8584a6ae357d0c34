//===- Outliers.h - Steps that are left out ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   OutlierFilter norms(/*most=*/4);
//   ...
//   ClippedNorm clipped = optimizer.clippedNorm(1.0);
//   optimizer.step(norms.filter(clipped.norm, clipped.factor));
//
// Formula:      score = (x - mean) / deviation, mean and deviation of the last
//               128 numbers, x among them; the result is NaN where the score is
//               above `most` or x is not finite, and else the factor. The first
//               128 numbers have no score
// Shapes:       numbers [] or [1]; factors [1]
// Types:        fp32; arithmetic fp64
// Gradients:    none
// Memory:       one launch; 1 KiB of numbers in the device's memory
// Determinism:  the same bits in each run on one device
// Source:       llm.c, outlier_detector.h: its window and its score; x that is
//               not finite stays out of the window
//
// An optimiser's step with a factor of NaN changes nothing. Nothing waits for
// the device: filtering may be captured in a Graph.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_GRADIENTS_OUTLIERS_H
#define NEREID_KERNELS_GRADIENTS_OUTLIERS_H

#include "nereid/Runtime/Tensor.h"

#include <map>
#include <string>

namespace nereid::kernels {

class OutlierFilter {
public:
  static constexpr int64_t window = 128;

  /// `most`: deviations above the mean. Throws InvalidArgument unless it is
  /// positive.
  OutlierFilter(double most, Device device);

  /// The factor, or NaN for a step that is to be left out. `value`, the step's
  /// norm or loss, counts for the steps after it.
  Tensor filter(const Tensor &value, const Tensor &factor);

  /// Of the last value; 0 where it had none. Waits for the device.
  double score() const;
  /// Steps that were left out. Waits for the device.
  int64_t skipped() const;

  /// What `filter` changes: "values" f64 [128] and "counts" i64 [2], of values
  /// and of steps that were left out; the filter's own memory. Loading copies
  /// into it, and throws InvalidArgument for what no filter has.
  std::map<std::string, Tensor> stateDict() const;
  void loadStateDict(const std::map<std::string, Tensor> &state);

private:
  double most;
  Tensor values, counts, scoreNow;
};

} // namespace nereid::kernels

#endif // NEREID_KERNELS_GRADIENTS_OUTLIERS_H
