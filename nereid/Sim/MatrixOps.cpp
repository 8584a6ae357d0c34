//===- MatrixOps.cpp - mma, ldmatrix, stmatrix ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.14. With g = lane / 4, t = lane % 4 and e numbers a register,
//
//   A, register r: row g + 8 (r % 2), columns e t + 4 e (r / 2) + 0 .. e-1
//   B, register r: rows e t + 4 e r + 0 .. e-1, column g
//   C, number i: row g + 8 (i / 2), column 2 t + i % 2
//
// where instructions of 8 rows have no second half of rows.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Block.h"
#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"
#include "nereid/Sim/MatrixElement.h"

#include <cstring>

namespace nereid::sim {

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

namespace {

struct MmaShape {
  unsigned rows = 0, columns = 0, depth = 0;
};

/// Numbers of a fragment, as a matrix.
struct Matrix {
  unsigned columns;
  std::vector<double> values;
  Matrix(unsigned rows, unsigned columns)
      : columns(columns), values(size_t(rows) * columns) {}
  double &at(unsigned row, unsigned column) {
    return values[row * columns + column];
  }
};

} // namespace

/// "m16n8k32".
static MmaShape parseShape(Decoder &d, std::string_view text) {
  MmaShape shape;
  unsigned *next = nullptr;
  for (char c : text) {
    if (c == 'm' || c == 'n' || c == 'k') {
      next = c == 'm' ? &shape.rows : c == 'n' ? &shape.columns : &shape.depth;
    } else if (c >= '0' && c <= '9' && next) {
      *next = *next * 10 + unsigned(c - '0');
    } else {
      d.refuse();
    }
  }
  return shape;
}

static uint64_t field(uint64_t slot, unsigned i, unsigned bits) {
  return bits == 64 ? slot : (slot >> (i * bits)) & ((uint64_t{1} << bits) - 1);
}

/// detail: [0] rows, columns << 16, depth << 32; [1] types of D, A, B, C, a
/// byte each; [2] registers of D, A, B, a byte each.
static void multiply(Warp &warp, const Instruction &instruction) {
  warp.needAllLanes();
  unsigned rows = instruction.detail[0] & 0xffff,
           columns = (instruction.detail[0] >> 16) & 0xffff,
           depth = unsigned(instruction.detail[0] >> 32);
  auto type = [&](unsigned i) {
    return MatrixType(instruction.detail[1] >> (8 * i));
  };
  MatrixType dType = type(0), aType = type(1), bType = type(2), cType = type(3);
  unsigned aCount = (instruction.detail[2] >> 8) & 0xff,
           bCount = (instruction.detail[2] >> 16) & 0xff;
  unsigned aBits = bitsOf(aType), bBits = bitsOf(bType);
  unsigned aPer = aBits == 64 ? 1 : 32 / aBits,
           bPer = bBits == 64 ? 1 : 32 / bBits;
  unsigned halves = rows / 8;
  Matrix a(rows, depth), b(depth, columns), c(rows, columns);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < aCount; ++r) {
      uint64_t slot = warp.at(instruction.from[r])[lane];
      for (unsigned i = 0; i < aPer; ++i) {
        a.at(g + 8 * (r % halves), aPer * t + 4 * aPer * (r / halves) + i) =
            numberOf(field(slot, i, aBits), aType);
      }
    }
    for (unsigned r = 0; r < bCount; ++r) {
      uint64_t slot = warp.at(instruction.from[aCount + r])[lane];
      for (unsigned i = 0; i < bPer; ++i) {
        b.at(bPer * t + 4 * bPer * r + i, g) =
            numberOf(field(slot, i, bBits), bType);
      }
    }
    unsigned cBits = bitsOf(cType), cPer = cBits == 16 ? 2 : 1;
    for (unsigned i = 0; i < 2 * halves; ++i) {
      uint64_t slot =
          warp.at(instruction.from[aCount + bCount + i / cPer])[lane];
      c.at(g + 8 * (i / 2), 2 * t + i % 2) =
          numberOf(field(slot, i % cPer, cBits), cType);
    }
  }
  for (unsigned i = 0; i < rows; ++i) {
    for (unsigned j = 0; j < columns; ++j) {
      double sum = c.at(i, j);
      for (unsigned k = 0; k < depth; ++k) {
        sum += a.at(i, k) * b.at(k, j);
      }
      c.at(i, j) = sum;
    }
  }
  unsigned dBits = bitsOf(dType), dPer = dBits == 16 ? 2 : 1;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < instruction.to.size(); ++r) {
      uint64_t slot = 0;
      for (unsigned i = dPer; i--;) {
        unsigned n = r * dPer + i;
        slot = (dBits == 64 ? 0 : slot << dBits) |
               bitsOfSum(c.at(g + 8 * (n / 2), 2 * t + n % 2), dType);
      }
      warp.at(instruction.to[r])[lane] = slot;
    }
  }
}

static void decodeMma(Decoder &d) {
  const auto &words = d.statement->words;
  bool isKnown = words.size() >= 9 && words[1] == "sync" &&
                 words[2] == "aligned" && words[4] == "row" &&
                 words[5] == "col" && !d.has("block_scale") &&
                 !d.has("satfinite");
  if (!isKnown) {
    d.refuse();
  }
  MmaShape shape = parseShape(d, words[3]);
  uint64_t types = 0;
  for (unsigned i = 0; i < 4; ++i) {
    MatrixType type = matrixType(words[words.size() - 4 + i]);
    if (type == MatrixType::None) {
      d.refuse();
    }
    types |= uint64_t(type) << (8 * i);
  }
  for (const Operand *element : Decoder::elements(d.operand(0))) {
    d.made->to.push_back(d.result(*element));
  }
  uint64_t counts = d.made->to.size();
  for (unsigned i = 1; i < 4; ++i) {
    auto elements = Decoder::elements(d.operand(i));
    counts |= uint64_t(elements.size()) << (8 * i);
    for (const Operand *element : elements) {
      d.made->from.push_back(d.source(*element));
    }
  }
  // As many registers as the shape takes.
  auto numbers = [&](unsigned operand, unsigned position) {
    unsigned bits = bitsOf(MatrixType(types >> (8 * position)));
    auto registers = unsigned(counts >> (8 * operand)) & 0xff;
    return lanes * registers * (bits == 64 ? 1 : 32 / bits);
  };
  bool fits = shape.columns == 8 && (shape.rows == 8 || shape.rows == 16) &&
              numbers(0, 0) == shape.rows * shape.columns &&
              numbers(1, 1) == shape.rows * shape.depth &&
              numbers(2, 2) == shape.depth * shape.columns &&
              numbers(3, 3) == shape.rows * shape.columns;
  if (!fits) {
    d.refuse("registers that do not fit the shape");
  }
  d.made->detail[0] =
      shape.rows | uint64_t(shape.columns) << 16 | uint64_t(shape.depth) << 32;
  d.made->detail[1] = types;
  d.made->detail[2] = counts;
  d.made->flow = Flow::Together;
  d.made->execute = multiply;
}

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix, movmatrix
//===----------------------------------------------------------------------===//

/// With a profile: eight rows of 16 bytes a matrix are a pass.
static void countRows(Warp &warp, const Instruction &instruction,
                      unsigned matrices) {
  if (warp.block.counts.empty()) {
    return;
  }
  unsigned rows = 8 * matrices;
  WarpAccess access{rows == lanes ? allLanes : (1u << rows) - 1, {}, 16};
  for (unsigned lane = 0; lane < rows; ++lane) {
    access.addresses[lane] =
        warp.at(instruction.from[0])[lane] + uint64_t(instruction.offset);
  }
  warp.block.count(warp, access, Space::Shared, Access::Read);
}

/// Lane l of matrix m has its numbers 2 (l % 4) and the next in row l / 4, or
/// transposed in column l / 4. Row i of matrix m begins at the address of lane
/// 8 m + i.
static void loadMatrices(Warp &warp, const Instruction &instruction) {
  warp.needAllLanes();
  countRows(warp, instruction, unsigned(instruction.to.size()));
  const LaneVector addresses = warp.at(instruction.from[0]);
  bool isTransposed = instruction.detail[0];
  for (unsigned m = 0; m < instruction.to.size(); ++m) {
    uint16_t matrix[8][8];
    for (unsigned i = 0; i < 8; ++i) {
      unsigned lane = 8 * m + i;
      std::memcpy(
          matrix[i],
          warp.block.resolve(warp, lane,
                             addresses[lane] + uint64_t(instruction.offset), 16,
                             Space::Shared, Access::Read),
          16);
    }
    LaneVector &to = warp.at(instruction.to[m]);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      unsigned g = lane / 4, t = 2 * (lane % 4);
      uint32_t low = isTransposed ? matrix[t][g] : matrix[g][t];
      uint32_t high = isTransposed ? matrix[t + 1][g] : matrix[g][t + 1];
      to[lane] = high << 16 | low;
    }
  }
}

static void storeMatrices(Warp &warp, const Instruction &instruction) {
  warp.needAllLanes();
  countRows(warp, instruction, unsigned(instruction.from.size() - 1));
  const LaneVector &addresses = warp.at(instruction.from[0]);
  bool isTransposed = instruction.detail[0];
  for (unsigned m = 0; m + 1 < instruction.from.size(); ++m) {
    uint16_t matrix[8][8];
    const LaneVector &from = warp.at(instruction.from[m + 1]);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      unsigned g = lane / 4, t = 2 * (lane % 4);
      (isTransposed ? matrix[t][g] : matrix[g][t]) = uint16_t(from[lane]);
      (isTransposed ? matrix[t + 1][g] : matrix[g][t + 1]) =
          uint16_t(from[lane] >> 16);
    }
    for (unsigned i = 0; i < 8; ++i) {
      unsigned lane = 8 * m + i;
      std::memcpy(
          warp.block.resolve(warp, lane,
                             addresses[lane] + uint64_t(instruction.offset), 16,
                             Space::Shared, Access::Write),
          matrix[i], 16);
    }
  }
}

static void transposeMatrix(Warp &warp, const Instruction &instruction) {
  warp.needAllLanes();
  const LaneVector from = warp.at(instruction.from[0]);
  LaneVector &to = warp.at(instruction.to[0]);
  auto number = [&](unsigned row, unsigned column) {
    return uint16_t(from[row * 4 + column / 2] >> (16 * (column % 2)));
  };
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned g = lane / 4, t = 2 * (lane % 4);
    to[lane] = uint32_t(number(t + 1, g)) << 16 | number(t, g);
  }
}

static void decodeMatrixAccess(Decoder &d) {
  size_t count = d.has("x4") ? 4 : d.has("x2") ? 2 : 1;
  bool isKnown = d.word(3) == "m8n8" && d.lastWord() == "b16" &&
                 (d.has("shared") || d.has("shared::cta"));
  if (!isKnown) {
    d.refuse();
  }
  bool isLoad = d.word(0) == "ldmatrix";
  d.address(isLoad ? 1 : 0);
  auto elements = Decoder::elements(d.operand(isLoad ? 0 : 1));
  for (const Operand *element : elements) {
    if (isLoad) {
      d.made->to.push_back(d.result(*element));
    } else {
      d.made->from.push_back(d.source(*element));
    }
  }
  if (elements.size() != count) {
    d.refuse();
  }
  d.made->detail[0] = d.has("trans");
  d.made->flow = Flow::Together;
  d.made->execute = isLoad ? loadMatrices : storeMatrices;
}

static void decodeMovMatrix(Decoder &d) {
  d.plain(transposeMatrix);
  d.made->flow = Flow::Together;
}

void addMatrixOps(DecodeTable &table) {
  table["mma"] = decodeMma;
  table["ldmatrix"] = decodeMatrixAccess;
  table["stmatrix"] = decodeMatrixAccess;
  table["movmatrix"] = decodeMovMatrix;
}

} // namespace nereid::sim
