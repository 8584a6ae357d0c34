//===- WarpgroupDot.cpp - Products of four warps together -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma multiplies 64 rows by up to 256 columns, 32 bytes deep, and reads the
// right operand, and the left one if wanted, from shared memory: no ldmatrix,
// and a higher rate than that of mma.sync on the same chip.
// All instructions of a product are one operation with its fence, and with its
// wait, unless the product is left in flight.
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/RegisterOperands.h"
#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"
#include "nereid/Conversion/TileGPUToLLVM/NV/OperandType.h"
#include "nereid/Dialect/NV/IR/NV.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

void KernelEmitter::fenceForWarpgroups() {
  bool hasOne = kernel
                    .walk([](tile::DotOp op) {
                      return op->hasAttr(tilegpu::warpgroupMmaAttr)
                                 ? WalkResult::interrupt()
                                 : WalkResult::advance();
                    })
                    .wasInterrupted();
  if (hasOne) {
    NVVM::FenceProxyOp::create(
        b, loc, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
  }
}

std::pair<tilegpu::BufferType, Value> KernelEmitter::stage(tile::DotOp op,
                                                           unsigned index) {
  Value tensor = op->getOperand(index);
  auto type = tilegpu::oneSlotFor(cast<RankedTensorType>(tensor.getType()),
                                  tilegpu::innerOfOperand(op, index));
  Value start = sharedAddress(acquireScratch());
  storeTile(tensor, type, start);
  return {type, start};
}

/// Matrix descriptor (PTX ISA, "Matrix Descriptor Format") without the address:
/// bytes between groups of eight rows and, for operands whose rows run along M
/// or N, between panels, over 16; the swizzle of rows of `rowBytes`.
static uint64_t descriptorBits(unsigned rowBytes, unsigned panelBytes) {
  uint64_t leading = panelBytes >> 4, stride = 8 * rowBytes >> 4;
  uint64_t swizzle = rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3;
  return leading << 16 | stride << 32 | swizzle << 62;
}

struct KernelEmitter::WarpgroupOperand {
  const Registers *registers = nullptr; ///< left operand only
  std::vector<uint32_t> offsetOfIndex;  ///< elements
  Value descriptor;                     ///< i64
  bool isMnMajor = false;
};

KernelEmitter::WarpgroupOperand
KernelEmitter::openWarpgroupOperand(tile::DotOp op, unsigned index) {
  WarpgroupOperand operand;
  Value value = op->getOperand(index);
  const TileInfo &tile = info(value.getType());
  const TileInfo &result = info(op.getType());
  unsigned bytes = tile::getElementBytes(tile.element);
  tilegpu::BufferType type;
  Value start;
  if (isStagedOperand(op, index)) {
    std::tie(type, start) = stage(op, index);
    operand.offsetOfIndex = tilegpu::offsetsOfIndex(type);
  } else {
    auto load = value.getDefiningOp<tilegpu::LocalLoadOp>();
    type = load.getBuffer().getType();
    start = slotAddress(load.getBuffer(), load.getSlot());
    operand.offsetOfIndex = tilegpu::offsetsOfIndex(
        type, load.getOrder().value_or(ArrayRef<int32_t>()));
  }
  unsigned k = 1 - index, outer = index;
  operand.isMnMajor = operand.offsetOfIndex[tile.shifts[outer]] == 1;
  unsigned inner = operand.isMnMajor ? outer : k;
  unsigned rowBytes = std::min<unsigned>(tile.shape[inner] * bytes, 128);
  unsigned panelBytes = rowBytes * tile.shape[1 - inner];
  // Where this group's rows, or columns, of the result begin.
  std::vector<uint32_t> columns(target.laneBits(), 0);
  uint32_t mask = (1u << paddedBits(result.shape[outer])) - 1;
  for (unsigned i = 0; i < result.layout.warps.size(); ++i) {
    uint32_t at =
        i < 2 ? 0 : result.layout.warps[i] >> result.shifts[outer] & mask;
    columns.push_back(
        bytesOf(at << tile.shifts[outer], operand.offsetOfIndex, bytes)[0]);
  }
  Value address = arith::AddIOp::create(b, loc, start, atEntry(columns));
  Value wide = arith::ExtUIOp::create(
      b, loc, b.getI64Type(),
      arith::ShRUIOp::create(b, loc, address, ops().i32(4)));
  operand.descriptor = arith::OrIOp::create(
      b, loc, wide,
      ops().i64(static_cast<int64_t>(descriptorBits(rowBytes, panelBytes))));
  return operand;
}

/// Of a block of the result that one instruction multiplies.
static constexpr unsigned warpgroupRows = 64;

/// ptxas takes long for an instruction with many accumulators and its copies. A
/// product of several is as fast as a loop over one if another four warps'
/// instructions fill the gaps, and the next copies are started beside it,
/// and is not left in flight for the next iteration
/// (docs/decisions/Products.md).
static bool isBetterLooped(nv::WarpgroupMmaOp product, unsigned warps) {
  return warps >= 8 && product.getColumns() == 256 && product.isEven();
}

static Decision leftOperandDecision(tile::DotOp op, bool isInRegisters) {
  Decision d{"dot", "the left operand stays in registers", "", "", ""};
  if (isInRegisters) {
    return d;
  }
  if (op.getLhs().getDefiningOp<tilegpu::LocalLoadOp>()) {
    d.chosen = "the left operand is read where it already lies in shared "
               "memory";
    return d;
  }
  d.chosen = "the left operand is written to shared memory for it, " +
             byteCount(tile::getBytes(op.getLhs().getType())) +
             " with a barrier";
  d.rejected = "kept in registers";
  switch (leftOperandLimit(op)) {
  case LeftOperandLimit::None:
    d.reason = "it lies there in another layout";
    break;
  case LeftOperandLimit::OtherBlock:
    d.reason = "it is computed outside of the product's block, and the loop "
               "holds too many registers, or branches";
    break;
  case LeftOperandLimit::Branch:
    d.reason = "between where it is computed and the product there may be a "
               "branch (a division, an atomic operation, a check)";
    break;
  case LeftOperandLimit::Untied:
    d.reason = "the loop does not change it, and the assembler would move it "
               "out of the loop";
    break;
  case LeftOperandLimit::Type:
    d.reason = "its elements are not of 16 bits";
    break;
  }
  return d;
}

/// Appends the words of a left operand in registers, and returns their numbers
/// by their places.
std::map<uint32_t, int32_t>
KernelEmitter::packLeftWords(const TileInfo &tile, const Registers &registers,
                             SmallVectorImpl<Value> &words) {
  std::map<uint32_t, int32_t> wordAt;
  auto at = registersByIndex(tile);
  for (auto [flat, r] : at) {
    if (flat >> tile.shifts[1] & 1) {
      continue;
    }
    Registers pair = {registers[r],
                      registers[at.at(flat | 1u << tile.shifts[1])]};
    Value word = packWords(pair, 32)[0];
    // A left operand of ones, say, is the same for every 64 rows.
    uint32_t row = splitIndex(flat, tile.shape)[0];
    if (row >= warpgroupRows && row % warpgroupRows == 0) {
      word = nv::HideFromAssemblerOp::create(
          b, loc, word, nv::AssemblerBug::EqualLeftOperands);
    }
    wordAt[flat] = words.size();
    words.push_back(word);
  }
  return wordAt;
}

/// Adds products of parts of K, which begin with zero, to `sums`. Where
/// registers have room for two of them, one is added while the next is
/// multiplied.
static void
addInParts(OpBuilder &b, Location loc, SmallVectorImpl<Value> &sums,
           bool isZero, unsigned parts,
           function_ref<nv::WarpgroupMmaOp(unsigned, bool)> multiply) {
  constexpr size_t mostSums = 64;
  bool overlaps = sums.size() <= mostSums;
  auto add = [&](ValueRange products, unsigned younger) {
    if (overlaps) {
      products =
          nv::WarpgroupWaitOp::create(b, loc, younger, products).getResults();
    }
    for (auto [sum, product] : llvm::zip_equal(sums, products)) {
      sum =
          isZero ? product : Value(arith::AddFOp::create(b, loc, sum, product));
    }
    isZero = false;
  };
  nv::WarpgroupMmaOp before;
  for (unsigned part = 0; part < parts; ++part) {
    nv::WarpgroupMmaOp product = multiply(part, /*waits=*/!overlaps);
    if (!overlaps) {
      add(product.getResults(), 0);
    } else if (before) {
      add(before.getResults(), 1);
    }
    before = product;
  }
  if (overlaps) {
    add(before.getResults(), 0);
  }
}

void KernelEmitter::emitWarpgroupMma(tile::DotOp op) {
  const TileInfo &aTile = info(op.getLhs().getType());
  const TileInfo &bTile = info(op.getRhs().getType());
  const TileInfo &cTile = info(op.getType());
  constexpr unsigned rows = warpgroupRows, depthBytes = 32;
  unsigned bytes = tile::getElementBytes(aTile.element);
  unsigned depth = depthBytes / bytes;

  // Registers hold the left operand in the instruction's layout, and as long as
  // ptxas keeps them; else it goes to shared memory, as the right one does.
  bool isA = registersOf.contains(op.getLhs()) && !isStagedOperand(op, 0);
  reportDecision(op, [&] { return leftOperandDecision(op, isA); });
  WarpgroupOperand a, right;
  if (isA) {
    a.registers = &regs(op.getLhs());
  } else {
    a = openWarpgroupOperand(op, 0);
  }
  right = openWarpgroupOperand(op, 1);
  if (isStagedOperand(op, 0) || isStagedOperand(op, 1)) {
    fenceForWarpgroups();
    barrier();
  }

  Registers c = regs(op.getC());
  Type cElement = cTile.element;
  bool isNarrow = isa<FloatType>(cElement) && !cElement.isF32();
  auto cAt = registersByIndex(cTile);
  // The first elements of this thread's blocks of 8 columns, by rows of 64.
  std::map<uint32_t, std::vector<uint32_t>> blocks;
  for (auto [flat, r] : cAt) {
    std::vector<uint32_t> index = splitIndex(flat, cTile.shape);
    if (!(index[0] % rows) && !(index[1] % 8)) {
      blocks[index[0]].push_back(index[1]);
    }
  }
  SmallVector<unsigned> sumOrder;     // place among the sums -> register
  SmallVector<Value> left;            // words, or one descriptor
  std::map<uint32_t, int32_t> wordAt; // number of a left word, by its place
  if (isA) {
    wordAt = packLeftWords(aTile, *a.registers, left);
  } else {
    left.push_back(a.descriptor);
  }
  auto behind = [&](const WarpgroupOperand &operand, const TileInfo &tile,
                    unsigned outer, uint32_t at, uint32_t k) {
    uint32_t flat = at << tile.shifts[outer] | k << tile.shifts[1 - outer];
    return bytesOf(flat, operand.offsetOfIndex, bytes)[0] >> 4;
  };
  auto word = [&](uint32_t row, uint32_t column) {
    return wordAt.at(row << aTile.shifts[0] | column << aTile.shifts[1]);
  };
  unsigned steps = aTile.shape[1] / depth;
  // A narrow sum that the loop carries is held twice while it is multiplied,
  // and ptxas 13.0 finds no registers for two of 256 columns (C7600).
  unsigned instructionColumns = std::min<unsigned>(
      blocks.begin()->second.size() * 8, isNarrow ? 128 : 256);
  for (auto &[m, columns] : blocks) {
    for (unsigned j = 0; j < columns.size(); ++j) {
      for (unsigned i = 0; i < 4; ++i) {
        uint32_t row = m + (i & 2 ? 8 : 0), column = columns[j] + (i & 1);
        sumOrder.push_back(
            cAt.at(row << cTile.shifts[0] | column << cTile.shifts[1]));
      }
    }
  }
  auto multiply = [&](unsigned first, unsigned count, ValueRange sums,
                      bool waits) {
    SmallVector<int32_t> leftOffsets, leftWords, rightOffsets;
    for (auto &[m, columns] : blocks) {
      for (unsigned n = 0; n < columns.size() * 8; n += instructionColumns) {
        for (unsigned step = first; step < first + count; ++step) {
          uint32_t k = step * depth;
          if (isA) {
            leftWords.append({word(m, k), word(m + 8, k), word(m, k + 8),
                              word(m + 8, k + 8)});
          } else {
            leftOffsets.push_back(behind(a, aTile, 0, m, k));
          }
          rightOffsets.push_back(behind(right, bTile, 1, columns[n / 8], k));
        }
      }
    }
    return nv::WarpgroupMmaOp::create(
        b, loc, operandType(aTile.element, op.getIsUnsigned()), left,
        operandType(bTile.element, op.getIsUnsigned()), right.descriptor, sums,
        instructionColumns, count, leftOffsets, leftWords, rightOffsets,
        a.isMnMajor, right.isMnMajor, /*looped=*/false, waits);
  };
  SmallVector<Value> sums;
  for (unsigned r : sumOrder) {
    sums.push_back(isNarrow ? ops().toF32(c[r], cElement) : c[r]);
  }
  if (unsigned parts = tilegpu::partsOfShortSums(op, depth); parts > 1) {
    Value zero = ops().real(b.getF32Type(), 0);
    addInParts(b, loc, sums, matchPattern(op.getC(), m_AnyZeroFloat()), parts,
               [&](unsigned part, bool waits) {
                 SmallVector<Value> zeros(sums.size(), zero);
                 return multiply(part * (steps / parts), steps / parts, zeros,
                                 waits);
               });
  } else {
    bool inFlight = op->hasAttr(tilegpu::inFlightAttr);
    auto product = multiply(0, steps, sums, /*waits=*/!inFlight);
    bool endsHere = inFlight &&
                    isa<tilegpu::WaitProductsOp>(*op->getUsers().begin()) &&
                    (*op->getUsers().begin())->getBlock() == op->getBlock();
    product.setLooped(policies.loopedProducts && endsHere &&
                      isBetterLooped(product, warps));
    sums.assign(product.getResults().begin(), product.getResults().end());
  }
  Registers result(cTile.count());
  for (auto [i, r] : llvm::enumerate(sumOrder)) {
    result[r] = isNarrow ? ops().fromF32(sums[i], cElement) : sums[i];
  }
  bind(op, std::move(result));
}

void KernelEmitter::emitWaitProducts(tilegpu::WaitProductsOp op) {
  Registers sums = regs(op.getProduct());
  // If all users are yields, nothing reads the sums before the wait.
  // Else it hands the sums on, which takes LLVM long where they are many.
  bool isCarried = llvm::all_of(
      op->getUsers(), [](Operation *user) { return isa<scf::YieldOp>(user); });
  if (isCarried) {
    nv::WarpgroupWaitOp::create(b, loc, op.getYounger(), ValueRange());
  } else {
    auto wait = nv::WarpgroupWaitOp::create(b, loc, op.getYounger(), sums);
    sums.assign(wait.getResults().begin(), wait.getResults().end());
  }
  bind(op, std::move(sums));
}

void KernelEmitter::emitWaitOlderProducts(tilegpu::WaitOlderProductsOp op) {
  nv::WarpgroupWaitOp::create(b, loc, op.getPending(), ValueRange());
}

} // namespace nereid::togpu
