// Arithmetic moves to the smaller thing; decided comparisons are constants.
// RUN: nereid-opt %s --tile-simplify | FileCheck %s

// CHECK-LABEL: func.func @splats
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK: %[[P:.*]] = arith.mulf %[[S]], %[[TWO]] : f32
// CHECK: tile.splat %[[P]] : f32 -> tensor<4x8xf32>
func.func @splats(%a: f32, %b: f32) -> tensor<4x8xf32> {
  %x = tile.splat %a : f32 -> tensor<4x8xf32>
  %y = tile.splat %b : f32 -> tensor<4x8xf32>
  %two = arith.constant dense<2.0> : tensor<4x8xf32>
  %s = arith.addf %x, %y : tensor<4x8xf32>
  %p = arith.mulf %s, %two : tensor<4x8xf32>
  return %p : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @broadcasts
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[S:.*]]: f32
// CHECK: %[[C:.*]] = tile.splat %[[S]] : f32 -> tensor<4xf32>
// CHECK: %[[D:.*]] = arith.divf %[[A]], %[[C]] : tensor<4xf32>
// CHECK: %[[E:.*]] = tile.expand_dims %[[D]] {axis = 1 : i32}
// CHECK: %[[B:.*]] = tile.broadcast %[[E]] : tensor<4x1xf32> -> tensor<4x64xf32>
// CHECK: return %[[B]]
func.func @broadcasts(%a: tensor<4xf32>, %s: f32) -> tensor<4x64xf32> {
  %e = tile.expand_dims %a {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  %b = tile.broadcast %e : tensor<4x1xf32> -> tensor<4x64xf32>
  %c = tile.splat %s : f32 -> tensor<4x64xf32>
  %d = arith.divf %b, %c : tensor<4x64xf32>
  return %d : tensor<4x64xf32>
}

// Copies that grow along different dimensions must meet at full size.
// CHECK-LABEL: func.func @crossed
// CHECK: arith.addi {{.*}} : tensor<4x8xi32>
func.func @crossed(%a: tensor<4x1xi32>, %b: tensor<1x8xi32>) -> tensor<4x8xi32> {
  %x = tile.broadcast %a : tensor<4x1xi32> -> tensor<4x8xi32>
  %y = tile.broadcast %b : tensor<1x8xi32> -> tensor<4x8xi32>
  %s = arith.addi %x, %y : tensor<4x8xi32>
  return %s : tensor<4x8xi32>
}

// The uniform part of an address reaches the scalar base.
// CHECK-LABEL: func.func @address
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>, %[[X:.*]]: tensor<8xi32>, %[[O:.*]]: i64
// CHECK: %[[Q:.*]] = tile.addptr %[[P]], %[[O]] : !tile.ptr<f32>, i64
// CHECK: %[[S:.*]] = tile.splat %[[Q]]
// CHECK: %[[R:.*]] = tile.addptr %[[S]], %[[X]]
// CHECK: return %[[R]]
func.func @address(%p: !tile.ptr<f32>, %x: tensor<8xi32>, %o: i64) -> tensor<8x!tile.ptr<f32>> {
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %q = tile.addptr %s, %x : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %os = tile.splat %o : i64 -> tensor<8xi64>
  %r = tile.addptr %q, %os : tensor<8x!tile.ptr<f32>>, tensor<8xi64>
  return %r : tensor<8x!tile.ptr<f32>>
}

// Two uniform offsets of different widths do not chase each other.
// CHECK-LABEL: func.func @two_offsets
// CHECK-COUNT-2: tile.addptr {{.*}} : !tile.ptr<f32>
// CHECK-NOT: tile.addptr
func.func @two_offsets(%p: !tile.ptr<f32>, %a: i32, %b: i64) -> tensor<8x!tile.ptr<f32>> {
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %as = tile.splat %a : i32 -> tensor<8xi32>
  %bs = tile.splat %b : i64 -> tensor<8xi64>
  %q = tile.addptr %s, %as : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %r = tile.addptr %q, %bs : tensor<8x!tile.ptr<f32>>, tensor<8xi64>
  return %r : tensor<8x!tile.ptr<f32>>
}

// A mask over the whole block that is always true leaves the access.
// CHECK-LABEL: func.func @full_mask
// CHECK: tile.load %{{[a-z0-9]+}} : tensor<8x!tile.ptr<f32>>
func.func @full_mask(%p: tensor<8x!tile.ptr<f32>>) -> tensor<8xf32> {
  %i = tile.range 0, 8 : tensor<8xi32>
  %c2 = arith.constant dense<2> : tensor<8xi32>
  %c15 = arith.constant dense<15> : tensor<8xi32>
  %d = arith.muli %i, %c2 : tensor<8xi32>
  %m = arith.cmpi ult, %d, %c15 : tensor<8xi32>
  %x = tile.load %p, %m : tensor<8x!tile.ptr<f32>>
  return %x : tensor<8xf32>
}

// Where elements differ, or a sum may wrap, nothing is decided.
// CHECK-LABEL: func.func @undecided
// CHECK: arith.cmpi slt
// CHECK: arith.cmpi slt
func.func @undecided() -> (tensor<8xi1>, tensor<8xi1>) {
  %i = tile.range 0, 8 : tensor<8xi32>
  %c7 = arith.constant dense<7> : tensor<8xi32>
  %m = arith.cmpi slt, %i, %c7 : tensor<8xi32>
  %big = arith.constant dense<2147483645> : tensor<8xi32>
  %w = arith.addi %i, %big : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %n = arith.cmpi slt, %w, %zero : tensor<8xi32>
  return %m, %n : tensor<8xi1>, tensor<8xi1>
}

// exp gives one result for both zeros, so that 0 - x is as good as -x.
// CHECK-LABEL: func.func @negated_argument
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[N:.*]] = arith.negf %[[X]] : tensor<4xf32>
// CHECK: %[[E:.*]] = math.exp %[[N]] fastmath<afn>
// CHECK: %[[M:.*]] = arith.negf %[[X]] : tensor<4xf32>
// CHECK: math.exp2 %[[M]]
func.func @negated_argument(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %d = arith.subf %zero, %x : tensor<4xf32>
  %e = math.exp %d fastmath<afn> : tensor<4xf32>
  %f = math.exp2 %d : tensor<4xf32>
  return %e, %f : tensor<4xf32>, tensor<4xf32>
}

// Nothing else forgets which zero it got.
// CHECK-LABEL: func.func @negated_factor
// CHECK: arith.subf
func.func @negated_factor(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %d = arith.subf %zero, %x : tensor<4xf32>
  %p = arith.mulf %d, %y : tensor<4xf32>
  return %p : tensor<4xf32>
}
