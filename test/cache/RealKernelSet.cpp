//===- RealKernelSet.cpp - The set on the real compiler -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSet.h"

namespace nereid {

std::unique_ptr<KernelCompiler> makeSetCompiler() {
  return createKernelCompiler();
}

Kernel loadSetKernel(int index, Context &context) {
  std::string name = "k" + std::to_string(index);
  std::string text = "import triton\n"
                     "import triton.language as tl\n"
                     "\n"
                     "@triton.jit\n"
                     "def " +
                     name +
                     "(out_ptr, x_ptr, n, BLOCK: tl.constexpr):\n"
                     "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                     "    x = tl.load(x_ptr + i, mask=i < n)\n"
                     "    tl.store(out_ptr + i, x * " +
                     std::to_string(index + 2) + " + 1, mask=i < n)\n";
  return Kernel::fromSource(Source{"set.py", text, {}}, name, context);
}

} // namespace nereid
