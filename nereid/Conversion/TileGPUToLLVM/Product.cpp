//===- Product.cpp - Products of one warp by fragments --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp multiplies blocks of one instruction's size, whose fragments the
// target's table has (nereid/Layout/MatrixFragments.h). An instruction takes a
// few elements along K of each lane, the same of both operands; which, is free:
// a lane's registers along K are taken in order, a few at a time, whatever the
// operands' layouts make of them.
//
// A product of another size is padded. Rows and columns outside of it are
// computed by registers or lanes whose results nothing reads. Along K both
// operands are zero there: one zero is not enough, the other operand may be
// infinite. Where K is shorter than an instruction, lanes hold copies of one
// another (fitToShape), and only the first of them counts.
//
// Operands come in registers, or stay in buffers and are read when the first
// instruction wants them, step by step along K.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/BufferReader.h"

#include <set>

using namespace mlir;

namespace nereid::togpu {

namespace {
struct ProductOperand {
  const TileInfo *tile;
  unsigned outer, k; ///< its dimensions
  Type type;         ///< of its words' elements, with the sign of bytes
  std::map<uint32_t, unsigned> at;
  const Registers *registers = nullptr; ///< null: in a buffer
  /// Of the lane number: lanes that differ in them hold copies along K.
  uint32_t copies = 0;
  uint32_t lanesReach = 0; ///< bits that lanes may add along K
  /// By place: the words of one instruction.
  std::map<uint32_t, Values> words = {};
};
} // namespace

class KernelEmitter::FragmentProduct {
public:
  FragmentProduct(KernelEmitter &e, tile::DotOp op);
  void emit();

private:
  ProductOperand open(Value value, unsigned index);
  const Values &wordsOf(ProductOperand &operand, uint32_t batch, uint32_t outer,
                        size_t step);
  Value element(ProductOperand &operand, uint32_t batch, uint32_t outer,
                uint32_t depth);
  bool isPadded(const ProductOperand &operand, uint32_t along) const;
  Value keptWithin(const ProductOperand &operand, Value value, uint32_t along);
  void findSteps();
  void findBlocks();
  Value zero(Type type) {
    return e.ops().constant(cast<TypedAttr>(b.getZeroAttr(type)));
  }

  KernelEmitter &e;
  OpBuilder &b;
  Location loc;
  tile::DotOp op;
  const tilegpu::MatrixInstruction &one;
  const TileInfo &cTile;
  std::optional<BufferReader> readers[2];
  ProductOperand left, right;
  uint32_t depth;
  unsigned perStep; ///< elements along K that an instruction takes of a lane
  /// What a lane's registers add along K, in the order in which they are taken.
  std::vector<uint32_t> along;
  /// What the registers of a block of sums add: rows, columns.
  std::vector<std::pair<uint32_t, uint32_t>> inBlock;
  std::set<uint32_t> batches, rows, columns; ///< where blocks begin
};

/// Bits of the lane number that run along `side`.
static uint32_t lanesAlong(const Fragment &fragment, MatrixSide side) {
  uint32_t found = 0;
  unsigned at = 0;
  for (const FragmentRun &run : fragment) {
    if (run.input == Axis::Lane) {
      if (run.side == side && !run.isCopied) {
        found |= ((1u << run.bits) - 1) << at;
      }
      at += run.bits;
    }
  }
  return found;
}

ProductOperand KernelEmitter::FragmentProduct::open(Value value,
                                                    unsigned index) {
  const TileInfo &tile = e.info(value.getType());
  unsigned last = tile.shape.size() - 1;
  ProductOperand operand{&tile, last - 1 + index, last - index, tile.element,
                         registersByIndex(tile)};
  if (tile.element.isInteger(8)) {
    operand.type = IntegerType::get(b.getContext(), 8,
                                    op.getIsUnsigned() ? IntegerType::Unsigned
                                                       : IntegerType::Signed);
  }
  operand.type = one.isWidened ? Type(b.getF16Type()) : operand.type;
  operand.type = one.operand == tilegpu::OperandKind::TF32
                     ? Type(FloatTF32Type::get(b.getContext()))
                     : operand.type;
  const nereid::Fragment &fragment =
      index ? one.fragments.right : one.fragments.left;
  uint32_t lanes = lanesAlong(fragment, MatrixSide::K);
  for (auto [i, column] : llvm::enumerate(tile.layout.lanes)) {
    if (lanes >> i & 1) {
      operand.copies |= column ? 0 : 1u << i;
      operand.lanesReach |= column >> tile.shifts[operand.k];
    }
  }
  auto known = e.registersOf.find(value);
  if (known != e.registersOf.end()) {
    operand.registers = &known->second;
  } else {
    readers[index] = e.openBuffer(value);
  }
  return operand;
}

KernelEmitter::FragmentProduct::FragmentProduct(KernelEmitter &e,
                                                tile::DotOp op)
    : e(e), b(e.b), loc(e.loc), op(op),
      one(*tilegpu::matrixInstruction(e.target, op)),
      cTile(e.info(op.getType())), left(open(op.getLhs(), 0)),
      right(open(op.getRhs(), 1)), depth(left.tile->shape[left.k]),
      perStep(1u << fragmentBits(one.fragments.left, MatrixSide::K,
                                 Axis::Register)) {}

/// A lane's registers along K, but for those that lie outside in every lane.
void KernelEmitter::FragmentProduct::findSteps() {
  std::set<uint32_t> found;
  for (auto [flat, r] : left.at) {
    uint32_t own = splitIndex(flat, left.tile->shape)[left.k];
    if (own < depth) {
      found.insert(own);
    }
  }
  along.assign(found.begin(), found.end());
}

/// What a thread's registers hold of a block, and where its blocks begin.
void KernelEmitter::FragmentProduct::findBlocks() {
  inBlock = {{0, 0}};
  uint32_t m = 1, n = 1;
  for (const FragmentRun &run : one.fragments.result) {
    uint32_t &at = run.side == MatrixSide::M ? m : n;
    for (unsigned i = 0; i < run.bits && !run.isCopied; ++i, at *= 2) {
      if (run.input == Axis::Register) {
        for (auto [row, column] : std::vector(inBlock)) {
          run.side == MatrixSide::M ? inBlock.push_back({row + at, column})
                                    : inBlock.push_back({row, column + at});
        }
      }
    }
  }
  size_t rank = cTile.shape.size();
  for (unsigned r = 0; r < cTile.count(); ++r) {
    std::vector<uint32_t> index =
        splitIndex(cTile.layout.ofRegister(r), cTile.shape);
    if (!cTile.dead[r] && index[rank - 2] % m == 0 &&
        index[rank - 1] % n == 0) {
      batches.insert(rank == 3 ? index[0] : 0);
      rows.insert(index[rank - 2]);
      columns.insert(index[rank - 1]);
    }
  }
}

/// Register of a tile by what it adds; -1 where there is none that counts.
static int registerAt(const TileInfo &tile,
                      const std::map<uint32_t, unsigned> &at, uint32_t batch,
                      unsigned dx, uint32_t x, unsigned dy, uint32_t y) {
  if (x >= tile.shape[dx] || y >= tile.shape[dy]) {
    return -1;
  }
  uint32_t place = x << tile.shifts[dx] | y << tile.shifts[dy];
  place |= tile.shape.size() == 3 ? batch << tile.shifts[0] : 0;
  auto found = at.find(place);
  return found == at.end() || tile.dead[found->second]
             ? -1
             : static_cast<int>(found->second);
}

/// Null where the place is padding in every lane.
Value KernelEmitter::FragmentProduct::element(ProductOperand &operand,
                                              uint32_t batch, uint32_t outer,
                                              uint32_t own) {
  int r = registerAt(*operand.tile, operand.at, batch, operand.outer, outer,
                     operand.k, own);
  if (r < 0) {
    return {};
  }
  Value value = operand.registers ? (*operand.registers)[r]
                                  : e.read(*readers[&operand == &right], r);
  return one.isWidened
             ? e.ops().convertFloat(value, operand.tile->element, operand.type,
                                    /*towardZero=*/false)
             : value;
}

/// May what lies `own` elements along K from a lane's first be padding there?
bool KernelEmitter::FragmentProduct::isPadded(const ProductOperand &operand,
                                              uint32_t own) const {
  return operand.copies || (own | operand.lanesReach) >= depth;
}

/// `value`, or zero where it is padding.
Value KernelEmitter::FragmentProduct::keptWithin(const ProductOperand &operand,
                                                 Value value, uint32_t own) {
  if (!isPadded(operand, own)) {
    return value;
  }
  Value counts;
  if (operand.copies) {
    counts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                   e.laneOf(operand.copies), e.ops().i32(0));
  }
  if ((own | operand.lanesReach) >= depth) {
    std::vector<uint32_t> columns;
    for (uint32_t column : operand.tile->layout.lanes) {
      columns.push_back(splitIndex(column, operand.tile->shape)[operand.k]);
    }
    Value first = e.atEntry(columns);
    counts =
        e.andOf(counts, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                              first, e.ops().i32(depth - own)));
  }
  return arith::SelectOp::create(b, loc, counts, value, zero(value.getType()));
}

const Values &KernelEmitter::FragmentProduct::wordsOf(ProductOperand &operand,
                                                      uint32_t batch,
                                                      uint32_t outer,
                                                      size_t step) {
  const TileInfo &tile = *operand.tile;
  uint32_t place = outer << tile.shifts[operand.outer] |
                   along[step] << tile.shifts[operand.k];
  place |= tile.shape.size() == 3 ? batch << tile.shifts[0] : 0;
  Values &words = operand.words[place];
  if (!words.empty()) {
    return words;
  }
  Type lane = laneType(one.isWidened ? operand.type : tile.element);
  unsigned bits = lane.getIntOrFloatBitWidth();
  unsigned perWord = std::max(32 / bits, 1u);
  for (size_t i = 0; i < perStep; i += perWord) {
    Registers elements;
    // Neighbours that are inside or outside together are so as a word.
    bool isOne = depth % perWord == 0;
    for (size_t j = 0; j < perWord; ++j) {
      bool isThere = step + i + j < along.size();
      uint32_t own = isThere ? along[step + i + j] : 0;
      isOne &= isThere && own == along[step + i] + j &&
               along[step + i] % perWord == 0;
      Value value = isThere ? element(operand, batch, outer, own) : Value();
      elements.push_back(value ? value : zero(lane));
    }
    for (size_t j = 0; j < perWord && !isOne; ++j) {
      if (step + i + j < along.size()) {
        elements[j] = keptWithin(operand, elements[j], along[step + i + j]);
      }
    }
    Value word = bits < 32 ? e.packWords(elements, 32)[0] : elements[0];
    words.push_back(isOne ? keptWithin(operand, word, along[step + i]) : word);
  }
  return words;
}

void KernelEmitter::FragmentProduct::emit() {
  findSteps();
  findBlocks();
  Registers c = e.regs(op.getC());
  Type cElement = cTile.element;
  bool isNarrow =
      isa<FloatType>(cElement) && cElement.getIntOrFloatBitWidth() < 32;
  Type sumType = isNarrow ? Type(b.getF32Type()) : cElement;
  for (Value &value : c) {
    value = value && isNarrow ? e.ops().toF32(value, cElement) : value;
  }
  std::map<uint32_t, unsigned> cAt = registersByIndex(cTile);
  unsigned last = cTile.shape.size() - 1;
  for (size_t step = 0; step < along.size(); step += perStep) {
    for (uint32_t batch : batches) {
      for (uint32_t m : rows) {
        for (uint32_t n : columns) {
          SmallVector<int> at;
          for (auto [row, column] : inBlock) {
            at.push_back(registerAt(cTile, cAt, batch, last - 1, m + row, last,
                                    n + column));
          }
          if (at[0] < 0) {
            continue;
          }
          MatrixProduct product{one,
                                left.type,
                                right.type,
                                wordsOf(left, batch, m, step),
                                wordsOf(right, batch, n, step),
                                Values()};
          for (int r : at) {
            product.sums.push_back(r < 0 ? zero(sumType) : c[r]);
          }
          Values sums = e.machine->multiply(product);
          for (auto [r, sum] : llvm::zip_equal(at, sums)) {
            if (r >= 0) {
              c[r] = sum;
            }
          }
        }
      }
    }
  }
  for (Value &value : c) {
    value = value && isNarrow ? e.ops().fromF32(value, cElement) : value;
  }
  e.bind(op, std::move(c));
}

void KernelEmitter::emitProduct(tile::DotOp op) {
  FragmentProduct(*this, op).emit();
}

} // namespace nereid::togpu
