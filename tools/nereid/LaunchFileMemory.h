//===- LaunchFileMemory.h - Storages and their views ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_LAUNCHFILEMEMORY_H
#define NEREID_TOOLS_NEREID_LAUNCHFILEMEMORY_H

#include "LaunchFile.h"

namespace nereid {

/// The storages of one launch on its device. Throws Error, naming the storage.
class LaunchMemory {
public:
  /// Allocates and fills all of them.
  LaunchMemory(const LaunchDescription &launch, Device device);

  /// Shares the storage's memory.
  Tensor view(const LaunchView &view, const std::string &place) const;
  /// The bytes of storage `index`.
  const Tensor &bytes(size_t index) const { return storages[index].memory; }
  /// The contents that every storage had at first.
  void restore() const;
  /// The bytes of each storage that has an `out`, whole. A table entry that
  /// still holds its address is written as it was read.
  void writeOutputs() const;

private:
  struct Storage {
    std::string initial; ///< with the addresses of this run
    Tensor memory;       ///< bytes
    std::string entries; ///< eight bytes for each pointer, as read
  };
  std::string contentsOf(const LaunchStorage &storage) const;
  void patchPointers(size_t index);
  [[noreturn]] void fail(const std::string &place,
                         const std::string &message) const;

  const LaunchDescription &launch;
  std::vector<Storage> storages;
};

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_LAUNCHFILEMEMORY_H
