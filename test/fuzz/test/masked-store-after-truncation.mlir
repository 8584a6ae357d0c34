// RUN: nereid-fuzz --replay %s --executor=cpu,x86-64
// REQUIRES: nereid-fuzz
// LLVM stores a truncated vector under a constant mask with one lane on as a wide scalar.
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 4 : i64, fuzz.fill = "whole"}, %arg1: !tile.ptr<i32> {fuzz.count = 4 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 2225 : i64, tile.kernel} {
    %c4_i32 = arith.constant 4 : i32
    %cst = arith.constant dense<1> : tensor<4xi32>
    %cst_0 = arith.constant dense<7> : tensor<4xi32>
    %0 = tile.program_id 0
    %1 = tile.program_id 1
    %2 = tile.program_id 2
    %3 = arith.addi %2, %1 : i32
    %4 = arith.addi %3, %0 : i32
    %5 = tile.range 0, 4 : tensor<4xi32>
    %6 = tile.range 0, 4 : tensor<4xi32>
    %7 = arith.extsi %6 : tensor<4xi32> to tensor<4xi64>
    %8 = tile.splat %arg0 : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
    %9 = tile.addptr %8, %7 : tensor<4x!tile.ptr<i32>>, tensor<4xi64>
    %10 = tile.load %9 : tensor<4x!tile.ptr<i32>>
    %11 = arith.andi %10, %cst_0 : tensor<4xi32>
    %12 = arith.addi %11, %cst : tensor<4xi32>
    %13 = arith.divsi %5, %12 : tensor<4xi32>
    %14 = arith.muli %4, %c4_i32 : i32
    %15 = tile.range 0, 4 : tensor<4xi32>
    %16 = tile.hint %15 {contiguity = array<i64: 4>, divisibility = array<i64: 16>} : tensor<4xi32>
    %17 = tile.addptr %arg1, %14 : !tile.ptr<i32>, i32
    %18 = tile.splat %17 : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
    %19 = tile.addptr %18, %16 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
    %20 = tile.range 0, 4 : tensor<4xi32>
    %21 = arith.cmpi ult, %20, %cst : tensor<4xi32>
    tile.store %19, %13, %21 : tensor<4x!tile.ptr<i32>>
    return
  }
}
