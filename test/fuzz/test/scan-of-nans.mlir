// RUN: nereid-fuzz --replay %s --executor=cpu
// REQUIRES: nereid-fuzz
// The least or greatest of NaNs alone is a NaN.
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 51 : i64, fuzz.fill = "special"}, %arg1: !tile.ptr<f32> {fuzz.count = 51 : i64, fuzz.output, tile.divisibility = 16 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 13413 : i64, tile.kernel} {
    %cst = arith.constant dense<1> : tensor<17xi32>
    %0 = tile.splat %arg0 : !tile.ptr<f32> -> tensor<17x3x!tile.ptr<f32>>
    %1 = tile.load %0 : tensor<17x3x!tile.ptr<f32>>
    %2 = math.log2 %1 : tensor<17x3xf32>
    %3 = "tile.scan"(%2) <{axis = 0 : i32}> ({
    ^bb0(%arg2: f32, %arg3: f32):
      %13 = arith.minnumf %arg2, %arg3 : f32
      tile.yield %13 : f32
    }) : (tensor<17x3xf32>) -> tensor<17x3xf32>
    %4 = tile.range 0, 3 : tensor<3xi32>
    %5 = tile.expand_dims %4 {axis = 0 : i32} : tensor<3xi32> -> tensor<1x3xi32>
    %6 = tile.broadcast %5 : tensor<1x3xi32> -> tensor<17x3xi32>
    %7 = tile.splat %arg1 : !tile.ptr<f32> -> tensor<17x3x!tile.ptr<f32>>
    %8 = tile.addptr %7, %6 : tensor<17x3x!tile.ptr<f32>>, tensor<17x3xi32>
    %9 = tile.range 0, 17 : tensor<17xi32>
    %10 = arith.cmpi slt, %9, %cst : tensor<17xi32>
    %11 = tile.reshape %10 : tensor<17xi1> -> tensor<17x1xi1>
    %12 = tile.broadcast %11 : tensor<17x1xi1> -> tensor<17x3xi1>
    tile.store %8, %3, %12 : tensor<17x3x!tile.ptr<f32>>
    return
  }
}
