// RUN: nereid-opt %s --tile-insert-relax | FileCheck %s

// The condition is what the loop reads: it waits.
// CHECK-LABEL: func.func @lock
// CHECK: } do {
// CHECK-NEXT: tile.relax
func.func @lock(%lock: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.while : () -> () {
    %old = tile.atomic_cas acq_rel, gpu, %lock, %zero, %one : !tile.ptr<i32>
    %taken = arith.cmpi eq, %old, %one : i32
    scf.condition(%taken)
  } do {
    scf.yield
  }
  return
}

// A flag that is carried from the body waits as well.
// CHECK-LABEL: func.func @carried
// CHECK: tile.relax
// CHECK-NEXT: scf.yield
func.func @carried(%flag: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %r = scf.while (%seen = %zero) : (i32) -> i32 {
    %again = arith.cmpi eq, %seen, %zero : i32
    scf.condition(%again) %seen : i32
  } do {
  ^bb0(%ignored: i32):
    %now = tile.load %flag {isVolatile} : !tile.ptr<i32>
    scf.yield %now : i32
  }
  return
}

// Reading memory alone is no waiting.
// CHECK-LABEL: func.func @counted
// CHECK-NOT: tile.relax
func.func @counted(%p: !tile.ptr<i32>, %n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%i = %zero, %sum = %zero) : (i32, i32) -> (i32, i32) {
    %again = arith.cmpi slt, %i, %n : i32
    scf.condition(%again) %i, %sum : i32, i32
  } do {
  ^bb0(%i: i32, %sum: i32):
    %q = tile.addptr %p, %i : !tile.ptr<i32>, i32
    %x = tile.load %q : !tile.ptr<i32>
    %next = arith.addi %sum, %x : i32
    %j = arith.addi %i, %one : i32
    scf.yield %j, %next : i32, i32
  }
  return %r#1 : i32
}
