//===- RegisterOperands.h - Left operands that may be registers -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma takes its left operand from registers or from shared memory. ptxas up
// to 13.2 copies a register operand into four neighbouring registers, moves the
// copies of an operand that a loop does not change in front of the loop, and
// then forgets that the next iteration wants them too: if the loop has a
// branch, even one that ptxas itself makes for a division, the registers go to
// the operand of the next product. So an operand may be registers only if it is
// computed again for its product, with no branch between the two, or if its
// loop has no branch at all.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_REGISTEROPERANDS_H
#define NEREID_ANALYSIS_REGISTEROPERANDS_H

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid {

/// Unit, on a dot whose left operand stays in registers through a loop.
inline constexpr llvm::StringLiteral leftInRegistersAttr =
    "tile.left_in_registers";

/// Why a product does not take its left operand from registers.
enum class LeftOperandLimit {
  None,
  OtherBlock, ///< it is defined in front of the loop
  Branch,     ///< between it and the product
  Untied,     ///< a compiler may move it out of the loop
  Type,       ///< elements are not of 16 bits
};
LeftOperandLimit leftOperandLimit(tile::DotOp dot);

/// May a product by four warps take its left operand from registers? If it says
/// so itself (`leftInRegistersAttr`), or
///  - the operand is defined in the product's block, and nothing between the
///    two may branch;
///  - in a loop, it depends on something of that block that stays there: a
///    carried value, the result of a product, what was loaded. Whatever is
///    computed from outer values alone, LLVM or ptxas may move out of the loop.
/// True of values with layouts and without.
inline bool mayBeRegisterOperand(tile::DotOp dot) {
  return leftOperandLimit(dot) == LeftOperandLimit::None;
}

/// Marks the products (`leftInRegistersAttr`) whose left operand is defined in
/// front of their loop and should stay in registers through it. It should if,
/// for each product that has the operand,
///  - it is the left one, nothing in the loop may branch, and no loop around
///    it has the same operand;
///  - what the loop holds at once leaves a quarter of the `registers` of a
///    thread to addresses and to what is computed in between: the carried
///    tensors, the products' results and their left operands in registers.
/// From shared memory a product of 64 columns reads twice as much, and the
/// operand's bytes may cost a program of the multiprocessor. `threads` of a
/// program. Each loop and each operand is looked at once.
void keepLeftOperands(mlir::func::FuncOp kernel, unsigned threads,
                      unsigned registers);

} // namespace nereid

#endif // NEREID_ANALYSIS_REGISTEROPERANDS_H
