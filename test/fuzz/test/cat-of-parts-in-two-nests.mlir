// RUN: nereid-fuzz --replay %s --executor=cpu,x86-64
// REQUIRES: nereid-fuzz
// The two parts of a concatenation are written in two nests: both keep their sources alive.
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 6 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg1: !tile.ptr<i8> {fuzz.count = 2652 : i64, fuzz.fill = "normal", fuzz.output, tile.divisibility = 16 : i32}, %arg2: !tile.ptr<i32> {fuzz.count = 2850 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 764 : i64, tile.kernel} {
    %cst = arith.constant dense<14> : tensor<13x34xi64>
    %cst_0 = arith.constant dense<34> : tensor<13x34xi64>
    %cst_1 = arith.constant dense<1369235862> : tensor<13x34xi32>
    %c475_i32 = arith.constant 475 : i32
    %c442_i32 = arith.constant 442 : i32
    %c3_i32 = arith.constant 3 : i32
    %0 = tile.program_id 0
    %1 = tile.program_id 1
    %2 = tile.program_id 2
    %3 = arith.addi %2, %1 : i32
    %4 = arith.muli %3, %c3_i32 : i32
    %5 = arith.addi %4, %0 : i32
    %6 = tile.ptr_to_int %arg0 : !tile.ptr<i32> -> i64
    %7 = tile.int_to_ptr %6 : i64 -> !tile.ptr<i32>
    %8 = tile.addptr %7, %5 : !tile.ptr<i32>, i32
    %9 = tile.load %8 : !tile.ptr<i32>
    %10 = tile.range 0, 13 : tensor<13xi32>
    %11 = tile.expand_dims %10 {axis = 1 : i32} : tensor<13xi32> -> tensor<13x1xi32>
    %12 = tile.expand_dims %11 {axis = 2 : i32} : tensor<13x1xi32> -> tensor<13x1x1xi32>
    %13 = tile.broadcast %12 : tensor<13x1x1xi32> -> tensor<13x32x1xi32>
    %14 = arith.trunci %13 : tensor<13x32x1xi32> to tensor<13x32x1xi8>
    %15 = "tile.reduce"(%14) <{axis = 2 : i32}> ({
    ^bb0(%arg3: i8, %arg4: i8):
      %51 = arith.minsi %arg3, %arg4 : i8
      tile.yield %51 : i8
    }) : (tensor<13x32x1xi8>) -> tensor<13x32xi8>
    %16 = arith.trunci %9 : i32 to i8
    %17 = tile.splat %16 : i8 -> tensor<13x2xi8>
    %18 = tile.cat %15, %17 {axis = 1 : i32} : tensor<13x32xi8>, tensor<13x2xi8> -> tensor<13x34xi8>
    %19 = arith.muli %5, %c442_i32 : i32
    %20 = tile.range 0, 13 : tensor<13xi32>
    %21 = arith.extsi %20 : tensor<13xi32> to tensor<13xi64>
    %22 = tile.expand_dims %21 {axis = 1 : i32} : tensor<13xi64> -> tensor<13x1xi64>
    %23 = tile.broadcast %22 : tensor<13x1xi64> -> tensor<13x34xi64>
    %24 = arith.muli %23, %cst_0 : tensor<13x34xi64>
    %25 = tile.range 0, 34 : tensor<34xi32>
    %26 = arith.extsi %25 : tensor<34xi32> to tensor<34xi64>
    %27 = tile.expand_dims %26 {axis = 0 : i32} : tensor<34xi64> -> tensor<1x34xi64>
    %28 = tile.broadcast %27 : tensor<1x34xi64> -> tensor<13x34xi64>
    %29 = arith.addi %24, %28 : tensor<13x34xi64>
    %30 = tile.splat %arg1 : !tile.ptr<i8> -> tensor<13x34x!tile.ptr<i8>>
    %31 = tile.addptr %30, %29 : tensor<13x34x!tile.ptr<i8>>, tensor<13x34xi64>
    %32 = tile.splat %19 : i32 -> tensor<13x34xi32>
    %33 = tile.addptr %31, %32 : tensor<13x34x!tile.ptr<i8>>, tensor<13x34xi32>
    %34 = arith.muli %5, %c475_i32 : i32
    %35 = tile.range 0, 13 : tensor<13xi32>
    %36 = arith.extsi %35 : tensor<13xi32> to tensor<13xi64>
    %37 = tile.expand_dims %36 {axis = 1 : i32} : tensor<13xi64> -> tensor<13x1xi64>
    %38 = tile.broadcast %37 : tensor<13x1xi64> -> tensor<13x34xi64>
    %39 = tile.range 0, 34 : tensor<34xi32>
    %40 = arith.extsi %39 : tensor<34xi32> to tensor<34xi64>
    %41 = tile.hint %40 {divisibility = array<i64: 16>} : tensor<34xi64>
    %42 = tile.expand_dims %41 {axis = 0 : i32} : tensor<34xi64> -> tensor<1x34xi64>
    %43 = tile.broadcast %42 : tensor<1x34xi64> -> tensor<13x34xi64>
    %44 = arith.muli %43, %cst : tensor<13x34xi64>
    %45 = arith.addi %38, %44 : tensor<13x34xi64>
    %46 = tile.addptr %arg2, %34 : !tile.ptr<i32>, i32
    %47 = tile.splat %46 : !tile.ptr<i32> -> tensor<13x34x!tile.ptr<i32>>
    %48 = tile.addptr %47, %45 : tensor<13x34x!tile.ptr<i32>>, tensor<13x34xi64>
    %49 = tile.load %48 {isVolatile} : tensor<13x34x!tile.ptr<i32>>
    %50 = arith.cmpi slt, %49, %cst_1 : tensor<13x34xi32>
    tile.store %33, %18, %50 : tensor<13x34x!tile.ptr<i8>>
    return
  }
}
