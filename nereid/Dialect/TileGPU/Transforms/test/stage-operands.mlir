// Operands that would fill a thread's registers are read from shared memory: a
// load is copied there, anything else is written. One wait is for all copies of
// a product.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-stage-operands))' | FileCheck %s
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-stage-operands,tilegpu-allocate-shared,tilegpu-insert-barriers))' | FileCheck %s --check-prefix=PLACED
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90a warps=4},func.func(tilegpu-stage-operands))' --remarks-filter='dot operand' -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOLD
// A block of sm_86 has room for one of two.
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_86 warps=4},func.func(tilegpu-stage-operands))' | FileCheck %s --check-prefix=ROOM
// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_86 warps=4},func.func(tilegpu-stage-operands))' --remarks-filter='dot operand' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUSED

// ROOM-LABEL: func.func @copied
// ROOM: %[[LEFT:.*]] = tilegpu.convert_layout
// ROOM: tilegpu.alloc
// ROOM-NOT: tilegpu.alloc
// ROOM: tile.dot %[[LEFT]],
// REFUSED: Chosen="is held in registers", Hint="a smaller block"
// REFUSED-SAME: but a block has 99 KiB of shared memory, and this takes {{[0-9]+}} KiB", Rejected="is read from shared memory step by step"

// CHECK-LABEL: func.func @copied
// CHECK: scf.for
// CHECK: %[[A:.*]] = tilegpu.alloc : <1 x[96, 96] x f64
// CHECK: tilegpu.copy_async %{{.*}}, %[[A]]
// CHECK-NEXT: tilegpu.commit_copies
// CHECK-NOT: tile.load
// CHECK: %[[B:.*]] = tilegpu.alloc : <1 x[96, 96] x f64
// CHECK: tilegpu.copy_async %{{.*}}, %[[B]]
// CHECK-NEXT: tilegpu.commit_copies
// CHECK-NOT: convert_layout
// CHECK: tilegpu.wait_copies 0
// CHECK: %[[LEFT:.*]] = tilegpu.local_load %[[A]]
// CHECK: %[[RIGHT:.*]] = tilegpu.local_load %[[B]]
// CHECK-NEXT: tile.dot %[[LEFT]], %[[RIGHT]],
// CHECK-DAG: tilegpu.free %[[A]]
// CHECK-DAG: tilegpu.free %[[B]]
// CHECK: scf.yield

// The next iteration's copies wait until all have read the buffers.
// PLACED-LABEL: func.func @copied
// PLACED: scf.for
// PLACED: tilegpu.alloc at 0
// PLACED: tilegpu.alloc at 94208
// PLACED: tile.dot
// PLACED: tilegpu.barrier all
// PLACED-NEXT: scf.yield

// TOLD: remark: [Missed] dot operand
// TOLD-SAME: Chosen="is read from shared memory step by step"
// TOLD-SAME: Reason="operands and sums would be 720 of 255 registers of a thread", Rejected="held in registers"
func.func @copied(%x: !tile.ptr<f64> {tile.divisibility = 16 : i32},
                  %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<96x96xf64>
  %i = tile.range 0, 96 : tensor<96xi32>
  %by96 = arith.constant dense<96> : tensor<96xi32>
  %rows = arith.muli %i, %by96 : tensor<96xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<96xi32> -> tensor<96x1xi32>
  %rb = tile.broadcast %r : tensor<96x1xi32> -> tensor<96x96xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<96xi32> -> tensor<1x96xi32>
  %cb = tile.broadcast %c : tensor<1x96xi32> -> tensor<96x96xi32>
  %o = arith.addi %rb, %cb : tensor<96x96xi32>
  %xs = tile.splat %x : !tile.ptr<f64> -> tensor<96x96x!tile.ptr<f64>>
  %xp = tile.addptr %xs, %o : tensor<96x96x!tile.ptr<f64>>, tensor<96x96xi32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<96x96xf64>) : i32 {
    %a = tile.load %xp : tensor<96x96x!tile.ptr<f64>>
    %b = tile.load %xp : tensor<96x96x!tile.ptr<f64>>
    %d = tile.dot %a, %b, %acc : tensor<96x96xf64>, tensor<96x96xf64>, tensor<96x96xf64>
    scf.yield %d : tensor<96x96xf64>
  }
  tile.store %xp, %sum : tensor<96x96x!tile.ptr<f64>>
  return
}

// -----

// The right operand is stored too, and there is a write between the left one's
// load and the product.
// CHECK-LABEL: func.func @written
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[LEFT:.*]] = tilegpu.alloc : <1 x[96, 96] x f64
// CHECK: tilegpu.local_store %[[A]], %[[LEFT]]
// CHECK: %[[B:.*]] = tile.load
// CHECK: %[[RIGHT:.*]] = tilegpu.alloc : <1 x[96, 96] x f64
// CHECK: tilegpu.local_store %[[B]], %[[RIGHT]]
// CHECK: tile.store %{{.*}}, %[[B]]
// CHECK-NOT: tilegpu.wait_copies
// CHECK: tile.dot
func.func @written(%x: !tile.ptr<f64> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<96x96xf64>
  %i = tile.range 0, 96 : tensor<96xi32>
  %by96 = arith.constant dense<96> : tensor<96xi32>
  %rows = arith.muli %i, %by96 : tensor<96xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<96xi32> -> tensor<96x1xi32>
  %rb = tile.broadcast %r : tensor<96x1xi32> -> tensor<96x96xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<96xi32> -> tensor<1x96xi32>
  %cb = tile.broadcast %c : tensor<1x96xi32> -> tensor<96x96xi32>
  %o = arith.addi %rb, %cb : tensor<96x96xi32>
  %xs = tile.splat %x : !tile.ptr<f64> -> tensor<96x96x!tile.ptr<f64>>
  %xp = tile.addptr %xs, %o : tensor<96x96x!tile.ptr<f64>>, tensor<96x96xi32>
  %a = tile.load %xp : tensor<96x96x!tile.ptr<f64>>
  %b = tile.load %xp : tensor<96x96x!tile.ptr<f64>>
  tile.store %xp, %b : tensor<96x96x!tile.ptr<f64>>
  %d = tile.dot %a, %b, %zero : tensor<96x96xf64>, tensor<96x96xf64>, tensor<96x96xf64>
  tile.store %xp, %d : tensor<96x96x!tile.ptr<f64>>
  return
}

// -----

// What a loop does not change is there once, and read in each iteration.
// CHECK-LABEL: func.func @still
// CHECK: %[[A:.*]] = tilegpu.alloc : <1 x[96, 96] x f64
// CHECK: tilegpu.copy_async %{{.*}}, %[[A]]
// CHECK: tilegpu.wait_copies 0
// CHECK-NEXT: scf.for
// CHECK: tilegpu.wait_copies 0
// CHECK: %[[LEFT:.*]] = tilegpu.local_load %[[A]]
// CHECK: tile.dot %[[LEFT]],
// CHECK-NOT: tilegpu.free %[[A]]
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.free %[[A]]
func.func @still(%x: !tile.ptr<f64> {tile.divisibility = 16 : i32},
                 %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<96x96xf64>
  %i = tile.range 0, 96 : tensor<96xi32>
  %by96 = arith.constant dense<96> : tensor<96xi32>
  %rows = arith.muli %i, %by96 : tensor<96xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<96xi32> -> tensor<96x1xi32>
  %rb = tile.broadcast %r : tensor<96x1xi32> -> tensor<96x96xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<96xi32> -> tensor<1x96xi32>
  %cb = tile.broadcast %c : tensor<1x96xi32> -> tensor<96x96xi32>
  %o = arith.addi %rb, %cb : tensor<96x96xi32>
  %xs = tile.splat %x : !tile.ptr<f64> -> tensor<96x96x!tile.ptr<f64>>
  %xp = tile.addptr %xs, %o : tensor<96x96x!tile.ptr<f64>>, tensor<96x96xi32>
  %a = tile.load %xp : tensor<96x96x!tile.ptr<f64>>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<96x96xf64>) : i32 {
    %b = tile.load %xp : tensor<96x96x!tile.ptr<f64>>
    %d = tile.dot %a, %b, %acc : tensor<96x96xf64>, tensor<96x96xf64>, tensor<96x96xf64>
    scf.yield %d : tensor<96x96xf64>
  }
  tile.store %xp, %sum : tensor<96x96x!tile.ptr<f64>>
  return
}

// -----

// What fits into registers stays there.
// CHECK-LABEL: func.func @small
// CHECK-NOT: tilegpu.alloc
// CHECK: tilegpu.convert_layout
// CHECK: tile.dot
func.func @small(%x: !tile.ptr<f64> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<32x32xf64>
  %i = tile.range 0, 32 : tensor<32xi32>
  %by32 = arith.constant dense<32> : tensor<32xi32>
  %rows = arith.muli %i, %by32 : tensor<32xi32>
  %r = tile.expand_dims %rows {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %rb = tile.broadcast %r : tensor<32x1xi32> -> tensor<32x32xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cb = tile.broadcast %c : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %rb, %cb : tensor<32x32xi32>
  %xs = tile.splat %x : !tile.ptr<f64> -> tensor<32x32x!tile.ptr<f64>>
  %xp = tile.addptr %xs, %o : tensor<32x32x!tile.ptr<f64>>, tensor<32x32xi32>
  %a = tile.load %xp : tensor<32x32x!tile.ptr<f64>>
  %d = tile.dot %a, %a, %zero : tensor<32x32xf64>, tensor<32x32xf64>, tensor<32x32xf64>
  tile.store %xp, %d : tensor<32x32x!tile.ptr<f64>>
  return
}
