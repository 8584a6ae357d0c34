//===- Device.h - Where tensors live and kernels run -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two devices exist, both on host memory:
//
//   cpu     compiled code on all cores
//   interp  the reference executor: one program after the other, slow, exact
//
// A name is "kind" or "kind:index", so that "cuda:0" fits when it comes.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICE_H
#define NEREID_RUNTIME_DEVICE_H

#include "nereid/ABI/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid {

class Device {
public:
  enum class Kind : uint8_t { Cpu, Interp };

  /// The cpu device.
  constexpr Device() = default;
  static constexpr Device cpu() { return Device(Kind::Cpu, 0); }
  static constexpr Device interp() { return Device(Kind::Interp, 0); }

  /// The fastest device of this machine.
  static Device best();
  /// Every device of this machine, fastest first.
  static std::vector<Device> available();
  /// "cpu", "cpu:0", "interp". Throws Error(NotFound) naming what exists.
  static Device parse(std::string_view name);
  /// The same, without an exception.
  static Expected<Device> tryParse(std::string_view name);

  Kind kind() const { return kind_; }
  int index() const { return index_; }
  /// True when the CPU can read and write tensors of this device directly.
  bool isHost() const { return true; }
  /// "cpu", "interp": what `parse` reads.
  std::string str() const;

  bool operator==(const Device &) const = default;

private:
  constexpr Device(Kind kind, int index) : kind_(kind), index_(index) {}

  Kind kind_ = Kind::Cpu;
  int index_ = 0;
};

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICE_H
