//===- AMDProgramOps.td - The launch and its place ---------*- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_AMD_IR_AMDPROGRAMOPS
#define NEREID_DIALECT_AMD_IR_AMDPROGRAMOPS

include "nereid/Dialect/AMD/IR/AMDDialect.td"

def AMD_GridSizeOp : AMD_Op<"grid_size", [Pure]> {
  let summary = "Workgroups of the launch along an axis";
  let description = [{
    The hidden argument `hidden_block_count_x` and its neighbours, which the
    host's library fills in after the kernel's own arguments (AMDGPUUsage, "Code
    Object V5 Metadata"). Upstream's operation calls a function of the device's
    library instead.
    ```mlir
    %n = amd.grid_size 0
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$size);
  let assemblyFormat = "$axis attr-dict";
}

def AMD_TimerOp : AMD_Op<"timer", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Nanoseconds of the clock that all processors share";
  let description = [{
    S_MEMREALTIME or S_SENDMSG_RTN_B64, a counter of 100 MHz.
    ```mlir
    %t = amd.timer
    ```
  }];
  let results = (outs I64:$nanoseconds);
  let assemblyFormat = "attr-dict";
}

def AMD_HardwareRegisterOp : AMD_Op<"hardware_register", [MemoryEffects<[MemRead]>]> {
  let summary = "Bits of a register that says where a wave runs";
  let description = [{
    `size` bits of hardware register `number`, from `offset` on. S_GETREG_B32.
    ```mlir
    %cu = amd.hardware_register 4 from 8 size 8
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<63>]>:$number,
                       ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<31>]>:$offset,
                       ConfinedAttr<I32Attr, [IntMinValue<1>, IntMaxValue<32>]>:$size);
  let results = (outs I32:$bits);
  let assemblyFormat = "$number `from` $offset `size` $size attr-dict";
}

def AMD_LdsBarrierOp : AMD_Op<"lds_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The workgroup's waves meet; what they did to LDS comes before what they do after";
  let description = [{
    S_BARRIER after a wait for accesses to LDS. Those to global memory stay on
    their way, and are in no order: `rocdl.barrier` waits for them, too.
    ```mlir
    amd.lds_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // NEREID_DIALECT_AMD_IR_AMDPROGRAMOPS
