//===- Nvdisasm.h - NVIDIA's disassembler as a program ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_NVDISASM_H
#define NEREID_TARGET_NVPTX_NVDISASM_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::nvptx {

/// The program's path: NEREID_NVDISASM, or nvdisasm in PATH, beside ptxas or in
/// /usr/local/cuda/bin. NotFound, saying what to do, when there is none.
Expected<std::string> findNvdisasm();

/// An instruction, or a label in front of some.
struct MachineLine {
  std::string text; ///< "@!P0 LDG.E R6, desc[UR4][R2.64]", ".L_x_1:"
  bool isLabel = false;
  std::string file; ///< as the line table has it; empty: of no line
  uint32_t line = 0;

  bool operator==(const MachineLine &) const = default;
};

/// The kernel of a GpuBinary image, in the order of its code. Unsupported, with
/// what the program says, when it does not know the architecture.
Expected<std::vector<MachineLine>> disassemble(const std::string &nvdisasm,
                                               const KernelImage &image);

/// What `nvdisasm -c -g` prints.
std::vector<MachineLine> parseDisassembly(std::string_view text);

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_NVDISASM_H
