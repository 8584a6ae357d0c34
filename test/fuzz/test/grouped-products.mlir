// A linear recurrence over infinities and zeros: another grouping of the same scan
// may meet infinity times zero, so the result is not decided.
// RUN: nereid-fuzz --replay %s --executor=cpu
// REQUIRES: nereid-fuzz
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 16 : i64, fuzz.fill = "whole"}, %arg1: i32 {fuzz.value = 14 : i32}, %arg2: !tile.ptr<f32> {fuzz.count = 7 : i64, fuzz.fill = "special"}, %arg3: !tile.ptr<f32> {fuzz.count = 7 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg4: !tile.ptr<f32> {fuzz.count = 16 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 499844 : i64, tile.kernel} {
    %cst = arith.constant dense<0> : tensor<16xi32>
    %0 = tile.splat %arg0 : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
    %1 = tile.splat %arg1 : i32 -> tensor<16xi32>
    %2 = arith.cmpi sle, %1, %cst : tensor<16xi32>
    %3 = tile.load %0, %2 : tensor<16x!tile.ptr<f32>>
    %4 = tile.range 0, 7 : tensor<7xi32>
    %5 = arith.extsi %4 : tensor<7xi32> to tensor<7xi64>
    %6 = tile.splat %arg2 : !tile.ptr<f32> -> tensor<7x!tile.ptr<f32>>
    %7 = tile.addptr %6, %5 : tensor<7x!tile.ptr<f32>>, tensor<7xi64>
    %8 = tile.load %7 : tensor<7x!tile.ptr<f32>>
    %9:2 = "tile.scan"(%8, %8) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32):
      %16 = arith.mulf %arg5, %arg7 : f32
      %17 = arith.mulf %arg6, %arg7 : f32
      %18 = arith.addf %17, %arg8 : f32
      tile.yield %16, %18 : f32, f32
    }) : (tensor<7xf32>, tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>)
    %10 = tile.range 0, 7 : tensor<7xi32>
    %11 = tile.splat %arg3 : !tile.ptr<f32> -> tensor<7x!tile.ptr<f32>>
    %12 = tile.addptr %11, %10 : tensor<7x!tile.ptr<f32>>, tensor<7xi32>
    tile.store %12, %9#1 : tensor<7x!tile.ptr<f32>>
    %13 = tile.range 0, 16 : tensor<16xi32>
    %14 = tile.splat %arg4 : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
    %15 = tile.addptr %14, %13 : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
    tile.store %15, %3 : tensor<16x!tile.ptr<f32>>
    return
  }
}
