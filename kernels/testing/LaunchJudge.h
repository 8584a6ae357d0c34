//===- LaunchJudge.h - Operators' launches against interp ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While one lives, every launch that this thread's operators make is also run
// on copies of its arrays, by the reference executor with error bounds and by
// the device, and each element that the device leaves is judged (tools/check,
// docs/Check.md). What is wrong fails the test.
//
// The reference executor takes the compiler. Tests that show that kernels
// compiled ahead of time need none link NoLaunchJudge.cpp in place of
// LaunchJudge.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_TESTING_LAUNCHJUDGE_H
#define NEREID_KERNELS_TESTING_LAUNCHJUDGE_H

#include "kernels/operator/OperatorKernel.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::kernels {

class LaunchJudge : public LaunchWatcher {
public:
  explicit LaunchJudge(Device device) : device(device) {}
  /// Null in a program without a judge.
  static std::unique_ptr<LaunchJudge> make(Device device);

  /// Memory that kernels find by addresses in their arguments.
  void reach(const Tensor &tensor) {
    if (tensor.defined()) {
      reachable.push_back(tensor);
    }
  }
  void launching(const OperatorLaunch &launch) override;
  /// What is wrong on the device, a line an element; empty if nothing is.
  std::string judge(const OperatorLaunch &launch) const;

private:
  Device device;
  std::vector<Tensor> reachable;
};

} // namespace nereid::kernels

#endif // NEREID_KERNELS_TESTING_LAUNCHJUDGE_H
