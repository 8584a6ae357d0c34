//===- WarpgroupOps.cpp - wgmma -------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.15. Warp w of four has rows 16 w to 16 w + 15 of the result, so
// each warp computes its own part, from shared memory and its registers. It
// does so when it waits, or at once (AsyncOrder): both are legal, and a result
// that depends on it is a mistake of the kernel.
//
// A descriptor names a matrix in shared memory: address, two strides, swizzle.
// Along K ("K-major") a row of 8 x 16 bytes, or of the swizzle's width, follows
// the other; across it ("MN-major") 8 rows of K hold the swizzle's width each.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Block.h"
#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"
#include "nereid/Sim/MatrixElement.h"

#include <cstring>

namespace nereid::sim {

namespace {

/// What a kind of product has in detail[0].
struct ProductKind {
  uint16_t columns;
  uint8_t depth;
  MatrixType sum, left, right;
  bool isLeftInRegisters : 1, isLeftMnMajor : 1, isRightMnMajor : 1,
      negatesLeft : 1, negatesRight : 1;
};
static_assert(sizeof(ProductKind) == 8);

/// A matrix in shared memory.
class Described {
public:
  Described(uint64_t descriptor, bool isMnMajor, unsigned elementBytes)
      : start((descriptor & 0x3fff) << 4),
        leading(((descriptor >> 16) & 0x3fff) << 4),
        stride(((descriptor >> 32) & 0x3fff) << 4),
        swizzle(unsigned(descriptor >> 62)), isMnMajor(isMnMajor),
        elementBytes(elementBytes) {}

  /// Of number k of row or column mn.
  uint64_t address(unsigned mn, unsigned k) const {
    uint64_t at = start + (isMnMajor ? mnMajor(mn, k) : kMajor(mn, k));
    return at ^ permutation(at);
  }

private:
  /// Bytes of a swizzled row: 16 without.
  unsigned rowBytes() const { return swizzle ? 256u >> swizzle : 16; }
  uint64_t kMajor(unsigned mn, unsigned k) const {
    unsigned byte = k * elementBytes;
    return uint64_t(mn / 8) * stride + (mn % 8) * rowBytes() +
           (swizzle ? byte : (byte / 16) * leading + byte % 16);
  }
  uint64_t mnMajor(unsigned mn, unsigned k) const {
    unsigned width = rowBytes() / elementBytes;
    uint64_t outer = swizzle ? leading : stride,
             inner = swizzle ? stride : leading;
    return (mn / width) * outer + (k / 8) * inner + (k % 8) * rowBytes() +
           (mn % width) * elementBytes;
  }
  /// 1: 128 bytes, 2: 64, 3: 32. Pieces of 16 bytes by the number of 128.
  uint64_t permutation(uint64_t at) const {
    if (!swizzle) {
      return 0;
    }
    uint64_t pieces = rowBytes() / 16 - 1;
    return ((at >> 7) & pieces) << 4;
  }

  uint64_t start, leading, stride;
  unsigned swizzle;
  bool isMnMajor;
  unsigned elementBytes;
};

} // namespace

static ProductKind kindOf(const Instruction &instruction) {
  return std::bit_cast<ProductKind>(instruction.detail[0]);
}

/// `count` rows or columns from `first` on, k by k.
static std::vector<double> readDescribed(Warp &warp, const Described &matrix,
                                         unsigned first, unsigned count,
                                         unsigned depth, MatrixType type) {
  unsigned bytes = bitsOf(type) / 8;
  std::vector<double> values(size_t(count) * depth);
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned k = 0; k < depth; ++k) {
      uint64_t at = matrix.address(first + i, k);
      const unsigned char *from = warp.block.sharedBytes(at, bytes);
      if (!from) {
        warp.block.fault(warp, Fault::Kind::IllegalAddress,
                         "a product reads past the end of shared memory");
      }
      uint64_t bits = 0;
      std::memcpy(&bits, from, bytes);
      values[size_t(i) * depth + k] = numberOf(bits, type);
    }
  }
  return values;
}

/// Of the warp's 16 rows: fragments like those of mma.m16n8k16.
static std::vector<double> readLeftRegisters(Warp &warp,
                                             const Instruction &instruction,
                                             const ProductKind &kind) {
  unsigned bits = bitsOf(kind.left), per = 32 / bits;
  std::vector<double> values(size_t(16) * kind.depth);
  for (unsigned r = 0; r < 4; ++r) {
    const LaneVector &from = warp.at(instruction.from[r]);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < per; ++i) {
        unsigned row = lane / 4 + 8 * (r % 2);
        unsigned k = per * (lane % 4) + 4 * per * (r / 2) + i;
        values[size_t(row) * kind.depth + k] =
            numberOf(from[lane] >> (i * bits), kind.left);
      }
    }
  }
  return values;
}

static void checkReads(Warp &warp, const SharedShadow::View &since,
                       const Described &matrix, unsigned first, unsigned count,
                       unsigned depth, unsigned bytes) {
  SharedShadow *shadow = warp.block.shadow.get();
  if (!shadow) {
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned k = 0; k < depth; ++k) {
      uint64_t at = matrix.address(first + i, k);
      if (!warp.block.sharedBytes(at, bytes)) {
        continue; // reported when it is read
      }
      if (auto wrong =
              shadow->readAsync(uint32_t(at), bytes, warp.index, since)) {
        warp.block.fault(warp, Fault::Kind::Race, *wrong);
      }
    }
  }
}

static void checkProduct(Warp &warp, const Instruction &instruction,
                         const PendingProduct &product) {
  ProductKind kind = kindOf(instruction);
  unsigned warpRow = warp.index % 4 * 16;
  if (!kind.isLeftInRegisters) {
    unsigned bytes = bitsOf(kind.left) / 8;
    checkReads(warp, product.since,
               Described(product.leftDescriptor, kind.isLeftMnMajor, bytes),
               warpRow, 16, kind.depth, bytes);
  }
  unsigned bytes = bitsOf(kind.right) / 8;
  checkReads(warp, product.since,
             Described(product.rightDescriptor, kind.isRightMnMajor, bytes), 0,
             kind.columns, kind.depth, bytes);
}

static void compute(Warp &warp, const PendingProduct &product) {
  const Instruction &instruction =
      warp.program.instructions[product.instruction];
  ProductKind kind = kindOf(instruction);
  checkProduct(warp, instruction, product);
  std::vector<double> a =
      kind.isLeftInRegisters
          ? readLeftRegisters(warp, instruction, kind)
          : readDescribed(warp,
                          Described(product.leftDescriptor, kind.isLeftMnMajor,
                                    bitsOf(kind.left) / 8),
                          warp.index % 4 * 16, 16, kind.depth, kind.left);
  std::vector<double> b =
      readDescribed(warp,
                    Described(product.rightDescriptor, kind.isRightMnMajor,
                              bitsOf(kind.right) / 8),
                    0, kind.columns, kind.depth, kind.right);
  double sign = kind.negatesLeft != kind.negatesRight ? -1 : 1;
  unsigned bits = bitsOf(kind.sum), per = 32 / bits;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (size_t r = 0; r < instruction.to.size(); ++r) {
      LaneVector &to = warp.at(instruction.to[r]);
      uint64_t slot = 0;
      for (unsigned i = per; i--;) {
        size_t n = r * per + i;
        size_t row = lane / 4 + 8 * (n / 2 % 2);
        size_t column = 8 * (n / 4) + 2 * (lane % 4) + n % 2;
        double sum = 0;
        for (size_t k = 0; k < kind.depth; ++k) {
          sum += a[row * kind.depth + k] * b[column * kind.depth + k];
        }
        sum *= sign;
        if (product.adds) {
          sum += numberOf(to[lane] >> (i * bits), kind.sum);
        }
        slot = slot << (bits % 32) | bitsOfSum(sum, kind.sum);
      }
      to[lane] = slot;
    }
  }
}

static void startProduct(Warp &warp, const Instruction &instruction) {
  warp.needAllLanes();
  ProductKind kind = kindOf(instruction);
  PendingProduct product{};
  product.instruction = warp.current;
  product.group = warp.productGroup;
  size_t next = kind.isLeftInRegisters ? 4 : 0;
  if (!kind.isLeftInRegisters) {
    product.leftDescriptor = warp.at(instruction.from[next++])[0];
  }
  product.rightDescriptor = warp.at(instruction.from[next])[0];
  product.adds = instruction.predicates.empty()
                     ? instruction.detail[1]
                     : warp.predicates[instruction.predicates[0]] & 1;
  if (warp.block.shadow) {
    product.since = warp.block.shadow->view(warp.index);
  }
  if (warp.block.launch.asyncOrder == AsyncOrder::Early) {
    compute(warp, product);
    return;
  }
  checkProduct(warp, instruction, product);
  warp.products.push_back(std::move(product));
}

static void commitProducts(Warp &warp, const Instruction &) {
  ++warp.productGroup;
}

static void waitProducts(Warp &warp, const Instruction &instruction) {
  while (!warp.products.empty() &&
         warp.products.front().group + instruction.detail[0] <
             warp.productGroup) {
    compute(warp, warp.products.front());
    warp.products.pop_front();
  }
}

static void decodeProduct(Decoder &d) {
  const auto &words = d.statement->words;
  if (words.size() != 8 || words[2] != "sync" || words[3] != "aligned") {
    d.refuse();
  }
  ProductKind kind{};
  unsigned rows = 0, columns = 0, depth = 0;
  if (std::sscanf(std::string(words[4]).c_str(), "m%un%uk%u", &rows, &columns,
                  &depth) != 3 ||
      rows != 64 || columns > 256 || columns % 8) {
    d.refuse();
  }
  kind.columns = uint16_t(columns);
  kind.depth = uint8_t(depth);
  kind.sum = matrixType(words[5]);
  kind.left = matrixType(words[6]);
  kind.right = matrixType(words[7]);
  bool isKnown = kind.sum != MatrixType::None &&
                 kind.left != MatrixType::None &&
                 kind.right != MatrixType::None;
  if (!isKnown || depth * bitsOf(kind.left) != 256) {
    d.refuse();
  }
  for (const Operand *element : Decoder::elements(d.operand(0))) {
    d.made->to.push_back(d.result(*element));
  }
  if (d.made->to.size() * (32 / bitsOf(kind.sum)) * lanes != 16 * columns) {
    d.refuse("registers that do not fit the shape");
  }
  kind.isLeftInRegisters = d.operand(1).kind == Operand::Kind::Vector;
  for (const Operand *element : Decoder::elements(d.operand(1))) {
    d.made->from.push_back(d.source(*element));
  }
  if (d.made->from.size() != (kind.isLeftInRegisters ? 4 : 1)) {
    d.refuse();
  }
  d.made->from.push_back(d.source(2));
  const Operand &adds = d.operand(3);
  if (adds.kind == Operand::Kind::Predicate) {
    d.made->predicates = {d.predicate(adds)};
  } else {
    d.made->detail[1] = adds.bits;
  }
  if (d.operandCount() > 5) {
    kind.negatesLeft = d.operand(4).bits != 1;
    kind.negatesRight = d.operand(5).bits != 1;
  }
  if (d.operandCount() > 6) {
    size_t last = d.operandCount() - 1;
    kind.isRightMnMajor = d.operand(last).bits;
    kind.isLeftMnMajor = last > 6 && d.operand(6).bits;
  }
  d.made->detail[0] = std::bit_cast<uint64_t>(kind);
  d.made->flow = Flow::Together;
  d.made->execute = startProduct;
}

static void decodeWgmma(Decoder &d) {
  d.made->flow = Flow::Together;
  if (d.word(1) == "mma_async") {
    decodeProduct(d);
  } else if (d.word(1) == "commit_group") {
    d.made->execute = commitProducts;
  } else if (d.word(1) == "wait_group") {
    d.made->execute = waitProducts;
    d.made->detail[0] = d.operand(0).bits;
  } else if (d.word(1) == "fence") {
    d.made->execute = doNothing;
  } else {
    d.refuse();
  }
}

void addWarpgroupOps(DecodeTable &table) { table["wgmma"] = decodeWgmma; }

} // namespace nereid::sim
