// Passes tell their decisions as remarks of MLIR, for nereid-opt too.
//
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' --remarks-filter='loop|load' -o /dev/null 2>&1 | FileCheck %s
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=OFF --allow-empty

// OFF-NOT: remark

// CHECK: decisions.mlir:[[#@LINE+11]]:{{[0-9]+}}: remark: [Missed] load
// CHECK-SAME: Chosen="the loop waits for it in its own iteration"
// CHECK-SAME: Reason="no product of the loop reads it", Rejected="copied ahead"
func.func @sums(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<1024xf32>) : i32 {
    %v = tile.load %q : tensor<1024x!tile.ptr<f32>>
    %s = arith.addf %acc, %v : tensor<1024xf32>
    scf.yield %s : tensor<1024xf32>
  }
  tile.store %q, %sum : tensor<1024x!tile.ptr<f32>>
  return
}
