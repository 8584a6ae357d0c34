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
                           const AxisInfoAnalysis &axes, bool usesMatrix)
    : kernel(kernel), target(target), axes(axes), warps(warps),
      usesMatrix(usesMatrix),
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
  kernel.walk([&](Operation *op) {
    if (!isa<tile::LoadOp, tile::StoreOp>(op) ||
        !isa<RankedTensorType>(op->getOperand(0).getType())) {
      return;
    }
    Value pointers = op->getOperand(0);
    SmallVector<unsigned> order = axes.order(pointers);
    unsigned &width =
        widths[{shapeOf(pointers.getType()),
                std::vector<unsigned>(order.begin(), order.end())}];
    width = std::max(width, ownWidth(op));
  });
  spreadRowsOfManyWeights();
  adoptLayouts();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

unsigned LayoutChoice::ownWidth(Operation *op) {
  Value pointers = op->getOperand(0);
  auto load = dyn_cast<tile::LoadOp>(op);
  Value mask = load ? load.getMask() : cast<tile::StoreOp>(op).getMask();
  return axes.vectorWidth(pointers, mask, axes.order(pointers)[0],
                          target.accessBytes);
}

/// What one atomic instruction updates.
unsigned LayoutChoice::ownWidth(tile::AtomicRMWOp op) {
  unsigned bits =
      tile::getElement(op.getResult().getType()).getIntOrFloatBitWidth();
  bool isFloatSum = op.getKind() == tile::AtomicKind::FAdd;
  return axes.vectorWidth(op.getPtr(), op.getMask(), axes.order(op.getPtr())[0],
                          target.atomicBytes(isFloatSum, bits / 8));
}

/// Values between a one-dimensional tile and what it is broadcast to. Who
/// computes more with it has little to gain from where it is loaded.
static constexpr size_t mostSpread = 256;

/// Where a one-dimensional tile is only broadcast to a larger one: its part of
/// the layout in which the larger one is computed with.
std::optional<TileLayout> LayoutChoice::layoutWhereSpread(Value value,
                                                          Spread &spread) {
  // Once a value, however many paths lead to it.
  if (auto found = spread.known.find(value); found != spread.known.end()) {
    return found->second;
  }
  spread.known[value] = std::nullopt;
  if (spread.known.size() > mostSpread) {
    return std::nullopt;
  }
  std::optional<TileLayout> common;
  for (Operation *user : value.getUsers()) {
    std::optional<TileLayout> layout;
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(user)) {
      for (Operation *consumer : broadcast->getUsers()) {
        if (!layout && tile::isElementwise(consumer)) {
          layout = home(consumer->getResult(0));
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

bool LayoutChoice::isCheapIn(const TileLayout &layout, Operation *op) {
  Shape shape = shapeOf(op->getOperand(0).getType());
  unsigned width = std::min(
      ownWidth(op), contiguousRegisters(layout, /*shift=*/0, tileBits(shape)));
  return layout.registerCount() <= mostInstructions * width;
}

/// Registers of weights, a thread, that leave too few for elements of rows.
static constexpr unsigned manyWords = 32;

/// A row that stays in one warp is reduced without shared memory, but each of
/// the row's weights is in a register of every warp. Where they are too many to
/// be loaded by every warp, or as many as the thread has elements of rows, or
/// would fill a block's share of registers, the warps share the rows. Layer
/// norm on an H200, on 4 warps: 4 rows of 4096x1024 fp32 take 56 registers
/// instead of 95, and 13.2 us instead of 14.8; the same in bf16, 54 instead of
/// 64, and 9.1 us instead of 9.7; 8 rows of 8192x512 fp32, 12.5 us instead
/// of 13.5. Fewer weights are better in one warp: 8 rows of 4096x512 bf16, 7.2
/// instead of 7.3.
void LayoutChoice::spreadRowsOfManyWeights() {
  std::set<Shape> shapes;
  std::map<Shape, unsigned> words; // of 32 bits, of weights, a thread
  kernel.walk([&](tile::LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load->getOperand(0).getType());
    if (!type || type.getRank() != 1) {
      return;
    }
    Spread spread;
    auto layout = layoutWhereSpread(load.getResult(), spread);
    if (!layout) {
      return;
    }
    unsigned bytes =
        layout->registerCount() *
        tile::getElementBytes(tile::getElement(load.getResult().getType()));
    for (const Shape &shape : spread.tiles) {
      words[shape] += (bytes + 3) / 4;
      unsigned elements = elementCount(shape) / (target.lanes * warps);
      if (!isCheapIn(*layout, load) ||
          words[shape] >= std::min(elements, manyWords)) {
        tellDecision(load, [&] {
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
  homes.clear();
}

static void tellAdopted(Operation *op) {
  bool loads = isa<tile::LoadOp>(op);
  recordDecision(op->getLoc(),
                 {"layout",
                  loads ? "every warp loads what it needs of the tile"
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
void LayoutChoice::adoptLayouts() {
  kernel.walk([&](Operation *op) {
    if (!isa<tile::LoadOp, tile::StoreOp>(op)) {
      return;
    }
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!type || type.getRank() != 1) {
      return;
    }
    std::optional<TileLayout> layout;
    if (isa<tile::LoadOp>(op)) {
      Spread spread;
      layout = layoutWhereSpread(op->getResult(0), spread);
    } else if (type.getNumElements() <= int64_t(target.lanes) * warps &&
               !home(op->getOperand(0))) {
      layout = home(op->getOperand(1));
    }
    if (layout && isCheapIn(*layout, op)) {
      if (tellsDecisions(op->getContext()) && *layout != access(op)) {
        tellAdopted(op);
      }
      adopted[op] = *layout;
      homes.clear();
    }
  });
}

int64_t LayoutChoice::shareOf(const Shape &shape) const {
  return std::max<int64_t>(elementCount(shape) / (target.lanes * warps), 1);
}

TileLayout LayoutChoice::access(Operation *op) {
  auto other = adopted.find(op);
  if (other != adopted.end()) {
    return other->second;
  }
  Value pointers = op->getOperand(0);
  SmallVector<unsigned> list = axes.order(pointers);
  std::vector<unsigned> order(list.begin(), list.end());
  Shape shape = shapeOf(pointers.getType());
  auto known = widths.find({shape, order});
  unsigned width = known == widths.end() ? 1 : known->second;
  if (auto atomic = dyn_cast<tile::AtomicRMWOp>(op)) {
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

TileLayout LayoutChoice::scan(Type type, unsigned axis) const {
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
// Matrix products
//===----------------------------------------------------------------------===//

std::optional<tilegpu::OperandKind> operandKind(tile::DotOp op) {
  using tilegpu::OperandKind;
  Type element = tile::getElement(op.getLhs().getType());
  if (element.isF32()) {
    return op.getPrecision() == tile::InputPrecision::TF32
               ? std::optional(OperandKind::TF32)
               : std::nullopt;
  }
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element)) {
    return OperandKind::F8;
  }
  if (element.isInteger(8)) {
    return OperandKind::I8;
  }
  return element.isF16()    ? std::optional(OperandKind::F16)
         : element.isBF16() ? std::optional(OperandKind::BF16)
         : element.isF64()  ? std::optional(OperandKind::F64)
                            : std::nullopt;
}

static int64_t divideUp(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// Issue cycles of a warp for the product on lanes: for each step along K every
/// element of the result that a thread holds is one multiplication and
/// addition, and each row and column of them an element read from shared
/// memory.
int64_t LayoutChoice::laneCycles(tile::DotOp op) const {
  Shape shape = shapeOf(op.getType());
  TileLayout layout = defaultLayout(op.getType());
  std::vector<bool> dead = deadRegisters(layout, shape);
  std::set<std::vector<uint32_t>> rows, columns;
  int64_t sums = 0;
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    if (!dead[r]) {
      std::vector<uint32_t> index = splitIndex(layout.ofRegister(r), shape);
      ++sums;
      std::vector<uint32_t> column = index;
      column[shape.size() - 2] = 0;
      columns.insert(column);
      index.back() = 0;
      rows.insert(index);
    }
  }
  if (tile::getElement(op.getLhs().getType()).isF64()) {
    sums *= target.doubleCycles;
  }
  int64_t reads = target.schedulers * (rows.size() + columns.size());
  return op.getLhs().getType().getShape().back() * (sums + reads);
}

/// The same on matrix instructions, whose blocks are padded.
int64_t
LayoutChoice::matrixCycles(tile::DotOp op,
                           const tilegpu::MatrixInstruction &one) const {
  ArrayRef<int64_t> c = op.getType().getShape();
  std::vector<unsigned> along = dotWarps(op);
  size_t rank = c.size();
  int64_t batches = rank == 3 ? divideUp(c[0], along[0]) : 1;
  int64_t blocks = divideUp(divideUp(c[rank - 2], one.m), along[rank - 2]) *
                   divideUp(divideUp(c[rank - 1], one.n), along[rank - 1]);
  int64_t steps = divideUp(op.getLhs().getType().getShape().back(), one.k);
  return batches * blocks * steps * one.cycles;
}

MatrixLimit LayoutChoice::matrixLimit(tile::DotOp op) const {
  if (!usesMatrix) {
    return MatrixLimit::Disabled;
  }
  auto kind = operandKind(op);
  Type element = tile::getElement(op.getLhs().getType());
  if (!kind) {
    return element.isF32() ? MatrixLimit::Precision : MatrixLimit::Type;
  }
  const tilegpu::MatrixInstruction *one = target.findMatrix(*kind, /*warps=*/1);
  if (!one) {
    return MatrixLimit::Type;
  }
  ArrayRef<int64_t> c = op.getType().getShape();
  int64_t depth = op.getLhs().getType().getShape().back();
  if (c[c.size() - 2] >= one->m && c.back() >= one->n && depth >= one->k) {
    return MatrixLimit::None;
  }
  // A register of an operand holds neighbours along K.
  if (depth * element.getIntOrFloatBitWidth() < 32) {
    return MatrixLimit::Register;
  }
  return matrixCycles(op, *one) < laneCycles(op) ? MatrixLimit::None
                                                 : MatrixLimit::Work;
}

/// Does a product take its left operand from the result of another, element by
/// element? Then a row should stay in one warp.
static bool isChained(tile::DotOp op) {
  SmallVector<Value> work = {op.getResult()};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tile::DotOp>(user) && use.getOperandNumber() == 0) {
        return true;
      }
      if (tile::isElementwise(user) && seen.insert(user->getResult(0)).second) {
        work.push_back(user->getResult(0));
      }
    }
  }
  work = {op.getLhs()};
  while (!work.empty()) {
    Operation *from = work.pop_back_val().getDefiningOp();
    if (isa_and_nonnull<tile::DotOp>(from)) {
      return true;
    }
    if (from && tile::isElementwise(from) &&
        seen.insert(from->getResult(0)).second) {
      work.append(from->operand_begin(), from->operand_end());
    }
  }
  return false;
}

std::vector<unsigned> LayoutChoice::dotWarps(tile::DotOp op) const {
  ArrayRef<int64_t> c = op.getType().getShape();
  size_t rank = c.size();
  // A batch is a product of its own.
  unsigned batches = 1, left = warps;
  while (rank == 3 && left > 1 && batches < c[0]) {
    batches *= 2;
    left /= 2;
  }
  // Near-square tiles a warp read the fewest operand elements.
  unsigned wm = 1, wn = 1;
  int64_t m = c[rank - 2], n = c[rank - 1];
  bool rows = isChained(op);
  while (wm * wn < left) {
    bool canM = divideUp(m, wm) > 16, canN = divideUp(n, wn) > 8;
    if (canM && (rows || divideUp(m, wm) >= divideUp(n, wn) || !canN)) {
      wm *= 2;
    } else if (canN) {
      wn *= 2;
    } else {
      wm *= 2; // copies
    }
  }
  // Sizes that are no powers of two may leave warps without work that another
  // split gives them: 96 rows by 64 columns on 8 warps.
  auto work = [&](unsigned along) {
    return divideUp(divideUp(m, 16), along) *
           divideUp(divideUp(n, 8), left / along);
  };
  for (unsigned along = 1; along <= left && !rows; along *= 2) {
    if (work(along) < work(wm)) {
      wm = along;
      wn = left / along;
    }
  }
  return rank == 3 ? std::vector{batches, wm, wn} : std::vector{wm, wn};
}

const tilegpu::MatrixInstruction *
LayoutChoice::groupInstruction(tile::DotOp op) const {
  auto kind = operandKind(op);
  return kind ? target.findMatrix(*kind, target.warpsOfGroup()) : nullptr;
}

std::vector<unsigned> LayoutChoice::warpgroups(tile::DotOp op) const {
  const tilegpu::MatrixInstruction *one = groupInstruction(op);
  unsigned groups = warps / one->warps;
  auto m = static_cast<unsigned>(op.getType().getShape()[0]);
  unsigned along = std::min(groups, m / one->m);
  return {along, groups / along};
}

MatrixLimit LayoutChoice::groupLimit(tile::DotOp op) const {
  ArrayRef<int64_t> c = op.getType().getShape();
  Type lhs = tile::getElement(op.getLhs().getType());
  Type rhs = tile::getElement(op.getRhs().getType());
  if (!usesMatrix) {
    return MatrixLimit::Disabled;
  }
  if (!target.warpsOfGroup()) {
    return MatrixLimit::Target;
  }
  const tilegpu::MatrixInstruction *one = groupInstruction(op);
  if (!one) {
    return MatrixLimit::Type;
  }
  if (warps % one->warps != 0) {
    return MatrixLimit::Warps;
  }
  if (c.size() != 2) {
    return MatrixLimit::Batches;
  }
  Shape left = shapeOf(op.getLhs().getType());
  if (!isPowerOfTwo(shapeOf(op.getType())) || !isPowerOfTwo(left)) {
    return MatrixLimit::NoPower;
  }
  if (lhs != rhs) {
    return MatrixLimit::MixedTypes;
  }
  if (c[0] < one->m) {
    return MatrixLimit::Rows;
  }
  if (c[1] < one->n) {
    return MatrixLimit::Columns;
  }
  if (left[1] < one->k) {
    return MatrixLimit::Depth;
  }
  // A group's columns begin at a panel of 128 bytes.
  std::vector<unsigned> groups = warpgroups(op);
  return groups[1] == 1 || c[1] / groups[1] >= 64 ? MatrixLimit::None
                                                  : MatrixLimit::PanelColumns;
}

/// Is the value a tile as it was loaded in the block of `op`, or its transpose?
static bool isLoadedBeside(Value value, Operation *op) {
  Operation *from = value.getDefiningOp();
  while (isa_and_nonnull<tile::TransposeOp>(from)) {
    from = from->getOperand(0).getDefiningOp();
  }
  return isa_and_nonnull<tile::LoadOp>(from) &&
         from->getBlock() == op->getBlock();
}

TileLayout LayoutChoice::dotResult(tile::DotOp op) {
  if (usesWarpgroupMma(op)) {
    return flatten(warpgroupAccumulator(shapeOf(op.getType()), warpgroups(op)));
  }
  if (!usesMma(op)) {
    return defaultLayout(op.getType());
  }
  return flatten(mmaAccumulator(shapeOf(op.getType()), dotWarps(op)));
}

TileLayout LayoutChoice::dotOperand(tile::DotOp op, unsigned index) {
  Type type = op->getOperand(index).getType();
  if (usesWarpgroupMma(op)) {
    Value operand = op->getOperand(index);
    if (index == 1 || isLoadedBeside(operand, op) ||
        !fromRegisters.contains(op)) {
      return homeOrDefault(operand);
    }
    return flatten(warpgroupOperand(shapeOf(type), 2, warpgroups(op)));
  }
  if (usesMma(op)) {
    unsigned bits = tile::getElement(type).getIntOrFloatBitWidth();
    unsigned kWidth = std::max(32 / bits, 1u);
    return flatten(mmaOperand(shapeOf(type), index, kWidth, dotWarps(op)));
  }
  return defaultLayout(type); // read from shared memory
}

//===----------------------------------------------------------------------===//
// Homes
//===----------------------------------------------------------------------===//

TileLayout LayoutChoice::homeOrDefault(Value value) {
  std::optional<TileLayout> layout = home(value);
  return layout ? *layout : defaultLayout(value.getType());
}

/// homeOrDefault, and absent while loops' arguments are being looked at and
/// have given `value` no home yet: an answer made from the default would be
/// kept, and the value may come to be elsewhere.
std::optional<TileLayout> LayoutChoice::settled(Value value) {
  std::optional<TileLayout> layout = home(value);
  return layout || !visiting.empty() ? layout : defaultLayout(value.getType());
}

TileLayout LayoutChoice::reduced(tile::ReduceOp op, const TileLayout &source) {
  Shape from = shapeOf(op.getSources()[0].getType()), to = from;
  to[op.getAxis()] = 1;
  return narrow(source, from, to);
}

/// Values whose home `value`'s is found by, which come before it in the
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
  } else if (isa<scf::ForOp, scf::WhileOp, tile::ReduceOp, tile::MapOp>(op) ||
             op->getNumRegions() == 0) {
    sources.append(op->operand_begin(), op->operand_end());
  }
  return sources;
}

bool LayoutChoice::isAnswered(Value value) const {
  return !isa<RankedTensorType>(value.getType()) || homes.count(value) ||
         visiting.contains(value) || homeless.contains(value);
}

/// Sources first, by a list of work: a chain is as long as the program. Only
/// what loops yield is asked for by recursion.
std::optional<TileLayout> LayoutChoice::home(Value value) {
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
    std::optional<TileLayout> layout = computeHome(next);
    // An answer found inside a cycle may be better from outside it.
    if (layout || visiting.empty()) {
      homes[next] = layout;
    } else {
      homeless.insert(next);
    }
  }
  auto found = homes.find(value);
  return found == homes.end() ? std::nullopt : found->second;
}

std::optional<TileLayout> LayoutChoice::computeHome(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    visiting.insert(value);
    std::optional<TileLayout> layout = homeOfArgument(argument);
    visiting.erase(value);
    homeless.clear();
    return layout ? *layout : defaultLayout(value.getType());
  }
  return homeOfResult(value.getDefiningOp(),
                      cast<OpResult>(value).getResultNumber());
}

/// What the accesses through a loop's pointers want, so that the pointers need
/// not be converted in every iteration.
std::optional<TileLayout> LayoutChoice::homeFromAccess(Value value) {
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value pointers = work.pop_back_val();
    size_t known = work.size();
    for (Operation *user : pointers.getUsers()) {
      if (isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp,
              tile::AtomicCASOp>(user) &&
          user->getOperand(0) == pointers) {
        return access(user);
      }
      if (isa<tile::AddPtrOp, tile::HintOp, tile::PtrCastOp>(user)) {
        work.push_back(user->getResult(0));
      }
    }
    std::reverse(work.begin() + known, work.end());
  }
  return std::nullopt;
}

std::optional<TileLayout> LayoutChoice::homeOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<tile::PtrType>(tile::getElement(argument.getType()))) {
    if (auto layout = homeFromAccess(argument)) {
      return layout;
    }
  }
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    unsigned i = argument.getArgNumber() - 1;
    if (auto layout = home(loop.getYieldedValues()[i])) {
      return layout;
    }
    return home(loop.getInitArgs()[i]);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    unsigned i = argument.getArgNumber();
    if (argument.getOwner() == loop.getBeforeBody()) {
      if (auto layout = home(loop.getYieldOp().getOperand(i))) {
        return layout;
      }
      return home(loop.getInits()[i]);
    }
    return home(loop.getConditionOp().getArgs()[i]);
  }
  return std::nullopt;
}

std::optional<TileLayout> LayoutChoice::homeOfResult(Operation *op,
                                                     unsigned result) {
  Type type = op->getResult(result).getType();
  auto source = [&]() { return home(op->getOperand(0)); };
  return llvm::TypeSwitch<Operation *, std::optional<TileLayout>>(op)
      .Case<tile::LoadOp, tile::AtomicRMWOp, tile::AtomicCASOp>(
          [&](Operation *) { return access(op); })
      .Case([&](tile::DotOp dot) { return dotResult(dot); })
      .Case([&](tile::ReduceOp reduce) {
        std::optional<TileLayout> layout = settled(reduce.getSources()[0]);
        return layout ? std::optional(reduced(reduce, *layout)) : std::nullopt;
      })
      .Case([&](tile::ScanOp op) { return scan(type, op.getAxis()); })
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
        std::optional<TileLayout> layout = settled(join.getLhs());
        return layout ? std::optional(joined(*layout)) : std::nullopt;
      })
      .Case([&](tile::SplitOp) -> std::optional<TileLayout> {
        unsigned column;
        auto layout = home(op->getOperand(0));
        auto half = layout ? halved(*layout, column) : std::nullopt;
        return half ? *half : defaultLayout(type);
      })
      .Case<tile::CatOp, tile::GatherOp, tile::HistogramOp>(
          [&](Operation *) { return defaultLayout(type); })
      .Case([&](scf::ForOp loop) {
        return homeOrDefault(loop.getRegionIterArgs()[result]);
      })
      .Case([&](scf::WhileOp loop) {
        return homeOrDefault(loop.getAfterArguments()[result]);
      })
      .Case([&](scf::IfOp branch) {
        if (auto layout = home(branch.thenYield().getOperand(result))) {
          return *layout;
        }
        return homeOrDefault(branch.elseYield().getOperand(result));
      })
      .Case<tile::MapOp, tile::InlineAsmOp>([&](Operation *) {
        for (Value operand : op->getOperands()) {
          if (auto layout = home(operand)) {
            return *layout;
          }
        }
        return defaultLayout(type);
      })
      .Default([&](Operation *) -> std::optional<TileLayout> {
        if (tile::isElementwise(op)) {
          for (Value operand : op->getOperands()) {
            if (auto layout = home(operand)) {
              return layout;
            }
          }
        }
        return std::nullopt; // constant, range, splat, broadcast
      });
}

} // namespace nereid::totilegpu
