// RUN: nereid-fuzz --replay %s --executor=cpu,x86-64
// REQUIRES: nereid-fuzz
// The block of constants that the gather reads has a buffer; the loop, which
// hands it on, needs it too.
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 7 : i64, fuzz.fill = "positive", tile.divisibility = 16 : i32}, %arg1: !tile.ptr<f16> {fuzz.count = 7 : i64, fuzz.output}, %arg2: !tile.ptr<f16> {fuzz.count = 7 : i64, fuzz.output, tile.divisibility = 16 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 3593 : i64, tile.kernel} {
    %cst = arith.constant dense<34> : tensor<7xi32>
    %c3_i32 = arith.constant 3 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<[3, -820834563, 14, 15, -869373629, -859699764, -1982325905]> : tensor<7xi32>
    %cst_1 = arith.constant dense<[1, 14, 16, -1106109781, 1241644433, 15, 5]> : tensor<7xi32>
    %cst_2 = arith.constant dense<[0.000000e+00, 2.000000e+00, 5.000000e-01, -3.000000e+00, 2.000000e+00, -1.000000e+00, 7.000000e+00]> : tensor<7xf16>
    %c1_i32 = arith.constant 1 : i32
    %0 = tile.splat %arg0 : !tile.ptr<i32> -> tensor<7x!tile.ptr<i32>>
    %1 = tile.load %0 : tensor<7x!tile.ptr<i32>>
    %2 = arith.cmpi slt, %1, %cst_1 : tensor<7xi32>
    %3 = arith.extui %2 : tensor<7xi1> to tensor<7xi64>
    %4 = tile.gather %cst_2[%3] {axis = 0 : i32} : tensor<7xf16>, tensor<7xi64> -> tensor<7xf16>
    %5:2 = scf.for %arg3 = %c0_i32 to %c3_i32 step %c1_i32 iter_args(%arg4 = %4, %arg5 = %cst_0) -> (tensor<7xf16>, tensor<7xi32>)  : i32 {
      %13 = arith.addi %arg5, %cst : tensor<7xi32>
      scf.yield %cst_2, %13 : tensor<7xf16>, tensor<7xi32>
    }
    %6 = tile.range 0, 7 : tensor<7xi32>
    %7 = tile.splat %arg1 : !tile.ptr<f16> -> tensor<7x!tile.ptr<f16>>
    %8 = tile.addptr %7, %6 : tensor<7x!tile.ptr<f16>>, tensor<7xi32>
    tile.store %8, %5#0 : tensor<7x!tile.ptr<f16>>
    %9 = tile.range 0, 7 : tensor<7xi32>
    %10 = arith.extsi %9 : tensor<7xi32> to tensor<7xi64>
    %11 = tile.splat %arg2 : !tile.ptr<f16> -> tensor<7x!tile.ptr<f16>>
    %12 = tile.addptr %11, %10 : tensor<7x!tile.ptr<f16>>, tensor<7xi64>
    tile.store %12, %4 : tensor<7x!tile.ptr<f16>>
    return
  }
}
