//===- CudaTensorMap.cpp - Tensors for the engine of boxes ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/CudaTensorMap.h"

#include <array>
#include <span>

namespace nereid::gpu {

namespace {

constexpr size_t mostDimensions = 5;

/// Reads TensorMapSource::numbers, which the compiler wrote.
class NumberReader {
public:
  NumberReader(const KernelImage &image, const TensorMapSource &source,
               const uint64_t *slots)
      : image(image), next(source.numbers.data()), slots(slots) {}
  int64_t read(int64_t ifAbsent);

private:
  int64_t parameter(int64_t number) const;

  const KernelImage &image;
  const int64_t *next;
  const uint64_t *slots;
};

} // namespace

int64_t NumberReader::parameter(int64_t number) const {
  uint64_t slot = slots[number];
  switch (image.parameters[number].dtype) {
  case DType::Int8:
    return static_cast<int8_t>(slot);
  case DType::Int16:
    return static_cast<int16_t>(slot);
  case DType::Int32:
    return static_cast<int32_t>(slot);
  default:
    return static_cast<int64_t>(slot);
  }
}

int64_t NumberReader::read(int64_t ifAbsent) {
  int64_t products = *next++, sum = 0;
  if (products < 0) {
    return ifAbsent;
  }
  for (; products; --products) {
    int64_t product = *next++;
    for (int64_t factors = *next++; factors; --factors) {
      product *= parameter(*next++);
    }
    sum += product;
  }
  return sum;
}

/// The driver's CUtensorMapDataType of words of so many bytes: those of
/// unsigned integers, which are copied as they are.
static int wordType(uint32_t bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 4;
}

/// What a miss of the second-level cache brings from memory: 256 bytes, but 128
/// where rows begin in the middle of a sector, which then take less time
/// (docs/decisions/ProductBlocks.md, Rows that are no multiples).
static int promotionOf(uint64_t address, std::span<const uint64_t> strides) {
  constexpr uint64_t sectorBytes = 32;
  constexpr int to128 = 2, to256 = 3;
  bool areAligned = address % sectorBytes == 0;
  for (uint64_t stride : strides) {
    areAligned = areAligned && stride % sectorBytes == 0;
  }
  return areAligned ? to256 : to128;
}

Status makeTensorMap(const KernelImage &image, const TensorMapSource &source,
                     const uint64_t *slots, DeviceState &device,
                     TensorMap &map) {
  constexpr int64_t mostElements = INT32_MAX, mostStride = int64_t{1} << 40;
  constexpr int noInterleave = 0, zerosOutside = 0;
  std::array<uint64_t, mostDimensions> sizes = {}, strides = {};
  std::array<unsigned, mostDimensions> box = {}, steps = {};
  if (!device.driver.tensorMapEncodeTiled) {
    return {ErrorCode::Unsupported, "the driver makes no tensor maps"};
  }
  NumberReader numbers(image, source, slots);
  size_t rank = source.box.size();
  for (size_t d = 0; d < rank; ++d) {
    int64_t stride = numbers.read(0), size = numbers.read(mostElements);
    // The driver looks at the rest: alignment, and what is too large.
    if (stride < 0 || stride > mostStride || size <= 0 || size > mostElements) {
      return {ErrorCode::Unsupported, "no tensor map describes the tensor"};
    }
    strides[d] = static_cast<uint64_t>(stride) * source.elementBytes;
    sizes[d] = static_cast<uint64_t>(size);
    box[d] = static_cast<unsigned>(source.box[d]);
    steps[d] = 1;
  }
  int swizzle = source.swizzleBytes == 128  ? 3
                : source.swizzleBytes == 64 ? 2
                : source.swizzleBytes == 32 ? 1
                                            : 0;
  Result result = device.driver.tensorMapEncodeTiled(
      &map, wordType(source.elementBytes), static_cast<unsigned>(rank),
      reinterpret_cast<void *>(slots[source.base]), sizes.data(),
      strides.data() + 1, box.data(), steps.data(), noInterleave, swizzle,
      promotionOf(slots[source.base], std::span(strides).subspan(1, rank - 1)),
      zerosOutside);
  if (result == InvalidValue) {
    return {ErrorCode::Unsupported, "no tensor map describes the tensor"};
  }
  return device.check(result, "describing a tensor for copies of its tiles");
}

} // namespace nereid::gpu
