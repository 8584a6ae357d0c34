// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: env NEREID_CUDA_DRIVER=simulator nereid-fuzz --replay %s --executor=cuda:1
// REQUIRES: nereid-fuzz
// A join of numbers is a block of two; so is each part of a join of joins, and a
// loop may carry one. A nest over no dimension at all crashed.
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 4 : i64, fuzz.output}, %arg1: !tile.ptr<f32> {fuzz.count = 2 : i64, fuzz.fill = "positive"}, %arg2: !tile.ptr<f32> {fuzz.count = 2 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %next = tile.addptr %arg1, %c1 : !tile.ptr<f32>, i32
    %a = tile.load %arg1 : !tile.ptr<f32>
    %b = tile.load %next : !tile.ptr<f32>
    %ab = tile.join %a, %b : f32 -> tensor<2xf32>
    %ba = tile.join %b, %a : f32 -> tensor<2xf32>
    %all = tile.join %ab, %ba : tensor<2xf32> -> tensor<2x2xf32>
    %flat = tile.reshape %all : tensor<2x2xf32> -> tensor<4xf32>
    %i = tile.range 0, 4 : tensor<4xi32>
    %base = tile.splat %arg0 : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
    %p = tile.addptr %base, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
    tile.store %p, %flat : tensor<4x!tile.ptr<f32>>
    %last = scf.for %k = %c0 to %c3 step %c1 iter_args(%pair = %ab) -> (tensor<2xf32>) : i32 {
      %x, %y = tile.split %pair : tensor<2xf32> -> f32
      %sum = arith.addf %x, %y : f32
      %moved = tile.join %y, %sum : f32 -> tensor<2xf32>
      scf.yield %moved : tensor<2xf32>
    }
    %j = tile.range 0, 2 : tensor<2xi32>
    %other = tile.splat %arg2 : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>>
    %q = tile.addptr %other, %j : tensor<2x!tile.ptr<f32>>, tensor<2xi32>
    tile.store %q, %last : tensor<2x!tile.ptr<f32>>
    return
  }
}
