// All lanes of a warp at once: integers by one instruction, the best of pairs by
// three where their order is known. What combines to other bits when its operands
// change places is handed out by one lane.
// RUN: nereid-opt %s --split-input-file --tile-to-tilegpu="target=sm_90a warps=1" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s
// RUN: nereid-opt %s --split-input-file --tile-to-tilegpu="target=sm_75 warps=1" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s --check-prefix=OLD

// CHECK-LABEL: llvm.func @integers
// CHECK-NOT: shfl
// CHECK: nvvm.redux.sync add
// CHECK-NOT: shfl
// OLD-LABEL: llvm.func @integers
// OLD-COUNT-5: shfl.sync bfly
func.func @integers(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.range 0, 64 : tensor<64xi32>
  %p = tile.splat %x : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %q = tile.addptr %p, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %v = tile.load %q : tensor<64x!tile.ptr<i32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }) : (tensor<64xi32>) -> i32
  tile.store %y, %s : !tile.ptr<i32>
  return
}

// -----

// CHECK-LABEL: llvm.func @ordered_pairs
// CHECK-NOT: shfl
// CHECK: nvvm.redux.sync max
// CHECK: nvvm.redux.sync min
// CHECK: nvvm.redux.sync or
// CHECK-NOT: shfl
// OLD-LABEL: llvm.func @ordered_pairs
// OLD-COUNT-10: shfl.sync bfly
// OLD-NOT: shfl.sync idx
func.func @ordered_pairs(%x: !tile.ptr<f32>, %y: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.range 0, 64 : tensor<64xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v = tile.load %q : tensor<64x!tile.ptr<f32>>
  %m:2 = "tile.reduce"(%v, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %g = arith.cmpf ogt, %a, %b : f32
    %c = arith.select %g, %a, %b : f32
    %ci = arith.select %g, %ai, %bi : i32
    tile.yield %c, %ci : f32, i32
  }) {tile.pair_order = 0 : i32} : (tensor<64xf32>, tensor<64xi32>) -> (f32, i32)
  tile.store %y, %m#1 : !tile.ptr<i32>
  return
}

// -----

// CHECK-LABEL: llvm.func @other_pairs
// CHECK-COUNT-10: shfl.sync bfly
// CHECK-COUNT-2: shfl.sync idx
// CHECK-NOT: shfl
// OLD-LABEL: llvm.func @other_pairs
func.func @other_pairs(%x: !tile.ptr<f32>, %y: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.range 0, 64 : tensor<64xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v = tile.load %q : tensor<64x!tile.ptr<f32>>
  %m:2 = "tile.reduce"(%v, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %g = arith.cmpf ogt, %a, %b : f32
    %c = arith.select %g, %a, %b : f32
    %ci = arith.select %g, %ai, %bi : i32
    tile.yield %c, %ci : f32, i32
  }) : (tensor<64xf32>, tensor<64xi32>) -> (f32, i32)
  tile.store %y, %m#1 : !tile.ptr<i32>
  return
}
