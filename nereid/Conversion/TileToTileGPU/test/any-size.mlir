// 768 elements on 128 threads: vectors of 2, so that the last of four registers
// of 256 elements each is dead in every thread.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" | FileCheck %s
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s --check-prefix=THREAD

// CHECK: tile.load {{.*}}registers = [1, 256, 512], lanes = [2, 4, 8, 16, 32], warps = [64, 128]

// THREAD-LABEL: llvm.func @copy
// THREAD-COUNT-3: nv.load global {{.*}} : i64 -> i32, i32
// THREAD-NOT: nv.load global
// THREAD-COUNT-3: nv.store global {{.*}} : i64, i32, i32
// THREAD-NOT: nv.store global
func.func @copy(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                %y: !tile.ptr<f32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel} {
  %i = tile.range 0, 768 : tensor<768xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<768x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<768x!tile.ptr<f32>>, tensor<768xi32>
  %v = tile.load %q : tensor<768x!tile.ptr<f32>>
  %r = tile.splat %y : !tile.ptr<f32> -> tensor<768x!tile.ptr<f32>>
  %s = tile.addptr %r, %i : tensor<768x!tile.ptr<f32>>, tensor<768xi32>
  tile.store %s, %v : tensor<768x!tile.ptr<f32>>
  return
}
