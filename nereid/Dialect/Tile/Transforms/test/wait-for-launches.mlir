// RUN: nereid-opt %s --tile-wait-for-launches --split-input-file | FileCheck %s

// A kernel of launch_pdl that says nothing waits before anything else.
// CHECK-LABEL: func.func @silent
// CHECK-NEXT: tile.grid_dependency wait
// CHECK-NEXT: tile.program_id
func.func @silent(%p: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.program_id 0
  tile.store %p, %i : !tile.ptr<i32>
  return
}

// -----

// One that says what it reads early is left alone, wherever it says it.
// CHECK-LABEL: func.func @says
// CHECK-NEXT: arith.constant
// CHECK-NEXT: scf.if
// CHECK-NEXT: tile.grid_dependency wait
// CHECK-NOT: tile.grid_dependency
func.func @says(%p: !tile.ptr<i32>, %c: i1) attributes {tile.kernel} {
  %one = arith.constant 1 : i32
  scf.if %c {
    tile.grid_dependency wait
  }
  tile.store %p, %one : !tile.ptr<i32>
  return
}
