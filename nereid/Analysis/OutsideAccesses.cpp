//===- OutsideAccesses.cpp - Accesses that leave their arrays -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/OutsideAccesses.h"

#include "nereid/Analysis/ProgramValues.h"
#include "nereid/Dialect/Tile/IR/Kernel.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include <limits>

using namespace mlir;

namespace nereid {

/// The last program first, since most mistakes are at the end; then the first,
/// the other corners, and some between.
static std::vector<std::array<int32_t, 3>>
programsToTry(const std::array<int32_t, 3> &grid) {
  std::vector<std::array<int32_t, 3>> programs;
  if (llvm::any_of(grid, [](int32_t size) { return size <= 0; })) {
    return programs;
  }
  auto add = [&](std::array<int32_t, 3> program) {
    if (!llvm::is_contained(programs, program)) {
      programs.push_back(program);
    }
  };
  add({grid[0] - 1, grid[1] - 1, grid[2] - 1});
  for (unsigned corner = 0; corner < 8; ++corner) {
    add({corner & 1 ? grid[0] - 1 : 0, corner & 2 ? grid[1] - 1 : 0,
         corner & 4 ? grid[2] - 1 : 0});
  }
  constexpr int64_t between = 16;
  for (int64_t i = 1; i < between; ++i) {
    add({int32_t(grid[0] * i / between), int32_t(grid[1] * i / between),
         int32_t(grid[2] * i / between)});
  }
  return programs;
}

static int64_t bytesOfElement(Operation *op) {
  Value pointers = cast<tile::MemoryAccess>(op).getPtr();
  auto type = cast<tile::PtrType>(getElementTypeOrSelf(pointers));
  return (type.getPointee().getIntOrFloatBitWidth() + 7) / 8;
}

/// Nothing where all active elements lie in the array.
static std::optional<OutsideAccess> outsideOf(const KnownAccess &access,
                                              const ArgumentFact &array) {
  int64_t bytes = bytesOfElement(access.op);
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  bool allSame = access.pointers.elements.size() == 1 &&
                 (!access.mask || access.mask->elements.size() == 1);
  for (size_t i = 0; i < (allSame ? 1 : access.count); ++i) {
    if (!access.mask || access.mask->at(i)) {
      first = std::min(first, access.pointers.at(i));
      last = std::max(last, access.pointers.at(i));
    }
  }
  bool isOutside = first <= last && (first < -int64_t(array.bytesBefore) ||
                                     last > int64_t(array.bytesFrom) - bytes);
  if (!isOutside) {
    return std::nullopt;
  }
  return OutsideAccess{access.op,
                       cast<BlockArgument>(access.pointers.root),
                       {},
                       llvm::divideFloorSigned(first, bytes),
                       llvm::divideFloorSigned(last, bytes),
                       int64_t(array.bytesFrom) / bytes,
                       access.mask != nullptr};
}

std::vector<OutsideAccess> findOutsideAccesses(func::FuncOp kernel,
                                               const LaunchFacts &launch) {
  constexpr int64_t elements = int64_t{1} << 23; // some milliseconds
  int64_t work = elements;
  llvm::MapVector<Operation *, OutsideAccess> found;
  for (const std::array<int32_t, 3> &program : programsToTry(launch.grid)) {
    ProgramValues values(launch, program, work, [&](const KnownAccess &access) {
      auto array = cast<BlockArgument>(access.pointers.root);
      auto name = kernel.getArgAttrOfType<StringAttr>(array.getArgNumber(),
                                                      tile::nameAttr);
      if (found.contains(access.op)) {
        return;
      }
      if (auto outside = outsideOf(access, launch.values.at(name.str()))) {
        outside->program = program;
        found.insert({access.op, *outside});
      }
    });
    values.run(kernel);
    if (work <= 0) {
      break;
    }
  }
  std::vector<OutsideAccess> all;
  kernel.walk([&](Operation *op) {
    if (auto one = found.find(op); one != found.end()) {
      all.push_back(one->second);
    }
  });
  return all;
}

} // namespace nereid
