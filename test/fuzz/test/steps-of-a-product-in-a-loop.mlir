// On eight warps the steps of a product of 256 columns are a loop, of operands of
// either orientation, if its sums are changed after its wait. If they are only
// carried, it is in flight into the next iteration, one step after the other.
// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: mkdir -p %t && nereid-fuzz --replay %s --executor=sm_90a:8 --save %t
// RUN: FileCheck %s --input-file %t/steps-of-a-product-in-a-loop.ptx
// REQUIRES: nereid-fuzz
// CHECK-NOT: @more bra NEXT;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: cp.async
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: @more bra NEXT;
// CHECK: cp.async
// CHECK: wgmma.wait_group.sync.aligned 0;
module {
  func.func @k(%x: !tile.ptr<f16> {fuzz.count = 32768 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %y: !tile.ptr<f16> {fuzz.count = 65536 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %z: !tile.ptr<f32> {fuzz.count = 32768 : i64, fuzz.output, tile.divisibility = 16 : i32}, %w: !tile.ptr<f32> {fuzz.count = 32768 : i64, fuzz.output, tile.divisibility = 16 : i32}, %n: i32 {fuzz.value = 4 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 1 : i64, tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c16384 = arith.constant 16384 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %xr = tile.range 0, 128 : tensor<128xi32>
    %xc = tile.range 0, 64 : tensor<64xi32>
    %xs = arith.constant dense<256> : tensor<128xi32>
    %xrs = arith.muli %xr, %xs : tensor<128xi32>
    %xre = tile.expand_dims %xrs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %xrb = tile.broadcast %xre : tensor<128x1xi32> -> tensor<128x64xi32>
    %xce = tile.expand_dims %xc {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %xcb = tile.broadcast %xce : tensor<1x64xi32> -> tensor<128x64xi32>
    %xi = arith.addi %xrb, %xcb : tensor<128x64xi32>
    %yr = tile.range 0, 64 : tensor<64xi32>
    %yc = tile.range 0, 256 : tensor<256xi32>
    %ys = arith.constant dense<256> : tensor<64xi32>
    %yrs = arith.muli %yr, %ys : tensor<64xi32>
    %yre = tile.expand_dims %yrs {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %yrb = tile.broadcast %yre : tensor<64x1xi32> -> tensor<64x256xi32>
    %yce = tile.expand_dims %yc {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
    %ycb = tile.broadcast %yce : tensor<1x256xi32> -> tensor<64x256xi32>
    %yi = arith.addi %yrb, %ycb : tensor<64x256xi32>
    %tr = tile.range 0, 256 : tensor<256xi32>
    %tc = tile.range 0, 64 : tensor<64xi32>
    %ts = arith.constant dense<256> : tensor<256xi32>
    %trs = arith.muli %tr, %ts : tensor<256xi32>
    %tre = tile.expand_dims %trs {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
    %trb = tile.broadcast %tre : tensor<256x1xi32> -> tensor<256x64xi32>
    %tce = tile.expand_dims %tc {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %tcb = tile.broadcast %tce : tensor<1x64xi32> -> tensor<256x64xi32>
    %yt = arith.addi %trb, %tcb : tensor<256x64xi32>
    %zr = tile.range 0, 128 : tensor<128xi32>
    %zc = tile.range 0, 256 : tensor<256xi32>
    %zs = arith.constant dense<256> : tensor<128xi32>
    %zrs = arith.muli %zr, %zs : tensor<128xi32>
    %zre = tile.expand_dims %zrs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %zrb = tile.broadcast %zre : tensor<128x1xi32> -> tensor<128x256xi32>
    %zce = tile.expand_dims %zc {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
    %zcb = tile.broadcast %zce : tensor<1x256xi32> -> tensor<128x256xi32>
    %zi = arith.addi %zrb, %zcb : tensor<128x256xi32>
    %carried = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %ao = arith.muli %k, %c64 : i32
      %ap = tile.addptr %x, %ao : !tile.ptr<f16>, i32
      %as = tile.splat %ap : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
      %aq = tile.addptr %as, %xi : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
      %a = tile.load %aq : tensor<128x64x!tile.ptr<f16>>
      %bo = arith.muli %k, %c64 : i32
      %bp = tile.addptr %y, %bo : !tile.ptr<f16>, i32
      %bs = tile.splat %bp : !tile.ptr<f16> -> tensor<256x64x!tile.ptr<f16>>
      %bq = tile.addptr %bs, %yt : tensor<256x64x!tile.ptr<f16>>, tensor<256x64xi32>
      %bt = tile.load %bq : tensor<256x64x!tile.ptr<f16>>
      %b = tile.transpose %bt {order = array<i32: 1, 0>} : tensor<256x64xf16> -> tensor<64x256xf16>
      %d = tile.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
      scf.yield %d : tensor<128x256xf32>
    } {tile.num_stages = 3 : i32}
    %s0s = tile.splat %z : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
    %s0q = tile.addptr %s0s, %zi : tensor<128x256x!tile.ptr<f32>>, tensor<128x256xi32>
    tile.store %s0q, %carried : tensor<128x256x!tile.ptr<f32>>
    %changed = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %ao = arith.muli %k, %c64 : i32
      %ap = tile.addptr %x, %ao : !tile.ptr<f16>, i32
      %as = tile.splat %ap : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
      %aq = tile.addptr %as, %xi : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
      %a = tile.load %aq : tensor<128x64x!tile.ptr<f16>>
      %bo = arith.muli %k, %c16384 : i32
      %bp = tile.addptr %y, %bo : !tile.ptr<f16>, i32
      %bs = tile.splat %bp : !tile.ptr<f16> -> tensor<64x256x!tile.ptr<f16>>
      %bq = tile.addptr %bs, %yi : tensor<64x256x!tile.ptr<f16>>, tensor<64x256xi32>
      %b = tile.load %bq : tensor<64x256x!tile.ptr<f16>>
      %d = tile.dot %a, %b, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
      %e = arith.maxnumf %d, %zero : tensor<128x256xf32>
      scf.yield %e : tensor<128x256xf32>
    } {tile.num_stages = 3 : i32}
    %s1s = tile.splat %w : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
    %s1q = tile.addptr %s1s, %zi : tensor<128x256x!tile.ptr<f32>>, tensor<128x256xi32>
    tile.store %s1q, %changed : tensor<128x256x!tile.ptr<f32>>
    return
  }
}
