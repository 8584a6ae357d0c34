// RUN: nereid-opt %s --tile-count-loops | FileCheck %s

// CHECK-LABEL: func.func @up
// CHECK-SAME: %[[N:.*]]: i32, %[[X:.*]]: f32
// CHECK: %[[R:.*]] = scf.for %[[I:.*]] = %c0_i32 to %[[N]] step %c64_i32 iter_args(%[[S:.*]] = %[[X]]) -> (f32)
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[I]]
// CHECK-NEXT: %[[T:.*]] = arith.addf %[[S]], %[[F]]
// CHECK: scf.yield %[[T]] : f32
// CHECK: return %[[R]]
func.func @up(%n: i32, %x: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %r:2 = scf.while (%s = %x, %i = %c0) : (f32, i32) -> (f32, i32) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %s, %i : f32, i32
  } do {
  ^bb0(%s: f32, %i: i32):
    %f = arith.sitofp %i : i32 to f32
    %t = arith.addf %s, %f : f32
    %next = arith.addi %i, %c64 : i32
    scf.yield %t, %next : f32, i32
  }
  return %r#0 : f32
}

// The bound on the left, included, and a step that stands in the body; the last
// value of the counter is asked for, and the condition swaps the values.
// CHECK-LABEL: func.func @last
// CHECK-SAME: %[[N:.*]]: i32, %[[X:.*]]: f32, %[[A:.*]]: i32
// CHECK: %[[END:.*]] = arith.addi %[[N]], %c1_i32
// CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = %[[A]] to %[[END]] step %c3_i32{{.*}} iter_args(%[[S:.*]] = %[[X]], %{{.*}} = %[[A]])
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %[[I]]
// CHECK: scf.yield %{{.*}}, %[[NEXT]]
// CHECK: return %[[R]]#1, %[[R]]#0
func.func @last(%n: i32, %x: f32, %a: i32) -> (i32, f32) {
  %r:2 = scf.while (%s = %x, %i = %a) : (f32, i32) -> (i32, f32) {
    %more = arith.cmpi sge, %n, %i : i32
    scf.condition(%more) %i, %s : i32, f32
  } do {
  ^bb0(%i: i32, %s: f32):
    %c3 = arith.constant 3 : i32
    %t = arith.addf %s, %s : f32
    %next = arith.addi %c3, %i : i32
    scf.yield %t, %next : f32, i32
  }
  return %r#0, %r#1 : i32, f32
}

// CHECK-LABEL: func.func @down
// CHECK-SAME: %[[N:.*]]: i64, %[[X:.*]]: f32
// CHECK: scf.for %[[O:.*]] = %c0_i64{{.*}} to %[[N]] step %c64_i64{{.*}} iter_args
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[N]], %[[O]]
// CHECK-NEXT: arith.sitofp %[[LEFT]]
func.func @down(%n: i64, %x: f32) -> f32 {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant -64 : i64
  %r:2 = scf.while (%s = %x, %i = %n) : (f32, i64) -> (f32, i64) {
    %more = arith.cmpi sgt, %i, %c0 : i64
    scf.condition(%more) %s, %i : f32, i64
  } do {
  ^bb0(%s: f32, %i: i64):
    %f = arith.sitofp %i : i64 to f32
    %t = arith.addf %s, %f : f32
    %next = arith.addi %i, %c64 : i64
    scf.yield %t, %next : f32, i64
  }
  return %r#0 : f32
}

// The number of programs is positive.
// CHECK-LABEL: func.func @programs
// CHECK: %[[P:.*]] = tile.num_programs
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[P]]
func.func @programs(%n: i32, %x: f32, %a: i32) -> f32 {
  %p = tile.num_programs 0
  %r:2 = scf.while (%s = %x, %i = %a) : (f32, i32) -> (f32, i32) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %s, %i : f32, i32
  } do {
  ^bb0(%s: f32, %i: i32):
    %t = arith.addf %s, %s : f32
    %next = arith.addi %i, %p : i32
    scf.yield %t, %next : f32, i32
  }
  return %r#0 : f32
}

// So many times it, too.
// CHECK-LABEL: func.func @strided
// CHECK: %[[P:.*]] = tile.num_programs
// CHECK: %[[STEP:.*]] = arith.muli %[[P]], %c64
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[STEP]]
func.func @strided(%n: i32, %x: f32, %a: i32) -> f32 {
  %c64 = arith.constant 64 : i32
  %r:2 = scf.while (%s = %x, %i = %a) : (f32, i32) -> (f32, i32) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %s, %i : f32, i32
  } do {
  ^bb0(%s: f32, %i: i32):
    %p = tile.num_programs 0
    %by = arith.muli %p, %c64 : i32
    %t = arith.addf %s, %s : f32
    %next = arith.addi %i, %by : i32
    scf.yield %t, %next : f32, i32
  }
  return %r#0 : f32
}

// Not: a step whose sign is not known, or that goes the other way, a
// bound that changes, a comparison for inequality, a second condition.
// CHECK-LABEL: func.func @step
// CHECK: scf.while
func.func @step(%n: i32, %a: i32, %d: i32) -> i32 {
  %r = scf.while (%i = %a) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %d : i32
    scf.yield %next : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @away
// CHECK: scf.while
func.func @away(%n: i32, %a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %r = scf.while (%i = %a) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.subi %i, %c1 : i32
    scf.yield %next : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @bound
// CHECK: scf.while
func.func @bound(%n: i32, %a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%i = %a, %m = %n) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %i, %m : i32
    scf.condition(%more) %i, %m : i32, i32
  } do {
  ^bb0(%i: i32, %m: i32):
    %next = arith.addi %i, %c1 : i32
    %less = arith.subi %m, %c1 : i32
    scf.yield %next, %less : i32, i32
  }
  return %r#0 : i32
}

// CHECK-LABEL: func.func @unequal
// CHECK: scf.while
func.func @unequal(%n: i32, %a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %r = scf.while (%i = %a) : (i32) -> i32 {
    %more = arith.cmpi ne, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @second
// CHECK: scf.while
func.func @second(%n: i32, %a: i32, %go: i1) -> i32 {
  %c1 = arith.constant 1 : i32
  %r = scf.while (%i = %a) : (i32) -> i32 {
    %less = arith.cmpi slt, %i, %n : i32
    %more = arith.andi %less, %go : i1
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  return %r : i32
}
