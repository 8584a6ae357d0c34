// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: env NEREID_CUDA_DRIVER=simulator nereid-fuzz --replay %s --executor=cuda:4
// REQUIRES: nereid-fuzz
// A GPU's product begins with the other addend, and rounds numbers as large as
// the product, whose own sum is exact (seed 3508635).
module {
  func.func @k(%arg0: !tile.ptr<f16> {fuzz.count = 1024 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg1: !tile.ptr<f16> {fuzz.count = 2048 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg2: !tile.ptr<f32> {fuzz.count = 1549 : i64, fuzz.fill = "special", tile.divisibility = 16 : i32}, %arg3: !tile.ptr<f32> {fuzz.count = 512 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 3508635 : i64, tile.kernel} {
    %cst = arith.constant dense<32> : tensor<16xi32>
    %cst_0 = arith.constant dense<3> : tensor<32xi32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %c32_i32 = arith.constant 32 : i32
    %c37_i32 = arith.constant 37 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tile.range 0, 32 : tensor<32xi32>
    %1 = arith.muli %0, %cst_0 : tensor<32xi32>
    %2 = tile.expand_dims %1 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %3 = tile.broadcast %2 : tensor<1x32xi32> -> tensor<16x32xi32>
    %4 = tile.splat %arg2 : !tile.ptr<f32> -> tensor<16x32x!tile.ptr<f32>>
    %5 = tile.addptr %4, %3 : tensor<16x32x!tile.ptr<f32>>, tensor<16x32xi32>
    %6 = tile.load %5 : tensor<16x32x!tile.ptr<f32>>
    %7:3 = scf.for %arg4 = %c0_i32 to %c37_i32 step %c32_i32 iter_args(%arg5 = %arg0, %arg6 = %arg1, %arg7 = %6) -> (!tile.ptr<f16>, !tile.ptr<f16>, tensor<16x32xf32>)  : i32 {
      %cst_3 = arith.constant dense<1.000000e+00> : tensor<16x32xf16>
      %cst_4 = arith.constant dense<1.000000e+00> : tensor<32x32xf16>
      %18 = arith.cmpi ne, %arg4, %c0_i32 : i32
      %19 = scf.if %18 -> (tensor<16x32xf32>) {
        %20 = tile.dot %cst_3, %cst_4, %cst_1 : tensor<16x32xf16>, tensor<32x32xf16>, tensor<16x32xf32>
        %21 = arith.addf %arg7, %20 : tensor<16x32xf32>
        scf.yield %21 : tensor<16x32xf32>
      } else {
        scf.yield %arg7 : tensor<16x32xf32>
      }
      scf.yield %arg5, %arg6, %19 : !tile.ptr<f16>, !tile.ptr<f16>, tensor<16x32xf32>
    }
    %cst_2 = arith.constant dense<true> : tensor<16x32xi1>
    %8 = tile.range 0, 16 : tensor<16xi32>
    %9 = arith.muli %8, %cst : tensor<16xi32>
    %10 = tile.expand_dims %9 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %11 = tile.broadcast %10 : tensor<16x1xi32> -> tensor<16x32xi32>
    %12 = tile.range 0, 32 : tensor<32xi32>
    %13 = tile.reshape %12 : tensor<32xi32> -> tensor<1x32xi32>
    %14 = tile.broadcast %13 : tensor<1x32xi32> -> tensor<16x32xi32>
    %15 = arith.addi %11, %14 : tensor<16x32xi32>
    %16 = tile.splat %arg3 : !tile.ptr<f32> -> tensor<16x32x!tile.ptr<f32>>
    %17 = tile.addptr %16, %15 : tensor<16x32x!tile.ptr<f32>>, tensor<16x32xi32>
    tile.store %17, %7#2, %cst_2 : tensor<16x32x!tile.ptr<f32>>
    return
  }
}
