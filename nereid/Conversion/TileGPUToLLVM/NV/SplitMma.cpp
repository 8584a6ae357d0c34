//===- SplitMma.cpp - Products of f32 by three of tf32 --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A number of 24 digits is the sum of two of 11 and a rest of one digit at
// most: x = big + small. Of the four products of two such sums the smallest is
// left out (Ootomo, Yokota 2022):
//
//   a b = bigA bigB + (smallA bigB + bigA smallB) + at most 2^-22 |a b|
//
// `big` is rounded, not cut, so that `small` has either sign and what is left
// out has no bias. Instructions cut what they add up. So they add up a group of
// four steps at most, and the groups' sums are added by lanes, which round.
// `small` is scaled: where x is near the least normal number, so many of its
// digits would lie below the least number of tf32. The scale leaves the sums
// of products with `small` below those without it, however large they are.
//
// Infinities, NaNs and numbers that `big` would round to infinity make sums of
// their group infinite or NaN. A vote of the warp finds this and has the group
// added up once more, by the same instructions, from numbers that are cut: then
// `big` is finite where the number is, and sums without `small` are infinite or
// NaN where those of f32 are. Operands are read again, since the words would
// take registers.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/NV/WarpProduct.h"
#include "nereid/Dialect/NV/IR/NV.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nereid::togpu {

namespace {
constexpr uint32_t instructionDepth = 8, groupDepth = 32;
/// Of a part, which is added up together: a thread holds eight registers of
/// each block of 16 x 8 meanwhile. Of one row of blocks fewer, since a left
/// operand is soon split once more; chained products, which have such rows,
/// hold two products' sums besides.
constexpr size_t mostBlocks = 8, mostOfOneRow = 4, rowsOfPart = 2;
constexpr double scale = 256;
} // namespace

/// Blocks that are added up together, by the rows and columns where they begin.
struct KernelEmitter::WarpProduct::Part {
  uint32_t batch;
  std::vector<uint32_t> rows, columns;
  size_t sums() const { return rows.size() * columns.size() * 4; }
};

std::vector<KernelEmitter::WarpProduct::Part>
KernelEmitter::WarpProduct::parts() const {
  size_t most = rows.size() == 1 ? mostOfOneRow : mostBlocks;
  size_t across =
      std::min(columns.size(), most / std::min(rowsOfPart, rows.size()));
  size_t down = std::max<size_t>(most / across, 1);
  std::vector<uint32_t> m(rows.begin(), rows.end()),
      n(columns.begin(), columns.end());
  auto piece = [](const std::vector<uint32_t> &all, size_t from, size_t count) {
    size_t to = std::min(from + count, all.size());
    return std::vector(all.begin() + long(from), all.begin() + long(to));
  };
  std::vector<Part> found;
  for (uint32_t batch : batches) {
    for (size_t i = 0; i < m.size(); i += down) {
      for (size_t j = 0; j < n.size(); j += across) {
        found.push_back({batch, piece(m, i, down), piece(n, j, across)});
      }
    }
  }
  return found;
}

/// f32 of each word of one step along K.
auto KernelEmitter::WarpProduct::wordsOf(const Part &part, uint32_t step)
    -> std::pair<Words, Words> {
  constexpr uint32_t half = instructionDepth / 2;
  Words left, top;
  for (uint32_t m : part.rows) {
    left.push_back({word(a, part.batch, m, step),
                    word(a, part.batch, m + 8, step),
                    word(a, part.batch, m, step + half),
                    word(a, part.batch, m + 8, step + half)});
  }
  for (uint32_t n : part.columns) {
    top.push_back({word(right, part.batch, n, step),
                   word(right, part.batch, n, step + half)});
  }
  return {left, top};
}

/// `sums` += left * top, of one instruction for each block.
void KernelEmitter::WarpProduct::addStep(const Words &left, const Words &top,
                                         Registers &sums) {
  Type tf32 = FloatTF32Type::get(b.getContext());
  size_t at = 0;
  for (const Registers &x : left) {
    for (const Registers &y : top) {
      auto product = nv::MmaOp::create(b, loc, tf32, x, tf32, y,
                                       ArrayRef(sums).slice(at, 4));
      llvm::copy(product.getResults(), sums.begin() + long(at));
      at += 4;
    }
  }
}

/// Sums of `part` over the steps of a group, one a sum of its blocks: of the
/// products of large parts, and of all. Of numbers, digits that are not in
/// `mask` are taken as zero in large parts.
std::pair<Registers, Registers>
KernelEmitter::WarpProduct::sumsOf(const Part &part, uint32_t step,
                                   Value mask) {
  auto number = [&](double x) {
    return e.ops().constant(b.getF32FloatAttr(float(x)));
  };
  auto split = [&](Value &bits) -> Value {
    Value all = e.fromBits(bits, b.getF32Type());
    bits = nv::RoundTf32Op::create(b, loc,
                                   arith::AndIOp::create(b, loc, bits, mask));
    Value rest =
        arith::SubFOp::create(b, loc, all, e.fromBits(bits, b.getF32Type()));
    return e.bitsOf(arith::MulFOp::create(b, loc, rest, number(scale)));
  };
  Registers large(part.sums(), number(0)), cross = large;
  uint32_t end = std::min(step + groupDepth, depth);
  for (; step < end; step += instructionDepth) {
    auto [left, top] = wordsOf(part, step);
    Words smallLeft = left, smallTop = top;
    for (auto [big, small] :
         {std::pair(&left, &smallLeft), {&top, &smallTop}}) {
      for (size_t i = 0; i < big->size(); ++i) {
        for (size_t j = 0; j < (*big)[i].size(); ++j) {
          (*small)[i][j] = split((*big)[i][j]);
        }
      }
    }
    addStep(smallLeft, top, cross);
    addStep(left, smallTop, cross);
    addStep(left, top, large);
  }
  Registers all;
  for (auto [sum, small] : llvm::zip_equal(large, cross)) {
    all.push_back(math::FmaOp::create(b, loc, small, number(1 / scale), sum));
  }
  return {large, all};
}

/// Of the sums that count: is one infinite or NaN in a lane of the warp?
Value KernelEmitter::WarpProduct::hasSpecial(const Registers &sums,
                                             ArrayRef<int> at) {
  Value none = zero(b.getF32Type());
  // 0 of finite numbers, else NaN, in a few chains.
  constexpr size_t chains = 4;
  Registers found(chains, none);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    if (at[i] >= 0) {
      found[i % chains] =
          math::FmaOp::create(b, loc, sum, none, found[i % chains]);
    }
  }
  Value any = found[0];
  for (size_t i = 1; i < chains; ++i) {
    any = arith::AddFOp::create(b, loc, any, found[i]);
  }
  return e.machine->anyLane(
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, any, any));
}

/// The sums of all products; of numbers that are cut those of the large ones
/// alone, where these are infinite or NaN.
Registers KernelEmitter::WarpProduct::chosen(const Registers &large,
                                             const Registers &all,
                                             Value areWhole) {
  auto branch = scf::IfOp::create(
      b, loc, SmallVector<Type>(all.size(), b.getF32Type()), areWhole,
      /*withElseRegion=*/true);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, all);
  b.setInsertionPointToEnd(branch.elseBlock());
  Registers found;
  for (auto [big, sum] : llvm::zip_equal(large, all)) {
    Value magnitude =
        arith::AndIOp::create(b, loc, e.bitsOf(big), e.ops().i32(0x7fffffff));
    Value isFinite = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           magnitude, e.ops().i32(0x7f800000));
    found.push_back(arith::SelectOp::create(b, loc, isFinite, sum, big));
  }
  scf::YieldOp::create(b, loc, found);
  b.setInsertionPointAfter(branch);
  return Registers(branch.getResults());
}

/// Words are read from slots that begin at `slots`, for operands in buffers.
void KernelEmitter::WarpProduct::readFrom(ArrayRef<Value> slots) {
  for (MmaOperand *operand : {&a, &right}) {
    operand->words.clear();
    if (std::optional<Fragment> &fragment = fragmentOf(*operand)) {
      fragment->words.clear();
      fragment->places.starts.clear();
      fragment->places.slot = slots.consume_front();
    }
  }
}

void KernelEmitter::WarpProduct::addPart(const Part &part, uint32_t step) {
  constexpr int32_t all = -1, digitsOfTf32 = -0x2000;
  SmallVector<int> at;
  for (uint32_t m : part.rows) {
    for (uint32_t n : part.columns) {
      for (unsigned i = 0; i < 4; ++i) {
        at.push_back(sumAt(part.batch, m + (i & 2 ? 8 : 0), n + (i & 1)));
      }
    }
  }
  auto kept = std::tuple(aFragment, bFragment, laneStep);
  SmallVector<Value> starts = {e.ops().i32(all)};
  for (const std::optional<Fragment> &fragment : {aFragment, bFragment}) {
    if (fragment) {
      starts.push_back(fragment->places.slot);
    }
  }
  SmallVector<Type> results(part.sums(), b.getF32Type());
  auto loop = scf::WhileOp::create(
      b, loc, results, starts,
      [&](OpBuilder &, Location, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(arguments[0].getParentBlock());
        Value mask = arguments[0];
        readFrom(SmallVector<Value>(arguments.drop_front()));
        auto [large, sums] = sumsOf(part, step, mask);
        Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                              mask, e.ops().i32(all));
        Value again =
            arith::AndIOp::create(b, loc, isFirst, hasSpecial(sums, at));
        scf::ConditionOp::create(b, loc, again, chosen(large, sums, isFirst));
      },
      [&](OpBuilder &, Location, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(arguments[0].getParentBlock());
        SmallVector<Value> next = {e.ops().i32(digitsOfTf32)};
        for (Value slot : ArrayRef(starts).drop_front()) {
          next.push_back(nv::HideFromAssemblerOp::create(
              b, loc, slot, nv::AssemblerBug::KeptForRarePath));
        }
        scf::YieldOp::create(b, loc, next);
      });
  std::tie(aFragment, bFragment, laneStep) = kept;
  a.words.clear();
  right.words.clear();
  for (auto [r, sum] : llvm::zip_equal(at, loop.getResults())) {
    if (r >= 0) {
      c[r] = arith::AddFOp::create(b, loc, c[r], sum);
    }
  }
}

void KernelEmitter::WarpProduct::emitSplit() {
  roundsWords = false;
  widenSums();
  findBlocks(/*blockRows=*/16);
  std::vector<Part> all = parts();
  for (uint32_t step = 0; step < depth; step += groupDepth) {
    for (const Part &part : all) {
      addPart(part, step);
    }
  }
  narrowSums();
  e.bind(op, std::move(c));
}

} // namespace nereid::togpu
