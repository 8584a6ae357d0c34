// RUN: nereid-fuzz --replay %s --executor=cpu
// REQUIRES: nereid-fuzz
// A mask that repeats along the vector bounds no loop.
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 12288 : i64, fuzz.fill = "normal", fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 108204 : i64, tile.kernel} {
    %cst = arith.constant dense<6> : tensor<1024xi32>
    %0 = tile.range 1, 257 : tensor<256xi32>
    %1 = tile.reshape %0 : tensor<256xi32> -> tensor<1x256xi32>
    %2 = tile.broadcast %1 : tensor<1x256xi32> -> tensor<4x256xi32>
    %3 = tile.reshape %2 : tensor<4x256xi32> -> tensor<1024xi32>
    %4 = tile.ptr_to_int %arg0 : !tile.ptr<i32> -> i64
    %5 = tile.int_to_ptr %4 : i64 -> !tile.ptr<i32>
    %6 = tile.range 0, 1024 : tensor<1024xi32>
    %7 = tile.splat %5 : !tile.ptr<i32> -> tensor<1024x!tile.ptr<i32>>
    %8 = tile.addptr %7, %6 : tensor<1024x!tile.ptr<i32>>, tensor<1024xi32>
    %9 = arith.cmpi slt, %3, %cst : tensor<1024xi32>
    tile.store %8, %3, %9 : tensor<1024x!tile.ptr<i32>>
    return
  }
}
