//===- TileGPURoles.td - Warps that copy, warps that compute -*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring of slots between the warps that copy tiles into them and those that
// compute with them (docs/Schedules.md, *Roles of warps*). Each slot has two
// barriers in shared memory, "full" and "empty", a buffer of 2 x i64; their
// phases alternate each time that the ring goes round, beginning with 0.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_IR_TILEGPUROLES
#define NEREID_DIALECT_TILEGPU_IR_TILEGPUROLES

def TileGPU_TensorMapType : TypeDef<TileGPU_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "A tensor as the engine for copies of boxes knows it: a parameter that the launch fills";
}

def TileGPU_TensorMapAttr : AttrDef<TileGPU_Dialect, "TensorMapSource"> {
  let mnemonic = "tensor_map_source";
  let summary = "What the launch makes a tensor map of";
  let description = [{
    On a parameter of type `!tilegpu.tensor_map`: the pointer's parameter, the
    bytes of a row's swizzle, the box, innermost dimension first, and strides
    and sizes as `numbers` (nereid/ABI/KernelImage.h, TensorMapSource).
  }];
  let parameters = (ins "unsigned":$base, "::mlir::Type":$elementType, "unsigned":$swizzleBytes,
                        ArrayRefParameter<"int64_t">:$box, ArrayRefParameter<"int64_t">:$numbers);
  let assemblyFormat = "`<` $base `:` $elementType `,` `swizzle` `=` $swizzleBytes `,` `box` `=` `[` $box `]` `,` `numbers` `=` `[` $numbers `]` `>`";
}

def TileGPU_InitSlotsOp : TileGPU_Op<"init_slots", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes the barriers of rings; then all threads of the block see them";
  let description = [{
    A slot is full when its bytes are there, and empty when each warp that
    computes has released it. Once, at the kernel's start.
    ```mlir
    tilegpu.init_slots %barriers : !tilegpu.buffer<4 x [2] x i64, offsets = [1]>
    ```
  }];
  let arguments = (ins Variadic<TileGPU_BufferType>:$barriers);
  let assemblyFormat = "$barriers attr-dict `:` type($barriers)";
}

def TileGPU_IsProducerOp : TileGPU_Op<"is_producer", [Pure]> {
  let summary = "Is this a warp that copies?";
  let description = [{
    The warps that compute come first. `one`: is this the thread that copies?
    ```mlir
    %copies = tilegpu.is_producer one
    ```
  }];
  let arguments = (ins UnitAttr:$one);
  let results = (outs I1:$result);
  let assemblyFormat = "(`one` $one^)? attr-dict";
}

def TileGPU_SetRegistersOp : TileGPU_Op<"set_registers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "From here on a thread of this role has so many registers";
  let description = [{
    All warps of the role come here. Those that want more wait until others
    have given up theirs.
    ```mlir
    tilegpu.set_registers 240 increase
    ```
  }];
  let arguments = (ins I32Attr:$count, UnitAttr:$increase);
  let assemblyFormat = "$count (`increase` $increase^)? attr-dict";
}

class TileGPU_SlotOp<string mnemonic> : TileGPU_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def TileGPU_FillSlotOp : TileGPU_SlotOp<"fill_slot"> {
  let summary = "Waits until a slot is empty, and says how many bytes will make it full";
  let description = [{
    `phase` is that of the round: no thread waits in the first.
    ```mlir
    tilegpu.fill_slot %barriers[%slot] phase %phase bytes 49152 : !tilegpu.buffer<...>
    ```
  }];
  let arguments = (ins TileGPU_BufferType:$barriers, I32:$slot, I32:$phase, I32Attr:$bytes);
  let assemblyFormat = "$barriers `[` $slot `]` `phase` $phase `bytes` $bytes attr-dict `:` type($barriers)";
}

def TileGPU_CopyTileOp : TileGPU_SlotOp<"copy_tile"> {
  let summary = "Starts to copy a box of a tensor into a slot";
  let description = [{
    `coordinates` of the box's first element, innermost first. What lies outside
    of the tensor is zeros. The slot is full when its bytes are there.
    ```mlir
    tilegpu.copy_tile %map[%k, %m], %buffer[%slot] full %barriers : !tilegpu.tensor_map, !tilegpu.buffer<...>, !tilegpu.buffer<...>
    ```
  }];
  let arguments = (ins TileGPU_TensorMapType:$map, Variadic<I32>:$coordinates,
                       TileGPU_BufferType:$buffer, I32:$slot, TileGPU_BufferType:$barriers);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `,` $buffer `[` $slot `]` `full` $barriers attr-dict
    `:` type($map) `,` type($buffer) `,` type($barriers)
  }];
}

def TileGPU_WaitSlotOp : TileGPU_SlotOp<"wait_slot"> {
  let summary = "Waits until a slot is full";
  let arguments = (ins TileGPU_BufferType:$barriers, I32:$slot, I32:$phase);
  let assemblyFormat = "$barriers `[` $slot `]` `phase` $phase attr-dict `:` type($barriers)";
}

def TileGPU_TakeTurnOp : TileGPU_SlotOp<"take_turn"> {
  let summary = "A group of warps waits until it is its turn to start products";
  let description = [{
    The groups of warps that multiply together take turns, in their order: while
    the products of one run, the other computes with the results of its own.
    All take as many turns.
    ```mlir
    tilegpu.take_turn
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_GiveTurnOp : TileGPU_SlotOp<"give_turn"> {
  let summary = "It is the next group's turn";
  let description = [{
    `first`: before any turn, the first group's.
    ```mlir
    tilegpu.give_turn
    ```
  }];
  let arguments = (ins UnitAttr:$first);
  let assemblyFormat = "(`first` $first^)? attr-dict";
}

def TileGPU_ReleaseSlotOp : TileGPU_SlotOp<"release_slot"> {
  let summary = "This warp has read a slot";
  let description = [{
    Nothing happens if `condition` is false.
  }];
  let arguments = (ins TileGPU_BufferType:$barriers, I32:$slot, I1:$condition);
  let assemblyFormat = "$barriers `[` $slot `]` `if` $condition attr-dict `:` type($barriers)";
}

#endif
