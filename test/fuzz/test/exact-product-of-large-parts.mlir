// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: env NEREID_CUDA_DRIVER=simulator NEREID_SIMULATOR=early,races nereid-fuzz --replay %s --executor=cuda:4
// REQUIRES: nereid-fuzz
// The product is zero, and the sums of its halves are +-32768: a GPU's product,
// which begins with the other addend, rounds that at their size (seed 3515906).
module {
  func.func @k(%arg0: !tile.ptr<f32> {fuzz.count = 32 : i64, fuzz.fill = "normal"}, %arg1: !tile.ptr<f32> {fuzz.count = 512 : i64, fuzz.output}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 3515906 : i64, tile.kernel} {
    %ones = arith.constant dense<1.000000e+00> : tensor<32x32xf16>
    %high = arith.constant dense<2.048000e+03> : tensor<16x32xf16>
    %low = arith.constant dense<-2.048000e+03> : tensor<16x32xf16>
    %half = arith.constant dense<16> : tensor<16x32xi32>
    %width = arith.constant dense<32> : tensor<16x32xi32>
    %zero = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %0 = tile.range 0, 32 : tensor<32xi32>
    %1 = tile.expand_dims %0 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %column = tile.broadcast %1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %isFirst = arith.cmpi slt, %column, %half : tensor<16x32xi32>
    %a = arith.select %isFirst, %high, %low : tensor<16x32xi1>, tensor<16x32xf16>
    %2 = tile.splat %arg0 : !tile.ptr<f32> -> tensor<16x32x!tile.ptr<f32>>
    %3 = tile.addptr %2, %column : tensor<16x32x!tile.ptr<f32>>, tensor<16x32xi32>
    %c = tile.load %3 : tensor<16x32x!tile.ptr<f32>>
    %product = tile.dot %a, %ones, %zero : tensor<16x32xf16>, tensor<32x32xf16>, tensor<16x32xf32>
    %sum = arith.addf %c, %product : tensor<16x32xf32>
    %4 = tile.range 0, 16 : tensor<16xi32>
    %5 = tile.expand_dims %4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %6 = tile.broadcast %5 : tensor<16x1xi32> -> tensor<16x32xi32>
    %7 = arith.muli %6, %width : tensor<16x32xi32>
    %8 = arith.addi %7, %column : tensor<16x32xi32>
    %9 = tile.splat %arg1 : !tile.ptr<f32> -> tensor<16x32x!tile.ptr<f32>>
    %10 = tile.addptr %9, %8 : tensor<16x32x!tile.ptr<f32>>, tensor<16x32xi32>
    tile.store %10, %sum : tensor<16x32x!tile.ptr<f32>>
    return
  }
}
