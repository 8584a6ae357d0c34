// RUN: nereid-fuzz --replay %s --executor=cpu
// REQUIRES: nereid-fuzz
// Rounded to f32 and then to bf16: the oracle allows for both.
module {
  func.func @k(%arg0: !tile.ptr<bf16> {fuzz.count = 130 : i64, fuzz.fill = "normal"}, %arg1: !tile.ptr<bf16> {fuzz.count = 130 : i64, fuzz.output, tile.divisibility = 16 : i32}) attributes {fuzz.grid = array<i32: 2, 1, 1>, fuzz.seed = 201376 : i64, tile.kernel} {
    %cst = arith.constant dense<7.450580e-09> : tensor<5x13xbf16>
    %cst_0 = arith.constant dense<5> : tensor<5x13xi64>
    %c65_i32 = arith.constant 65 : i32
    %0 = tile.program_id 0
    %1 = tile.range 0, 13 : tensor<13xi32>
    %2 = tile.reshape %1 : tensor<13xi32> -> tensor<1x13xi32>
    %3 = tile.broadcast %2 : tensor<1x13xi32> -> tensor<5x13xi32>
    %4 = tile.splat %arg0 : !tile.ptr<bf16> -> tensor<5x13x!tile.ptr<bf16>>
    %5 = tile.addptr %4, %3 : tensor<5x13x!tile.ptr<bf16>>, tensor<5x13xi32>
    %6 = tile.load %5 : tensor<5x13x!tile.ptr<bf16>>
    %7 = math.fma %6, %6, %cst : tensor<5x13xbf16>
    %8 = arith.muli %0, %c65_i32 : i32
    %9 = tile.range 0, 5 : tensor<5xi32>
    %10 = arith.extsi %9 : tensor<5xi32> to tensor<5xi64>
    %11 = tile.reshape %10 : tensor<5xi64> -> tensor<5x1xi64>
    %12 = tile.broadcast %11 : tensor<5x1xi64> -> tensor<5x13xi64>
    %13 = tile.range 0, 13 : tensor<13xi32>
    %14 = arith.extsi %13 : tensor<13xi32> to tensor<13xi64>
    %15 = tile.expand_dims %14 {axis = 0 : i32} : tensor<13xi64> -> tensor<1x13xi64>
    %16 = tile.broadcast %15 : tensor<1x13xi64> -> tensor<5x13xi64>
    %17 = arith.muli %16, %cst_0 : tensor<5x13xi64>
    %18 = arith.addi %12, %17 : tensor<5x13xi64>
    %19 = tile.splat %arg1 : !tile.ptr<bf16> -> tensor<5x13x!tile.ptr<bf16>>
    %20 = tile.addptr %19, %18 : tensor<5x13x!tile.ptr<bf16>>, tensor<5x13xi64>
    %21 = tile.splat %8 : i32 -> tensor<5x13xi32>
    %22 = tile.addptr %20, %21 : tensor<5x13x!tile.ptr<bf16>>, tensor<5x13xi32>
    tile.store %22, %7 : tensor<5x13x!tile.ptr<bf16>>
    return
  }
}
