// A line whose uses double with every operation, 2^40 paths to where it is
// broadcast: looked at once a value.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" | FileCheck %s

// CHECK-LABEL: func.func @squares
// CHECK: tile.load {{.*}}tensor<64x!tile.ptr<f32>
// CHECK: return
func.func @squares(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 64 : tensor<64xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v0 = tile.load %q : tensor<64x!tile.ptr<f32>>
  %v1 = arith.mulf %v0, %v0 : tensor<64xf32>
  %v2 = arith.mulf %v1, %v1 : tensor<64xf32>
  %v3 = arith.mulf %v2, %v2 : tensor<64xf32>
  %v4 = arith.mulf %v3, %v3 : tensor<64xf32>
  %v5 = arith.mulf %v4, %v4 : tensor<64xf32>
  %v6 = arith.mulf %v5, %v5 : tensor<64xf32>
  %v7 = arith.mulf %v6, %v6 : tensor<64xf32>
  %v8 = arith.mulf %v7, %v7 : tensor<64xf32>
  %v9 = arith.mulf %v8, %v8 : tensor<64xf32>
  %v10 = arith.mulf %v9, %v9 : tensor<64xf32>
  %v11 = arith.mulf %v10, %v10 : tensor<64xf32>
  %v12 = arith.mulf %v11, %v11 : tensor<64xf32>
  %v13 = arith.mulf %v12, %v12 : tensor<64xf32>
  %v14 = arith.mulf %v13, %v13 : tensor<64xf32>
  %v15 = arith.mulf %v14, %v14 : tensor<64xf32>
  %v16 = arith.mulf %v15, %v15 : tensor<64xf32>
  %v17 = arith.mulf %v16, %v16 : tensor<64xf32>
  %v18 = arith.mulf %v17, %v17 : tensor<64xf32>
  %v19 = arith.mulf %v18, %v18 : tensor<64xf32>
  %v20 = arith.mulf %v19, %v19 : tensor<64xf32>
  %v21 = arith.mulf %v20, %v20 : tensor<64xf32>
  %v22 = arith.mulf %v21, %v21 : tensor<64xf32>
  %v23 = arith.mulf %v22, %v22 : tensor<64xf32>
  %v24 = arith.mulf %v23, %v23 : tensor<64xf32>
  %v25 = arith.mulf %v24, %v24 : tensor<64xf32>
  %v26 = arith.mulf %v25, %v25 : tensor<64xf32>
  %v27 = arith.mulf %v26, %v26 : tensor<64xf32>
  %v28 = arith.mulf %v27, %v27 : tensor<64xf32>
  %v29 = arith.mulf %v28, %v28 : tensor<64xf32>
  %v30 = arith.mulf %v29, %v29 : tensor<64xf32>
  %v31 = arith.mulf %v30, %v30 : tensor<64xf32>
  %v32 = arith.mulf %v31, %v31 : tensor<64xf32>
  %v33 = arith.mulf %v32, %v32 : tensor<64xf32>
  %v34 = arith.mulf %v33, %v33 : tensor<64xf32>
  %v35 = arith.mulf %v34, %v34 : tensor<64xf32>
  %v36 = arith.mulf %v35, %v35 : tensor<64xf32>
  %v37 = arith.mulf %v36, %v36 : tensor<64xf32>
  %v38 = arith.mulf %v37, %v37 : tensor<64xf32>
  %v39 = arith.mulf %v38, %v38 : tensor<64xf32>
  %v40 = arith.mulf %v39, %v39 : tensor<64xf32>
  %e = tile.expand_dims %v40 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
  %b = tile.broadcast %e : tensor<1x64xf32> -> tensor<16x64xf32>
  %j = tile.range 0, 16 : tensor<16xi32>
  %c = arith.constant dense<64> : tensor<16xi32>
  %o = arith.muli %j, %c : tensor<16xi32>
  %f = tile.expand_dims %o {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %g = tile.broadcast %f : tensor<16x1xi32> -> tensor<16x64xi32>
  %h = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k = tile.broadcast %h : tensor<1x64xi32> -> tensor<16x64xi32>
  %l = arith.addi %g, %k : tensor<16x64xi32>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
  %s = tile.addptr %r, %l : tensor<16x64x!tile.ptr<f32>>, tensor<16x64xi32>
  %t = tile.load %s : tensor<16x64x!tile.ptr<f32>>
  %u = arith.addf %t, %b : tensor<16x64xf32>
  tile.store %s, %u : tensor<16x64x!tile.ptr<f32>>
  return
}
