// RUN: nereid-fuzz --replay %s --executor=x86-64-v3
// REQUIRES: nereid-fuzz, avx2
// A part of a masked load's mask is a constant zero, where no lane of the whole mask is known.
module {
  func.func @k(%arg0: !tile.ptr<f8E4M3FN> {fuzz.count = 512 : i64, fuzz.output}, %arg1: !tile.ptr<i32> {fuzz.count = 512 : i64, fuzz.fill = "normal"}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 2778 : i64, tile.kernel} {
    %cst = arith.constant dense<1> : tensor<2xi32>
    %cst_0 = arith.constant dense<2> : tensor<8xi32>
    %cst_1 = arith.constant dense<1> : tensor<8xi32>
    %cst_2 = arith.constant dense<8> : tensor<2x8x8xi32>
    %cst_3 = arith.constant dense<16> : tensor<2x8x8xi32>
    %cst_4 = arith.constant dense<8> : tensor<2xi32>
    %cst_5 = arith.constant dense<10> : tensor<2x8x8xi32>
    %cst_6 = arith.constant dense<0.000000e+00> : tensor<2x8x8xf8E4M3FN>
    %0 = tile.range 0, 2 : tensor<2xi32>
    %1 = arith.muli %0, %cst_4 : tensor<2xi32>
    %2 = tile.reshape %1 : tensor<2xi32> -> tensor<2x1x1xi32>
    %3 = tile.broadcast %2 : tensor<2x1x1xi32> -> tensor<2x8x8xi32>
    %4 = tile.range 0, 8 : tensor<8xi32>
    %5 = tile.reshape %4 : tensor<8xi32> -> tensor<1x8x1xi32>
    %6 = tile.broadcast %5 : tensor<1x8x1xi32> -> tensor<2x8x8xi32>
    %7 = arith.addi %3, %6 : tensor<2x8x8xi32>
    %8 = tile.range 0, 8 : tensor<8xi32>
    %9 = tile.expand_dims %8 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %10 = tile.expand_dims %9 {axis = 1 : i32} : tensor<1x8xi32> -> tensor<1x1x8xi32>
    %11 = tile.broadcast %10 : tensor<1x1x8xi32> -> tensor<2x8x8xi32>
    %12 = arith.muli %11, %cst_3 : tensor<2x8x8xi32>
    %13 = arith.addi %7, %12 : tensor<2x8x8xi32>
    %14 = tile.splat %arg0 : !tile.ptr<f8E4M3FN> -> tensor<2x8x8x!tile.ptr<f8E4M3FN>>
    %15 = tile.addptr %14, %13 : tensor<2x8x8x!tile.ptr<f8E4M3FN>>, tensor<2x8x8xi32>
    %16 = tile.range 0, 8 : tensor<8xi32>
    %17 = tile.expand_dims %16 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %18 = tile.expand_dims %17 {axis = 2 : i32} : tensor<1x8xi32> -> tensor<1x8x1xi32>
    %19 = tile.broadcast %18 : tensor<1x8x1xi32> -> tensor<2x8x8xi32>
    %20 = arith.muli %19, %cst_2 : tensor<2x8x8xi32>
    %21 = tile.range 0, 8 : tensor<8xi32>
    %22 = tile.expand_dims %21 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %23 = tile.expand_dims %22 {axis = 1 : i32} : tensor<1x8xi32> -> tensor<1x1x8xi32>
    %24 = tile.broadcast %23 : tensor<1x1x8xi32> -> tensor<2x8x8xi32>
    %25 = arith.addi %20, %24 : tensor<2x8x8xi32>
    %26 = tile.splat %arg1 : !tile.ptr<i32> -> tensor<2x8x8x!tile.ptr<i32>>
    %27 = tile.addptr %26, %25 : tensor<2x8x8x!tile.ptr<i32>>, tensor<2x8x8xi32>
    %28 = tile.range 0, 2 : tensor<2xi32>
    %29 = arith.cmpi sge, %28, %cst : tensor<2xi32>
    %30 = tile.expand_dims %29 {axis = 1 : i32} : tensor<2xi1> -> tensor<2x1xi1>
    %31 = tile.expand_dims %30 {axis = 2 : i32} : tensor<2x1xi1> -> tensor<2x1x1xi1>
    %32 = tile.broadcast %31 : tensor<2x1x1xi1> -> tensor<2x8x8xi1>
    %33 = tile.range 0, 8 : tensor<8xi32>
    %34 = arith.cmpi slt, %33, %cst_1 : tensor<8xi32>
    %35 = tile.reshape %34 : tensor<8xi1> -> tensor<1x8x1xi1>
    %36 = tile.broadcast %35 : tensor<1x8x1xi1> -> tensor<2x8x8xi1>
    %37 = arith.andi %32, %36 : tensor<2x8x8xi1>
    %38 = tile.range 0, 8 : tensor<8xi32>
    %39 = arith.cmpi sge, %38, %cst_0 : tensor<8xi32>
    %40 = tile.expand_dims %39 {axis = 0 : i32} : tensor<8xi1> -> tensor<1x8xi1>
    %41 = tile.expand_dims %40 {axis = 1 : i32} : tensor<1x8xi1> -> tensor<1x1x8xi1>
    %42 = tile.broadcast %41 : tensor<1x1x8xi1> -> tensor<2x8x8xi1>
    %43 = arith.andi %37, %42 : tensor<2x8x8xi1>
    %44 = tile.load %27, %43 : tensor<2x8x8x!tile.ptr<i32>>
    %45 = arith.cmpi slt, %44, %cst_5 : tensor<2x8x8xi32>
    tile.store %15, %cst_6, %45 : tensor<2x8x8x!tile.ptr<f8E4M3FN>>
    return
  }
}
