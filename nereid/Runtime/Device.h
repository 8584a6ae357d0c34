//===- Device.h - Where tensors live and kernels run -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   cuda:N  an NVIDIA GPU, with memory of its own, where there is a driver
//   hip:N   an AMD GPU, the same, where there is ROCm's HIP library
//   cpu     compiled code on all cores
//   interp  the reference executor: one program after the other, slow, exact
//
// A driver is loaded when a question about its devices is first asked; the
// names "cpu" and "interp" ask none.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICE_H
#define NEREID_RUNTIME_DEVICE_H

#include "nereid/ABI/Status.h"
#include "nereid/Runtime/Text.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid {

class Device {
public:
  enum class Kind : uint8_t { Cpu, Interp, Cuda, Hip };

  /// The cpu device.
  constexpr Device() = default;
  static constexpr Device cpu() { return Device(Kind::Cpu, 0); }
  static constexpr Device interp() { return Device(Kind::Interp, 0); }

  /// An NVIDIA GPU. Not checked: what uses a device that is not there says so.
  static constexpr Device cuda(int index = 0) {
    return Device(Kind::Cuda, index);
  }
  /// The same of AMD.
  static constexpr Device hip(int index = 0) {
    return Device(Kind::Hip, index);
  }

  /// The fastest device of this machine: hip:0 only where kernels are compiled
  /// for its architecture. With NEREID_INTERP=1 the fastest of
  /// those on host memory, since only these can be replaced by interp.
  static Device best();
  /// Every device of this machine, fastest first.
  static std::vector<Device> available();
  /// "cpu", "cpu:0", "interp", "cuda" (cuda:0), "cuda:1", "hip:0". Throws
  /// Error(NotFound) naming what exists, and why there is no cuda or hip
  /// device.
  static Device parse(Text text);
  /// The same, without an exception.
  static Expected<Device> tryParse(Text text);

  constexpr Kind kind() const { return kind_; }
  constexpr int index() const { return index_; }
  /// True when the CPU can read and write tensors of this device directly.
  constexpr bool isHost() const {
    return kind_ == Kind::Cpu || kind_ == Kind::Interp;
  }
  /// "cpu", "interp", "cuda:0", "hip:0": what `parse` reads.
  std::string str() const;

  bool operator==(const Device &) const = default;

private:
  constexpr Device(Kind kind, int index) : kind_(kind), index_(index) {}

  Kind kind_ = Kind::Cpu;
  int index_ = 0;
};

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICE_H
