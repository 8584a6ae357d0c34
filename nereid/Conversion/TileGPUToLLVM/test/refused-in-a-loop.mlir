// An operation that cannot be lowered, whose result its loop carries: the error
// names it, and the loop around it is ended without it.
// RUN: not nereid-opt %s --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm 2>&1 | FileCheck %s

#tile = #tilegpu.layout<registers = [32], lanes = [1, 2, 4, 8, 16], warps = []>
#elsewhere = #tilegpu.layout<registers = [], lanes = [1, 0, 0, 0, 0], warps = []>

// CHECK: a reduction's result lies elsewhere than its sources
func.func @sums(%n: i32)
    attributes {tile.kernel, tilegpu.target = "sm_90", tilegpu.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = arith.constant dense<1.0> : tensor<2x32xf32, #tile>
  %b = arith.constant dense<1.0> : tensor<2xf32, #elsewhere>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %b) -> (tensor<2xf32, #elsewhere>) : i32 {
    %t = "tile.reduce"(%a) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %u = arith.addf %p, %q : f32
      tile.yield %u : f32
    }) : (tensor<2x32xf32, #tile>) -> tensor<2xf32, #elsewhere>
    scf.yield %t : tensor<2xf32, #elsewhere>
  }
  return
}
