// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: env NEREID_CUDA_DRIVER=simulator nereid-fuzz --replay %s --executor=cuda:1
// REQUIRES: nereid-fuzz
// The sum is below zero from element 8 on, and no bound of the loop over chunks.
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 64 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, tile.kernel} {
    %i = tile.range 0, 64 : tensor<64xi32>
    %by = arith.constant dense<2147483640> : tensor<64xi32>
    %zero = arith.constant dense<0> : tensor<64xi32>
    %sum = arith.addi %i, %by : tensor<64xi32>
    %m = arith.cmpi slt, %sum, %zero : tensor<64xi32>
    %base = tile.splat %arg0 : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
    %p = tile.addptr %base, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    tile.store %p, %i, %m : tensor<64x!tile.ptr<i32>>
    return
  }
}
