// RUN: nereid-fuzz --replay %s --executor=cpu
// REQUIRES: nereid-fuzz
// What is evaluated for a prefetch that is not made leaves the builder in place.
module {
  func.func @k(%arg0: !tile.ptr<i16> {fuzz.count = 3032 : i64, fuzz.fill = "whole", fuzz.output}, %arg1: !tile.ptr<i16> {fuzz.count = 1016 : i64, fuzz.output}, %arg2: !tile.ptr<i32> {fuzz.count = 1024 : i64, fuzz.output}, %arg3: !tile.ptr<i16> {fuzz.count = 4552 : i64, fuzz.output}, %arg4: i32 {fuzz.value = 9 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 27 : i64, tile.kernel} {
    %cst = arith.constant dense<6> : tensor<127x2xi64>
    %cst_0 = arith.constant dense<2> : tensor<127x2xi32>
    %cst_1 = arith.constant dense<0> : tensor<256xi32>
    %0 = tile.range 0, 127 : tensor<127xi32>
    %1 = arith.extsi %0 : tensor<127xi32> to tensor<127xi64>
    %2 = tile.expand_dims %1 {axis = 1 : i32} : tensor<127xi64> -> tensor<127x1xi64>
    %3 = tile.broadcast %2 : tensor<127x1xi64> -> tensor<127x2xi64>
    %4 = arith.muli %3, %cst : tensor<127x2xi64>
    %5 = tile.splat %arg0 : !tile.ptr<i16> -> tensor<127x2x!tile.ptr<i16>>
    %6 = tile.addptr %5, %4 : tensor<127x2x!tile.ptr<i16>>, tensor<127x2xi64>
    %7 = tile.load %6 : tensor<127x2x!tile.ptr<i16>>
    %8 = tile.range 0, 127 : tensor<127xi32>
    %9 = tile.expand_dims %8 {axis = 1 : i32} : tensor<127xi32> -> tensor<127x1xi32>
    %10 = tile.broadcast %9 : tensor<127x1xi32> -> tensor<127x2xi32>
    %11 = arith.muli %10, %cst_0 : tensor<127x2xi32>
    %12 = tile.range 0, 2 : tensor<2xi32>
    %13 = tile.reshape %12 : tensor<2xi32> -> tensor<1x2xi32>
    %14 = tile.broadcast %13 : tensor<1x2xi32> -> tensor<127x2xi32>
    %15 = arith.addi %11, %14 : tensor<127x2xi32>
    %16 = tile.splat %arg1 : !tile.ptr<i16> -> tensor<127x2x!tile.ptr<i16>>
    %17 = tile.addptr %16, %15 : tensor<127x2x!tile.ptr<i16>>, tensor<127x2xi32>
    tile.store %17, %7 : tensor<127x2x!tile.ptr<i16>>
    %18 = tile.range 0, 256 : tensor<256xi32>
    %19 = arith.extsi %18 : tensor<256xi32> to tensor<256xi64>
    %20 = tile.splat %arg2 : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>>
    %21 = tile.addptr %20, %19 : tensor<256x!tile.ptr<i32>>, tensor<256xi64>
    tile.store %21, %cst_1 : tensor<256x!tile.ptr<i32>>
    %22 = tile.range 0, 127 : tensor<127xi32>
    %23 = tile.expand_dims %22 {axis = 1 : i32} : tensor<127xi32> -> tensor<127x1xi32>
    %24 = tile.broadcast %23 : tensor<127x1xi32> -> tensor<127x2xi32>
    %25 = tile.splat %arg4 : i32 -> tensor<127x2xi32>
    %26 = arith.muli %24, %25 : tensor<127x2xi32>
    %27 = tile.range 0, 2 : tensor<2xi32>
    %28 = tile.expand_dims %27 {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %29 = tile.broadcast %28 : tensor<1x2xi32> -> tensor<127x2xi32>
    %30 = arith.addi %26, %29 : tensor<127x2xi32>
    %31 = tile.splat %arg3 : !tile.ptr<i16> -> tensor<127x2x!tile.ptr<i16>>
    %32 = tile.addptr %31, %30 : tensor<127x2x!tile.ptr<i16>>, tensor<127x2xi32>
    tile.store %32, %7 : tensor<127x2x!tile.ptr<i16>>
    return
  }
}
