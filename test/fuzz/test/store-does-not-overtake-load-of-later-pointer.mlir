// RUN: nereid-fuzz --replay %s --executor=cpu,x86-64
// REQUIRES: nereid-fuzz
// A store joins an earlier nest only if no load before it depends on something in between.
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 1 : i64, fuzz.fill = "normal", tile.divisibility = 16 : i32}, %arg1: !tile.ptr<i16> {fuzz.count = 5 : i64, fuzz.fill = "normal"}, %arg2: !tile.ptr<i32> {fuzz.count = 5 : i64, fuzz.fill = "whole"}, %arg3: !tile.ptr<f32> {fuzz.count = 13 : i64, fuzz.output}, %arg4: !tile.ptr<i16> {fuzz.count = 5 : i64, fuzz.output}, %arg5: !tile.ptr<f32> {fuzz.count = 1 : i64, fuzz.output, tile.divisibility = 16 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 1029 : i64, tile.kernel} {
    %c13_i32 = arith.constant 13 : i32
    %cst = arith.constant dense<[7, -2, 3, 3, -1078190072]> : tensor<5xi32>
    %c-1_i32 = arith.constant -1 : i32
    %c5_i32 = arith.constant 5 : i32
    %cst_0 = arith.constant dense<7.500000e-01> : tensor<13xf32>
    %cst_1 = arith.constant dense<[-70442985, 8, 12, -1452765214, 13, 11, 15]> : tensor<7xi32>
    %cst_2 = arith.constant dense<1.000000e+00> : tensor<13xf32>
    %c1_i32 = arith.constant 1 : i32
    %0 = tile.program_id 0
    %1 = tile.program_id 1
    %2 = tile.program_id 2
    %3 = arith.addi %2, %1 : i32
    %4 = arith.addi %3, %0 : i32
    %5:2 = "tile.reduce"(%cst_2, %cst_2) <{axis = 0 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32):
      %41 = arith.maximumf %arg6, %arg8 : f32
      %42 = arith.subf %arg6, %41 : f32
      %43 = math.exp %42 : f32
      %44 = arith.mulf %arg7, %43 : f32
      %45 = arith.subf %arg8, %41 : f32
      %46 = math.exp %45 : f32
      %47 = arith.mulf %arg9, %46 : f32
      %48 = arith.addf %44, %47 : f32
      tile.yield %41, %48 : f32, f32
    }) : (tensor<13xf32>, tensor<13xf32>) -> (f32, f32)
    %6 = "tile.reduce"(%cst_1) <{axis = 0 : i32}> ({
    ^bb0(%arg6: i32, %arg7: i32):
      %41 = arith.muli %arg6, %arg7 : i32
      tile.yield %41 : i32
    }) : (tensor<7xi32>) -> i32
    %7 = tile.addptr %arg0, %4 : !tile.ptr<f32>, i32
    %8 = tile.splat %7 : !tile.ptr<f32> -> tensor<13x!tile.ptr<f32>>
    %9 = tile.load %8 : tensor<13x!tile.ptr<f32>>
    %10 = math.sin %9 : tensor<13xf32>
    %11 = arith.mulf %10, %cst_0 : tensor<13xf32>
    %12 = math.atanh %11 : tensor<13xf32>
    %13 = arith.muli %4, %c5_i32 : i32
    %14 = tile.range 0, 5 : tensor<5xi32>
    %15 = tile.addptr %arg1, %13 : !tile.ptr<i16>, i32
    %16 = tile.splat %15 : !tile.ptr<i16> -> tensor<5x!tile.ptr<i16>>
    %17 = tile.addptr %16, %14 : tensor<5x!tile.ptr<i16>>, tensor<5xi32>
    %18 = arith.cmpi sle, %6, %4 : i32
    %19 = scf.if %18 -> (!tile.ptr<i32>) {
      %41 = tile.addptr %arg2, %c1_i32 : !tile.ptr<i32>, i32
      %42 = tile.addptr %41, %c-1_i32 : !tile.ptr<i32>, i32
      scf.yield %42 : !tile.ptr<i32>
    } else {
      scf.yield %arg2 : !tile.ptr<i32>
    }
    %20 = tile.range 0, 5 : tensor<5xi32>
    %21 = tile.hint %20 {divisibility = array<i64: 16>} : tensor<5xi32>
    %22 = tile.splat %19 : !tile.ptr<i32> -> tensor<5x!tile.ptr<i32>>
    %23 = tile.addptr %22, %21 : tensor<5x!tile.ptr<i32>>, tensor<5xi32>
    %24 = tile.load %23 : tensor<5x!tile.ptr<i32>>
    %25 = arith.cmpi slt, %24, %cst : tensor<5xi32>
    %26 = tile.load %17, %25 : tensor<5x!tile.ptr<i16>>
    %27 = arith.addi %26, %26 : tensor<5xi16>
    %28 = arith.muli %4, %c13_i32 : i32
    %29 = tile.range 0, 13 : tensor<13xi32>
    %30 = tile.splat %arg3 : !tile.ptr<f32> -> tensor<13x!tile.ptr<f32>>
    %31 = tile.addptr %30, %29 : tensor<13x!tile.ptr<f32>>, tensor<13xi32>
    %32 = tile.splat %28 : i32 -> tensor<13xi32>
    %33 = tile.addptr %31, %32 : tensor<13x!tile.ptr<f32>>, tensor<13xi32>
    tile.store %33, %12 : tensor<13x!tile.ptr<f32>>
    %34 = arith.muli %4, %c5_i32 : i32
    %35 = tile.range 0, 5 : tensor<5xi32>
    %36 = tile.splat %arg4 : !tile.ptr<i16> -> tensor<5x!tile.ptr<i16>>
    %37 = tile.addptr %36, %35 : tensor<5x!tile.ptr<i16>>, tensor<5xi32>
    %38 = tile.splat %34 : i32 -> tensor<5xi32>
    %39 = tile.addptr %37, %38 : tensor<5x!tile.ptr<i16>>, tensor<5xi32>
    tile.store %39, %27, %25 : tensor<5x!tile.ptr<i16>>
    %40 = tile.addptr %arg5, %4 : !tile.ptr<f32>, i32
    tile.store %40, %5#0 : !tile.ptr<f32>
    return
  }
}
