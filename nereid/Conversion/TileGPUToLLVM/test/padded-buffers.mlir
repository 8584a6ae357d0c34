// Buffers of tiles whose sizes are no powers of two, and operands of f64 in them.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s

// Six rows of 12 columns on 32 lanes, in a slot of 8 x 16 without its last two
// rows: lanes beyond row 5 or column 11 write nothing. The second pair of
// registers has rows 4 to 7, 256 bytes after the first: who would read after
// the slot, 6 * 64 bytes, reads its last 8.
#pairs = #tilegpu.layout<registers = [1, 64], lanes = [2, 4, 8, 16, 32], warps = []>
!rows = !tilegpu.buffer<1 x [6, 12] x f32, offsets = [1, 2, 4, 8, 16, 32, 64]>
// CHECK-LABEL: llvm.func @rows
// CHECK: %[[SLOT:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: arith.addi %[[SLOT]], %[[THREAD:.*]] : i32
// CHECK: arith.cmpi ult, %{{.*}}, %c6_i32
// CHECK: arith.cmpi ult, %{{.*}}, %c12_i32
// CHECK: %[[IN:.*]] = arith.andi
// CHECK: nv.store {{ ?}}shared %{{.*}}, %{{.*}}, %{{.*}} if %[[IN]]
// CHECK: nv.store {{ ?}}shared %{{.*}} + 256, %{{.*}}, %{{.*}} if
// CHECK: nv.load {{ ?}}shared %{{[0-9]+}} : i32
// CHECK: %[[AT:.*]] = arith.minui %[[THREAD]], %c120_i32
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[AT]]
// CHECK: nv.load {{ ?}}shared %[[PLACE]] + 256
func.func @rows(%p: !tile.ptr<f32>, %x: f32) attributes {tile.kernel, tilegpu.target = "sm_90a", tilegpu.warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %b = tilegpu.alloc : !rows
  %s = tile.splat %x : f32 -> tensor<6x12xf32, #pairs>
  tilegpu.local_store %s, %b[%zero] : tensor<6x12xf32, #pairs>, !rows
  %y = tilegpu.local_load %b[%zero] : !rows -> tensor<6x12xf32, #pairs>
  tilegpu.free %b : !rows
  %q = tile.splat %p : !tile.ptr<f32> -> tensor<6x12x!tile.ptr<f32>, #pairs>
  tile.store %q, %y : tensor<6x12x!tile.ptr<f32>, #pairs>
  return
}

// -----

// An f64 is a word: 16 x 8 by 8 x 8 takes four and two of them.
#a = #tilegpu.layout<registers = [64, 4], lanes = [1, 2, 8, 16, 32], warps = []>
#b = #tilegpu.layout<registers = [32], lanes = [8, 16, 1, 2, 4], warps = []>
#c = #tilegpu.layout<registers = [1, 64], lanes = [2, 4, 8, 16, 32], warps = []>
!left = !tilegpu.buffer<1 x [16, 8] x f64, offsets = [1, 2, 4, 8, 16, 32, 64]>
!right = !tilegpu.buffer<1 x [8, 8] x f64, offsets = [1, 2, 4, 8, 16, 32]>
// CHECK-LABEL: llvm.func @doubles
// CHECK-COUNT-6: nv.load {{ ?}}shared {{.*}} -> i64
// CHECK: nv.mma f64 %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f64, f64, f64, f64 times f64 %{{[0-9]+}}, %{{[0-9]+}} : f64, f64 plus
// CHECK-NOT: nv.mma
func.func @doubles(%p: !tile.ptr<f64>, %x: f64) attributes {tile.kernel, tilegpu.target = "sm_90a", tilegpu.warps = 1 : i32} {
  %zero = arith.constant 0 : i32
  %a = tilegpu.alloc : !left
  %b = tilegpu.alloc : !right
  %s = tile.splat %x : f64 -> tensor<16x8xf64, #c>
  %t = tile.splat %x : f64 -> tensor<8x8xf64, #b>
  tilegpu.local_store %s, %a[%zero] : tensor<16x8xf64, #c>, !left
  tilegpu.local_store %t, %b[%zero] : tensor<8x8xf64, #b>, !right
  %l = tilegpu.local_load %a[%zero] : !left -> tensor<16x8xf64, #a>
  %r = tilegpu.local_load %b[%zero] : !right -> tensor<8x8xf64, #b>
  %d = tile.dot %l, %r, %s {tilegpu.mma} : tensor<16x8xf64, #a>, tensor<8x8xf64, #b>, tensor<16x8xf64, #c>
  tilegpu.free %b : !right
  tilegpu.free %a : !left
  %q = tile.splat %p : !tile.ptr<f64> -> tensor<16x8x!tile.ptr<f64>, #c>
  tile.store %q, %d : tensor<16x8x!tile.ptr<f64>, #c>
  return
}
