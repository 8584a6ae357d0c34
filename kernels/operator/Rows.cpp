//===- Rows.cpp -------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/Rows.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Grid.h"

#include <algorithm>
#include <bit>

using namespace nereid;
using namespace nereid::kernels;

/// The stride between rows, or nothing where one does not do.
static std::optional<int64_t> rowStride(const Tensor &t) {
  int last = t.rank() - 1;
  if (t.size(last) > 1 && t.stride(last) != 1) {
    return std::nullopt;
  }
  std::optional<int64_t> innermost;
  int64_t next = 0; // stride that the dimension in front must have
  for (int axis = last - 1; axis >= 0; --axis) {
    if (t.size(axis) == 1) {
      continue;
    }
    if (!innermost) {
      innermost = t.stride(axis);
    } else if (t.stride(axis) != next) {
      return std::nullopt;
    }
    next = t.stride(axis) * t.size(axis);
  }
  return innermost.value_or(t.size(last));
}

Rows kernels::rowsOf(const Tensor &tensor) {
  Rows rows;
  std::optional<int64_t> stride = rowStride(tensor);
  rows.tensor = stride ? tensor : tensor.contiguous();
  rows.columns = tensor.size(-1);
  rows.stride = stride.value_or(rows.columns);
  rows.count = rows.columns ? tensor.numel() / rows.columns : 0;
  return rows;
}

RowPlan kernels::planRows(int64_t columns, int64_t elementBytes, Device device,
                          int kept) {
  RowPlan plan;
  // 512 threads of 128 values: a program of more would spill.
  constexpr int64_t mostValues = 65536;
  plan.loops = !hasCompiler() || columns * kept > mostValues;
  if (device.isHost() || plan.loops) {
    plan.warps = 8;
    return plan;
  }
  constexpr int64_t bytesOfWarp = 1024, bytesOfProgram = 4096;
  int64_t rowBytes = std::max<int64_t>(columns * elementBytes, 1);
  if (rowBytes <= bytesOfProgram / 4) {
    plan.rowsOfProgram = std::min<int64_t>(
        std::bit_floor(uint64_t(bytesOfProgram / rowBytes)), 32);
  }
  int64_t warps = std::bit_floor(uint64_t(
      std::max<int64_t>(rowBytes * plan.rowsOfProgram / bytesOfWarp, 1)));
  // So that 64 values a thread stay in registers, too.
  int64_t least = std::bit_ceil(uint64_t(cdiv(columns * kept, 64 * 32)));
  plan.warps = static_cast<int>(
      std::clamp<int64_t>(std::max(std::min<int64_t>(warps, 8), least), 1, 16));
  return plan;
}

RowParts kernels::partsOfRows(const Rows &rows, int64_t block, Device device) {
  RowParts parts{1, rows.columns};
  if (device.isHost() || !hasCompiler()) {
    return parts;
  }
  // Two programs a processor; a second launch takes as long as one reads a few
  // blocks.
  constexpr int64_t programsOfProcessor = 2, most = 256;
  int64_t wanted = std::min(
      programsOfProcessor * properties(device).processors / rows.count, most);
  if (wanted >= 2 && rows.columns > 2 * block) {
    parts.columns = cdiv(cdiv(rows.columns, wanted), block) * block;
    parts.count = cdiv(rows.columns, parts.columns);
  }
  return parts;
}

int64_t kernels::programsForSums(int64_t rows, Device device,
                                 int64_t rowBytes) {
  // By Little's law a multiprocessor's share of 4 TB/s, at 1 us from request to
  // data, is some 32 KiB; a program has one row under way at least.
  constexpr int64_t bytesUnderWay = 32768, most = 8;
  int64_t perProcessor =
      rowBytes ? std::clamp<int64_t>(bytesUnderWay / rowBytes, 1, most) : 2;
  // A host's threads share 64 programs evenly enough, however many they are.
  int64_t programs =
      device.isHost() ? 64 : perProcessor * numbersOf(device).processors;
  return std::clamp<int64_t>(programs, 1, std::max<int64_t>(rows, 1));
}

int64_t kernels::programsForSumsOf(int64_t blocks, int64_t rows,
                                   Device device) {
  return device.isHost()
             ? std::clamp<int64_t>(64 / blocks, 1, std::max<int64_t>(rows, 1))
             : programsForSums(rows, device);
}
