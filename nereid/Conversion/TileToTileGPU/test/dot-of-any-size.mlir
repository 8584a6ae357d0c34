// Products of any size take matrix instructions, unless the registers of an
// operand would not be full along K.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90a warps=4" | FileCheck %s

// CHECK-LABEL: func.func @any_size
// CHECK: tile.dot {{.*}} {tilegpu.mma} : tensor<96x48xf16
// CHECK: tile.dot {{.*}} {tilegpu.mma} : tensor<3x5x40xf16
// CHECK: tile.dot {{.*}} : tensor<96x1xf16
// CHECK-NOT: tilegpu.mma
func.func @any_size(%x: f16, %p: !tile.ptr<f32>) attributes {tile.kernel} {
  %a = tile.splat %x : f16 -> tensor<96x48xf16>
  %b = tile.splat %x : f16 -> tensor<48x24xf16>
  %c = arith.constant dense<0.0> : tensor<96x24xf32>
  %d = tile.dot %a, %b, %c : tensor<96x48xf16>, tensor<48x24xf16>, tensor<96x24xf32>
  %q = tile.splat %p : !tile.ptr<f32> -> tensor<96x24x!tile.ptr<f32>>
  tile.store %q, %d : tensor<96x24x!tile.ptr<f32>>
  %e = tile.splat %x : f16 -> tensor<3x5x40xf16>
  %f = tile.splat %x : f16 -> tensor<3x40x7xf16>
  %g = arith.constant dense<0.0> : tensor<3x5x7xf32>
  %h = tile.dot %e, %f, %g : tensor<3x5x40xf16>, tensor<3x40x7xf16>, tensor<3x5x7xf32>
  %r = tile.splat %p : !tile.ptr<f32> -> tensor<3x5x7x!tile.ptr<f32>>
  tile.store %r, %h : tensor<3x5x7x!tile.ptr<f32>>
  %i = tile.splat %x : f16 -> tensor<96x1xf16>
  %j = tile.splat %x : f16 -> tensor<1x24xf16>
  %k = tile.dot %i, %j, %c : tensor<96x1xf16>, tensor<1x24xf16>, tensor<96x24xf32>
  tile.store %q, %k : tensor<96x24x!tile.ptr<f32>>
  return
}
