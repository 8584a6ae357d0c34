// RUN: nereid-fuzz --replay %s --executor=cpu,x86-64,x86-64-v3
// RUN: mkdir -p %t && nereid-fuzz --replay %s --executor=sm_90a:4 --save %t
// REQUIRES: nereid-fuzz
// Every second element is shifted out of its type, beside one that is not: 0, or the sign; its neighbour in the word stays.
module {
  func.func @k(%arg0: !tile.ptr<i32> {fuzz.count = 512 : i64, fuzz.fill = "whole", tile.divisibility = 16 : i32}, %arg1: !tile.ptr<i8> {fuzz.count = 512 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg2: !tile.ptr<i8> {fuzz.count = 512 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg3: !tile.ptr<i16> {fuzz.count = 512 : i64, fuzz.output, tile.divisibility = 16 : i32}, %arg4: !tile.ptr<i64> {fuzz.count = 512 : i64, fuzz.output, tile.divisibility = 16 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 1 : i64, tile.kernel} {
    %i = tile.range 0, 512 : tensor<512xi32>
    %one = arith.constant dense<1> : tensor<512xi32>
    %five = arith.constant dense<5> : tensor<512xi32>
    %wide = arith.constant dense<32> : tensor<512xi32>
    %bit = arith.andi %i, %one : tensor<512xi32>
    %much = arith.muli %bit, %wide : tensor<512xi32>
    %little = arith.shrui %i, %five : tensor<512xi32>
    %by = arith.addi %much, %little : tensor<512xi32>
    %by8 = arith.trunci %by : tensor<512xi32> to tensor<512xi8>
    %by16 = arith.trunci %by : tensor<512xi32> to tensor<512xi16>
    %far = arith.constant dense<4294967296> : tensor<512xi64>
    %by64s = arith.extui %by : tensor<512xi32> to tensor<512xi64>
    %by64m = arith.muli %by64s, %far : tensor<512xi64>
    %by64 = arith.ori %by64s, %by64m : tensor<512xi64>
    %xs = tile.splat %arg0 : !tile.ptr<i32> -> tensor<512x!tile.ptr<i32>>
    %xp = tile.addptr %xs, %i : tensor<512x!tile.ptr<i32>>, tensor<512xi32>
    %x = tile.load %xp : tensor<512x!tile.ptr<i32>>
    %left = arith.shli %x, %by : tensor<512xi32>
    %left8 = arith.trunci %left : tensor<512xi32> to tensor<512xi8>
    %x8 = arith.trunci %x : tensor<512xi32> to tensor<512xi8>
    %signed8 = arith.shrsi %x8, %by8 : tensor<512xi8>
    %x16 = arith.trunci %x : tensor<512xi32> to tensor<512xi16>
    %right16 = arith.shrui %x16, %by16 : tensor<512xi16>
    %x64 = arith.extsi %x : tensor<512xi32> to tensor<512xi64>
    %left64 = arith.shli %x64, %by64 : tensor<512xi64>
    %signed64 = arith.shrsi %x64, %by64s : tensor<512xi64>
    %both64 = arith.addi %left64, %signed64 : tensor<512xi64>
    %ys = tile.splat %arg1 : !tile.ptr<i8> -> tensor<512x!tile.ptr<i8>>
    %yp = tile.addptr %ys, %i : tensor<512x!tile.ptr<i8>>, tensor<512xi32>
    tile.store %yp, %left8 : tensor<512x!tile.ptr<i8>>
    %zs = tile.splat %arg2 : !tile.ptr<i8> -> tensor<512x!tile.ptr<i8>>
    %zp = tile.addptr %zs, %i : tensor<512x!tile.ptr<i8>>, tensor<512xi32>
    tile.store %zp, %signed8 : tensor<512x!tile.ptr<i8>>
    %us = tile.splat %arg3 : !tile.ptr<i16> -> tensor<512x!tile.ptr<i16>>
    %up = tile.addptr %us, %i : tensor<512x!tile.ptr<i16>>, tensor<512xi32>
    tile.store %up, %right16 : tensor<512x!tile.ptr<i16>>
    %vs = tile.splat %arg4 : !tile.ptr<i64> -> tensor<512x!tile.ptr<i64>>
    %vp = tile.addptr %vs, %i : tensor<512x!tile.ptr<i64>>, tensor<512xi32>
    tile.store %vp, %both64 : tensor<512x!tile.ptr<i64>>
    return
  }
}
