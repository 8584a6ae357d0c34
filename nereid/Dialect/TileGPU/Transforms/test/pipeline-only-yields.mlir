// A loop that yields what it loads and computes nothing: the copies run ahead all the same.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | FileCheck %s

// CHECK-LABEL: func.func @only_yielded
// CHECK-COUNT-2: tilegpu.copy_async
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %
// CHECK: %[[NOW:.*]] = tilegpu.local_load %{{.*}}[%[[SLOT]]]
// CHECK: scf.yield %[[NOW]],
func.func @only_yielded(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                        %y: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                        %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %xq = tile.addptr %xp, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yq = tile.addptr %yp, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%last = %zero) -> (tensor<512xf32>) : i32 {
    %a = tile.load %xq : tensor<512x!tile.ptr<f32>>
    scf.yield %a : tensor<512xf32>
  } {tile.num_stages = 3 : i32}
  tile.store %yq, %r : tensor<512x!tile.ptr<f32>>
  return
}
