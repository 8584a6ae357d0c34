// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: env NEREID_CUDA_DRIVER=simulator nereid-fuzz --replay %s --executor=cuda:1
// REQUIRES: nereid-fuzz
// i - 64 from i = 0 on: its remainder by 32 is 0 and then -31, its quotient -2 and
// then -1. Elements of a vector had one address and one mask for both.
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 128 : i64, tile.divisibility = 16 : i32}, %arg1: !tile.ptr<i32> {fuzz.count = 64 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg2: !tile.ptr<i32> {fuzz.count = 64 : i64, fuzz.output, tile.divisibility = 16 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, tile.kernel} {
    %c64 = arith.constant 64 : i32
    %origin = tile.addptr %arg0, %c64 : !tile.ptr<i32>, i32
    %i = tile.range 0, 64 : tensor<64xi32>
    %by = arith.constant dense<64> : tensor<64xi32>
    %n = arith.constant dense<32> : tensor<64xi32>
    %j = arith.subi %i, %by : tensor<64xi32>
    %r = arith.remsi %j, %n : tensor<64xi32>
    %from = tile.splat %origin : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
    %q = tile.addptr %from, %r : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    %v = tile.load %q : tensor<64x!tile.ptr<i32>>
    %to = tile.splat %arg1 : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
    %p = tile.addptr %to, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    tile.store %p, %v : tensor<64x!tile.ptr<i32>>
    %d = arith.divsi %j, %n : tensor<64xi32>
    %bound = arith.constant dense<-1> : tensor<64xi32>
    %m = arith.cmpi slt, %d, %bound : tensor<64xi32>
    %other = tile.splat %arg2 : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
    %o = tile.addptr %other, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    tile.store %o, %v, %m : tensor<64x!tile.ptr<i32>>
    return
  }
}
