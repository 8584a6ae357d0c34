//===- Mma.cpp - Products of one warp -------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp multiplies blocks of 16 rows by 8 columns. A product of another size
// is padded: rows and columns outside of it are computed by registers or lanes
// whose results nothing reads, and along K both operands are zero there (one
// zero is not enough: the other operand may be infinite). Lanes of blocks
// smaller than an instruction hold copies (fitToShape), which is as good for
// rows and columns, and why the lane's number decides which elements along K
// count.
//
// Operands come in registers, or stay in buffers and are read word by word: 32
// bits, or an element of 64. Words are made when the first instruction wants
// them, step by step along K, so that of a buffer one step is in registers.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/NV/OperandType.h"
#include "nereid/Conversion/TileGPUToLLVM/NV/WarpProduct.h"
#include "nereid/Dialect/NV/IR/NV.h"

using namespace mlir;

namespace nereid::togpu {

Type operandType(Type element, bool isUnsigned) {
  MLIRContext *context = element.getContext();
  if (element.isF32()) {
    return FloatTF32Type::get(context);
  }
  return element.isInteger()
             ? IntegerType::get(context, 8,
                                isUnsigned ? IntegerType::Unsigned
                                           : IntegerType::Signed)
             : element;
}

/// A place by what registers add to a thread's first element: `x`, `y` along
/// dimensions `dx`, `dy`, and a batch where there are three. Absent outside of
/// the shape.
static std::optional<uint32_t> placeIn(const TileInfo &tile, uint32_t batch,
                                       unsigned dx, uint32_t x, unsigned dy,
                                       uint32_t y) {
  if (x >= tile.shape[dx] || y >= tile.shape[dy]) {
    return std::nullopt;
  }
  uint32_t place = x << tile.shifts[dx] | y << tile.shifts[dy];
  return tile.shape.size() == 3 ? batch << tile.shifts[0] | place : place;
}

std::optional<uint32_t> MmaOperand::flat(uint32_t batch, uint32_t row,
                                         uint32_t step) const {
  return placeIn(*tile, batch, outer, row, k, step);
}

KernelEmitter::WarpProduct::WarpProduct(KernelEmitter &e, tile::DotOp op)
    : e(e), b(e.b), loc(e.loc), op(op), cTile(e.info(op.getType())),
      a(open(op.getLhs(), 0)), right(open(op.getRhs(), 1)),
      cAt(registersByIndex(cTile)), c(e.regs(op.getC())),
      operandElement(a.tile->element),
      kWidth(std::max(32 / operandElement.getIntOrFloatBitWidth(), 1u)),
      depth(a.tile->shape.back()) {
  sumType = cTile.element.isF16() ? Type(b.getF32Type()) : cTile.element;
}

MmaOperand KernelEmitter::WarpProduct::open(Value value, unsigned index) {
  const TileInfo &tile = e.info(value.getType());
  unsigned last = tile.shape.size() - 1;
  MmaOperand operand{&tile,   last - 1 + index,       last - index,
                     nullptr, registersByIndex(tile), {}};
  auto known = e.registersOf.find(value);
  if (known != e.registersOf.end()) {
    operand.registers = &known->second;
  } else {
    (index ? bFragment : aFragment) =
        e.openFragment(value.getDefiningOp<tilegpu::LocalLoadOp>());
  }
  return operand;
}

int KernelEmitter::WarpProduct::sumAt(uint32_t batch, uint32_t m,
                                      uint32_t n) const {
  unsigned last = cTile.shape.size() - 1;
  std::optional<uint32_t> place = placeIn(cTile, batch, last - 1, m, last, n);
  unsigned at = place ? cAt.at(*place) : 0;
  return place && !cTile.dead[at] ? static_cast<int>(at) : -1;
}

/// Where this thread's blocks begin, of 8 or 16 rows and 8 columns: a lane has
/// one row of every 8, and two columns.
void KernelEmitter::WarpProduct::findBlocks(unsigned blockRows) {
  size_t rank = cTile.shape.size();
  for (auto [flat, r] : cAt) {
    std::vector<uint32_t> index = splitIndex(flat, cTile.shape);
    if (!cTile.dead[r] && index[rank - 2] % blockRows == 0 &&
        index[rank - 1] % 8 == 0) {
      batches.insert(rank == 3 ? index[0] : 0);
      rows.insert(index[rank - 2]);
      columns.insert(index[rank - 1]);
    }
  }
}

/// `value`, which stands for this lane's elements along K from `step` on, or
/// zero where these lie outside.
Value KernelEmitter::WarpProduct::keptWithin(Value value, uint32_t step) {
  constexpr unsigned lanesAlong = 4;
  if (step + lanesAlong * kWidth <= depth) {
    return value;
  }
  if (!laneStep) {
    laneStep = arith::MulIOp::create(
        b, loc,
        arith::AndIOp::create(b, loc, e.lane, e.ops().i32(lanesAlong - 1)),
        e.ops().i32(kWidth));
  }
  Value isWithin = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         laneStep, e.ops().i32(depth - step));
  return arith::SelectOp::create(b, loc, isWithin, value,
                                 zero(value.getType()));
}

/// The same of the elements of a word, one by one.
Value KernelEmitter::WarpProduct::wordWithin(Value word, uint32_t step) {
  if (depth % kWidth == 0) {
    return keptWithin(word, step);
  }
  if (step + 4 * kWidth <= depth) {
    return word;
  }
  unsigned bits = operandElement.getIntOrFloatBitWidth(); // 8 or 16
  uint32_t element = (1u << bits) - 1;
  Value mask = e.ops().i32(0);
  for (unsigned i = 0; i < kWidth && step + i < depth; ++i) {
    Value ofOne = e.ops().i32(static_cast<int32_t>(element << bits * i));
    mask = arith::OrIOp::create(b, loc, mask, keptWithin(ofOne, step + i));
  }
  return arith::AndIOp::create(b, loc, word, mask);
}

Value KernelEmitter::WarpProduct::element(const MmaOperand &operand,
                                          uint32_t batch, uint32_t row,
                                          uint32_t step) {
  std::optional<uint32_t> flat = operand.flat(batch, row, step);
  unsigned at = flat ? operand.at.at(*flat) : 0;
  return flat && !operand.tile->dead[at] ? (*operand.registers)[at]
                                         : zero(laneType(operandElement));
}

/// 32 bits of an operand, or an f64, made once each.
Value KernelEmitter::WarpProduct::word(MmaOperand &operand, uint32_t batch,
                                       uint32_t row, uint32_t step) {
  std::optional<uint32_t> flat = operand.flat(batch, row, step);
  bool isFloat8 = kWidth == 4 && isa<FloatType>(operandElement);
  Value made;
  Value &word = flat ? operand.words[*flat] : made;
  if (word) {
    return word;
  }
  auto roundTf32 = [&](Value value) -> Value {
    return operandElement.isF32() && roundsWords
               ? Value(nv::RoundTf32Op::create(b, loc, e.bitsOf(value)))
           : operandElement.isF32() ? e.bitsOf(value)
                                    : value;
  };
  if (!flat) {
    word = zero(operandElement.isF64() ? operandElement : b.getI32Type());
  } else if (std::optional<Fragment> &fragment = fragmentOf(operand)) {
    word = roundTf32(
        e.fragmentWord(*fragment, operand.at.at(*flat) >> fragment->wordBits));
    word = wordWithin(word, step);
  } else {
    Registers elements;
    bool isWhole = depth % kWidth == 0;
    for (unsigned i = 0; i < kWidth; ++i) {
      Value one = element(operand, batch, row, step + i);
      elements.push_back(isWhole ? one : keptWithin(one, step + i));
    }
    word = kWidth == 1 ? roundTf32(elements[0]) : e.packWords(elements, 32)[0];
    word = isWhole ? keptWithin(word, step) : word;
  }
  // Found by test/fuzz/test/words-of-known-zeros.mlir on 1 warp, where
  // registers are scarce.
  if (isFloat8 && !fragmentOf(operand)) {
    word = nv::HideFromAssemblerOp::create(b, loc, word,
                                           nv::AssemblerBug::HalfOfKnownZero);
  }
  return word;
}

void KernelEmitter::WarpProduct::emitOfEightRows() {
  findBlocks(/*blockRows=*/8);
  for (uint32_t k = 0; k < depth; k += 4) {
    for (uint32_t batch : batches) {
      for (uint32_t m : rows) {
        for (uint32_t n : columns) {
          int first = sumAt(batch, m, n), second = sumAt(batch, m, n + 1);
          if (first < 0) {
            continue;
          }
          Value left = word(a, batch, m, k), top = word(right, batch, n, k);
          Value sums[] = {sum(first), sum(second)};
          auto product = nv::MmaOp::create(b, loc, operandElement, left,
                                           operandElement, top, sums);
          c[first] = product.getResult(0);
          if (second >= 0) {
            c[second] = product.getResult(1);
          }
        }
      }
    }
  }
  e.bind(op, std::move(c));
}

void KernelEmitter::WarpProduct::widenSums() {
  for (Value &value : c) {
    value = value && cTile.element.isF16() ? e.ops().toF32(value, cTile.element)
                                           : value;
  }
}

void KernelEmitter::WarpProduct::narrowSums() {
  for (Value &value : c) {
    value = value && cTile.element.isF16()
                ? e.ops().fromF32(value, cTile.element)
                : value;
  }
}

void KernelEmitter::WarpProduct::emit() {
  Type aType = operandType(a.tile->element, op.getIsUnsigned());
  Type bType = operandType(right.tile->element, op.getIsUnsigned());
  // Of one instruction eight registers along K.
  unsigned instructionDepth = 8 * kWidth, half = instructionDepth / 2;
  widenSums();
  findBlocks(/*blockRows=*/16);
  for (uint32_t k = 0; k < depth; k += instructionDepth) {
    for (uint32_t batch : batches) {
      for (uint32_t m : rows) {
        for (uint32_t n : columns) {
          int at[4];
          for (unsigned i = 0; i < 4; ++i) {
            at[i] = sumAt(batch, m + (i & 2 ? 8 : 0), n + (i & 1));
          }
          if (at[0] < 0) {
            continue;
          }
          Value left[] = {word(a, batch, m, k), word(a, batch, m + 8, k),
                          word(a, batch, m, k + half),
                          word(a, batch, m + 8, k + half)};
          Value top[] = {word(right, batch, n, k),
                         word(right, batch, n, k + half)};
          Value sums[] = {sum(at[0]), sum(at[1]), sum(at[2]), sum(at[3])};
          auto product =
              nv::MmaOp::create(b, loc, aType, left, bType, top, sums);
          for (unsigned i = 0; i < 4; ++i) {
            if (at[i] >= 0) {
              c[at[i]] = product.getResult(i);
            }
          }
        }
      }
    }
  }
  narrowSums();
  e.bind(op, std::move(c));
}

void KernelEmitter::emitMma(tile::DotOp op) {
  bool isF64 = tile::getElement(op.getLhs().getType()).isF64();
  const tilegpu::MatrixInstruction *ofDoubles =
      target.findMatrix(tilegpu::OperandKind::F64, /*warps=*/1);
  WarpProduct product(*this, op);
  if (tilegpu::operandKind(op) == tilegpu::OperandKind::TF32x3) {
    return product.emitSplit();
  }
  isF64 && ofDoubles && ofDoubles->m == 8 ? product.emitOfEightRows()
                                          : product.emit();
}

} // namespace nereid::togpu
