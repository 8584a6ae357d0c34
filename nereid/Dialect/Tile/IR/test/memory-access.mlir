// A load and a store that no pass names: nereid/Dialect/Tile/testing/OtherAccesses.h.
// RUN: nereid-opt %s --split-input-file --tile-insert-checks="bounds=1 nan=1" | FileCheck %s --check-prefix=CHECKED
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | FileCheck %s --check-prefix=AHEAD
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s --check-prefix=CODE

// A check stands before each. Both work on four neighbours a thread, and the
// store after it waits, for it writes what other threads have read.
// CHECKED-LABEL: func.func @shifted
// CHECKED: tile.check_bounds "load" %[[P:.*]], %[[M:.*]] {parameter = 0 : i32}
// CHECKED-NEXT: %[[V:.*]] = "other.fetch"(%[[M]], %[[P]])
// CHECKED: tile.check_bounds "store" %[[Q:.*]], %[[M]] {parameter = 0 : i32}
// CHECKED-NEXT: tile.check_nan "store" %[[V]], %[[M]]
// CHECKED-NEXT: "other.put"(%[[M]], %[[V]], %[[Q]])
// CODE-LABEL: llvm.func @shifted
// CODE: nv.load global
// CODE: nvvm.barrier
// CODE: nv.store global
func.func @shifted(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %i = tile.range 0, 512 : tensor<512xi32>
  %ns = tile.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<512xi32>
  %c4 = arith.constant dense<4> : tensor<512xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %v = "other.fetch"(%m, %q) : (tensor<512xi1>, tensor<512x!tile.ptr<f32>>) -> tensor<512xf32>
  %r = tile.addptr %q, %c4 : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  "other.put"(%m, %v, %r) : (tensor<512xi1>, tensor<512xf32>, tensor<512x!tile.ptr<f32>>) -> ()
  return
}

// -----

// What a product reads is copied ahead, whatever loads it.
// AHEAD-LABEL: func.func @product
// AHEAD: tilegpu.alloc : <3 x[64, 64] x f16
// AHEAD: tilegpu.copy_async
// AHEAD: scf.for
// AHEAD-NOT: other.fetch
// AHEAD: tile.dot
// AHEAD: "other.put"
func.func @product(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %all = arith.constant dense<true> : tensor<64x64xi1>
  %i = tile.range 0, 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %rows = arith.muli %i, %ns : tensor<64xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rb = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %xk = tile.addptr %x, %k : !tile.ptr<f16>, i32
    %xp = tile.splat %xk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xq = tile.addptr %xp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = "other.fetch"(%all, %xq) : (tensor<64x64xi1>, tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %t = tile.transpose %a {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %a, %t, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  "other.put"(%all, %sum, %zq) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64x!tile.ptr<f32>>) -> ()
  return
}
