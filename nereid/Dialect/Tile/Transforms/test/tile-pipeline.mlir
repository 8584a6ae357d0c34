// A matrix product's inner loop, as kernels write it: afterwards the loop
// carries scalars, and the addresses are a scalar base plus what the loop does
// not change.
// RUN: nereid-opt %s --tile-pipeline | FileCheck %s

// CHECK-LABEL: func.func @matmul
// CHECK-SAME: %[[A:.*]]: !tile.ptr<f32>, %[[B:.*]]: !tile.ptr<f32>
func.func @matmul(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %k: i32, %ldb: i32) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %i = tile.range 0, 16 : tensor<16xi32>
  %j = tile.range 0, 8 : tensor<8xi32>
  %ic = tile.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ir = tile.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %jc = tile.expand_dims %j {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %jr = tile.expand_dims %j {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %ks = tile.splat %k : i32 -> tensor<16x1xi32>
  %ia = arith.muli %ic, %ks : tensor<16x1xi32>
  %ls = tile.splat %ldb : i32 -> tensor<8x1xi32>
  %jb = arith.muli %jc, %ls : tensor<8x1xi32>
  %iaw = tile.broadcast %ia : tensor<16x1xi32> -> tensor<16x8xi32>
  %jrw = tile.broadcast %jr : tensor<1x8xi32> -> tensor<16x8xi32>
  %oa = arith.addi %iaw, %jrw : tensor<16x8xi32>
  %jbw = tile.broadcast %jb : tensor<8x1xi32> -> tensor<8x16xi32>
  %irw = tile.broadcast %ir : tensor<1x16xi32> -> tensor<8x16xi32>
  %ob = arith.addi %jbw, %irw : tensor<8x16xi32>
  %as = tile.splat %a : !tile.ptr<f32> -> tensor<16x8x!tile.ptr<f32>>
  %ap = tile.addptr %as, %oa : tensor<16x8x!tile.ptr<f32>>, tensor<16x8xi32>
  %bs = tile.splat %b : !tile.ptr<f32> -> tensor<8x16x!tile.ptr<f32>>
  %bp = tile.addptr %bs, %ob : tensor<8x16x!tile.ptr<f32>>, tensor<8x16xi32>
  // CHECK: scf.for {{.*}} -> (i64, i64, tensor<16x16xf32>)
  // CHECK: %[[PA:.*]] = tile.addptr %[[A]], %{{.*}} : !tile.ptr<f32>, i64
  // CHECK: %[[SA:.*]] = tile.splat %[[PA]]
  // CHECK: tile.addptr %[[SA]]
  // CHECK-NOT: arith.muli
  // CHECK: tile.dot
  // CHECK: scf.yield
  %r:3 = scf.for %t = %c0 to %k step %c8 iter_args(%p = %ap, %q = %bp, %acc = %zero)
      -> (tensor<16x8x!tile.ptr<f32>>, tensor<8x16x!tile.ptr<f32>>, tensor<16x16xf32>) : i32 {
    %x = tile.load %p : tensor<16x8x!tile.ptr<f32>>
    %y = tile.load %q : tensor<8x16x!tile.ptr<f32>>
    %d = tile.dot %x, %y, %acc : tensor<16x8xf32>, tensor<8x16xf32>, tensor<16x16xf32>
    %eight = arith.constant dense<8> : tensor<16x8xi32>
    %p2 = tile.addptr %p, %eight : tensor<16x8x!tile.ptr<f32>>, tensor<16x8xi32>
    %by = arith.muli %ldb, %c8 : i32
    %bys = tile.splat %by : i32 -> tensor<8x16xi32>
    %q2 = tile.addptr %q, %bys : tensor<8x16x!tile.ptr<f32>>, tensor<8x16xi32>
    scf.yield %p2, %q2, %d : tensor<16x8x!tile.ptr<f32>>, tensor<8x16x!tile.ptr<f32>>, tensor<16x16xf32>
  }
  return %r#2 : tensor<16x16xf32>
}
