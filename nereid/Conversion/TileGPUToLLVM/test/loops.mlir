// A loop with a run-time step keeps its mark, and a comparison without sign its
// kind: the conversion to blocks ends such a loop where its counter would wrap.
// RUN: nereid-opt --split-input-file %s --tile-to-tilegpu=target=sm_90 --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @step
// CHECK: scf.for
// CHECK: {nereid.exact}
func.func @step(%z: !tile.ptr<i32>, %n: i32, %s: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %s iter_args(%a = %c0) -> (i32) : i32 {
    %next = arith.addi %a, %c1 : i32
    scf.yield %next : i32
  }
  tile.store %z, %sum : !tile.ptr<i32>
  return
}

// -----

// CHECK-LABEL: llvm.func @unsigned
// CHECK: scf.for unsigned
// CHECK-NOT: nereid.exact
func.func @unsigned(%z: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %sum = scf.for unsigned %i = %c0 to %n step %c64 iter_args(%a = %c0) -> (i32) : i32 {
    %next = arith.addi %a, %c1 : i32
    scf.yield %next : i32
  }
  tile.store %z, %sum : !tile.ptr<i32>
  return
}
