// V_ASHRREV takes the low five bits of an amount, the language all of it.
// RUN: env NEREID_HIP_DRIVER=simulator nereid-fuzz --replay %s --executor=hip:4
// RUN: env NEREID_CUDA_DRIVER=simulator nereid-fuzz --replay %s --executor=cuda:4
// REQUIRES: nereid-fuzz
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 32 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 20158 : i64, tile.kernel} {
    %cst = arith.constant dense<37> : tensor<8x1xi32>
    %cst_0 = arith.constant dense<-64> : tensor<8x1xi32>
    %0 = arith.shrsi %cst_0, %cst : tensor<8x1xi32>
    %1 = tile.range 0, 8 : tensor<8xi32>
    %2 = tile.expand_dims %1 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %3 = tile.splat %arg0 : !tile.ptr<i32> -> tensor<8x1x!tile.ptr<i32>>
    %4 = tile.addptr %3, %2 : tensor<8x1x!tile.ptr<i32>>, tensor<8x1xi32>
    tile.store %4, %0 : tensor<8x1x!tile.ptr<i32>>
    return
  }
}
