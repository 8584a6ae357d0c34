// RUN: nereid-fuzz --replay %s --executor=cpu,x86-64,x86-64-v3
// REQUIRES: nereid-fuzz
// A reduction reads a transposed load in another order than the store beside it, to the same addresses, writes.
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 64 : i64, fuzz.fill = "whole", fuzz.output}, %arg1: !tile.ptr<f32> {fuzz.count = 8 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 92397 : i64, tile.kernel} {
    %0 = tile.range 0, 8 : tensor<8xi32>
    %1 = tile.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %2 = tile.broadcast %1 : tensor<8x1xi32> -> tensor<8x8xi32>
    %3 = arith.constant dense<8> : tensor<8x8xi32>
    %4 = arith.muli %2, %3 : tensor<8x8xi32>
    %5 = tile.expand_dims %0 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %6 = tile.broadcast %5 : tensor<1x8xi32> -> tensor<8x8xi32>
    %7 = arith.addi %4, %6 : tensor<8x8xi32>
    %8 = tile.splat %arg0 : !tile.ptr<f32> -> tensor<8x8x!tile.ptr<f32>>
    %9 = tile.addptr %8, %7 : tensor<8x8x!tile.ptr<f32>>, tensor<8x8xi32>
    %10 = tile.load %9 : tensor<8x8x!tile.ptr<f32>>
    %11 = arith.negf %10 : tensor<8x8xf32>
    tile.store %9, %11 : tensor<8x8x!tile.ptr<f32>>
    %12 = tile.transpose %10 {order = array<i32: 1, 0>} : tensor<8x8xf32> -> tensor<8x8xf32>
    %13 = "tile.reduce"(%12) <{axis = 1 : i32}> ({
    ^bb0(%arg2: f32, %arg3: f32):
      %16 = arith.addf %arg2, %arg3 : f32
      tile.yield %16 : f32
    }) : (tensor<8x8xf32>) -> tensor<8xf32>
    %14 = tile.splat %arg1 : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
    %15 = tile.addptr %14, %0 : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
    tile.store %15, %13 : tensor<8x!tile.ptr<f32>>
    return
  }
}
