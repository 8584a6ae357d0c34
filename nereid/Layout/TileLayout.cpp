//===- TileLayout.cpp - A layout by flattened indices ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/TileLayout.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace nereid {

uint32_t TileLayout::ofRegister(unsigned r) const {
  uint32_t index = 0;
  for (unsigned bits = r; bits; bits &= bits - 1) {
    index ^= registers[std::countr_zero(bits)];
  }
  return index;
}

f2::Matrix TileLayout::columns() const {
  f2::Matrix all(registers.begin(), registers.end());
  for (const auto *part : {&lanes, &warps}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

LinearLayout TileLayout::linear(unsigned bits) const {
  return LinearLayout(
      {{Axis::Register, static_cast<unsigned>(registers.size())},
       {Axis::Lane, static_cast<unsigned>(lanes.size())},
       {Axis::Warp, static_cast<unsigned>(warps.size())}},
      {{Axis::D0, bits}}, columns());
}

TileLayout flatten(const LinearLayout &layout) {
  auto columnsOf = [&](Axis axis) {
    std::vector<uint32_t> columns;
    for (unsigned i = 0; i < layout.inputBits(axis); ++i) {
      columns.push_back(static_cast<uint32_t>(
          layout.applyFlat(layout.flattenInput({{axis, 1u << i}}))));
    }
    return columns;
  };
  TileLayout flat{columnsOf(Axis::Register), columnsOf(Axis::Lane),
                  columnsOf(Axis::Warp)};
  std::erase(flat.registers, 0u);
  return flat;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

int64_t elementCount(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  return count;
}

unsigned tileBits(const Shape &shape) {
  unsigned bits = 0;
  for (int64_t size : shape) {
    bits += paddedBits(size);
  }
  return bits;
}

std::vector<unsigned> dimensionShifts(const Shape &shape) {
  std::vector<unsigned> shifts(shape.size());
  unsigned shift = 0;
  for (size_t d = shape.size(); d-- > 0;) {
    shifts[d] = shift;
    shift += paddedBits(shape[d]);
  }
  return shifts;
}

bool isPowerOfTwo(const Shape &shape) {
  return std::all_of(shape.begin(), shape.end(), [](int64_t size) {
    return std::has_single_bit(static_cast<uint64_t>(size));
  });
}

bool keepsFlatIndex(const Shape &from, const Shape &to) {
  Shape x = from, y = to;
  std::erase(x, 1);
  std::erase(y, 1);
  return x == y || (isPowerOfTwo(from) && isPowerOfTwo(to));
}

std::vector<uint32_t> splitIndex(uint32_t flat, const Shape &shape) {
  std::vector<uint32_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    unsigned bits = paddedBits(shape[d]);
    index[d] = flat & ((1u << bits) - 1);
    flat >>= bits;
  }
  return index;
}

uint32_t joinIndex(const std::vector<uint32_t> &index, const Shape &shape) {
  std::vector<unsigned> shifts = dimensionShifts(shape);
  uint32_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    flat |= index[d] << shifts[d];
  }
  return flat;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

template <typename Map>
static TileLayout mapColumns(const TileLayout &layout, Map map) {
  TileLayout result;
  auto mapAll = [&](const std::vector<uint32_t> &from,
                    std::vector<uint32_t> &to) {
    for (uint32_t column : from) {
      to.push_back(map(column));
    }
  };
  mapAll(layout.registers, result.registers);
  mapAll(layout.lanes, result.lanes);
  mapAll(layout.warps, result.warps);
  return result;
}

TileLayout narrow(const TileLayout &layout, const Shape &from, const Shape &to,
                  std::vector<unsigned> *kept) {
  assert(from.size() == to.size());
  TileLayout result = mapColumns(layout, [&](uint32_t column) {
    std::vector<uint32_t> index = splitIndex(column, from);
    for (size_t d = 0; d < to.size(); ++d) {
      index[d] = to[d] == 1 ? 0 : index[d];
    }
    return joinIndex(index, to);
  });
  std::vector<uint32_t> registers;
  for (unsigned i = 0; i < result.registers.size(); ++i) {
    if (result.registers[i]) {
      registers.push_back(result.registers[i]);
      if (kept) {
        kept->push_back(i);
      }
    }
  }
  result.registers = std::move(registers);
  return result;
}

TileLayout widen(const TileLayout &layout, const Shape &from, const Shape &to) {
  assert(from.size() == to.size());
  TileLayout result = mapColumns(layout, [&](uint32_t column) {
    return joinIndex(splitIndex(column, from), to);
  });
  for (size_t d = to.size(); d-- > 0;) {
    for (uint32_t step = 1; from[d] == 1 && step < to[d]; step *= 2) {
      std::vector<uint32_t> index(to.size());
      index[d] = step;
      result.registers.push_back(joinIndex(index, to));
    }
  }
  return result;
}

TileLayout permute(const TileLayout &layout, const Shape &shape,
                   const std::vector<unsigned> &order) {
  Shape permuted;
  for (unsigned d : order) {
    permuted.push_back(shape[d]);
  }
  return mapColumns(layout, [&](uint32_t column) {
    std::vector<uint32_t> index = splitIndex(column, shape), moved;
    for (unsigned d : order) {
      moved.push_back(index[d]);
    }
    return joinIndex(moved, permuted);
  });
}

TileLayout joined(const TileLayout &layout) {
  TileLayout result =
      mapColumns(layout, [](uint32_t column) { return column << 1; });
  result.registers.insert(result.registers.begin(), 1u);
  return result;
}

std::optional<TileLayout> halved(const TileLayout &layout, unsigned &column) {
  std::optional<unsigned> found;
  for (unsigned i = 0; i < layout.registers.size(); ++i) {
    if (layout.registers[i] == 1) {
      found = i;
    } else if (layout.registers[i] & 1) {
      return std::nullopt;
    }
  }
  for (const auto *part : {&layout.lanes, &layout.warps}) {
    for (uint32_t c : *part) {
      if (c & 1) {
        return std::nullopt;
      }
    }
  }
  if (!found) {
    return std::nullopt;
  }
  column = *found;
  TileLayout rest = layout;
  rest.registers.erase(rest.registers.begin() + column);
  return mapColumns(rest, [](uint32_t c) { return c >> 1; });
}

uint32_t freeThreadBits(const TileLayout &layout) {
  f2::Vector dependent = f2::Solver(layout.columns()).dependentColumns();
  return static_cast<uint32_t>(dependent >> layout.registers.size());
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Bit r set: along some dimension the index that `extreme(others, own)` finds
/// lies outside. `own` is the register's part of the index; lanes and warps add
/// what is in `others`, so least and greatest index are those of own + others.
template <typename Extreme>
static std::vector<bool> outside(const TileLayout &layout, const Shape &shape,
                                 Extreme extreme) {
  std::vector<bool> found(layout.registerCount(), false);
  std::vector<unsigned> shifts = dimensionShifts(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    auto size = static_cast<uint64_t>(shape[d]);
    if (std::has_single_bit(size)) {
      continue;
    }
    uint32_t mask = (1u << paddedBits(shape[d])) - 1;
    f2::Span others;
    for (const auto *part : {&layout.lanes, &layout.warps}) {
      for (uint32_t column : *part) {
        others.add(column >> shifts[d] & mask);
      }
    }
    for (unsigned r = 0; r < found.size(); ++r) {
      uint32_t own = layout.ofRegister(r) >> shifts[d] & mask;
      found[r] = found[r] || extreme(others, own) >= size;
    }
  }
  return found;
}

std::vector<bool> deadRegisters(const TileLayout &layout, const Shape &shape) {
  return outside(layout, shape, [](const f2::Span &others, uint32_t own) {
    return others.least(own);
  });
}

std::vector<bool> partlyDeadRegisters(const TileLayout &layout,
                                      const Shape &shape) {
  return outside(layout, shape, [](const f2::Span &others, uint32_t own) {
    return others.greatest(own);
  });
}

//===----------------------------------------------------------------------===//
// Coalescing
//===----------------------------------------------------------------------===//

TileLayout coalesced(const Shape &shape, const std::vector<unsigned> &order,
                     unsigned vector, ThreadBits threads, bool wholeRows) {
  std::vector<unsigned> shifts = dimensionShifts(shape);
  TileLayout layout;
  auto [laneBits, warpBits] = threads;
  if (order.empty()) {
    layout.lanes.assign(laneBits, 0);
    layout.warps.assign(warpBits, 0);
    return layout;
  }
  auto inner = static_cast<uint64_t>(shape[order[0]]);
  unsigned divisor = std::countr_zero(inner); // vectors end inside the shape
  unsigned vectorBits = std::min<unsigned>(std::bit_width(vector) - 1, divisor);
  unsigned innerBits = paddedBits(shape[order[0]]), allBits = tileBits(shape);
  wholeRows &= allBits - innerBits >= warpBits;
  unsigned innerThreads = laneBits + (wholeRows ? 0 : warpBits);
  if (!std::has_single_bit(inner) && divisor >= innerThreads) {
    vectorBits = std::min(vectorBits, divisor - innerThreads);
  }
  std::vector<uint32_t> bits; // of the flattened index, from the fastest on
  for (unsigned d : order) {
    for (unsigned i = 0; i < paddedBits(shape[d]); ++i) {
      bits.push_back(1u << (shifts[d] + i));
    }
  }
  auto next = bits.begin();
  auto take = [&](std::vector<uint32_t> &to, unsigned count) {
    for (; count && next != bits.end(); --count) {
      to.push_back(*next++);
    }
    return count;
  };
  take(layout.registers, vectorBits);
  // Threads beyond the tile hold copies.
  unsigned copies = take(layout.lanes, laneBits);
  layout.lanes.insert(layout.lanes.end(), copies, 0);
  if (auto taken = static_cast<unsigned>(next - bits.begin());
      wholeRows && taken < innerBits) {
    std::rotate(next, next + (innerBits - taken), bits.end());
  }
  copies = take(layout.warps, warpBits);
  layout.warps.insert(layout.warps.end(), copies, 0);
  take(layout.registers, bits.size());
  return layout;
}

std::optional<TileLayout> coalescedAround(const std::vector<uint32_t> &warps,
                                          const Shape &shape,
                                          const std::vector<unsigned> &order,
                                          unsigned vector, unsigned laneBits,
                                          unsigned run) {
  std::vector<unsigned> shifts = dimensionShifts(shape);
  uint32_t taken = 0;
  for (uint32_t column : warps) {
    if (!std::has_single_bit(column) || column & taken) {
      return std::nullopt;
    }
    taken |= column;
  }
  unsigned innerBits = paddedBits(shape[order[0]]), neighbours = 0;
  std::vector<uint32_t> bits; // that the warps leave, from the fastest on
  for (unsigned d : order) {
    for (unsigned i = 0; i < paddedBits(shape[d]); ++i) {
      uint32_t bit = 1u << (shifts[d] + i);
      if (!(bit & taken)) {
        neighbours += bits.size() == i && d == order[0];
        bits.push_back(bit);
      }
    }
  }
  unsigned vectorBits = std::bit_width(vector) - 1;
  unsigned wanted = std::min<unsigned>(std::bit_width(run) - 1, innerBits);
  neighbours = std::min(neighbours, vectorBits + laneBits);
  if (neighbours < std::max(vectorBits, wanted) ||
      bits.size() < vectorBits + laneBits) {
    return std::nullopt;
  }
  TileLayout layout;
  auto lanes = bits.begin() + vectorBits, rest = lanes + laneBits;
  layout.registers.assign(bits.begin(), lanes);
  layout.lanes.assign(lanes, rest);
  layout.registers.insert(layout.registers.end(), rest, bits.end());
  layout.warps = warps;
  return layout;
}

unsigned contiguousRegisters(const TileLayout &layout, unsigned shift,
                             unsigned bits) {
  unsigned found = 0;
  while (found < layout.registers.size() && found < bits &&
         layout.registers[found] == 1u << (shift + found)) {
    ++found;
  }
  auto touches = [&](const std::vector<uint32_t> &part, unsigned from) {
    for (unsigned i = from; i < part.size(); ++i) {
      while (found && part[i] & ((1u << found) - 1) << shift) {
        --found;
      }
    }
  };
  touches(layout.registers, found);
  touches(layout.lanes, 0);
  touches(layout.warps, 0);
  return 1u << found;
}

} // namespace nereid
