// Branches of elements become choices, their loops run while any element does.
// RUN: nereid-opt %s --tile-expand-maps | FileCheck %s

// Both sides are computed; the divisor of elements that are elsewhere is 1.
// CHECK-LABEL: func.func @branch
// CHECK-SAME: %[[X:.*]]: tensor<8xi32>, %[[N:.*]]: i32
// CHECK-DAG: %[[D:.*]] = tile.splat %[[N]] : i32 -> tensor<8xi32>
// CHECK: %[[C:.*]] = arith.cmpi sgt
// CHECK: %[[SAFE:.*]] = arith.select %[[C]], %{{.*}}, %{{.*}} : tensor<8xi1>, tensor<8xi32>
// CHECK: %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]]
// CHECK: arith.select %[[C]], %[[Q]], %[[X]]
// CHECK-NOT: tile.map
func.func @branch(%x: tensor<8xi32>, %n: i32) -> tensor<8xi32> {
  %r = "tile.map"(%x) ({
  ^bb0(%a: i32):
    %zero = arith.constant 0 : i32
    %c = arith.cmpi sgt, %n, %zero : i32
    %s = scf.if %c -> i32 {
      %q = arith.divsi %a, %n : i32
      scf.yield %q : i32
    } else {
      scf.yield %a : i32
    }
    tile.yield %s : i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// CHECK-LABEL: func.func @loop
// CHECK: scf.while
// CHECK: %[[LIVE:.*]] = arith.cmpi slt, %{{.*}} : tensor<4x2xi32>
// CHECK: %[[FLAT:.*]] = tile.reshape %[[LIVE]]
// CHECK: %[[ANY:.*]] = "tile.reduce"(%[[FLAT]])
// CHECK: scf.condition(%[[ANY]])
// CHECK: arith.select
func.func @loop(%x: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %r = "tile.map"(%x) ({
  ^bb0(%a: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %s = scf.for %i = %zero to %a step %one iter_args(%sum = %zero) -> i32 : i32 {
      %next = arith.addi %sum, %i : i32
      scf.yield %next : i32
    }
    tile.yield %s : i32
  }) : (tensor<4x2xi32>) -> tensor<4x2xi32>
  return %r : tensor<4x2xi32>
}
