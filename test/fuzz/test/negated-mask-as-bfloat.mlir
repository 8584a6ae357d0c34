// RUN: nereid-fuzz --replay %s --executor=cpu
// RUN: mkdir -p %t && nereid-fuzz --replay %s --executor=sm_90a:4 --save %t
// RUN: FileCheck %s --input-file %t/negated-mask-as-bfloat.ptx
// REQUIRES: nereid-fuzz
// LLVM's back end for GPUs took true for 1 (seed 7000077, shortened by hand).
// CHECK: selp.b16 {{%rs[0-9]+}}, 0xBF80,
// CHECK-NOT: cvt.rn.bf16
module {
  func.func @k(%y: !tile.ptr<bf16> {fuzz.count = 40 : i64, fuzz.output}, %n: i32 {fuzz.value = 24 : i32}) attributes {fuzz.grid = array<i32: 1, 1, 1>, fuzz.seed = 7000077 : i64, tile.kernel} {
    %i = tile.range 0, 40 : tensor<40xi32>
    %bound = tile.splat %n : i32 -> tensor<40xi32>
    %below = arith.cmpi slt, %i, %bound : tensor<40xi32>
    %last = arith.constant dense<39> : tensor<40xi32>
    %isLast = arith.cmpi eq, %i, %last : tensor<40xi32>
    %mask = arith.ori %below, %isLast : tensor<40xi1>
    %value = arith.sitofp %mask : tensor<40xi1> to tensor<40xbf16>
    %base = tile.splat %y : !tile.ptr<bf16> -> tensor<40x!tile.ptr<bf16>>
    %at = tile.addptr %base, %i : tensor<40x!tile.ptr<bf16>>, tensor<40xi32>
    tile.store %at, %value : tensor<40x!tile.ptr<bf16>>
    return
  }
}
