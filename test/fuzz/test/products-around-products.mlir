// A loop around a loop, both of products that are copied ahead: the outer copies
// are on their way while the inner loop waits for its own.
// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: mkdir -p %t && nereid-fuzz --replay %s --executor=sm_90a:4 --save %t
// RUN: FileCheck %s --input-file %t/products-around-products.ptx
// REQUIRES: nereid-fuzz
// CHECK: cp.async.wait_group 0;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: cp.async.wait_group 1;
// CHECK: wgmma.wait_group.sync.aligned 1;
module {
  func.func @k(%x: !tile.ptr<f16> {fuzz.count = 16384 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %y: !tile.ptr<f16> {fuzz.count = 16384 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %z: !tile.ptr<f32> {fuzz.count = 16384 : i64, fuzz.output, tile.divisibility = 16 : i32}, %n: i32 {fuzz.value = 256 : i32, tile.divisibility = 16 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 1 : i64, tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %i = tile.range 0, 64 : tensor<64xi32>
    %ns = tile.splat %n : i32 -> tensor<64xi32>
    %rows = arith.muli %i, %ns : tensor<64xi32>
    %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rb = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
    %c = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
    %o = arith.addi %rb, %cb : tensor<64x64xi32>
    %all = scf.for %j = %c0 to %n step %c64 iter_args(%outer = %zero) -> (tensor<64x64xf32>) : i32 {
      %jx = tile.addptr %x, %j : !tile.ptr<f16>, i32
      %jy = tile.addptr %y, %j : !tile.ptr<f16>, i32
      %jxs = tile.splat %jx : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
      %jys = tile.splat %jy : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
      %jxp = tile.addptr %jxs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
      %jyp = tile.addptr %jys, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
      %q = tile.load %jxp : tensor<64x64x!tile.ptr<f16>>
      %p = tile.load %jyp : tensor<64x64x!tile.ptr<f16>>
      %first = tile.dot %q, %p, %outer : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %first) -> (tensor<64x64xf32>) : i32 {
        %kx = tile.addptr %x, %k : !tile.ptr<f16>, i32
        %ky = tile.addptr %y, %k : !tile.ptr<f16>, i32
        %xs = tile.splat %kx : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
        %ys = tile.splat %ky : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
        %xp = tile.addptr %xs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
        %yp = tile.addptr %ys, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
        %a = tile.load %xp : tensor<64x64x!tile.ptr<f16>>
        %b = tile.load %yp : tensor<64x64x!tile.ptr<f16>>
        %d = tile.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      } {tile.num_stages = 3 : i32}
      scf.yield %sum : tensor<64x64xf32>
    } {tile.num_stages = 2 : i32}
    %zs = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
    %zp = tile.addptr %zs, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    tile.store %zp, %all : tensor<64x64x!tile.ptr<f32>>
    return
  }
}
