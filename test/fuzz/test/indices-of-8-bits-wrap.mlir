// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: env NEREID_CUDA_DRIVER=simulator nereid-fuzz --replay %s --executor=cuda:1
// REQUIRES: nereid-fuzz
// 127 is followed by -128: an address computed from the sum in 64 bits missed it.
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 256 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, tile.kernel} {
    %c128 = arith.constant 128 : i32
    %origin = tile.addptr %arg0, %c128 : !tile.ptr<i32>, i32
    %i = tile.range 0, 64 : tensor<64xi32>
    %narrow = arith.trunci %i : tensor<64xi32> to tensor<64xi8>
    %by = arith.constant dense<100> : tensor<64xi8>
    %o = arith.addi %narrow, %by : tensor<64xi8>
    %base = tile.splat %origin : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
    %p = tile.addptr %base, %o : tensor<64x!tile.ptr<i32>>, tensor<64xi8>
    tile.store %p, %i : tensor<64x!tile.ptr<i32>>
    return
  }
}
