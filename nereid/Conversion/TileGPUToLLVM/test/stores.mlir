// RUN: nereid-opt --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=1},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm)' %s | FileCheck %s
// RUN: nereid-opt --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=1},func.func(tilegpu-allocate-shared,tilegpu-insert-barriers),tilegpu-to-llvm{streamed-stores=false})' %s | FileCheck %s --check-prefix=CACHED
// CACHED-NOT: no_allocate

// What an element-wise kernel only writes leaves the first-level cache to loads,
// if there are more of them; an array that it loads from too is stored to as
// always.
// CHECK-LABEL: llvm.func @elementwise
// CHECK: nv.load global
// CHECK: nv.store global {{.*}}eviction = #nv<eviction no_allocate>
// CHECK: nv.store global
func.func @elementwise(%x: !tile.ptr<f32>, %w: !tile.ptr<f64>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 32 : tensor<32xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %v = tile.load %q : tensor<32x!tile.ptr<f32>>
  %wp = tile.splat %w : !tile.ptr<f64> -> tensor<32x!tile.ptr<f64>>
  %wq = tile.addptr %wp, %i : tensor<32x!tile.ptr<f64>>, tensor<32xi32>
  %u = tile.load %wq : tensor<32x!tile.ptr<f64>>
  %n = arith.truncf %u : tensor<32xf64> to tensor<32xf32>
  %r = arith.addf %v, %n : tensor<32xf32>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %yq = tile.addptr %yp, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %yq, %r : tensor<32x!tile.ptr<f32>>
  tile.store %q, %r : tensor<32x!tile.ptr<f32>>
  return
}

// -----

// As many bytes as it loads.
// CHECK-LABEL: llvm.func @one_for_one
// CHECK: nv.store global
func.func @one_for_one(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 32 : tensor<32xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %v = tile.load %q : tensor<32x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %yq = tile.addptr %yp, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %yq, %v : tensor<32x!tile.ptr<f32>>
  return
}

// -----

// What the source says of a store stands.
// CHECK-LABEL: llvm.func @said
// CHECK: nv.store global {{.*}}cache = #nv<cache wt>
func.func @said(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 32 : tensor<32xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %v = tile.load %q : tensor<32x!tile.ptr<f32>>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %yq = tile.addptr %yp, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %yq, %v {cache = 6 : i32} : tensor<32x!tile.ptr<f32>>
  return
}

// -----

// CHECK-LABEL: llvm.func @reduces
// CHECK: nv.store global
func.func @reduces(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 32 : tensor<32xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %v = tile.load %q : tensor<32x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  }) : (tensor<32xf32>) -> f32
  %ss = tile.splat %s : f32 -> tensor<32xf32>
  %yp = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %yq = tile.addptr %yp, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %yq, %ss : tensor<32x!tile.ptr<f32>>
  return
}
