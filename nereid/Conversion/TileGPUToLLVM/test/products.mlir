// Operands from buffers: ldmatrix, transposed where rows run along the other
// dimension, or descriptors for four warps together.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_80 warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops,tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s --check-prefixes=CHECK,MMA
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops,tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s --check-prefixes=CHECK,GROUP

// CHECK: nv.cp_async %{{[0-9]+}}, %{{[0-9]+}}, 16 read %{{[0-9]+}}
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// GROUP: nvvm.fence.proxy
// CHECK: nvvm.barrier
// MMA: nv.ldmatrix {{.*}} : i32, i32, i32, i32
// MMA: nv.ldmatrix {{.*}} : i32, i32, i32, i32
// MMA: nv.mma f16 {{.*}} times f16
// GROUP: nv.wgmma f16 %{{[0-9]+}} : i64 times f16 {{.*}} {columns = 64 : i32, leftOffsets = array<i32: 0, 2, 4, 6>, leftWords = array<i32>, rightOffsets = array<i32: 0, 2, 4, 6>, steps = 4 : i32}
// GROUP: nv.wgmma_wait 0
func.func @product(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %i = tile.range 0, 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %rows = arith.muli %i, %ns : tensor<64xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rb = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %left = arith.subi %n, %k : i32
    %ls = tile.splat %left : i32 -> tensor<64xi32>
    %in = arith.cmpi slt, %i, %ls : tensor<64xi32>
    %m = tile.expand_dims %in {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
    %mb = tile.broadcast %m : tensor<1x64xi1> -> tensor<64x64xi1>
    %xk = tile.addptr %x, %k : !tile.ptr<f16>, i32
    %xp = tile.splat %xk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xq = tile.addptr %xp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %xq, %mb, %none : tensor<64x64x!tile.ptr<f16>>
    %yk = tile.addptr %y, %k : !tile.ptr<f16>, i32
    %yp = tile.splat %yk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %yq = tile.addptr %yp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %b = tile.load %yq, %mb, %none : tensor<64x64x!tile.ptr<f16>>
    %t = tile.transpose %b {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %a, %t, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zq, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}
