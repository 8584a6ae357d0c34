//===- AssembledApart.h - Code for GPUs without the driver ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A driver assembles PTX for one thread after the other, whatever their number.
// Of many kernels that are compiled at once the compiler makes machine code by
// itself, where it has an assembler: a process for each.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_ASSEMBLEDAPART_H
#define NEREID_ABI_ASSEMBLEDAPART_H

namespace nereid {

/// While it lives, KernelCompiler::compile on this thread gives GpuBinary
/// images if it can, or, if `isOn` is false, GpuAssembly ones as ever.
class AssembledApart {
public:
  explicit AssembledApart(bool isOn = true) : before(ofThread_) {
    ofThread_ = isOn;
  }
  ~AssembledApart() { ofThread_ = before; }
  AssembledApart(const AssembledApart &) = delete;
  AssembledApart &operator=(const AssembledApart &) = delete;

  static bool ofThread() { return ofThread_; }

private:
  static constinit inline thread_local bool ofThread_ = false;
  const bool before;
};

} // namespace nereid

#endif // NEREID_ABI_ASSEMBLEDAPART_H
