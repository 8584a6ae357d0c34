//===- LayoutChoice.cpp - The layout each value wants ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToTileGPU/LayoutChoice.h"

#include "nereid/Analysis/RegisterOperands.h"

#include <bit>
#include <numeric>

using namespace mlir;
using nereid::tilegpu::shapeOf;

namespace nereid::totilegpu {

LayoutChoice::LayoutChoice(func::FuncOp kernel,
                           const tilegpu::TargetInfo &target, unsigned warps,
                           const AxisInfoAnalysis &axes,
                           LayoutPolicies policies)
    : kernel(kernel), target(target), axes(axes), warps(warps),
      policies(policies),
      threadBits{target.laneBits(),
                 static_cast<unsigned>(std::countr_zero(warps))} {
  // Asked now: the rewriter moves loops' bodies away from their arguments.
  if (target.warpsOfGroup()) {
    keepLeftOperands(kernel, target.lanes * warps, target.threadRegisters);
  }
  kernel.walk([&](tile::DotOp dot) {
    if (mayBeRegisterOperand(dot)) {
      fromRegisters.insert(dot);
    }
  });
  kernel.walk([&](tile::ReduceOp reduce) {
    reductions.insert(
        {shapeOf(reduce.getSources()[0].getType()), reduce.getAxis()});
  });
  kernel.walk([&](tile::MemoryAccess access) {
    Value pointers = access.getPtr();
    if ((access.reads() && access.writes()) ||
        !isa<RankedTensorType>(pointers.getType())) {
      return;
    }
    SmallVector<unsigned> order = axes.order(pointers);
    unsigned &width =
        widths[{shapeOf(pointers.getType()),
                std::vector<unsigned>(order.begin(), order.end())}];
    width = std::max(width, ownWidth(access));
  });
  if (policies.sharesRows) {
    splitRowsAcrossWarps();
  }
  if (policies.adoptsTiles) {
    reuseConsumerLayouts();
    storeFromOwnWarp();
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

unsigned LayoutChoice::ownWidth(tile::MemoryAccess access) const {
  Value pointers = access.getPtr();
  return axes.vectorWidth(pointers, access.getMask(), axes.order(pointers)[0],
                          target.accessBytes);
}

/// What one atomic instruction updates.
unsigned LayoutChoice::ownWidth(tile::AtomicRMWOp op) const {
  unsigned bits =
      tile::getElement(op.getResult().getType()).getIntOrFloatBitWidth();
  bool isFloatSum = op.getKind() == tile::AtomicKind::FAdd;
  return axes.vectorWidth(op.getPtr(), op.getMask(), axes.order(op.getPtr())[0],
                          target.atomicBytes(isFloatSum, bits / 8));
}

/// Values between a one-dimensional tile and what it is broadcast to. With
/// more users than this the load's layout hardly matters.
static constexpr size_t maxUsersFollowed = 256;

/// Where a one-dimensional tile is only broadcast to a larger one: its part of
/// the layout in which the larger one is computed with.
std::optional<TileLayout> LayoutChoice::layoutWhereSpread(Value value,
                                                          Spread &spread) {
  // Once a value, however many paths lead to it.
  if (auto found = spread.known.find(value); found != spread.known.end()) {
    return found->second;
  }
  spread.known[value] = std::nullopt;
  if (spread.known.size() > maxUsersFollowed) {
    return std::nullopt;
  }
  std::optional<TileLayout> common;
  for (Operation *user : value.getUsers()) {
    std::optional<TileLayout> layout;
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(user)) {
      for (Operation *consumer : broadcast->getUsers()) {
        if (!layout && tile::isElementwise(consumer)) {
          layout = anchorLayout(consumer->getResult(0));
        }
      }
      if (layout) {
        spread.tiles.insert(shapeOf(broadcast.getType()));
        layout = narrow(*layout, shapeOf(broadcast.getType()),
                        shapeOf(broadcast.getSource().getType()));
      }
    } else if (isa<tile::ExpandDimsOp>(user) || tile::isElementwise(user)) {
      layout = layoutWhereSpread(user->getResult(0), spread);
    }
    if (!layout || (common && *common != *layout)) {
      return std::nullopt;
    }
    common = layout;
  }
  spread.known[value] = common;
  return common;
}

/// Instructions that a thread may spend on a tile smaller than what the program
/// works on, to have it where it is wanted.
static constexpr unsigned mostInstructions = 4;

bool LayoutChoice::isCheapIn(const TileLayout &layout,
                             tile::MemoryAccess access) {
  Shape shape = shapeOf(access.getPtr().getType());
  unsigned width =
      std::min(ownWidth(access),
               contiguousRegisters(layout, /*shift=*/0, tileBits(shape)));
  return layout.registerCount() <= mostInstructions * width;
}

/// A row that stays in one warp is reduced without shared memory, but each of
/// the row's weights is in a register of every warp. Where they are too many to
/// be loaded by every warp, or as many as the thread has elements of rows, or
/// take an eighth of its registers, the warps share the rows
/// (docs/decisions/Tiles.md).
void LayoutChoice::splitRowsAcrossWarps() {
  std::set<Shape> shapes;
  unsigned manyWords = (target.threadRegisters + 1) / 8;
  std::map<Shape, unsigned> words; // of 32 bits, of weights, a thread
  kernel.walk([&](tile::LoadAccess load) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (!type || type.getRank() != 1) {
      return;
    }
    Spread spread;
    auto layout = layoutWhereSpread(load.getResult(), spread);
    if (!layout) {
      return;
    }
    unsigned bytes = layout->registerCount() *
                     tile::getElementBytes(tile::getElement(load.getType()));
    for (const Shape &shape : spread.tiles) {
      words[shape] += (bytes + 3) / 4;
      unsigned elements = elementCount(shape) / (target.lanes * warps);
      if (!isCheapIn(*layout, load) ||
          words[shape] >= std::min(elements, manyWords)) {
        reportDecision(load, [&] {
          return Decision{
              "layout", "the warps share each row", "a row stays in a warp",
              "weights of " + counted(words[shape], "register") +
                  " a thread would be held by every warp",
              "fewer rows a program, or more warps, to keep rows in a warp"};
        });
        shapes.insert(shape);
      }
    }
  });
  std::erase_if(reductions, [&](const auto &reduction) {
    return shapes.count(reduction.first);
  });
  anchors.clear();
}

static void reportAdopted(tile::MemoryAccess access) {
  recordDecision(access.getLoc(),
                 {"layout",
                  access.reads() ? "every warp loads what it needs of the tile"
                                 : "one lane of each warp stores what it holds",
                  "",
                  "that is at most " +
                      counted(mostInstructions, "instruction") +
                      " a thread, less than a trip through shared memory",
                  ""});
}

/// The weights of a layer norm of several rows, or its means: a tile smaller
/// than what the program works on. Coalesced, it would be converted to or from
/// that layout through shared memory, with a barrier. It is cheaper if every
/// warp loads the weights that it needs, from the nearest cache, and one lane
/// of each stores its means.
void LayoutChoice::reuseConsumerLayouts() {
  kernel.walk([&](tile::MemoryAccess access) {
    auto type = dyn_cast<RankedTensorType>(access.getPtr().getType());
    if ((access.reads() && access.writes()) || !type || type.getRank() != 1) {
      return;
    }
    std::optional<TileLayout> layout;
    if (access.reads()) {
      Spread spread;
      layout = layoutWhereSpread(access.getLoaded(), spread);
    } else if (type.getNumElements() <= int64_t(target.lanes) * warps &&
               !anchorLayout(access.getPtr())) {
      layout = anchorLayout(access.getValue());
    }
    if (layout && isCheapIn(*layout, access)) {
      if (tellsDecisions(access.getContext()) &&
          *layout != accessLayout(access)) {
        reportAdopted(access);
      }
      adopted[access] = *layout;
      anchors.clear();
    }
  });
}

static bool asksForRoles(func::FuncOp kernel) {
  return kernel
      .walk([](scf::ForOp loop) {
        return loop->hasAttr("tile.warp_specialize") ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Where warps have roles, what a product leaves is stored by the warp that has
/// it, if that reaches whole lines of memory: its elements change lanes, not
/// warps, and no warp waits for another (SpecializeWarps.cpp).
void LayoutChoice::storeFromOwnWarp() {
  constexpr unsigned lineBytes = 128;
  if (!target.hasTensorMaps || !asksForRoles(kernel)) {
    return;
  }
  std::vector<std::pair<Operation *, TileLayout>> found;
  kernel.walk([&](tile::MemoryAccess access) {
    Value pointers = access.getPtr();
    auto type = dyn_cast<RankedTensorType>(pointers.getType());
    if (access.reads() || !access.writes() || !type || type.getRank() < 2 ||
        adopted.count(access) || anchorLayout(pointers)) {
      return;
    }
    std::optional<TileLayout> from = anchorLayout(access.getValue());
    TileLayout given = accessLayout(access);
    if (!from || from->warps == given.warps) {
      return;
    }
    SmallVector<unsigned> list = axes.order(pointers);
    std::vector<unsigned> order(list.begin(), list.end());
    Shape shape = shapeOf(type);
    unsigned bytes =
        tile::getElementBytes(tile::getElement(access.getValue().getType()));
    unsigned vector = contiguousRegisters(
        given, dimensionShifts(shape)[order[0]], paddedBits(shape[order[0]]));
    auto layout =
        coalescedAround(from->warps, shape, order, vector, target.laneBits(),
                        std::max(lineBytes / bytes, vector));
    if (layout) {
      found.push_back({access, *layout});
    }
  });
  for (auto &[access, layout] : found) {
    adopted[access] = layout;
  }
  anchors.clear();
}

int64_t LayoutChoice::shareOf(const Shape &shape) const {
  return std::max<int64_t>(elementCount(shape) / (target.lanes * warps), 1);
}

TileLayout LayoutChoice::accessLayout(tile::MemoryAccess access) const {
  auto other = adopted.find(access);
  if (other != adopted.end()) {
    return other->second;
  }
  Value pointers = access.getPtr();
  SmallVector<unsigned> list = axes.order(pointers);
  std::vector<unsigned> order(list.begin(), list.end());
  Shape shape = shapeOf(pointers.getType());
  auto known = widths.find({shape, order});
  unsigned width = known == widths.end() ? 1 : known->second;
  if (auto atomic = dyn_cast<tile::AtomicRMWOp>(access.getOperation())) {
    width = ownWidth(atomic);
  }
  // Not more than a thread's share: short vectors on every thread rather than
  // long ones on some.
  uint64_t share = shareOf(shape);
  return coalesced(shape, order,
                   std::min<uint64_t>(width, std::bit_floor(share)), threadBits,
                   reductions.count({shape, order[0]}));
}

TileLayout LayoutChoice::defaultLayout(Type type) const {
  Shape shape = shapeOf(type);
  std::vector<unsigned> order(shape.size());
  for (unsigned d = 0; d < shape.size(); ++d) {
    order[d] = shape.size() - 1 - d;
  }
  uint64_t share = shareOf(shape);
  return coalesced(shape, order, std::min<uint64_t>(std::bit_floor(share), 4),
                   threadBits);
}

TileLayout LayoutChoice::alongAxis(Type type, unsigned axis) const {
  Shape shape = shapeOf(type);
  std::vector<unsigned> order = {axis};
  for (unsigned d = shape.size(); d-- > 0;) {
    if (d != axis) {
      order.push_back(d);
    }
  }
  uint64_t share = std::max<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(shape[axis])) / target.lanes, 1);
  return coalesced(shape, order, std::min<uint64_t>(share, 16), threadBits);
}

//===----------------------------------------------------------------------===//
// Anchors
//===----------------------------------------------------------------------===//

TileLayout LayoutChoice::anchorOrDefault(Value value) {
  std::optional<TileLayout> layout = anchorLayout(value);
  return layout ? *layout : defaultLayout(value.getType());
}

/// anchorOrDefault, and absent while loops' arguments are being looked at and
/// have given `value` no anchor yet: an answer made from the default would be
/// kept, and the value may come to be elsewhere.
std::optional<TileLayout> LayoutChoice::layoutIfDecided(Value value) {
  std::optional<TileLayout> layout = anchorLayout(value);
  return layout || !visiting.empty() ? layout : defaultLayout(value.getType());
}

TileLayout LayoutChoice::resultOf(tile::StructuredOp op, unsigned result,
                                  const TileLayout &named) const {
  tile::Placement place = op.getResultPlacement(result);
  switch (place.kind) {
  case tile::Placement::LikeOperand:
    return named;
  case tile::Placement::Reduced: {
    Shape from = shapeOf(op->getOperand(0).getType()), to = from;
    to[place.index] = 1;
    return narrow(named, from, to);
  }
  default:
    return defaultLayout(op->getResult(result).getType());
  }
}

std::optional<TileLayout>
LayoutChoice::anchorOfStructured(tile::StructuredOp op, unsigned result) {
  tile::Placement place = op.getResultPlacement(result);
  if (place.kind == tile::Placement::Standard) {
    return defaultLayout(op->getResult(result).getType());
  }
  std::optional<TileLayout> named = operandIfDecided(op, place.namedOperand());
  return named ? std::optional(resultOf(op, result, *named)) : std::nullopt;
}

std::optional<TileLayout> LayoutChoice::operandIfDecided(tile::StructuredOp op,
                                                         unsigned index) {
  tile::Placement place = op.getOperandPlacement(index);
  Value operand = op->getOperand(index);
  switch (place.kind) {
  case tile::Placement::LikeOperand:
    return operandIfDecided(op, place.index);
  case tile::Placement::AlongAxis:
    return alongAxis(operand.getType(), place.index);
  default:
    return layoutIfDecided(operand);
  }
}

/// Values whose anchors give `value` its own, which come before it in the
/// program. Not among them: what a loop yields.
static SmallVector<Value> sourcesOf(Value value) {
  SmallVector<Value> sources;
  Operation *op = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (argument.getArgNumber() > 0) {
        sources.push_back(loop.getInitArgs()[argument.getArgNumber() - 1]);
      }
    } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      sources.append(loop.getInits().begin(), loop.getInits().end());
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned result = cast<OpResult>(value).getResultNumber();
    sources.push_back(branch.thenYield().getOperand(result));
    sources.push_back(branch.elseYield().getOperand(result));
  } else if (isa<scf::ForOp, scf::WhileOp, tile::StructuredOp, tile::MapOp>(
                 op) ||
             op->getNumRegions() == 0) {
    sources.append(op->operand_begin(), op->operand_end());
  }
  return sources;
}

bool LayoutChoice::isAnswered(Value value) const {
  return !isa<RankedTensorType>(value.getType()) || anchors.count(value) ||
         visiting.contains(value) || unanchored.contains(value);
}

/// Sources first, by a list of work: a chain is as long as the program. Only
/// what loops yield is asked for by recursion.
std::optional<TileLayout> LayoutChoice::anchorLayout(Value value) {
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value next = work.back();
    if (isAnswered(next)) {
      work.pop_back();
      continue;
    }
    size_t known = work.size();
    for (Value source : sourcesOf(next)) {
      if (!isAnswered(source)) {
        work.push_back(source);
      }
    }
    if (work.size() != known) {
      continue;
    }
    work.pop_back();
    std::optional<TileLayout> layout = computeAnchor(next);
    // An answer found inside a cycle may be better from outside it.
    if (layout || visiting.empty()) {
      anchors[next] = layout;
    } else {
      unanchored.insert(next);
    }
  }
  auto found = anchors.find(value);
  return found == anchors.end() ? std::nullopt : found->second;
}

std::optional<TileLayout> LayoutChoice::computeAnchor(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    visiting.insert(value);
    std::optional<TileLayout> layout = anchorOfArgument(argument);
    visiting.erase(value);
    unanchored.clear();
    return layout ? *layout : defaultLayout(value.getType());
  }
  return anchorOfResult(value.getDefiningOp(),
                        cast<OpResult>(value).getResultNumber());
}

/// What the accesses through a loop's pointers want, so that the pointers need
/// not be converted in every iteration.
std::optional<TileLayout> LayoutChoice::anchorFromAccess(Value value) {
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value pointers = work.pop_back_val();
    size_t known = work.size();
    for (Operation *user : pointers.getUsers()) {
      auto access = dyn_cast<tile::MemoryAccess>(user);
      if (access && access.getPtr() == pointers) {
        return accessLayout(access);
      }
      if (isa<tile::AddPtrOp, tile::HintOp, tile::PtrCastOp>(user)) {
        work.push_back(user->getResult(0));
      }
    }
    std::reverse(work.begin() + known, work.end());
  }
  return std::nullopt;
}

std::optional<TileLayout>
LayoutChoice::anchorOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<tile::PtrType>(tile::getElement(argument.getType()))) {
    if (auto layout = anchorFromAccess(argument)) {
      return layout;
    }
  }
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    unsigned i = argument.getArgNumber() - 1;
    if (auto layout = anchorLayout(loop.getYieldedValues()[i])) {
      return layout;
    }
    return anchorLayout(loop.getInitArgs()[i]);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    unsigned i = argument.getArgNumber();
    if (argument.getOwner() == loop.getBeforeBody()) {
      if (auto layout = anchorLayout(loop.getYieldOp().getOperand(i))) {
        return layout;
      }
      return anchorLayout(loop.getInits()[i]);
    }
    return anchorLayout(loop.getConditionOp().getArgs()[i]);
  }
  return std::nullopt;
}

/// Of two tiles that are repeated along each other's dimensions, in registers,
/// and lie alike in lanes and warps: the rows of a product with few rows, and
/// the weight's. Nothing then moves between threads.
std::optional<TileLayout> LayoutChoice::whereOperandsMeet(Operation *op) {
  std::optional<TileLayout> common;
  std::set<size_t> repeated; // dimensions
  unsigned met = 0;
  for (Value operand : op->getOperands()) {
    auto broadcast = operand.getDefiningOp<tile::BroadcastOp>();
    if (!broadcast) {
      continue;
    }
    std::optional<TileLayout> source = anchorLayout(broadcast.getSource());
    if (!source || freeThreadBits(*source) != 0) {
      return std::nullopt;
    }
    Shape from = shapeOf(broadcast.getSource().getType()),
          to = shapeOf(broadcast.getType());
    for (size_t d = 0; d < to.size(); ++d) {
      if (from[d] != to[d] && !repeated.insert(d).second) {
        return std::nullopt;
      }
    }
    TileLayout layout = widen(*source, from, to);
    auto isSame = [&] {
      return std::is_permutation(
                 layout.registers.begin(), layout.registers.end(),
                 common->registers.begin(), common->registers.end()) &&
             layout.lanes == common->lanes && layout.warps == common->warps;
    };
    if (common && !isSame()) {
      return std::nullopt;
    }
    common = common ? common : layout;
    ++met;
  }
  return met > 1 ? common : std::nullopt;
}

std::optional<TileLayout> LayoutChoice::anchorOfResult(Operation *op,
                                                       unsigned result) {
  Type type = op->getResult(result).getType();
  auto source = [&]() { return anchorLayout(op->getOperand(0)); };
  return llvm::TypeSwitch<Operation *, std::optional<TileLayout>>(op)
      .Case([&](tile::MemoryAccess access) { return accessLayout(access); })
      .Case([&](tile::DotOp dot) { return dotResult(dot); })
      .Case<tile::ExpandDimsOp>([&](Operation *) { return source(); })
      .Case([&](tile::TransposeOp transpose) -> std::optional<TileLayout> {
        auto layout = source();
        if (!layout) {
          return std::nullopt;
        }
        return permute(*layout, shapeOf(op->getOperand(0).getType()),
                       std::vector<unsigned>(transpose.getOrder().begin(),
                                             transpose.getOrder().end()));
      })
      .Case([&](tile::ReshapeOp) -> std::optional<TileLayout> {
        if (!keepsFlatIndex(shapeOf(op->getOperand(0).getType()),
                            shapeOf(type))) {
          return defaultLayout(type);
        }
        return source();
      })
      .Case([&](tile::JoinOp join) -> std::optional<TileLayout> {
        if (!isa<RankedTensorType>(join.getLhs().getType())) {
          return defaultLayout(type);
        }
        std::optional<TileLayout> layout = layoutIfDecided(join.getLhs());
        return layout ? std::optional(joined(*layout)) : std::nullopt;
      })
      .Case([&](tile::SplitOp) -> std::optional<TileLayout> {
        unsigned column;
        auto layout = anchorLayout(op->getOperand(0));
        auto half = layout ? halved(*layout, column) : std::nullopt;
        return half ? *half : defaultLayout(type);
      })
      .Case(
          [&](tile::StructuredOp op) { return anchorOfStructured(op, result); })
      .Case([&](scf::ForOp loop) {
        return anchorOrDefault(loop.getRegionIterArgs()[result]);
      })
      .Case([&](scf::WhileOp loop) {
        return anchorOrDefault(loop.getAfterArguments()[result]);
      })
      .Case([&](scf::IfOp branch) {
        if (auto layout = anchorLayout(branch.thenYield().getOperand(result))) {
          return *layout;
        }
        return anchorOrDefault(branch.elseYield().getOperand(result));
      })
      .Case<tile::MapOp, tile::InlineAsmOp>([&](Operation *) {
        for (Value operand : op->getOperands()) {
          if (auto layout = anchorLayout(operand)) {
            return *layout;
          }
        }
        return defaultLayout(type);
      })
      .Default([&](Operation *) -> std::optional<TileLayout> {
        if (tile::isElementwise(op)) {
          for (Value operand : op->getOperands()) {
            if (auto layout = anchorLayout(operand)) {
              return layout;
            }
          }
          return whereOperandsMeet(op);
        }
        return std::nullopt; // constant, range, splat, broadcast
      });
}

} // namespace nereid::totilegpu
