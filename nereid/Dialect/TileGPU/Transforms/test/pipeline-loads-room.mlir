// As many stages as there is room for beside the trips of the loop. Four slots
// of 2 KiB leave 16 bytes for the warps' parts of the sum only in the first
// case; with one byte less than two slots and those, nothing is copied.
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops{shared-limit=8208},tilegpu-expand-loops))' | FileCheck %s --check-prefix=FOUR
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops{shared-limit=8207},tilegpu-expand-loops))' | FileCheck %s --check-prefix=THREE
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops{shared-limit=4111},tilegpu-expand-loops))' | FileCheck %s --check-prefix=NONE
// What is tried and taken back leaves nothing behind.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=4" > %t.before
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops{shared-limit=4111},tilegpu-expand-loops))' > %t.after
// RUN: diff %t.before %t.after

// FOUR: tilegpu.alloc : <4 x[512] x f32
// FOUR: tilegpu.wait_copies 2
// THREE: tilegpu.alloc : <3 x[512] x f32
// THREE-NOT: tilegpu.alloc
// THREE: tilegpu.wait_copies 1
// NONE-NOT: tilegpu.alloc
// NONE: tile.load
func.func @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant 0.0 : f32
  %i = tile.range 0, 512 : tensor<512xi32>
  %xp = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c512 iter_args(%sum = %zero) -> (f32) : i32 {
    %ks = tile.splat %k : i32 -> tensor<512xi32>
    %o = arith.addi %ks, %i : tensor<512xi32>
    %xq = tile.addptr %xp, %o : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %a = tile.load %xq : tensor<512x!tile.ptr<f32>>
    %s = "tile.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tile.yield %t : f32
    }) : (tensor<512xf32>) -> f32
    %next = arith.addf %sum, %s : f32
    scf.yield %next : f32
  } {tile.num_stages = 4 : i32}
  tile.store %y, %r : !tile.ptr<f32>
  return
}
