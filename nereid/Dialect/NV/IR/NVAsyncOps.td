//===- NVAsyncOps.td - Barriers in memory, copies of tensors *- tablegen -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A barrier is 8 aligned bytes of shared memory: a phase, the arrivals that the
// phase still waits for, the bytes that are still to land. A phase completes
// when both are 0; then the next begins with the arrivals of `mbarrier_init`.
//
// The copy engine (TMA) moves boxes of a tensor that a map of 128 bytes
// describes (`cuTensorMapEncodeTiled`); maps are in global memory or are kernel
// parameters, aligned to 64 bytes, and operands are their generic address. It
// reads and writes shared memory by the asynchronous proxy: `nvvm.fence.proxy`
// stands between what threads did to a byte and what the engine does to it.
//
// All are instructions of sm_90 and later.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_NV_IR_NVASYNCOPS
#define NEREID_DIALECT_NV_IR_NVASYNCOPS

include "nereid/Dialect/NV/IR/NVDialect.td"

def NV_MbarrierInitOp : NV_Op<"mbarrier_init", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes a barrier whose phases wait for `count` arrivals";
  let description = [{
    The first phase has parity 0. Others see it after `nvvm.fence.mbarrier.init`
    and a barrier of the block or cluster, the copy engine after
    `nvvm.fence.proxy` (async.shared). Section "mbarrier.init".
    ```mlir
    nv.mbarrier_init %barrier, 1 if %p
    ```
  }];
  let arguments = (ins I32:$barrier, I32Attr:$count, Optional<I1>:$predicate);
  let assemblyFormat = "$barrier `,` $count (`if` $predicate^)? attr-dict";
  let hasVerifier = 1;
}

def NV_MbarrierInvalOp : NV_Op<"mbarrier_inval", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Ends a barrier: its bytes may be used for something else";
  let description = [{
    Section "mbarrier.inval".
    ```mlir
    nv.mbarrier_inval %barrier if %p
    ```
  }];
  let arguments = (ins I32:$barrier, Optional<I1>:$predicate);
  let assemblyFormat = "$barrier (`if` $predicate^)? attr-dict";
}

def NV_MbarrierArriveOp : NV_Op<"mbarrier_arrive", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "One arrival at a barrier, of the thread";
  let description = [{
    What the thread did to memory before is seen by those that wait for the
    phase. With `block`, at the barrier of that address in another block of the
    cluster. Sections "mbarrier.arrive", "mapa".
    ```mlir
    nv.mbarrier_arrive %barrier of %block if %p
    ```
  }];
  let arguments = (ins I32:$barrier, Optional<I32>:$block, Optional<I1>:$predicate);
  let assemblyFormat = "$barrier (`of` $block^)? (`if` $predicate^)? attr-dict";
}

def NV_MbarrierExpectTxOp : NV_Op<"mbarrier_expect_tx", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "One arrival at a barrier, whose phase waits for `bytes` more";
  let description = [{
    Copies take away what they wrote. Section "mbarrier.arrive" (expect_tx).
    ```mlir
    nv.mbarrier_expect_tx %barrier, %bytes if %p
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$bytes, Optional<I1>:$predicate);
  let assemblyFormat = "$barrier `,` $bytes (`if` $predicate^)? attr-dict";
}

def NV_MbarrierWaitOp : NV_Op<"mbarrier_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until the phase of a parity has completed";
  let description = [{
    `parity` is 0 or 1. Of the phase that is not complete, it waits for the end;
    of the one before, it goes on at once: a new barrier has the parity 1
    after it. A loop, since the instruction may give up early. Section
    "mbarrier.try_wait".
    ```mlir
    nv.mbarrier_wait %barrier, %parity
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$parity);
  let assemblyFormat = "$barrier `,` $parity attr-dict";
}

def NV_NamedArriveOp : NV_Op<"named_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "This thread comes to a named barrier, and goes on";
  let description = [{
    Those that wait there (`nvvm.barrier`) go on when `threads` have come, these
    included; a multiple of the warp's. Section "bar, barrier".
    ```mlir
    nv.named_arrive %barrier, 256
    ```
  }];
  let arguments = (ins I32:$barrier, I32Attr:$threads);
  let assemblyFormat = "$barrier `,` $threads attr-dict";
}

def NV_TmaLoadOp : NV_Op<"tma_load", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts to copy a box of a tensor to shared memory";
  let description = [{
    if (predicate) shared[to ...] = the box of `map` at `coordinates` (elements,
    signed, the innermost dimension first, there a multiple of 16 bytes; zeros outside the tensor), and the
    box's bytes are taken from those that `barrier` waits for. `to` is aligned
    to 128 bytes, swizzled boxes to 128, 256, 512 or 1024 for a span of 16, 32,
    64 or 128. With `multicast`, a bit for each block of the cluster: to the
    same addresses in each. `cache` is a policy of `createpolicy`. Section
    "cp.async.bulk.tensor".
    ```mlir
    nv.tma_load %to, %map[%x, %y] signals %barrier multicast %mask cache %policy if %p
    ```
  }];
  let arguments = (ins I32:$to, I64:$map, Variadic<I32>:$coordinates, I32:$barrier,
                       Optional<I16>:$multicast, Optional<I64>:$cache, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $to `,` $map `[` $coordinates `]` `signals` $barrier (`multicast` $multicast^)? (`cache` $cache^)?
    (`if` $predicate^)? attr-dict
  }];
  let hasVerifier = 1;
}

def NV_TmaStoreOp : NV_Op<"tma_store", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts to copy shared memory to a box of a tensor";
  let description = [{
    if (predicate) the box of `map` at `coordinates` = shared[from ...]; what is
    outside the tensor is not written. Shared memory has been read when the
    group that `nvvm.cp.async.bulk.commit.group` closes has been waited for with
    `nvvm.cp.async.bulk.wait_group {read}`, and all is written without `read`;
    both are the same thread's. Alignment is as in `tma_load`. Section
    "cp.async.bulk.tensor".
    ```mlir
    nv.tma_store %map[%x, %y], %from cache %policy if %p
    ```
  }];
  let arguments = (ins I64:$map, Variadic<I32>:$coordinates, I32:$from, Optional<I64>:$cache, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `,` $from (`cache` $cache^)? (`if` $predicate^)? attr-dict
  }];
  let hasVerifier = 1;
}

def NV_PrefetchTensormapOp : NV_Op<"prefetch_tensormap", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Asks for a tensor's map before its first use";
  let description = [{
    Section "prefetch".
    ```mlir
    nv.prefetch_tensormap %map if %p
    ```
  }];
  let arguments = (ins I64:$map, Optional<I1>:$predicate);
  let assemblyFormat = "$map (`if` $predicate^)? attr-dict";
}

#endif // NEREID_DIALECT_NV_IR_NVASYNCOPS
