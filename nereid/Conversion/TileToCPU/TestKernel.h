//===- TestKernel.h - Tile text to callable code, for tests ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_TESTKERNEL_H
#define NEREID_CONVERSION_TILETOCPU_TESTKERNEL_H

#include "nereid/ABI/LaunchABI.h"
#include "nereid/Conversion/TileToCPU/TileToCPU.h"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace nereid {

/// One kernel of Tile IR text, compiled for a target of Target/CPU.
class TestKernel {
public:
  /// Aborts the test with `error()` set if the text does not compile.
  explicit TestKernel(const std::string &text,
                      const std::string &target = "cpu");

  bool ok() const { return failure.empty(); }
  const std::string &error() const { return failure; }
  const CpuKernelInfo &info() const { return kernelInfo; }
  size_t objectBytes() const { return bytes; }
  double compileMs() const { return ms; }

  /// Runs every program of the grid on this thread.
  template <typename... Args>
  void run(std::array<int, 3> grid, Args... args) const {
    std::vector<uint64_t> slots;
    (slots.push_back(slotOf(args)), ...);
    launch(grid, slots, 0);
  }
  void launch(std::array<int, 3> grid, const std::vector<uint64_t> &slots,
              uint32_t flags, int64_t begin = 0, int64_t end = -1) const;

  template <typename T>
  static uint64_t slotOf(T value) {
    uint64_t slot = 0xabababababababab; // upper bytes are unspecified
    static_assert(sizeof(T) <= 8);
    std::memcpy(&slot, &value, sizeof(T));
    return slot;
  }

  mutable std::vector<std::string> messages; ///< of service calls

private:
  std::string failure;
  CpuKernelInfo kernelInfo;
  HostCode code;
  size_t bytes = 0;
  double ms = 0;
};

/// The levels that this machine can run, in rising order.
std::vector<std::string> runnableTargets();
/// Those of `names` that it can run.
std::vector<std::string> runnable(const std::vector<std::string> &names);

/// The text after a stage: "loops", "llvm", "ll" or "asm"; or the error.
std::string stageText(const std::string &text, const std::string &stage,
                      const std::string &target = "cpu");

} // namespace nereid

#endif // NEREID_CONVERSION_TILETOCPU_TESTKERNEL_H
