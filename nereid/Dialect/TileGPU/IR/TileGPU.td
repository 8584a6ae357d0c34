//===- TileGPU.td - Tiles with layouts ---------------------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_IR_TILEGPU
#define NEREID_DIALECT_TILEGPU_IR_TILEGPU

include "nereid/Dialect/Tile/IR/TileDialect.td"
include "nereid/Dialect/TileGPU/IR/TileGPUEnums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tilegpu";
  let cppNamespace = "::nereid::tilegpu";
  let summary = "Tile operations on tensors that say which thread holds what";
  let description = [{
    The operations are those of `tile`, `arith`, `math` and `scf`; what is new is
    the encoding of every tensor type, `#tilegpu.layout`, and the operations
    that move values from one layout to another. A kernel carries the number
    of warps of its program as `tilegpu.warps`, and the name of the GPU that it
    is compiled for as `tilegpu.target`: one of those that were added to the
    dialect.
  }];
  let extraClassDeclaration = [{
    /// Kernels may name it from now on. One with a name that is known is
    /// ignored.
    void addTarget(TargetInfo target);
    /// Null if there is none.
    const TargetInfo *findTarget(::llvm::StringRef name) const;
    /// In the order in which they were added.
    const std::deque<TargetInfo> &getTargets() const { return targets; }

  private:
    std::deque<TargetInfo> targets; // passes hold on to elements

  public:
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::nereid::tile::TileDialect"];
}

def TileGPU_LayoutAttr : AttrDef<TileGPU_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Which element of a tile register r of lane l of warp w holds";
  let description = [{
    A linear layout (nereid/Layout/TileLayout.h): for every bit of the register,
    lane and warp number the flattened index that it adds, by exclusive or. The
    flattened index has ceil(log2(size)) bits a dimension, the last dimension
    lowest. 1024 elements on 4 warps, 4 neighbours a thread:
    ```mlir
    #tilegpu.layout<registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"uint32_t">:$registers,
    ArrayRefParameter<"uint32_t">:$lanes,
    ArrayRefParameter<"uint32_t">:$warps);
  let hasCustomAssemblyFormat = 1;
}

class TileGPU_Op<string mnemonic, list<Trait> traits = []> : Op<TileGPU_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def TileGPU_BufferType : TypeDef<TileGPU_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Places for several tiles of one shape in shared memory";
  let description = [{
    `slots` tiles. Within a slot, for every bit of the offset (in elements) the
    flattened index that it adds, by exclusive or: the inverse of a swizzle is
    computed from it. Sizes that are no powers of two are padded in the index;
    a slot ends with the last line of 128 bytes that holds an element. Three tiles of 128 x 32 whose
    16-byte pieces of a row are permuted by the row:
    ```mlir
    !tilegpu.buffer<3 x [128, 32] x f16, offsets = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024, 2048]>
    ```
  }];
  let parameters = (ins
    "unsigned":$slots,
    ArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType,
    ArrayRefParameter<"uint32_t">:$offsets);
  let assemblyFormat = [{
    `<` $slots `x` `[` $shape `]` `x` $elementType `,` `offsets` `=` `[` $offsets `]` `>`
  }];
  let extraClassDeclaration = [{
    /// From a slot to the next.
    unsigned getSlotBytes() const;
    unsigned getBytes() const { return getSlots() * getSlotBytes(); }
  }];
}

def TileGPU_AllocOp : TileGPU_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Reserves shared memory up to the `free` in the same block";
  let description = [{
    `tilegpu-allocate-shared` says where the buffer begins, in bytes.
    ```mlir
    %buffer = tilegpu.alloc at 1024 : !tilegpu.buffer<...>
    ```
  }];
  let arguments = (ins OptionalAttr<I32Attr>:$offset);
  let results = (outs TileGPU_BufferType:$buffer);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($buffer)";
  let builders = [OpBuilder<(ins "BufferType":$type), [{
    build($_builder, $_state, type, IntegerAttr());
  }]>];
  let hasVerifier = 1;
}

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure, AllShapesMatch<["source", "result"]>, AllElementTypesMatch<["source", "result"]>]> {
  let summary = "The same elements in other threads or registers";
  let description = [{
    Costs nothing, register renaming, warp shuffles or a trip through shared
    memory: nereid/Layout/ConversionPlan.h decides. A trip goes through scratch,
    at barriers of the program; with `through`, whose elements stay in their
    warps, through a buffer that all such operations of the kernel share, where
    each warp has a part of its own and meets no other.
    ```mlir
    %y = tilegpu.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
    %z = tilegpu.convert_layout %x through %buffer : <1 x[8, 1024] x i8, ...> tensor<64xf32, #a> -> tensor<64xf32, #c>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, Optional<TileGPU_BufferType>:$through);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source (`through` $through^ `:` type($through))? attr-dict `:` type($source) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$source), [{
    build($_builder, $_state, type, source, ::mlir::Value());
  }]>];
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The warps wait for one another";
  let description = [{
    What each of their threads read and wrote before, in shared and in global
    memory, it has read, and the others see.
    ```mlir
    tilegpu.barrier all
    ```
  }];
  let arguments = (ins TileGPU_Warps:$warps);
  let assemblyFormat = "$warps attr-dict";
}

def TileGPU_ScratchAttr : AttrDef<TileGPU_Dialect, "Scratch"> {
  let mnemonic = "scratch";
  let summary = "Where an operation's trips through shared memory go";
  let description = [{
    `offsets`, in bytes, of the pieces that `scratchOf` (nereid/Analysis/
    Scratch.h) names, in its order. Before the pieces numbered `behind_barrier`
    are written there is a barrier; `warps` meet at it and at the one inside
    each trip.
    ```mlir
    %y = tilegpu.convert_layout %x {tilegpu.scratch = #tilegpu.scratch<offsets = [0, 4096], warps = all, behind_barrier = [1]>} : ...
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"uint32_t">:$offsets,
    OptionalArrayRefParameter<"uint32_t">:$behindBarrier,
    EnumParameter<TileGPU_Warps>:$warps);
  let assemblyFormat = [{
    `<` `offsets` `=` `[` $offsets `]` `,` `warps` `=` $warps (`,` `behind_barrier` `=` `[` $behindBarrier^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def TileGPU_FreeOp : TileGPU_Op<"free", [MemoryEffects<[MemFree]>]> {
  let summary = "Gives a buffer back; all copies into it have been waited for";
  let arguments = (ins TileGPU_BufferType:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
}

def TileGPU_CopyAsyncOp : TileGPU_Op<"copy_async", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts to copy a tile from global memory into a slot";
  let description = [{
    Where the mask is false zeros are written. Nothing happens if `condition` is
    false. The tile is there after `commit_copies` and `wait_copies`; no thread may
    read the slot before that.
    ```mlir
    tilegpu.copy_async %pointers, %buffer[%slot] mask %m if %more : tensor<128x32x!tile.ptr<f16>, #a>, !tilegpu.buffer<...>
    ```
  }];
  let arguments = (ins Tile_Tensor:$pointers, TileGPU_BufferType:$buffer, I32:$slot,
                       Optional<Tile_Tensor>:$mask, Optional<I1>:$condition);
  let assemblyFormat = [{
    $pointers `,` $buffer `[` $slot `]` (`mask` $mask^ `:` type($mask))? (`if` $condition^)? attr-dict
    `:` type($pointers) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def TileGPU_CommitCopiesOp : TileGPU_Op<"commit_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The copies started since the last one form a group";
  let assemblyFormat = "attr-dict";
}

def TileGPU_WaitCopiesOp : TileGPU_Op<"wait_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "All threads see all groups but the youngest `pending`";
  let description = [{
    A barrier too: whatever threads read before it they have read.
  }];
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def TileGPU_LocalStoreOp : TileGPU_Op<"local_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Writes a tile from registers to a slot; then all threads see it";
  let description = [{
    A barrier too. No thread reads the slot meanwhile.
    ```mlir
    tilegpu.local_store %q, %buffer[%slot] : tensor<128x32xf16, #a>, !tilegpu.buffer<...>
    ```
  }];
  let arguments = (ins Tile_Tensor:$tensor, TileGPU_BufferType:$buffer, I32:$slot);
  let assemblyFormat = "$tensor `,` $buffer `[` $slot `]` attr-dict `:` type($tensor) `,` type($buffer)";
  let hasVerifier = 1;
}

def TileGPU_LocalLoadOp : TileGPU_Op<"local_load", [MemoryEffects<[MemRead]>]> {
  let summary = "A tile of a buffer, or its transpose, in registers";
  let description = [{
    Dimension d of the result is dimension order[d] of the buffer's tile; without it dimensions stay in order.
    ```mlir
    %a = tilegpu.local_load %buffer[%slot] : !tilegpu.buffer<...> -> tensor<128x32xf16, #a>
    ```
  }];
  let arguments = (ins TileGPU_BufferType:$buffer, I32:$slot, OptionalAttr<DenseI32ArrayAttr>:$order);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$buffer `[` $slot `]` (`order` $order^)? attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products in flight
//===----------------------------------------------------------------------===//

def TileGPU_WaitProductsOp : TileGPU_Op<"wait_products", [
    AllTypesMatch<["product", "result"]>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The result of a dot that was only started";
  let description = [{
    From a dot with `tilegpu.in_flight` to this, in the same block, the slots
    that it reads stay as they are. Or after the loop that yields the dot, for
    the loop's result: then each iteration's dot adds to the one before, still
    in flight. Dots that were started after it, `younger` of them, may go on.
    ```mlir
    %d = tile.dot %a, %b, %c {tilegpu.in_flight, tilegpu.warpgroup_mma} : ...
    %e = tilegpu.wait_products %d : tensor<128x256xf32, #c>
    ```
  }];
  let arguments = (ins Tile_Tensor:$product,
                       DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$younger);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$product (`younger` $younger^)? attr-dict `:` type($product)";
  let hasVerifier = 1;
}

def TileGPU_WaitOlderProductsOp : TileGPU_Op<"wait_older_products", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "All dots in flight but the youngest `pending` are done";
  let description = [{
    This thread's part of them has read its operands; a barrier after it says
    so of all threads.
    ```mlir
    tilegpu.wait_older_products 1
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntPositive]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

//===----------------------------------------------------------------------===//
// Schedules of loops
//===----------------------------------------------------------------------===//

def TileGPU_ScheduleAttr : AttrDef<TileGPU_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "When an operation of a loop's body runs";
  let description = [{
    Step t of a loop runs stage s of iteration t - s, for every stage, and
    within the step smaller orders first (docs/Schedules.md). An operation with
    several stages is computed again in each; `orders` has one entry for each.
    `done`, a stage and an order: from then on the result of an asynchronous
    operation, a copy or a product, may be used. Copied two iterations ahead:
    ```mlir
    %a = tile.load %p {tilegpu.schedule = #tilegpu.schedule<stages = [0], orders = [2], done = [2, 0]>} : ...
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"uint32_t">:$stages,
    ArrayRefParameter<"uint32_t">:$orders,
    OptionalArrayRefParameter<"uint32_t">:$done);
  let assemblyFormat = [{
    `<` `stages` `=` `[` $stages `]` `,` `orders` `=` `[` $orders `]` (`,` `done` `=` `[` $done^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Ahead of other programs
//===----------------------------------------------------------------------===//

def TileGPU_MultiprocessorsOp : TileGPU_Op<"multiprocessors", [Pure]> {
  let summary = "Multiprocessors of the device, or a few more";
  let description = [{
    For estimates only: `%nsmid` counts the numbers that multiprocessors may
    have, and some may be without one.
    ```mlir
    %n = tilegpu.multiprocessors
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_PrefetchOp : TileGPU_Op<"prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "Asks for global memory to be brought to the second-level cache";
  let description = [{
    `bytes` from `start`, which is a multiple of 16, rounded down to one; nothing
    if `condition` is false. Not an access: no thread waits, nothing is ordered.
    For targets with bulk prefetches.
    ```mlir
    tilegpu.prefetch %start, %bytes if %more : !tile.ptr<bf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$start, I32:$bytes, I1:$condition);
  let assemblyFormat = "$start `,` $bytes `if` $condition attr-dict `:` type($start)";
}

include "nereid/Dialect/TileGPU/IR/TileGPURoles.td"

#endif
