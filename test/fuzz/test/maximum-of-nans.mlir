// RUN: nereid-fuzz --replay %s --executor=cpu
// REQUIRES: nereid-fuzz
// The least or greatest of NaNs alone is a NaN.
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 2556 : i64, fuzz.fill = "special", tile.divisibility = 16 : i32}, %arg1: !tile.ptr<f32> {fuzz.count = 512 : i64, fuzz.fill = "normal", fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 14688 : i64, tile.kernel} {
    %0 = tile.ptr_to_int %arg0 : !tile.ptr<f32> -> i64
    %1 = tile.int_to_ptr %0 : i64 -> !tile.ptr<f32>
    %2 = tile.range 0, 512 : tensor<512xi32>
    %3 = tile.expand_dims %2 {axis = 1 : i32} : tensor<512xi32> -> tensor<512x1xi32>
    %4 = tile.splat %1 : !tile.ptr<f32> -> tensor<512x1x!tile.ptr<f32>>
    %5 = tile.addptr %4, %3 : tensor<512x1x!tile.ptr<f32>>, tensor<512x1xi32>
    %6 = tile.load %5 : tensor<512x1x!tile.ptr<f32>>
    %7 = "tile.reduce"(%6) <{axis = 1 : i32}> ({
    ^bb0(%arg2: f32, %arg3: f32):
      %11 = arith.maxnumf %arg2, %arg3 : f32
      tile.yield %11 : f32
    }) : (tensor<512x1xf32>) -> tensor<512xf32>
    %8 = tile.range 0, 512 : tensor<512xi32>
    %9 = tile.splat %arg1 : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
    %10 = tile.addptr %9, %8 : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    tile.store %10, %7 : tensor<512x!tile.ptr<f32>>
    return
  }
}
