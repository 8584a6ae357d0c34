// `acc + dot(a, b)` becomes a product that begins with acc; a product that is
// used elsewhere, or begins with something, stays.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-accumulate-products),tile-to-tilegpu{target=sm_90 warps=4})' | FileCheck %s

// CHECK-LABEL: func.func @added
// CHECK: %[[C:.*]] = tile.load {{.*}}tensor<16x16x!tile.ptr<f32>
// CHECK: %[[ACC:.*]] = tilegpu.convert_layout %[[C]]
// CHECK: %[[SUM:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[ACC]]
// CHECK-NOT: arith.addf
// CHECK: tilegpu.convert_layout %[[SUM]]
// CHECK: return
func.func @added(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %i = tile.range 0, 256 : tensor<256xi32>
  %o = tile.reshape %i : tensor<256xi32> -> tensor<16x16xi32>
  %p = tile.splat %x : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
  %q = tile.addptr %p, %o : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xi32>
  %a = tile.load %q : tensor<16x16x!tile.ptr<f16>>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %s = tile.addptr %r, %o : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %c = tile.load %s : tensor<16x16x!tile.ptr<f32>>
  %d = tile.dot %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %e = arith.addf %c, %d : tensor<16x16xf32>
  tile.store %s, %e : tensor<16x16x!tile.ptr<f32>>
  return
}

// -----

// CHECK-LABEL: func.func @used_twice
// CHECK: tile.dot
// CHECK: arith.addf
// CHECK: return
func.func @used_twice(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %i = tile.range 0, 256 : tensor<256xi32>
  %o = tile.reshape %i : tensor<256xi32> -> tensor<16x16xi32>
  %p = tile.splat %x : !tile.ptr<f16> -> tensor<16x16x!tile.ptr<f16>>
  %q = tile.addptr %p, %o : tensor<16x16x!tile.ptr<f16>>, tensor<16x16xi32>
  %a = tile.load %q : tensor<16x16x!tile.ptr<f16>>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %s = tile.addptr %r, %o : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %c = tile.load %s : tensor<16x16x!tile.ptr<f32>>
  %d = tile.dot %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %e = arith.addf %c, %d : tensor<16x16xf32>
  %f = arith.mulf %e, %d : tensor<16x16xf32>
  tile.store %s, %f : tensor<16x16x!tile.ptr<f32>>
  return
}
