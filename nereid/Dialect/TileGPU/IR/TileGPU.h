//===- TileGPU.h - Tiles with layouts ---------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_IR_TILEGPU_H
#define NEREID_DIALECT_TILEGPU_IR_TILEGPU_H

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/TileGPU/IR/TargetInfo.h"
#include "nereid/Layout/TileLayout.h"

#include <deque>

#include "nereid/Dialect/TileGPU/IR/TileGPUDialect.h.inc"
#include "nereid/Dialect/TileGPU/IR/TileGPUEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "nereid/Dialect/TileGPU/IR/TileGPUAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "nereid/Dialect/TileGPU/IR/TileGPUTypes.h.inc"

namespace nereid::tilegpu {

/// i32 on the kernel: warps that run one program.
inline constexpr llvm::StringLiteral warpsAttr = "tilegpu.warps";
/// i32 on the kernel: rows and columns of sums that its products' instructions
/// should have, where the target has such ones.
inline constexpr llvm::StringLiteral matrixSizeAttr = "tilegpu.matrix_size";
/// String on the kernel: the target that it is compiled for.
inline constexpr llvm::StringLiteral targetAttr = "tilegpu.target";
/// Unit, on a dot whose operands and result are in the layouts of the target's
/// matrix instruction.
inline constexpr llvm::StringLiteral mmaAttr = "tilegpu.mma";
/// Unit, on a dot by four warps together: the right operand, and the left one
/// unless it is in that instruction's register layout, are read from shared
/// memory.
inline constexpr llvm::StringLiteral warpgroupMmaAttr = "tilegpu.warpgroup_mma";
/// Unit, on such a dot of f32 whose operands both lie in buffers: it is
/// started, and done in its `tilegpu.wait_products`. That is the only use of
/// its result, or a loop yields the result, to be added to by the next
/// iteration's dot, and the wait stands after the loop.
inline constexpr llvm::StringLiteral inFlightAttr = "tilegpu.in_flight";

/// #tilegpu.schedule, on an operation in the body of a loop.
inline constexpr llvm::StringLiteral scheduleAttr = "tilegpu.schedule";
/// i32, on such a loop: tiles that each of its buffers holds.
inline constexpr llvm::StringLiteral slotsAttr = "tilegpu.slots";

/// i32 on a kernel: warps after those of `warpsAttr`, which only copy.
inline constexpr llvm::StringLiteral producerWarpsAttr =
    "tilegpu.producer_warps";
/// i32 on a kernel: registers that a thread starts with, at most.
inline constexpr llvm::StringLiteral mostRegistersAttr =
    "tilegpu.most_registers";
/// TensorMapSourceAttr on a parameter of the kernel.
inline constexpr llvm::StringLiteral tensorMapAttr = "tilegpu.tensor_map";

/// #tilegpu.scratch, on an operation that makes trips through shared memory.
inline constexpr llvm::StringLiteral scratchAttr = "tilegpu.scratch";
/// i32 on the kernel: registers of a thread, at least.
inline constexpr llvm::StringLiteral registersAttr = "tilegpu.registers";
/// i32 on the kernel: bytes of shared memory that its buffers and scratch take.
inline constexpr llvm::StringLiteral sharedBytesAttr = "tilegpu.shared_bytes";

/// Bytes of one access of a warp to shared memory.
inline constexpr unsigned wavefrontBytes = 128;
/// Eight rows of 128 bytes, after which a swizzle repeats: products that read
/// shared memory themselves want their operands to start there.
inline constexpr unsigned swizzlePeriodBytes = 1024;
/// Shared memory that a conversion between layouts takes at most, where both
/// have enough of the tile in registers.
inline constexpr unsigned conversionBytes = 48 * 1024;

/// The target that `kernel` names; null, with an error there, where it names
/// none that is known.
const TargetInfo *targetOf(mlir::Operation *kernel);
/// The kernel's `tilegpu.warps`.
unsigned warpsOf(mlir::Operation *kernel);
/// 0 where all warps compute.
unsigned producerWarpsOf(mlir::Operation *kernel);

/// As the target's table of instructions names a product's operands; absent for
/// those that no matrix instruction takes.
std::optional<OperandKind> operandKind(tile::DotOp op);
/// A warpgroup's instructions add up products of fp8 in fourteen digits: parts
/// along K whose sums are added outside of them, as many products each as
/// max_num_imprecise_acc allows. 1: no more than one; 0: it allows no whole
/// instructions, or no equal parts.
unsigned partsOfShortSums(tile::DotOp op, unsigned instructionDepth);
/// Of one warp, for the operands of `op` on that target; null if there is none.
/// Where float32 may be read as tf32, it may as well be read exactly.
const MatrixInstruction *matrixInstruction(const TargetInfo &target,
                                           tile::DotOp op);

LayoutAttr toAttr(mlir::MLIRContext *context, const TileLayout &layout);
/// The layout of a tensor type; the type must have one.
TileLayout layoutOf(mlir::Type type);
mlir::RankedTensorType withLayout(mlir::Type tensor, const TileLayout &layout);
/// The shape as the layout library takes it; empty for a scalar.
Shape shapeOf(mlir::Type type);

/// A buffer of panels: up to 128 bytes along `inner`, then all rows, then the
/// next 128 bytes. Within a panel the pieces of 16 bytes are permuted by the
/// row, so that eight rows of 16 bytes, and a whole row, meet every bank once.
/// Products by several warps read it as a swizzle of 128, 64 or 32 bytes. Of a
/// tile whose sizes are no powers of two a slot ends with its last element, and
/// the panels' parts of a row may lie together instead, where that is shorter.
BufferType swizzledBuffer(mlir::MLIRContext *context, unsigned slots,
                          const Shape &shape, mlir::Type element,
                          unsigned inner);
/// The dimension that threads hold most consecutive elements of, the last one
/// of equals.
unsigned innerDimension(const TileLayout &layout, const Shape &shape);
/// One slot for a tensor with a layout: rows run along its inner dimension, or
/// along `inner`.
BufferType oneSlotFor(mlir::RankedTensorType tensor,
                      std::optional<unsigned> inner = std::nullopt);
/// The dimension along which rows of an operand of several warps' product must
/// run: K, where elements are not of 16 bits; else nothing.
std::optional<unsigned> innerOfOperand(tile::DotOp dot, unsigned index);
/// From flattened indices of a tile `order`-transposed (empty: as it is) to
/// offsets in the slot, in elements: bit by bit.
std::vector<uint32_t> offsetsOfIndex(BufferType buffer,
                                     llvm::ArrayRef<int32_t> order = {});

} // namespace nereid::tilegpu

#define GET_OP_CLASSES
#include "nereid/Dialect/TileGPU/IR/TileGPUOps.h.inc"

#endif // NEREID_DIALECT_TILEGPU_IR_TILEGPU_H
