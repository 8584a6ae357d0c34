// RUN: nereid-fuzz --replay %s --executor=cpu,x86-64
// REQUIRES: nereid-fuzz
// A loop that starts from a tensor and reads it inside needs a copy of it.
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 65 : i64, fuzz.fill = "normal"}, %arg1: !tile.ptr<f32> {fuzz.count = 65 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 3 : i64, tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %range = tile.range 0, 65 : tensor<65xi32>
    %xs = tile.splat %arg0 : !tile.ptr<f32> -> tensor<65x!tile.ptr<f32>>
    %from = tile.addptr %xs, %range : tensor<65x!tile.ptr<f32>>, tensor<65xi32>
    %x = tile.load %from : tensor<65x!tile.ptr<f32>>
    %e = math.exp %x : tensor<65xf32>
    %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %e) -> (tensor<65xf32>) : i32 {
      %next = arith.addf %acc, %e : tensor<65xf32>
      scf.yield %next : tensor<65xf32>
    }
    %ys = tile.splat %arg1 : !tile.ptr<f32> -> tensor<65x!tile.ptr<f32>>
    %to = tile.addptr %ys, %range : tensor<65x!tile.ptr<f32>>, tensor<65xi32>
    tile.store %to, %sum : tensor<65x!tile.ptr<f32>>
    return
  }
}
