// RUN: nereid-fuzz --replay %s --executor=cpu,x86-64
// REQUIRES: nereid-fuzz
// The oracle claims nothing about the sign of a NaN that was computed.
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 16 : i64, fuzz.fill = "special"}, %arg1: !tile.ptr<f32> {fuzz.count = 16 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 3898 : i64, tile.kernel} {
    %one = arith.constant dense<1.0> : tensor<16xf32>
    %range = tile.range 0, 16 : tensor<16xi32>
    %xs = tile.splat %arg0 : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
    %from = tile.addptr %xs, %range : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
    %x = tile.load %from : tensor<16x!tile.ptr<f32>>
    %s = math.sin %x : tensor<16xf32>
    %b = arith.truncf %s : tensor<16xf32> to tensor<16xbf16>
    %w = arith.extf %b : tensor<16xbf16> to tensor<16xf32>
    %c = math.copysign %one, %w : tensor<16xf32>
    %ys = tile.splat %arg1 : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
    %to = tile.addptr %ys, %range : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
    tile.store %to, %c : tensor<16x!tile.ptr<f32>>
    return
  }
}
