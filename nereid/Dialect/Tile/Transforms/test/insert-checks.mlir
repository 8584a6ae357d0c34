// Checks before accesses, and the parameter an address derives from.
// RUN: nereid-opt %s --tile-insert-checks="bounds=1 nan=1" | FileCheck %s
// RUN: nereid-opt %s --tile-insert-checks="nan=1" | FileCheck %s --check-prefix=NAN

// CHECK-LABEL: func.func @accesses
// CHECK-SAME: %[[X:.*]]: !tile.ptr<f32>, %[[Y:.*]]: !tile.ptr<f32>
// NAN-LABEL: func.func @accesses
func.func @accesses(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %m: tensor<4xi1>) {
  %i = tile.range 0, 4 : tensor<4xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  // CHECK: %[[P:.*]] = tile.addptr
  // CHECK-NEXT: tile.check_bounds "load" %[[P]], %{{.*}} {parameter = 1 : i32}
  // CHECK-NEXT: %[[V:.*]] = tile.load %[[P]]
  // NAN-NOT: tile.check_bounds
  %v = tile.load %yp, %m : tensor<4x!tile.ptr<f32>>
  // CHECK-NEXT: tile.check_bounds "store" %[[P]] {parameter = 1 : i32}
  // CHECK-NEXT: tile.check_nan "store" %[[V]]
  // CHECK-NEXT: tile.store
  // NAN: tile.check_nan "store"
  tile.store %yp, %v : tensor<4x!tile.ptr<f32>>
  %one = arith.constant 1.0 : f32
  // CHECK: tile.check_bounds "atomic" %[[X]] {parameter = 0 : i32}
  // CHECK-NEXT: tile.atomic_rmw
  %old = tile.atomic_rmw fadd, acq_rel, gpu, %x, %one : !tile.ptr<f32>
  return
}

// Through a loop that carries the pointer and a branch that picks it.
// CHECK-LABEL: func.func @carried
// CHECK: tile.check_bounds "load" %{{.*}} {parameter = 2 : i32}
func.func @carried(%n: i32, %c: i1, %p: !tile.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (!tile.ptr<i32>) : i32 {
    %next = scf.if %c -> !tile.ptr<i32> {
      %a = tile.addptr %q, %c1 : !tile.ptr<i32>, i32
      scf.yield %a : !tile.ptr<i32>
    } else {
      scf.yield %q : !tile.ptr<i32>
    }
    scf.yield %next : !tile.ptr<i32>
  }
  %x = tile.load %r : !tile.ptr<i32>
  return %x : i32
}

// Two parameters, or an address that was computed: none can be named. (-1 is
// the default and not printed.)
// CHECK-LABEL: func.func @unknown
// CHECK: tile.check_bounds "load" %{{[a-z0-9]+}} : !tile.ptr<f32>
// CHECK: tile.check_bounds "load" %{{[a-z0-9]+}} : !tile.ptr<f32>
// CHECK-NOT: parameter
func.func @unknown(%c: i1, %p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %i: i64) {
  %either = arith.select %c, %p, %q : !tile.ptr<f32>
  %x = tile.load %either : !tile.ptr<f32>
  %made = tile.int_to_ptr %i : i64 -> !tile.ptr<f32>
  %y = tile.load %made : !tile.ptr<f32>
  return
}
