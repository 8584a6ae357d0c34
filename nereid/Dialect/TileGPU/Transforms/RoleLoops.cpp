//===- RoleLoops.cpp - Loops whose operands other warps can copy ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/RoleLoops.h"

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/Transforms/CopyableLoads.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopSchedule.h"
#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"
#include "nereid/Dialect/TileGPU/Transforms/RoleSlices.h"

using namespace mlir;

namespace nereid::tilegpu {

namespace {

class RoleFinder {
public:
  RoleFinder(func::FuncOp kernel, const TargetInfo &target)
      : kernel(kernel), target(target), ranges(kernel), axes(kernel) {}
  bool find() {
    if (!findLoops() ||
        !llvm::all_of(roles,
                      [&](RoleLoop &role) { return findCopies(role); }) ||
        !areAlike()) {
      return false;
    }
    findOuterCopies();
    return true;
  }

  KernelRoles found;

private:
  bool findLoops();
  bool findCopies(RoleLoop &role);
  std::optional<TileCopy> copyOf(tile::LoadAccess load, Operation *loop);
  void findOuterCopies();
  bool areAlike();
  bool fail(Operation *op, StringRef reason) {
    reportNoRoles(op, reason);
    return false;
  }

  func::FuncOp kernel;
  const TargetInfo &target;
  IntegerRanges ranges;
  AxisInfoAnalysis axes;
  IndexReader indices;
  SmallVector<RoleLoop, 0> &roles = found.loops;
  bool &areCarried = found.areCarried;
};

} // namespace

void reportNoRoles(Operation *op, StringRef reason) {
  reportDecision(op, [&] {
    return Decision{"loop", "all warps copy and multiply",
                    "warps of their own that copy", reason.str(), ""};
  });
}

/// In front of all that touches memory: the warps that copy wait there, too.
static bool isAtBeginning(tile::GridDependencyOp op, func::FuncOp kernel) {
  Block &entry = kernel.getBody().front();
  return op->getBlock() == &entry &&
         llvm::all_of(llvm::make_range(entry.begin(), Block::iterator(op)),
                      [](Operation &before) {
                        return isa<tile::GridDependencyOp>(before) ||
                               isMemoryEffectFree(&before);
                      });
}

/// What may tell the kernel that memory has been written by others: the warps
/// that copy do nothing but copy.
static Operation *waitForOthers(func::FuncOp kernel) {
  Operation *found = nullptr;
  kernel.walk([&](Operation *op) {
    auto grid = dyn_cast<tile::GridDependencyOp>(op);
    auto load = dyn_cast<tile::LoadAccess>(op);
    auto assembly = dyn_cast<tile::InlineAsmOp>(op);
    bool waits = (grid && grid.getKind() == tile::GridDependency::Wait &&
                  !isAtBeginning(grid, kernel)) ||
                 (load && load.getIsVolatile()) ||
                 (assembly && !assembly.getPure()) ||
                 isa<tile::RelaxOp, tile::AtomicCASOp>(op) ||
                 (isa<tile::AtomicRMWOp>(op) && !op->use_empty());
    found = waits && !found ? op : found;
  });
  return found;
}

/// The loops that multiply, all of one block.
bool RoleFinder::findLoops() {
  bool isOther = false, isAsked = false;
  kernel.walk([&](tile::DotOp dot) {
    auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
    auto asked = loop ? loop->getAttrOfType<IntegerAttr>("tile.warp_specialize")
                      : IntegerAttr();
    isAsked |= asked && asked.getInt();
    if (!isWarpgroupProduct(dot) || !asked || !asked.getInt() ||
        (!roles.empty() && roles[0].loop->getBlock() != loop->getBlock())) {
      isOther = true;
      return;
    }
    if (roles.empty() || roles.back().loop != loop) {
      roles.push_back({loop, {}, {}, {}, {}, {}});
    }
    roles.back().products.push_back(dot);
  });
  if (!isAsked) {
    return false;
  }
  if (isOther) {
    return fail(kernel, "the kernel has products elsewhere, too");
  }
  scf::ForOp first = roles[0].loop;
  if (warpsOf(kernel) + target.warpsOfGroup() > target.mostWarps) {
    return fail(first, "a block has no room for more warps");
  }
  if (!registersToBeginWith(kernel, target)) {
    return fail(first, "the threads would begin with fewer registers than the "
                       "sums of an instruction take");
  }
  if (Operation *wait = waitForOthers(kernel)) {
    return fail(wait, "the kernel may wait for another program here, and the "
                      "warps that copy would not");
  }
  for (Operation *outer = first->getParentOp(); outer != kernel;
       outer = outer->getParentOp()) {
    if (!isa<scf::ForOp>(outer)) {
      return fail(first, "the loop runs under a condition");
    }
  }
  for (RoleLoop &role : roles) {
    if (!isInnermost(role.loop)) {
      return fail(role.loop, "the loop has other loops");
    }
    for (tile::DotOp product : role.products) {
      if (tile::getElement(product.getType()).getIntOrFloatBitWidth() != 32) {
        return fail(product, "its sums are not of 32 bits");
      }
      areCarried &= isSumOfProducts(role.loop, product);
    }
  }
  return true;
}

std::optional<TileCopy> RoleFinder::copyOf(tile::LoadAccess load,
                                           Operation *loop) {
  auto no = [&](Operation *op, StringRef reason) {
    fail(op, reason);
    return std::nullopt;
  };
  StringRef why;
  if (load.getIsVolatile() ||
      (load.getOther() && !isPositiveZero(load.getOther()))) {
    return no(load, "it is volatile, or its 'other' is not 0");
  }
  std::optional<TensorMapAccess> access =
      tensorMapAccess(load, ranges, indices, why);
  if (!access) {
    return no(load, why);
  }
  auto type = cast<RankedTensorType>(load.getType());
  unsigned bytes = tile::getElementBytes(type.getElementType());
  unsigned inner = *access->dimensions[0].tileDimension;
  // What the engine and the products' swizzles are made for.
  constexpr unsigned engineBytes = 16, swizzledBytes = 128, mostBox = 256;
  Shape shape = shapeOf(type);
  unsigned rowBytes = shape[inner] * bytes;
  bool isAligned =
      axes.accessWidth(load.getPtr(), Value(), inner, engineBytes).elements *
          bytes ==
      engineBytes;
  if (type.getRank() != 2 || !isPowerOfTwo(shape) || rowBytes < swizzledBytes ||
      shape[1 - inner] > mostBox || shape[1 - inner] < 8) {
    return no(load, "its tile is not rows of 128 bytes or more");
  }
  if (!isAligned) {
    return no(load, "its address or strides may be no multiples of 16 bytes");
  }
  if (Operation *writer = writerOf(kernel.getBody().front(), load.getPtr())) {
    return no(writer, "it writes an array that the loop may read");
  }
  for (const TensorMapAccess::Dimension &dimension : access->dimensions) {
    bool isKnown = dimension.start.consistsOf(
        [&](Value atom) { return canSliceTo(atom, loop); });
    if (!isKnown) {
      return no(load, "its address depends on what is loaded");
    }
  }
  BufferType buffer = swizzledBuffer(kernel.getContext(), 1, shape,
                                     type.getElementType(), inner);
  return TileCopy{load, std::move(*access), buffer, 0, {}};
}

/// Left operands that the loops do not change, which stand in buffers already
/// (ShareOperands). Those that no map describes stay there.
void RoleFinder::findOuterCopies() {
  Operation *first = roles[0].loop, *last = roles.back().loop;
  for (auto store : first->getBlock()->getOps<LocalStoreOp>()) {
    auto load = store.getTensor().getDefiningOp<tile::LoadAccess>();
    auto place = store.getBuffer().getDefiningOp<AllocOp>();
    if (!load || !load->hasOneUse() || !place ||
        load->getBlock() != first->getBlock() ||
        place->getBlock() != first->getBlock() ||
        !store->isBeforeInBlock(first)) {
      continue;
    }
    bool isRead = llvm::all_of(place->getUsers(), [&](Operation *user) {
      return user == store ||
             (isa<FreeOp>(user) && last->isBeforeInBlock(user)) ||
             (isa<LocalLoadOp>(user) &&
              llvm::any_of(roles, [&](RoleLoop &role) {
                return user->getBlock() == role.loop.getBody();
              }));
    });
    std::optional<TileCopy> copy =
        isRead ? copyOf(load, first) : std::optional<TileCopy>();
    if (copy && copy->buffer == place.getType()) {
      found.outerCopies.push_back({std::move(*copy), store, place});
    }
  }
}

bool RoleFinder::findCopies(RoleLoop &role) {
  scf::ForOp loop = role.loop;
  llvm::MapVector<Operation *, unsigned> ringOf;
  unsigned rings = 0;
  for (tile::DotOp product : role.products) {
    unsigned known = rings;
    for (Value operand : product->getOperands().take_front(2)) {
      auto load = untransposed(operand).getDefiningOp<tile::LoadAccess>();
      if (load && load->getBlock() == loop.getBody()) {
        bool isNew = ringOf.try_emplace(load, areCarried ? 0 : known).second;
        rings = isNew ? ringOf[load] + 1 : rings;
      } else if (areCarried) {
        return fail(product, "an operand is not what the iteration loads");
      }
    }
  }
  if (ringOf.empty()) {
    return fail(loop, "no operand of a product is what the iteration loads");
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isRead = isa<tile::LoadAccess, LocalLoadOp>(&op) && !areCarried;
    if (!isMemoryEffectFree(&op) && !ringOf.contains(&op) && !isRead) {
      return fail(&op, "the loop does more than multiply what it loads");
    }
  }
  CopyReaders readers(loop, llvm::map_to_vector(ringOf, [](auto &entry) {
                        return cast<tile::LoadAccess>(entry.first);
                      }));
  for (auto [load, ring] : ringOf) {
    if (!readers.isOnlyReadInPlace(load->getResult(0))) {
      return fail(load, "the iteration has it in registers, too");
    }
    std::optional<TileCopy> copy = copyOf(cast<tile::LoadAccess>(load), loop);
    if (!copy) {
      return false;
    }
    copy->ring = ring;
    role.ringBytes.resize(std::max<size_t>(role.ringBytes.size(), ring + 1));
    role.ringBytes[ring] += copy->buffer.getSlotBytes();
    role.copies.push_back(std::move(*copy));
  }
  for (Operation *outer = loop; outer != kernel; outer = outer->getParentOp()) {
    for (Value bound : outer->getOperands().take_front(3)) {
      if (!canSliceTo(bound, outer)) {
        return fail(loop, "its bounds depend on what is loaded");
      }
    }
  }
  return true;
}

/// One loop's copies go where the other's do.
bool RoleFinder::areAlike() {
  for (RoleLoop &role : llvm::drop_begin(roles)) {
    bool isAlike =
        role.copies.size() == roles[0].copies.size() &&
        llvm::all_of(llvm::zip(role.copies, roles[0].copies), [](auto pair) {
          auto &[a, b] = pair;
          return a.buffer == b.buffer && a.ring == b.ring;
        });
    if (!isAlike) {
      return fail(role.loop, "its tiles have other shapes than those of the "
                             "loop in front of it");
    }
  }
  return true;
}

std::optional<KernelRoles> findRoles(func::FuncOp kernel,
                                     const TargetInfo &target) {
  RoleFinder finder(kernel, target);
  return finder.find() ? std::optional(std::move(finder.found)) : std::nullopt;
}

} // namespace nereid::tilegpu
