// The next copies are started between a product and its wait. With 256 columns
// and eight warps its steps are a loop, a group each. In flight into the next
// iteration, they are not: the wait there is for all but the youngest group.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=8},func.func(tilegpu-schedule-loops{carry-products=false},tilegpu-expand-loops,tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s --check-prefixes=CHECK,LOOP
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-schedule-loops{carry-products=false},tilegpu-expand-loops,tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s --check-prefixes=CHECK,STRAIGHT
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=8},func.func(tilegpu-schedule-loops{carry-products=false},tilegpu-expand-loops,tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm{looped-products=false})' | FileCheck %s --check-prefixes=CHECK,STRAIGHT
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=8},func.func(tilegpu-schedule-loops,tilegpu-expand-loops,tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' | FileCheck %s --check-prefix=CARRIED

// CARRIED: scf.for
// CARRIED: nvvm.cp.async.wait.group 1
// CARRIED: nvvm.barrier
// CARRIED: nv.wgmma {{.*}} {columns = 256 : i32,
// CARRIED-NOT: looped
// CARRIED-NOT: nv.cp_async
// CARRIED: nv.wgmma_wait 1{{$}}
// CARRIED-NEXT: nvvm.barrier
// CARRIED: nv.cp_async
// CARRIED: nvvm.cp.async.commit.group
// CARRIED-NOT: nv.wgmma_wait
// CARRIED: scf.yield
// CARRIED: nv.wgmma_wait 0, %

// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.barrier
// CHECK-NOT: nv.cp_async
// LOOP: nv.wgmma {{.*}} {columns = 256 : i32, leftOffsets = array<i32: 0, 2, 4, 6>, leftWords = array<i32>, looped, rightAlongN, rightOffsets = array<i32: 0, 128, 256, 384>, steps = 4 : i32}
// STRAIGHT: nv.wgmma {{.*}} {columns = 256 : i32,
// STRAIGHT-NOT: looped
// CHECK: nv.cp_async
// CHECK: nvvm.cp.async.commit.group
// CHECK: nv.wgmma_wait 0
// CHECK: scf.yield
func.func @product(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8192 = arith.constant 8192 : i32
  %c16384 = arith.constant 16384 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %m = tile.range 0, 128 : tensor<128xi32>
  %k64 = tile.range 0, 64 : tensor<64xi32>
  %l = tile.range 0, 256 : tensor<256xi32>
  %by64 = arith.constant dense<64> : tensor<128xi32>
  %by256 = arith.constant dense<256> : tensor<64xi32>
  %ms = arith.muli %m, %by64 : tensor<128xi32>
  %me = tile.expand_dims %ms {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %mb = tile.broadcast %me : tensor<128x1xi32> -> tensor<128x64xi32>
  %ke = tile.expand_dims %k64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %kb = tile.broadcast %ke : tensor<1x64xi32> -> tensor<128x64xi32>
  %io = arith.addi %mb, %kb : tensor<128x64xi32>
  %ks = arith.muli %k64, %by256 : tensor<64xi32>
  %kf = tile.expand_dims %ks {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %kg = tile.broadcast %kf : tensor<64x1xi32> -> tensor<64x256xi32>
  %le = tile.expand_dims %l {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %lb = tile.broadcast %le : tensor<1x256xi32> -> tensor<64x256xi32>
  %jo = arith.addi %kg, %lb : tensor<64x256xi32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %xo = arith.muli %k, %c8192 : i32
    %xk = tile.addptr %x, %xo : !tile.ptr<f16>, i32
    %xp = tile.splat %xk : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
    %xq = tile.addptr %xp, %io : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
    %a = tile.load %xq : tensor<128x64x!tile.ptr<f16>>
    %yo = arith.muli %k, %c16384 : i32
    %yk = tile.addptr %y, %yo : !tile.ptr<f16>, i32
    %yp = tile.splat %yk : !tile.ptr<f16> -> tensor<64x256x!tile.ptr<f16>>
    %yq = tile.addptr %yp, %jo : tensor<64x256x!tile.ptr<f16>>, tensor<64x256xi32>
    %b = tile.load %yq : tensor<64x256x!tile.ptr<f16>>
    %d = tile.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %r = tile.range 0, 32768 : tensor<32768xi32>
  %ro = tile.reshape %r : tensor<32768xi32> -> tensor<128x256xi32>
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %ro : tensor<128x256x!tile.ptr<f32>>, tensor<128x256xi32>
  tile.store %zq, %sum : tensor<128x256x!tile.ptr<f32>>
  return
}
