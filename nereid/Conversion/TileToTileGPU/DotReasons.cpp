//===- DotReasons.cpp - How a product is computed, in words ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/AccessReasons.h"
#include "nereid/Conversion/TileToTileGPU/LayoutChoice.h"

using namespace mlir;

namespace nereid::totilegpu {

namespace {
struct Words {
  std::string reason, hint;
};
} // namespace

/// `one` is the instruction that the product does not get; null: there is none.
static Words wordsFor(MatrixLimit limit, tile::DotOp op,
                      const tilegpu::MatrixInstruction *one,
                      const tilegpu::TargetInfo &target) {
  ArrayRef<int64_t> c = op.getType().getShape();
  auto text = [](int64_t n) { return std::to_string(n); };
  std::string lhs = elementName(op.getLhs().getType());
  std::string rhs = elementName(op.getRhs().getType());
  switch (limit) {
  case MatrixLimit::None:
    return {};
  case MatrixLimit::Disabled:
    return {"NEREID_DISABLE has matrix-instructions", ""};
  case MatrixLimit::Precision:
    return {"input_precision is '" +
                tile::stringifyInputPrecision(op.getPrecision()).str() +
                "', and matrix instructions round fp32 to tf32",
            "input_precision=\"tf32x3\" for three products of tf32, or "
            "\"tf32\" where three digits are enough"};
  case MatrixLimit::Type:
    return {"Nereid has none for " + lhs + " on " + target.name,
            target.matrix.empty() ? "" : "operands of fp16 or bf16"};
  case MatrixLimit::Register:
    return {"K is " + text(op.getLhs().getType().getShape().back()) +
                ", less than a register holds of " + lhs,
            "a larger K"};
  case MatrixLimit::Work:
    return {"a product of so few elements, padded to " + text(one->m) + "x" +
                text(one->n) + "x" + text(one->k) + ", takes longer",
            ""};
  case MatrixLimit::Batches:
    return {"the operands have " + text(c.size()) + " dimensions",
            "a product of two-dimensional blocks for each batch"};
  case MatrixLimit::NoPower:
    return {"the sizes " + text(c[0]) + "x" + text(c[1]) + "x" +
                text(op.getLhs().getType().getShape()[1]) +
                " are not all powers of two",
            "blocks of powers of two, masked where they reach beyond"};
  case MatrixLimit::Rows:
    return {counted(c[0], "row") + "; an instruction has " + text(one->m),
            "M of at least " + text(one->m)};
  case MatrixLimit::Columns:
    return {counted(c[1], "column") + "; an instruction has " + text(one->n),
            "N of at least " + text(one->n)};
  case MatrixLimit::Depth:
    return {"K is " + text(op.getLhs().getType().getShape()[1]) +
                "; an instruction is " + text(one->k) + " deep",
            "K of at least " + text(one->k)};
  case MatrixLimit::Target:
    return {"Nereid has none for " + target.name, ""};
  case MatrixLimit::Warps:
    return {"they take " + text(one->warps) + " warps each",
            "a num_warps divisible by " + text(one->warps)};
  case MatrixLimit::MixedTypes:
    return {"the operands are " + lhs + " and " + rhs, "operands of one type"};
  case MatrixLimit::ShortSums:
    return {"they add up " + text(op.getLhs().getType().getShape()[1]) +
                " products of " + lhs + " in 14 bits, and " +
                "max_num_imprecise_acc allows " + text(op.getMaxImpreciseAcc()),
            "a max_num_imprecise_acc of at least K, or a multiple of " +
                text(one->k) + " that divides K"};
  case MatrixLimit::PanelColumns:
    return {"each " + text(one->warps) +
                " warps would have fewer than 64 of the " + text(c[1]) +
                " columns",
            "a smaller num_warps, or a larger block"};
  case MatrixLimit::Orientation:
    return {"operands of " + lhs + " must run along K in memory",
            "b[n, k] loaded as b_ptr + n[None, :] * K + k[:, None]"};
  }
  llvm_unreachable("all limits are handled");
}

Decision LayoutChoice::decisionOf(tile::DotOp op) const {
  Decision d{"dot", "", "", "", ""};
  auto kindOf = [&](unsigned together) -> const tilegpu::MatrixInstruction * {
    auto kind = tilegpu::operandKind(op);
    return together == 1 ? tilegpu::matrixInstruction(target, op)
           : kind        ? target.findMatrix(*kind, together)
                         : nullptr;
  };
  auto shape = [](const tilegpu::MatrixInstruction &one) {
    return std::to_string(one.m) + "x" + std::to_string(one.n) + "x" +
           std::to_string(one.k);
  };
  MatrixLimit single = matrixLimit(op), group = groupLimit(op);
  if (group == MatrixLimit::None) {
    const auto *one = kindOf(target.warpsOfGroup());
    d.chosen = "matrix instructions of " + std::to_string(one->warps) +
               " warps together, operands from shared memory";
    return d;
  }
  if (single == MatrixLimit::None) {
    std::vector<unsigned> tiles = dotWarps(op);
    std::string split;
    for (unsigned tile : tiles) {
      split += (split.empty() ? "" : "x") + std::to_string(tile);
    }
    d.chosen = "matrix instructions of one warp (" + shape(*kindOf(1)) + "), " +
               split + " warps";
    d.rejected = "matrix instructions of several warps together";
    Words words = wordsFor(group, op, kindOf(target.warpsOfGroup()), target);
    d.reason = words.reason;
    d.hint = words.hint;
    return d;
  }
  d.chosen = "multiplications and additions of single elements, operands read "
             "from shared memory";
  d.rejected = "matrix instructions";
  Words words = wordsFor(single, op, kindOf(1), target);
  d.reason = words.reason;
  d.hint = words.hint;
  return d;
}

} // namespace nereid::totilegpu
