// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: env NEREID_CUDA_DRIVER=simulator nereid-fuzz --replay %s --executor=cuda:1
// REQUIRES: nereid-fuzz
// Which of two NaNs it takes the region does not say, so that lanes that combine
// the same partial results in another order got other numbers of iterations, and
// the warp parted for ever (seed 2087 on 1 warp).
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 32 : i64, fuzz.fill = "positive"}, %arg1: !tile.ptr<f32> {fuzz.count = 1 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, tile.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %five = arith.constant dense<5> : tensor<32xi32>
    %nan = arith.constant dense<0x7FC00000> : tensor<32xf32>
    %i = tile.range 0, 32 : tensor<32xi32>
    %base = tile.splat %arg0 : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
    %p = tile.addptr %base, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
    %loaded = tile.load %p : tensor<32x!tile.ptr<f32>>
    %isFifth = arith.cmpi eq, %i, %five : tensor<32xi32>
    %x = arith.select %isFifth, %nan, %loaded : tensor<32xi1>, tensor<32xf32>
    %best:2 = "tile.reduce"(%x, %i) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
      %greater = arith.cmpf ogt, %b, %a : f32
      %v = arith.select %greater, %b, %a : f32
      %vi = arith.select %greater, %bi, %ai : i32
      tile.yield %v, %vi : f32, i32
    }) : (tensor<32xf32>, tensor<32xi32>) -> (f32, i32)
    %sum = scf.for %k = %c0 to %best#1 step %c1 iter_args(%total = %zero) -> (f32) : i32 {
      %least = "tile.reduce"(%loaded) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tile.yield %c : f32
      }) : (tensor<32xf32>) -> f32
      %times = arith.sitofp %k : i32 to f32
      %part = arith.mulf %least, %times : f32
      %next = arith.addf %total, %part : f32
      scf.yield %next : f32
    }
    %s = tile.splat %sum : f32 -> tensor<32xf32>
    %y = arith.addf %loaded, %s : tensor<32xf32>
    %whole = "tile.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }) : (tensor<32xf32>) -> f32
    tile.store %arg1, %whole : !tile.ptr<f32>
    return
  }
}
