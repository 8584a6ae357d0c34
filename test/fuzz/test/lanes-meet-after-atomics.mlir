// RUN: nereid-fuzz --replay %s --executor=cpu
// REQUIRES: nereid-fuzz
// One lane of a warp is in a loop of compare and swap, and shuffles follow: on
// GPUs ptxas took the lanes to be together (seed 2003991 on 1 warp).
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 256 : i64, fuzz.fill = "positive"}, %arg1: i32 {fuzz.value = 12 : i32}, %arg2: !tile.ptr<f32> {fuzz.count = 390 : i64, fuzz.fill = "whole", fuzz.output, tile.divisibility = 16 : i32}, %arg3: !tile.ptr<i32> {fuzz.count = 2466 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg4: i32 {fuzz.value = 13 : i32}, %arg5: !tile.ptr<f32> {fuzz.count = 390 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg6: i32 {fuzz.value = 5 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 2003991 : i64, tile.kernel} {
    %cst = arith.constant dense<1> : tensor<5xi32>
    %cst_0 = arith.constant dense<-3.000000e+00> : tensor<5x13xf32>
    %0 = tile.splat %arg0 : !tile.ptr<i32> -> tensor<8x32x1x!tile.ptr<i32>>
    %1 = tile.load %0 : tensor<8x32x1x!tile.ptr<i32>>
    %2 = tile.range 0, 5 : tensor<5xi32>
    %3 = arith.cmpi slt, %2, %cst : tensor<5xi32>
    %4 = tile.expand_dims %3 {axis = 1 : i32} : tensor<5xi1> -> tensor<5x1xi1>
    %5 = tile.broadcast %4 : tensor<5x1xi1> -> tensor<5x13xi1>
    %6 = tile.range 0, 13 : tensor<13xi32>
    %7 = tile.splat %arg1 : i32 -> tensor<13xi32>
    %8 = arith.cmpi sge, %6, %7 : tensor<13xi32>
    %9 = tile.reshape %8 : tensor<13xi1> -> tensor<1x13xi1>
    %10 = tile.broadcast %9 : tensor<1x13xi1> -> tensor<5x13xi1>
    %11 = arith.andi %5, %10 : tensor<5x13xi1>
    %12 = tile.splat %arg2 : !tile.ptr<f32> -> tensor<5x13x!tile.ptr<f32>>
    %13 = tile.atomic_rmw fmin, acq_rel, gpu, %12, %cst_0, %11 : tensor<5x13x!tile.ptr<f32>>
    %14 = tile.ptr_to_int %arg3 : !tile.ptr<i32> -> i64
    %15 = tile.int_to_ptr %14 : i64 -> !tile.ptr<i32>
    %16 = tile.range 0, 8 : tensor<8xi32>
    %17 = tile.expand_dims %16 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %18 = tile.expand_dims %17 {axis = 2 : i32} : tensor<8x1xi32> -> tensor<8x1x1xi32>
    %19 = tile.broadcast %18 : tensor<8x1x1xi32> -> tensor<8x32x1xi32>
    %20 = tile.range 0, 32 : tensor<32xi32>
    %21 = tile.splat %arg4 : i32 -> tensor<32xi32>
    %22 = arith.muli %20, %21 : tensor<32xi32>
    %23 = tile.expand_dims %22 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %24 = tile.expand_dims %23 {axis = 2 : i32} : tensor<1x32xi32> -> tensor<1x32x1xi32>
    %25 = tile.broadcast %24 : tensor<1x32x1xi32> -> tensor<8x32x1xi32>
    %26 = arith.addi %19, %25 : tensor<8x32x1xi32>
    %27 = tile.splat %15 : !tile.ptr<i32> -> tensor<8x32x1x!tile.ptr<i32>>
    %28 = tile.addptr %27, %26 : tensor<8x32x1x!tile.ptr<i32>>, tensor<8x32x1xi32>
    tile.store %28, %1 : tensor<8x32x1x!tile.ptr<i32>>
    %29 = tile.range 0, 5 : tensor<5xi32>
    %30 = tile.expand_dims %29 {axis = 1 : i32} : tensor<5xi32> -> tensor<5x1xi32>
    %31 = tile.broadcast %30 : tensor<5x1xi32> -> tensor<5x13xi32>
    %32 = tile.range 0, 13 : tensor<13xi32>
    %33 = tile.expand_dims %32 {axis = 0 : i32} : tensor<13xi32> -> tensor<1x13xi32>
    %34 = tile.broadcast %33 : tensor<1x13xi32> -> tensor<5x13xi32>
    %35 = tile.splat %arg6 : i32 -> tensor<5x13xi32>
    %36 = arith.muli %34, %35 : tensor<5x13xi32>
    %37 = arith.addi %31, %36 : tensor<5x13xi32>
    %38 = tile.splat %arg5 : !tile.ptr<f32> -> tensor<5x13x!tile.ptr<f32>>
    %39 = tile.addptr %38, %37 : tensor<5x13x!tile.ptr<f32>>, tensor<5x13xi32>
    tile.store %39, %13 : tensor<5x13x!tile.ptr<f32>>
    return
  }
}
