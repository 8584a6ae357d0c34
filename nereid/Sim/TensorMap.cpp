//===- TensorMap.cpp - What the copy engine knows of a tensor -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are those of cuTensorMapEncodeTiled in the CUDA driver API, the
// layout is that of PTX ISA 5.5, "Tensors".
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/TensorMap.h"

#include <algorithm>
#include <string>

namespace nereid::sim {

static constexpr uint64_t validMark = 0x70614d726f736e54; // "TnsorMap"

/// By CUtensorMapDataType: u8, u16, u32, i32, u64, i64, f16, f32, f64, bf16.
static constexpr uint8_t bytesOfTypes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
static constexpr int lastType = 15, lastSwizzle = 6;
static constexpr unsigned accessBytes = 16;

static Failure invalid(const std::string &expected, uint64_t got) {
  return {ErrorCode::InvalidArgument,
          "expected " + expected + ", got " + std::to_string(got),
          {}};
}

static Failure unsupported(const std::string &what) {
  return {ErrorCode::Unsupported, what + " is not simulated", {}};
}

static std::string dimension(const char *what, unsigned i) {
  return std::string(what) + " of dimension " + std::to_string(i);
}

bool TensorMap::isValid() const { return mark == validMark; }

static uint32_t stepsOf(const TensorMap &map, unsigned i) {
  // Along the innermost dimension there is no stride.
  return i ? (map.box[i] + map.elementStrides[i] - 1u) / map.elementStrides[i]
           : map.box[0];
}

uint32_t TensorMap::boxBytes() const {
  uint32_t bytes = elementBytes;
  for (unsigned i = 0; i < rank; ++i) {
    bytes *= stepsOf(*this, i);
  }
  return bytes;
}

/// 0 without a swizzle.
static unsigned spanOf(unsigned swizzle) {
  return swizzle ? 16u << swizzle : 0;
}

static Status checkDimension(const TensorMapRequest &request, unsigned i) {
  constexpr uint64_t mostSize = uint64_t{1} << 32;
  constexpr uint64_t mostStride = uint64_t{1} << 40;
  constexpr uint32_t mostBox = 256, mostElementStride = 8;
  if (!request.sizes[i] || request.sizes[i] > mostSize) {
    return invalid(dimension("a size", i) + " from 1 to 2^32",
                   request.sizes[i]);
  }
  if (!request.box[i] || request.box[i] > mostBox) {
    return invalid(dimension("a box", i) + " of 1 to 256 elements",
                   request.box[i]);
  }
  if (!request.elementStrides[i] ||
      request.elementStrides[i] > mostElementStride) {
    return invalid(dimension("a stride of elements", i) + " from 1 to 8",
                   request.elementStrides[i]);
  }
  if (i) {
    uint64_t stride = request.strides[i - 1];
    if (stride % accessBytes || stride >= mostStride) {
      return invalid(dimension("a stride", i) +
                         " that is a multiple of 16 below 2^40",
                     stride);
    }
  }
  return Status::success();
}

static Status check(const TensorMapRequest &request) {
  if (request.type < 0 || request.type > lastType) {
    return invalid("a type from 0 to 15", uint64_t(request.type));
  }
  if (!request.rank || request.rank > mostDimensions) {
    return invalid("1 to 5 dimensions", request.rank);
  }
  if (!request.address || request.address % accessBytes) {
    return invalid("an address that is a multiple of 16", request.address);
  }
  if (request.interleave < 0 || request.interleave > 2) {
    return invalid("an interleave from 0 to 2", uint64_t(request.interleave));
  }
  if (request.swizzle < 0 || request.swizzle > lastSwizzle) {
    return invalid("a swizzle from 0 to 6", uint64_t(request.swizzle));
  }
  if (request.promotion < 0 || request.promotion > 3) {
    return invalid("a promotion from 0 to 3", uint64_t(request.promotion));
  }
  if (request.fill < 0 || request.fill > 1) {
    return invalid("a fill of 0 or 1", uint64_t(request.fill));
  }
  if (!request.sizes || !request.box || !request.elementStrides ||
      (request.rank > 1 && !request.strides)) {
    return invalid("sizes, strides, box and strides of elements", 0);
  }
  for (unsigned i = 0; i < request.rank; ++i) {
    if (Status status = checkDimension(request, i); !status.ok()) {
      return status;
    }
  }
  return Status::success();
}

Expected<TensorMap> encodeTiled(const TensorMapRequest &request) {
  if (Status status = check(request); !status.ok()) {
    return status.failure();
  }
  if (size_t(request.type) >= std::size(bytesOfTypes)) {
    return unsupported("a map of flushed, rounded or narrow floats");
  }
  if (request.interleave) {
    return unsupported("an interleaved map");
  }
  if (request.swizzle > 3) {
    return unsupported("a swizzle of wider atoms");
  }
  if (request.fill) {
    return unsupported("a map that fills in NaNs");
  }
  TensorMap map{};
  map.mark = validMark;
  map.address = request.address;
  map.rank = uint8_t(request.rank);
  map.elementBytes = bytesOfTypes[request.type];
  map.swizzle = uint8_t(request.swizzle);
  for (unsigned i = 0; i < request.rank; ++i) {
    map.sizes[i] = request.sizes[i];
    map.box[i] = uint16_t(request.box[i]);
    map.elementStrides[i] = uint8_t(request.elementStrides[i]);
    if (i) {
      map.strides[i - 1] = request.strides[i - 1];
    }
  }
  uint32_t rowBytes = uint32_t(map.box[0]) * map.elementBytes;
  if (rowBytes % accessBytes) {
    return invalid("a box of a multiple of 16 bytes along dimension 0",
                   rowBytes);
  }
  unsigned span = spanOf(map.swizzle);
  if (span && rowBytes > span) {
    return invalid("a box of at most " + std::to_string(span) +
                       " bytes along dimension 0, the span of its swizzle",
                   rowBytes);
  }
  if (rowBytes < span) {
    return unsupported("a box narrower than the span of its swizzle");
  }
  return map;
}

/// Pieces of 16 bytes change places within the span, by the number of 128
/// bytes that they lie in: address bits 4 to 6, by bits 7 to 9.
static uint32_t swizzled(const TensorMap &map, uint32_t at) {
  uint32_t pieces = map.swizzle ? (1u << map.swizzle) - 1 : 0;
  return at ^ (((at >> 7) & pieces) << 4);
}

/// `bytes` from `at` on, before the swizzle.
static void addRuns(const TensorMap &map, std::vector<CopyRun> &runs,
                    uint32_t at, uint64_t global, uint32_t bytes) {
  while (bytes) {
    uint32_t piece =
        map.swizzle ? std::min(bytes, accessBytes - at % accessBytes) : bytes;
    runs.push_back({swizzled(map, at), global, piece});
    at += piece;
    global += global ? piece : 0;
    bytes -= piece;
  }
}

/// One row of the box along dimension 0.
static void addRow(const TensorMap &map, std::vector<CopyRun> &runs,
                   uint32_t at, uint64_t global, int64_t first) {
  int64_t count = map.box[0], size = int64_t(map.sizes[0]);
  int64_t begin = std::clamp<int64_t>(-first, 0, count);
  int64_t end = std::clamp<int64_t>(size - first, begin, count);
  unsigned bytes = map.elementBytes;
  if (!global) {
    begin = end = count;
  }
  addRuns(map, runs, at, 0, uint32_t(begin) * bytes);
  addRuns(map, runs, at + uint32_t(begin) * bytes,
          global + uint64_t(first + begin) * bytes,
          uint32_t(end - begin) * bytes);
  addRuns(map, runs, at + uint32_t(end) * bytes, 0,
          uint32_t(count - end) * bytes);
}

std::vector<CopyRun> runsOf(const TensorMap &map, const int32_t *coordinates,
                            uint32_t shared) {
  std::vector<CopyRun> runs;
  uint32_t rowBytes = uint32_t(map.box[0]) * map.elementBytes;
  uint32_t rows = map.boxBytes() / rowBytes;
  for (uint32_t row = 0; row < rows; ++row) {
    uint64_t global = map.address;
    uint32_t left = row;
    for (unsigned i = 1; i < map.rank; ++i) {
      uint32_t steps = stepsOf(map, i);
      int64_t x =
          coordinates[i] + int64_t(left % steps) * map.elementStrides[i];
      left /= steps;
      bool isInside = x >= 0 && uint64_t(x) < map.sizes[i];
      global =
          isInside && global ? global + uint64_t(x) * map.strides[i - 1] : 0;
    }
    addRow(map, runs, shared + row * rowBytes, global, coordinates[0]);
  }
  return runs;
}

} // namespace nereid::sim
