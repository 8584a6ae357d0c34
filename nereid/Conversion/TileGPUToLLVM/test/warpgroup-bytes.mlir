// Operands of 8 bits that a product of four warps writes to shared memory
// itself lie there along K, whatever their threads hold.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tilegpu-pipeline{target=sm_90a warps=4},tilegpu-to-llvm)' | FileCheck %s

// CHECK: nv.wgmma
// Nothing is known of the addresses: a thread loads one byte at a time, and its
// bytes run along M and N.
func.func @bytes(%x: !tile.ptr<i8>, %z: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %i = tile.range 0, 64 : tensor<64xi32>
  %j = tile.range 0, 32 : tensor<32xi32>
  %c96 = arith.constant 96 : i32
  %ns = tile.splat %c96 : i32 -> tensor<64xi32>
  %rows = arith.muli %i, %ns : tensor<64xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rb = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x32xi32>
  %c = tile.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cb = tile.broadcast %c : tensor<1x32xi32> -> tensor<64x32xi32>
  %o = arith.addi %rb, %cb : tensor<64x32xi32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%one = %zero) -> (tensor<64x64xi32>) : i32 {
    %kx = tile.addptr %x, %k : !tile.ptr<i8>, i32
    %xs = tile.splat %kx : !tile.ptr<i8> -> tensor<64x32x!tile.ptr<i8>>
    %xp = tile.addptr %xs, %o : tensor<64x32x!tile.ptr<i8>>, tensor<64x32xi32>
    %a = tile.load %xp : tensor<64x32x!tile.ptr<i8>>
    %b = tile.transpose %a {order = array<i32: 1, 0>} : tensor<64x32xi8> -> tensor<32x64xi8>
    %s = tile.dot %a, %b, %one : tensor<64x32xi8>, tensor<32x64xi8>, tensor<64x64xi32>
    scf.yield %s : tensor<64x64xi32>
  }
  %zr = tile.range 0, 64 : tensor<64xi32>
  %ze = tile.expand_dims %zr {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %zb = tile.broadcast %ze : tensor<1x64xi32> -> tensor<64x64xi32>
  %zs = tile.splat %z : !tile.ptr<i32> -> tensor<64x64x!tile.ptr<i32>>
  %zp = tile.addptr %zs, %zb : tensor<64x64x!tile.ptr<i32>>, tensor<64x64xi32>
  tile.store %zp, %sum : tensor<64x64x!tile.ptr<i32>>
  return
}
