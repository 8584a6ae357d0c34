// Blocks that a loop advances uniformly become a scalar and a splat.
// RUN: nereid-opt %s --tile-scalarize-induction | FileCheck %s

// A pointer that walks by a stride: the carried offset is 64 bits wide.
// CHECK-LABEL: func.func @pointer
// CHECK-SAME: %[[P:.*]]: tensor<4x!tile.ptr<f32>>, %[[STRIDE:.*]]: i32, %[[N:.*]]: i32
func.func @pointer(%p: tensor<4x!tile.ptr<f32>>, %stride: i32, %n: i32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %by = tile.splat %stride : i32 -> tensor<4xi32>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK: scf.for {{.*}} iter_args(%[[O:.*]] = %[[ZERO]], %{{.*}} = %{{.*}}) -> (i64, tensor<4xf32>)
  // CHECK-NEXT: %[[S:.*]] = tile.splat %[[O]] : i64 -> tensor<4xi64>
  // CHECK-NEXT: %[[Q:.*]] = tile.addptr %[[P]], %[[S]]
  // CHECK-NEXT: tile.load %[[Q]]
  // CHECK: %[[E:.*]] = arith.extsi %[[STRIDE]] : i32 to i64
  // CHECK: %[[NEXT:.*]] = arith.addi %[[O]], %[[E]] : i64
  // CHECK: scf.yield %[[NEXT]]
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p, %acc = %zero)
      -> (tensor<4x!tile.ptr<f32>>, tensor<4xf32>) : i32 {
    %x = tile.load %q : tensor<4x!tile.ptr<f32>>
    %sum = arith.addf %acc, %x : tensor<4xf32>
    %next = tile.addptr %q, %by : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
    scf.yield %next, %sum : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// Integers stay in their width, where they wrap; the result is seen outside.
// CHECK-LABEL: func.func @integer
// CHECK-SAME: %[[X:.*]]: tensor<4xi8>
func.func @integer(%x: tensor<4xi8>, %n: i32) -> tensor<4xi8> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %by = arith.constant dense<100> : tensor<4xi8>
  // CHECK: %[[R:.*]] = scf.for {{.*}} -> (i8)
  // CHECK: %[[C:.*]] = arith.constant 100 : i8
  // CHECK: arith.subi %{{.*}}, %[[C]] : i8
  // CHECK: %[[S:.*]] = tile.splat %[[R]] : i8 -> tensor<4xi8>
  // CHECK: %[[W:.*]] = arith.addi %[[X]], %[[S]] : tensor<4xi8>
  // CHECK: return %[[W]]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<4xi8>) : i32 {
    %next = arith.subi %v, %by : tensor<4xi8>
    scf.yield %next : tensor<4xi8>
  }
  return %r : tensor<4xi8>
}

// The advance of the outer loop is what the inner one leaves.
// CHECK-LABEL: func.func @nested
// CHECK: scf.for {{.*}} -> (i32)
// CHECK: scf.for {{.*}} -> (i32)
func.func @nested(%x: tensor<4xi32>, %n: i32) -> tensor<4xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %by = tile.splat %n : i32 -> tensor<4xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<4xi32>) : i32 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%w = %v) -> (tensor<4xi32>) : i32 {
      %next = arith.addi %by, %w : tensor<4xi32>
      scf.yield %next : tensor<4xi32>
    }
    scf.yield %s : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// An advance that differs from element to element is left alone.
// CHECK-LABEL: func.func @not_uniform
// CHECK: scf.for {{.*}} -> (tensor<4xi32>)
func.func @not_uniform(%x: tensor<4xi32>, %by: tensor<4xi32>, %n: i32) -> tensor<4xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<4xi32>) : i32 {
    %next = arith.addi %v, %by : tensor<4xi32>
    scf.yield %next : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// Sums of floats are not exact in another order.
// CHECK-LABEL: func.func @floats
// CHECK: scf.for {{.*}} -> (tensor<4xf32>)
func.func @floats(%x: tensor<4xf32>, %d: f32, %n: i32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %by = tile.splat %d : f32 -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<4xf32>) : i32 {
    %next = arith.addf %v, %by : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
