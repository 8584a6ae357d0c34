// RUN: nereid-fuzz --replay %s --executor=cpu
// REQUIRES: nereid-fuzz
// LLVM crashes on vectors of some odd lengths.
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 15 : i64, fuzz.fill = "normal", tile.divisibility = 16 : i32}, %arg1: !tile.ptr<f32> {fuzz.count = 16 : i64, fuzz.fill = "whole"}, %arg2: !tile.ptr<f32> {fuzz.count = 163 : i64, fuzz.output}, %arg3: i32 {fuzz.value = 21 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 11083 : i64, tile.kernel} {
    %cst = arith.constant dense<0.000000e+00> : tensor<8x16xf32>
    %cst_0 = arith.constant dense<2> : tensor<8xi64>
    %0 = tile.ptr_to_int %arg0 : !tile.ptr<f32> -> i64
    %1 = tile.int_to_ptr %0 : i64 -> !tile.ptr<f32>
    %2 = tile.range 0, 8 : tensor<8xi32>
    %3 = arith.extsi %2 : tensor<8xi32> to tensor<8xi64>
    %4 = arith.muli %3, %cst_0 : tensor<8xi64>
    %5 = tile.reshape %4 : tensor<8xi64> -> tensor<8x1xi64>
    %6 = tile.splat %1 : !tile.ptr<f32> -> tensor<8x1x!tile.ptr<f32>>
    %7 = tile.addptr %6, %5 : tensor<8x1x!tile.ptr<f32>>, tensor<8x1xi64>
    %8 = tile.load %7 : tensor<8x1x!tile.ptr<f32>>
    %9 = tile.range 0, 16 : tensor<16xi32>
    %10 = tile.reshape %9 : tensor<16xi32> -> tensor<1x16xi32>
    %11 = tile.splat %arg1 : !tile.ptr<f32> -> tensor<1x16x!tile.ptr<f32>>
    %12 = tile.addptr %11, %10 : tensor<1x16x!tile.ptr<f32>>, tensor<1x16xi32>
    %13 = tile.load %12 : tensor<1x16x!tile.ptr<f32>>
    %14 = tile.dot %8, %13, %cst {precision = 2 : i32} : tensor<8x1xf32>, tensor<1x16xf32>, tensor<8x16xf32>
    %15 = tile.range 0, 8 : tensor<8xi32>
    %16 = tile.expand_dims %15 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %17 = tile.broadcast %16 : tensor<8x1xi32> -> tensor<8x16xi32>
    %18 = tile.splat %arg3 : i32 -> tensor<8x16xi32>
    %19 = arith.muli %17, %18 : tensor<8x16xi32>
    %20 = tile.range 0, 16 : tensor<16xi32>
    %21 = tile.expand_dims %20 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %22 = tile.broadcast %21 : tensor<1x16xi32> -> tensor<8x16xi32>
    %23 = arith.addi %19, %22 : tensor<8x16xi32>
    %24 = tile.splat %arg2 : !tile.ptr<f32> -> tensor<8x16x!tile.ptr<f32>>
    %25 = tile.addptr %24, %23 : tensor<8x16x!tile.ptr<f32>>, tensor<8x16xi32>
    tile.store %25, %14 : tensor<8x16x!tile.ptr<f32>>
    return
  }
}
