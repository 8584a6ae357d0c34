// What else may use what is copied ahead: the next iteration, and a region.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | FileCheck %s

// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[LAST:.*]] = %{{.*}}, %[[SLOT:.*]] = %
// CHECK: %[[NOW:.*]] = tilegpu.local_load %{{.*}}[%[[SLOT]]]
// CHECK: arith.addf %{{.*}}, %[[LAST]]
// CHECK: scf.if
// CHECK-NEXT: tile.store %{{.*}}, %[[NOW]]
// CHECK: scf.yield %{{.*}}, %[[NOW]],
func.func @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
             %y: !tile.ptr<f32> {tile.divisibility = 16 : i32},
             %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %yq = tile.addptr %yp, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %r:2 = scf.for %k = %c0 to %n step %c512 iter_args(%last = %zero, %sum = %zero)
      -> (tensor<512xf32>, tensor<512xf32>) : i32 {
    %ks = tile.splat %k : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i : tensor<512xi32>
    %xq = tile.addptr %xp, %o : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %a = tile.load %xq : tensor<512x!tile.ptr<f32>>
    %s = arith.addf %sum, %last : tensor<512xf32>
    %some = arith.cmpi eq, %k, %c512 : i32
    scf.if %some {
      tile.store %yq, %a : tensor<512x!tile.ptr<f32>>
    }
    scf.yield %a, %s : tensor<512xf32>, tensor<512xf32>
  } {tile.num_stages = 3 : i32}
  tile.store %yq, %r#1 : tensor<512x!tile.ptr<f32>>
  return
}
