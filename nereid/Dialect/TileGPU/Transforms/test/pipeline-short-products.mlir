// An iteration of two steps is short: its copies go to one slot more where that
// costs no resident program, and no barrier stands in front of them.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=8},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | FileCheck %s
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=8},func.func(tilegpu-schedule-loops{shared-limit=80000},tilegpu-expand-loops))' | FileCheck %s --check-prefix=FULL

// CHECK: tilegpu.alloc {{.*}}<4 x[128, 32]
// CHECK: scf.for
// CHECK: tilegpu.wait_copies
// CHECK: tile.dot {{.*}}tilegpu.in_flight
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.commit_copies
// CHECK: tilegpu.wait_older_products
// CHECK-NOT: tilegpu.barrier
// CHECK: scf.yield

// FULL: tilegpu.alloc {{.*}}<3 x[128, 32]
// FULL: scf.for
// FULL: tilegpu.wait_older_products
// FULL-NEXT: tilegpu.barrier
// FULL: tilegpu.copy_async
// FULL: scf.yield
func.func @product(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4k = arith.constant 4096 : i32
  %c8k = arith.constant 8192 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %m = tile.range 0, 128 : tensor<128xi32>
  %k32 = tile.range 0, 32 : tensor<32xi32>
  %l = tile.range 0, 256 : tensor<256xi32>
  %by32 = arith.constant dense<32> : tensor<128xi32>
  %by256 = arith.constant dense<256> : tensor<32xi32>
  %ms = arith.muli %m, %by32 : tensor<128xi32>
  %me = tile.expand_dims %ms {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %mb = tile.broadcast %me : tensor<128x1xi32> -> tensor<128x32xi32>
  %ke = tile.expand_dims %k32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %kb = tile.broadcast %ke : tensor<1x32xi32> -> tensor<128x32xi32>
  %io = arith.addi %mb, %kb : tensor<128x32xi32>
  %ks = arith.muli %k32, %by256 : tensor<32xi32>
  %kf = tile.expand_dims %ks {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %kg = tile.broadcast %kf : tensor<32x1xi32> -> tensor<32x256xi32>
  %le = tile.expand_dims %l {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %lb = tile.broadcast %le : tensor<1x256xi32> -> tensor<32x256xi32>
  %jo = arith.addi %kg, %lb : tensor<32x256xi32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %xo = arith.muli %k, %c4k : i32
    %xk = tile.addptr %x, %xo : !tile.ptr<f16>, i32
    %xp = tile.splat %xk : !tile.ptr<f16> -> tensor<128x32x!tile.ptr<f16>>
    %xq = tile.addptr %xp, %io : tensor<128x32x!tile.ptr<f16>>, tensor<128x32xi32>
    %a = tile.load %xq : tensor<128x32x!tile.ptr<f16>>
    %yo = arith.muli %k, %c8k : i32
    %yk = tile.addptr %y, %yo : !tile.ptr<f16>, i32
    %yp = tile.splat %yk : !tile.ptr<f16> -> tensor<32x256x!tile.ptr<f16>>
    %yq = tile.addptr %yp, %jo : tensor<32x256x!tile.ptr<f16>>, tensor<32x256xi32>
    %b = tile.load %yq : tensor<32x256x!tile.ptr<f16>>
    %d = tile.dot %a, %b, %acc : tensor<128x32xf16>, tensor<32x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %r = tile.range 0, 32768 : tensor<32768xi32>
  %ro = tile.reshape %r : tensor<32768xi32> -> tensor<128x256xi32>
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %ro : tensor<128x256x!tile.ptr<f32>>, tensor<128x256xi32>
  tile.store %zq, %sum : tensor<128x256x!tile.ptr<f32>>
  return
}
