//===- WarpgroupDot.cpp - Products of four warps together -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma multiplies 64 rows by up to 256 columns, 16 deep, and reads the right
// operand, and the left one if wanted, from shared memory: no ldmatrix, and
// three times the rate of mma.sync on the same chip (for f16 on an H100).
// All instructions of a product and its fence are one piece of inline assembly,
// and so is its wait, unless the product is left in flight: nothing may touch
// the accumulators in between, and ptxas serialises what it cannot prove.
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/RegisterOperands.h"
#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

#include <bit>

using namespace mlir;

namespace nereid::togpu {

void KernelEmitter::fenceForWarpgroups() {
  if (target.warpsOfGroup()) {
    inlineAsm("fence.proxy.async.shared::cta;", "", {}, {}, true);
  }
}

std::pair<tilegpu::BufferType, SharedRegion>
KernelEmitter::stage(Value tensor) {
  auto type = tilegpu::oneSlotFor(cast<RankedTensorType>(tensor.getType()));
  SharedRegion region = acquire(type.getBytes(), SharedMemory::swizzlePeriod);
  shared.reserve(region);
  storeTile(tensor, type, sharedAddress(region.offset));
  return {type, region};
}

/// Matrix descriptor (PTX ISA, "Matrix Descriptor Format") without the address:
/// bytes between groups of eight rows and, for operands whose rows run along M
/// or N, between panels, over 16; the swizzle of rows of `rowBytes`.
static uint64_t descriptorBits(unsigned rowBytes, unsigned panelBytes) {
  uint64_t leading = panelBytes >> 4, stride = 8 * rowBytes >> 4;
  uint64_t swizzle = rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3;
  return leading << 16 | stride << 32 | swizzle << 62;
}

KernelEmitter::WarpgroupOperand
KernelEmitter::openWarpgroupOperand(tile::DotOp op, unsigned index) {
  WarpgroupOperand operand;
  Value value = op->getOperand(index);
  const TileInfo &tile = info(value.getType());
  const TileInfo &result = info(op.getType());
  unsigned bytes = tile::getElementBytes(tile.element);
  tilegpu::BufferType type;
  Value start;
  if (registersOf.contains(value)) {
    auto [made, region] = stage(value);
    type = made;
    start = sharedAddress(region.offset);
    operand.offsetOfIndex = tilegpu::offsetsOfIndex(type);
    stagedRegions.push_back(region);
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

/// Is a left operand in the layout that the instruction takes from registers?
static bool isWarpgroupOperand(const TileInfo &a, const TileInfo &c) {
  std::vector<unsigned> groups = {1, 1};
  for (uint32_t column : ArrayRef<uint32_t>(c.layout.warps).drop_front(2)) {
    groups[column >> c.shifts[0] ? 0 : 1] *= 2;
  }
  return a.layout == flatten(warpgroupOperand(a.shape, 2, groups));
}

namespace {

/// 64 rows by up to 256 columns, 16 deep.
struct WarpgroupInstruction {
  unsigned columns;
  std::string sums; ///< the accumulators
  std::string left; ///< words of the left operand; empty: it has a descriptor
  /// Sixteenths of the bytes by which the operands lie behind the descriptors.
  uint32_t a, b;
};

/// The assembly of a product between its fence and its wait.
struct WarpgroupProduct {
  std::string type;             ///< of both operands
  std::string a, right, orders; ///< descriptors; rows along M or N
  /// By step along K, the same number in each.
  std::vector<std::vector<WarpgroupInstruction>> steps;

  std::string instruction(const WarpgroupInstruction &one,
                          const std::string &aBase,
                          const std::string &rightBase) const;
  bool isEven() const;
  std::string straight() const;
  std::string looped() const;
};

constexpr const char *fenceProducts = "wgmma.fence.sync.aligned;\n\t";
constexpr const char *commitProducts = "wgmma.commit_group.sync.aligned;\n\t";
constexpr const char *waitForProducts = "wgmma.wait_group.sync.aligned 0;";

std::string advance(const char *to, const std::string &from, uint32_t by) {
  return std::string("add.s64 ") + to + ", " + from + ", " +
         std::to_string(by) + ";\n\t";
}

std::string WarpgroupProduct::instruction(const WarpgroupInstruction &one,
                                          const std::string &aBase,
                                          const std::string &rightBase) const {
  bool isA = !one.left.empty();
  return (isA ? "" : advance("da", aBase, one.a)) +
         advance("db", rightBase, one.b) + "wgmma.mma_async.sync.aligned.m64n" +
         std::to_string(one.columns) + "k16.f32." + type + "." + type + " " +
         one.sums + ", " + (isA ? one.left : "da") + ", db, p, 1, 1" + orders +
         ";\n\t";
}

/// Do the descriptors advance by the same from each step to the next?
bool WarpgroupProduct::isEven() const {
  for (size_t i = 1; i < steps.size(); ++i) {
    for (size_t j = 0; j < steps[i].size(); ++j) {
      if (!steps[i][j].left.empty() ||
          steps[i][j].a - steps[i - 1][j].a != steps[1][j].a - steps[0][j].a ||
          steps[i][j].b - steps[i - 1][j].b != steps[1][j].b - steps[0][j].b) {
        return false;
      }
    }
  }
  return steps.size() > 1;
}

std::string WarpgroupProduct::straight() const {
  std::string text = fenceProducts;
  for (size_t j = 0; j < steps.front().size(); ++j) {
    for (const auto &step : steps) {
      text += instruction(step[j], a, right);
    }
  }
  return text + commitProducts;
}

/// A group for each step: with one for all, ptxas adds a product of nothing
/// behind the loop, to have something to wait for.
std::string WarpgroupProduct::looped() const {
  std::string text = ".reg .pred more;\n\t.reg .b64 sa, sb;\n\t"
                     ".reg .b32 step;\n\tmov.b64 sa, " +
                     a + ";\n\tmov.b64 sb, " + right +
                     ";\n\tmov.b32 step, 0;\nNEXT:\n\t"
                     ".pragma \"nounroll\";\n\t" +
                     fenceProducts;
  for (const WarpgroupInstruction &one : steps[0]) {
    text += instruction(one, "sa", "sb");
  }
  return text + commitProducts +
         advance("sa", "sa", steps[1][0].a - steps[0][0].a) +
         advance("sb", "sb", steps[1][0].b - steps[0][0].b) +
         "add.s32 step, step, 1;\n\tsetp.ne.u32 more, step, " +
         std::to_string(steps.size()) + ";\n\t@more bra NEXT;\n\t";
}

/// ptxas takes 10 ms for an instruction with 128 accumulators and its copies:
/// in a loop, a product of 128x256x64 is assembled in 80 ms instead of 110
/// (H200), and runs as fast while the next copies are started beside it, if
/// another four warps' instructions fill the gaps. With one instruction at a
/// time (64x256x64 on 4 warps) it takes 4 % longer, with 128 columns
/// (128x128x64 on 8) 5 %, without copies beside it 3 %.
bool isBetterLooped(const WarpgroupProduct &product, unsigned warps) {
  return warps >= 8 && product.steps[0][0].columns == 256 && product.isEven();
}

/// Constraints of sums that leave in the registers in which they came, the last
/// operands: as results, and as operands.
std::pair<std::string, std::string> tied(unsigned sums) {
  std::string results, operands;
  for (unsigned i = 0; i < sums; ++i) {
    results += i ? ",=f" : "=f";
    operands += "," + std::to_string(i);
  }
  return {results, operands};
}

} // namespace

void KernelEmitter::emitWarpgroupMma(tile::DotOp op) {
  const TileInfo &aTile = info(op.getLhs().getType());
  const TileInfo &bTile = info(op.getRhs().getType());
  const TileInfo &cTile = info(op.getType());
  constexpr unsigned depth = 16, rows = 64;
  unsigned bytes = tile::getElementBytes(aTile.element);

  // Registers hold the left operand in the instruction's layout, and as long as
  // ptxas keeps them; else it goes to shared memory, as the right one does.
  bool isA = registersOf.contains(op.getLhs()) &&
             isWarpgroupOperand(aTile, cTile) && mayBeRegisterOperand(op);
  WarpgroupOperand a, right;
  stagedRegions.clear();
  if (isA) {
    a.registers = &regs(op.getLhs());
  } else {
    a = openWarpgroupOperand(op, 0);
  }
  right = openWarpgroupOperand(op, 1);
  if (!stagedRegions.empty()) {
    fenceForWarpgroups();
    barrier();
    for (const SharedRegion &region : stagedRegions) {
      shared.release(region);
      shared.startsReading(region);
    }
  }

  Registers c = regs(op.getC());
  Type cElement = cTile.element;
  bool isNarrow = !cElement.isF32();
  auto cAt = registersByIndex(cTile);
  // The first elements of this thread's blocks of 8 columns, by rows of 64.
  std::map<uint32_t, std::vector<uint32_t>> blocks;
  for (auto [flat, r] : cAt) {
    std::vector<uint32_t> index = splitIndex(flat, cTile.shape);
    if (!(index[0] % rows) && !(index[1] % 8)) {
      blocks[index[0]].push_back(index[1]);
    }
  }
  unsigned sumCount = cTile.count();
  SmallVector<unsigned> sumOrder; // operand number -> register
  SmallVector<Value> operands;
  std::string inputs;
  auto input = [&](Value value, const char *constraint) {
    operands.push_back(value);
    inputs += std::string(",") + constraint;
    return "$" + std::to_string(sumCount + operands.size() - 1);
  };
  WarpgroupProduct product;
  product.type = aTile.element.isF16() ? "f16" : "bf16";
  product.right = input(right.descriptor, "l");
  std::map<uint32_t, std::string> aWords;
  if (isA) {
    auto aAt = registersByIndex(aTile);
    for (auto [flat, r] : aAt) {
      if (flat >> aTile.shifts[1] & 1) {
        continue;
      }
      Registers pair = {(*a.registers)[r],
                        (*a.registers)[aAt.at(flat | 1u << aTile.shifts[1])]};
      Value word = packWords(pair, 32)[0];
      // ptxas (12.8, 13.0) takes instructions of the same operands, as with a
      // left operand of ones, for one, and leaves the other's result undefined.
      uint32_t row = splitIndex(flat, aTile.shape)[0];
      if (row >= rows && row % rows == 0) {
        word = concealed(word);
      }
      aWords[flat] = input(word, "r");
    }
  } else {
    product.a = input(a.descriptor, "l");
    product.orders = a.isMnMajor ? ", 1" : ", 0";
  }
  product.orders += right.isMnMajor ? ", 1" : ", 0";
  auto behind = [&](const WarpgroupOperand &operand, const TileInfo &tile,
                    unsigned outer, uint32_t at, uint32_t k) {
    uint32_t flat = at << tile.shifts[outer] | k << tile.shifts[1 - outer];
    return bytesOf(flat, operand.offsetOfIndex, bytes)[0] >> 4;
  };
  auto word = [&](uint32_t row, uint32_t column) {
    return aWords.at(row << aTile.shifts[0] | column << aTile.shifts[1]);
  };
  product.steps.resize(aTile.shape[1] / depth);
  for (auto &[m, columns] : blocks) {
    unsigned count = columns.size() * 8, most = std::min(count, 256u);
    for (unsigned n = 0; n < count; n += most) {
      std::string sums = "{";
      for (unsigned j = n / 8; j < (n + most) / 8; ++j) {
        for (unsigned i = 0; i < 4; ++i) {
          uint32_t row = m + (i & 2 ? 8 : 0), column = columns[j] + (i & 1);
          sums +=
              (sums.size() > 1 ? ", $" : "$") + std::to_string(sumOrder.size());
          sumOrder.push_back(
              cAt.at(row << cTile.shifts[0] | column << cTile.shifts[1]));
        }
      }
      sums += "}";
      for (auto [step, list] : llvm::enumerate(product.steps)) {
        uint32_t k = step * depth;
        std::string left;
        if (isA) {
          left = "{" + word(m, k) + ", " + word(m + 8, k) + ", " +
                 word(m, k + 8) + ", " + word(m + 8, k + 8) + "}";
        }
        list.push_back({most, sums, left, isA ? 0 : behind(a, aTile, 0, m, k),
                        behind(right, bTile, 1, columns[n / 8], k)});
      }
    }
  }
  bool inFlight = op->hasAttr(tilegpu::inFlightAttr);
  std::string text = "{\n\t.reg .pred p;\n\t.reg .b64 da, db;\n\t"
                     "setp.eq.u32 p, 0, 0;\n\t";
  text += inFlight && isBetterLooped(product, warps) ? product.looped()
                                                     : product.straight();
  text += inFlight ? "}" : std::string(waitForProducts) + "\n\t}";
  for (unsigned r : sumOrder) {
    operands.push_back(isNarrow ? ops().toF32(c[r], cElement) : c[r]);
  }
  auto [outputs, ties] = tied(sumCount);
  SmallVector<Value> sums =
      inlineAsm(text, outputs + inputs + ties, operands,
                SmallVector<Type>(sumCount, b.getF32Type()), true);
  Registers result(cTile.count());
  for (auto [i, r] : llvm::enumerate(sumOrder)) {
    result[r] = isNarrow ? ops().fromF32(sums[i], cElement) : sums[i];
  }
  bind(op, std::move(result));
}

void KernelEmitter::emitWaitProducts(tilegpu::WaitProductsOp op) {
  Registers sums = regs(op.getProduct());
  // What is only carried into the next iteration nobody can touch before the
  // wait. Else it hands the sums on, which takes LLVM 6 ms for 128 of them.
  bool isCarried = llvm::all_of(
      op->getUsers(), [](Operation *user) { return isa<scf::YieldOp>(user); });
  if (isCarried) {
    inlineAsm(waitForProducts, "", {}, {}, true);
  } else {
    auto [outputs, ties] = tied(sums.size());
    sums = inlineAsm(waitForProducts, outputs + ties, sums,
                     SmallVector<Type>(sums.size(), b.getF32Type()), true);
  }
  bind(op, std::move(sums));
}

} // namespace nereid::togpu
