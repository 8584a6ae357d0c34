//===- Buffers.cpp - Tiles in shared memory -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <algorithm>
#include <bit>

using namespace mlir;

namespace nereid::tilegpu {

/// The greatest offset, in elements, that an element of the tile has. Indices
/// up to size - 1 are those that agree with it down to a bit that it has and
/// they lack, and whatever is below, and itself: an affine space each.
static uint32_t lastOffset(BufferType buffer) {
  std::vector<uint32_t> columns = offsetsOfIndex(buffer);
  Shape shape(buffer.getShape().begin(), buffer.getShape().end());
  std::vector<unsigned> shifts = dimensionShifts(shape);
  auto greatest = [&](auto &&self, size_t d, uint64_t start,
                      const std::vector<f2::Vector> &free) -> uint64_t {
    if (d == shape.size()) {
      return f2::Span(free).greatest(start);
    }
    auto last = static_cast<uint64_t>(shape[d]) - 1;
    unsigned bits = paddedBits(shape[d]);
    uint64_t agreeing = start; // in the bits from `bit` on
    uint64_t most = 0;
    for (unsigned bit = bits; bit-- > 0;) {
      if (last >> bit & 1) {
        std::vector<f2::Vector> below = free;
        for (unsigned i = 0; i < bit; ++i) {
          below.push_back(columns[shifts[d] + i]);
        }
        most = std::max(most, self(self, d + 1, agreeing, below));
        agreeing ^= columns[shifts[d] + bit];
      }
    }
    return std::max(most, self(self, d + 1, agreeing, free));
  };
  return static_cast<uint32_t>(greatest(greatest, 0, 0, {}));
}

unsigned BufferType::getSlotBytes() const {
  unsigned bytes = tile::getElementBytes(getElementType());
  Shape shape(getShape().begin(), getShape().end());
  return isPowerOfTwo(shape)
             ? static_cast<unsigned>(elementCount(shape)) * bytes
             : llvm::alignTo((lastOffset(*this) + 1) * bytes, wavefrontBytes);
}

/// `panelsLast`: after the rows of a panel comes the next panel; or after a
/// row's part of one panel its part of the next.
static BufferType swizzled(MLIRContext *context, unsigned slots,
                           const Shape &shape, Type element, unsigned inner,
                           bool panelsLast) {
  constexpr unsigned pieceBytes = 16;
  unsigned bytes = tile::getElementBytes(element);
  unsigned innerBits = paddedBits(shape[inner]);
  unsigned rowBits =
      std::min<unsigned>(innerBits, std::countr_zero(wavefrontBytes / bytes));
  unsigned rowBytes = bytes << rowBits;
  // Short rows share a wavefront and need fewer permutations.
  unsigned perPhase = wavefrontBytes / rowBytes;
  unsigned phases = std::max(rowBytes / pieceBytes, 1u);
  // What no product by several warps reads need not be as these want it. Of
  // elements of 4 bytes and more a warp's product reads 32 bytes of four rows
  // at once: the rows' lowest bit is the pieces' second. Of bytes it reads 8 of
  // every fourth row: one more bit of the rows counts.
  bool isTurned = bytes >= 4 && phases > 1;
  bool isOfEveryFourth = bytes == 1 && phases > 2 && !isPowerOfTwo(shape);
  auto pieceOf = [&](unsigned row) {
    unsigned phase = row / perPhase % phases;
    if (isOfEveryFourth && row == perPhase * phases) {
      return 1u;
    }
    return isTurned ? (phase << 1 | phase / (phases / 2)) % phases : phase;
  };
  std::vector<unsigned> shifts = dimensionShifts(shape);
  SmallVector<uint32_t> offsets;
  auto innerBit = [&](unsigned i) { return 1u << (shifts[inner] + i); };
  for (unsigned i = 0; i < rowBits; ++i) {
    offsets.push_back(innerBit(i));
  }
  auto addPanels = [&] {
    for (unsigned i = rowBits; i < innerBits; ++i) {
      offsets.push_back(innerBit(i));
    }
  };
  if (!panelsLast) {
    addPanels();
  }
  unsigned row = 1;
  for (unsigned d = shape.size(); d-- > 0;) {
    for (unsigned i = 0; d != inner && i < paddedBits(shape[d]); ++i) {
      unsigned piece = pieceOf(row) * (pieceBytes / bytes);
      offsets.push_back(1u << (shifts[d] + i) | piece << shifts[inner]);
      row *= 2;
    }
  }
  if (panelsLast) {
    addPanels();
  }
  return BufferType::get(context, slots, shape, element, offsets);
}

BufferType swizzledBuffer(MLIRContext *context, unsigned slots,
                          const Shape &shape, Type element, unsigned inner) {
  BufferType type = swizzled(context, slots, shape, element, inner,
                             /*panelsLast=*/true);
  if (isPowerOfTwo(shape)) {
    return type;
  }
  BufferType other = swizzled(context, slots, shape, element, inner,
                              /*panelsLast=*/false);
  return other.getSlotBytes() < type.getSlotBytes() ? other : type;
}

unsigned innerDimension(const TileLayout &layout, const Shape &shape) {
  std::vector<unsigned> shifts = dimensionShifts(shape);
  unsigned inner = shape.size() - 1, best = 0;
  for (unsigned d = shape.size(); d-- > 0;) {
    unsigned held =
        contiguousRegisters(layout, shifts[d], paddedBits(shape[d]));
    if (held > best) {
      best = held;
      inner = d;
    }
  }
  return inner;
}

BufferType oneSlotFor(RankedTensorType tensor, std::optional<unsigned> inner) {
  Shape shape = shapeOf(tensor);
  return swizzledBuffer(
      tensor.getContext(), 1, shape, tile::getElement(tensor),
      inner.value_or(innerDimension(layoutOf(tensor), shape)));
}

std::optional<unsigned> innerOfOperand(tile::DotOp dot, unsigned index) {
  Type element = tile::getElement(dot->getOperand(index).getType());
  bool isFree = element.getIntOrFloatBitWidth() == 16;
  return isFree ? std::nullopt : std::optional(1 - index);
}

std::vector<uint32_t> offsetsOfIndex(BufferType buffer,
                                     ArrayRef<int32_t> order) {
  f2::Matrix columns(buffer.getOffsets().begin(), buffer.getOffsets().end());
  f2::Solver solver(columns);
  Shape shape(buffer.getShape().begin(), buffer.getShape().end());
  std::vector<unsigned> shifts = dimensionShifts(shape);
  std::vector<uint32_t> found;
  // The last dimension of the result is lowest.
  for (unsigned d = shape.size(); d-- > 0;) {
    unsigned from = order.empty() ? d : order[d];
    for (unsigned i = 0; i < paddedBits(shape[from]); ++i) {
      found.push_back(static_cast<uint32_t>(
          *solver.solve(uint64_t{1} << (shifts[from] + i))));
    }
  }
  return found;
}

static LogicalResult verifyTile(Operation *op, RankedTensorType tensor,
                                Type element, BufferType buffer,
                                ArrayRef<int32_t> order) {
  ArrayRef<int64_t> shape = buffer.getShape();
  SmallVector<int64_t> expected(shape);
  if (!order.empty()) {
    if (order.size() != shape.size()) {
      return op->emitOpError("order has ")
             << order.size() << " entries; expected " << shape.size();
    }
    for (auto [d, from] : llvm::enumerate(order)) {
      if (from < 0 || from >= static_cast<int32_t>(shape.size())) {
        return op->emitOpError("order is no permutation");
      }
      expected[d] = shape[from];
    }
  }
  if (tensor.getShape() != ArrayRef<int64_t>(expected)) {
    return op->emitOpError("tensor has another shape than the buffer's tile");
  }
  if (element != buffer.getElementType()) {
    return op->emitOpError("tensor of ")
           << element << "; the buffer holds " << buffer.getElementType();
  }
  return success();
}

LogicalResult AllocOp::verify() {
  if (std::optional<uint32_t> offset = getOffset();
      offset && *offset % swizzlePeriodBytes) {
    return emitOpError("at ")
           << *offset << "; expected a multiple of " << swizzlePeriodBytes;
  }
  return success();
}

LogicalResult CopyAsyncOp::verify() {
  auto pointers = cast<RankedTensorType>(getPointers().getType());
  auto pointer = dyn_cast<tile::PtrType>(pointers.getElementType());
  if (!pointer) {
    return emitOpError("expects a tensor of pointers");
  }
  if (getMask() && getMask().getType().getShape() != pointers.getShape()) {
    return emitOpError("mask has another shape than the pointers");
  }
  return verifyTile(*this, pointers, pointer.getPointee(),
                    getBuffer().getType(), {});
}

LogicalResult LocalStoreOp::verify() {
  return verifyTile(*this, cast<RankedTensorType>(getTensor().getType()),
                    tile::getElement(getTensor().getType()),
                    getBuffer().getType(), {});
}

LogicalResult LocalLoadOp::verify() {
  return verifyTile(*this, cast<RankedTensorType>(getType()),
                    tile::getElement(getType()), getBuffer().getType(),
                    getOrder().value_or(ArrayRef<int32_t>()));
}

/// The dot in flight whose result `value` is; null if there is none.
static tile::DotOp dotInFlight(Value value) {
  auto dot = value.getDefiningOp<tile::DotOp>();
  return dot && dot->hasAttr(inFlightAttr) && dot->hasOneUse() ? dot : nullptr;
}

LogicalResult WaitProductsOp::verify() {
  tile::DotOp dot = dotInFlight(getProduct());
  if (dot && dot->getBlock() == (*this)->getBlock()) {
    return success();
  }
  auto result = dyn_cast<OpResult>(getProduct());
  if (auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : nullptr) {
    unsigned i = result.getResultNumber();
    Value carried = loop.getRegionIterArg(i);
    tile::DotOp yielded = dotInFlight(loop.getYieldedValues()[i]);
    if (yielded && yielded.getC() == carried && carried.hasOneUse() &&
        result.hasOneUse()) {
      return success();
    }
  }
  return emitOpError("expects a dot in flight in the same block, or the sum "
                     "of a loop that yields one, that nothing else waits for");
}

} // namespace nereid::tilegpu
