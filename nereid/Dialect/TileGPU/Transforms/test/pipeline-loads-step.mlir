// Copies in front of a loop with a run-time step: none where the step is not
// positive, and none for an iteration whose counter would wrap.
// RUN: nereid-opt --split-input-file %s --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-schedule-loops,tilegpu-expand-loops))' | FileCheck %s

// CHECK-LABEL: func.func @narrow
// CHECK-SAME: %[[N:[^:]*]]: i32, %[[M:[^:]*]]: i32, %[[S:[^:]*]]: i32)
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: %[[POSITIVE:.*]] = arith.cmpi slt, %{{.*}}, %[[S]] : i32
// CHECK: %[[BEGINS:.*]] = arith.cmpi slt, %[[N]], %[[M]] : i32
// CHECK: %[[BOTH:.*]] = arith.andi %[[BEGINS]], %[[POSITIVE]] : i1
// CHECK: %[[FIRST:.*]] = arith.andi %{{.*}}, %[[BOTH]] : i1
// CHECK: tilegpu.copy_async {{.*}} if %[[FIRST]]
// CHECK: arith.cmpi slt, %{{.*}}, %[[S]] : i32
// CHECK: arith.andi
// CHECK: %[[SECOND:.*]] = arith.andi
// CHECK: tilegpu.copy_async {{.*}} if %[[SECOND]]
// CHECK: scf.for
// CHECK-NOT: arith.andi
func.func @narrow(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
    %n: i32, %m: i32, %s: i32) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %i = tile.range 0, 64 : tensor<64xi32>
  %r = tile.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %w = arith.constant dense<64> : tensor<64x1xi32>
  %rw = arith.muli %r, %w : tensor<64x1xi32>
  %rb = tile.broadcast %rw : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %c64 = arith.constant 64 : i32
  %sum = scf.for %k = %n to %m step %s iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %k, %c64 : i32
    %xk = tile.addptr %x, %at : !tile.ptr<f16>, i32
    %xp = tile.splat %xk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xq = tile.addptr %xp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %xq : tensor<64x64x!tile.ptr<f16>>
    %yk = tile.addptr %y, %at : !tile.ptr<f16>, i32
    %yp = tile.splat %yk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %yq = tile.addptr %yp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %b = tile.load %yq : tensor<64x64x!tile.ptr<f16>>
    %d = tile.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zq, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}

// -----

// CHECK-LABEL: func.func @unsigned
// CHECK-SAME: %[[N:[^:]*]]: i32, %[[M:[^:]*]]: i32, %[[S:[^:]*]]: i32)
// CHECK: arith.extui %[[N]] : i32 to i64
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i64
// CHECK: arith.cmpi ult, %{{.*}}, %[[S]] : i32
// CHECK: arith.cmpi ult, %[[N]], %[[M]] : i32
// CHECK: scf.for unsigned
func.func @unsigned(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
    %n: i32, %m: i32, %s: i32) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %i = tile.range 0, 64 : tensor<64xi32>
  %r = tile.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %w = arith.constant dense<64> : tensor<64x1xi32>
  %rw = arith.muli %r, %w : tensor<64x1xi32>
  %rb = tile.broadcast %rw : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %c64 = arith.constant 64 : i32
  %sum = scf.for unsigned %k = %n to %m step %s iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %k, %c64 : i32
    %xk = tile.addptr %x, %at : !tile.ptr<f16>, i32
    %xp = tile.splat %xk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xq = tile.addptr %xp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %xq : tensor<64x64x!tile.ptr<f16>>
    %yk = tile.addptr %y, %at : !tile.ptr<f16>, i32
    %yp = tile.splat %yk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %yq = tile.addptr %yp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %b = tile.load %yq : tensor<64x64x!tile.ptr<f16>>
    %d = tile.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zq, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}

// -----

// The sum of 64 bits could wrap: the step is at most half of what is left.
// CHECK-LABEL: func.func @wide
// CHECK-SAME: %[[N:[^:]*]]: i64, %[[M:[^:]*]]: i64, %[[S:[^:]*]]: i64)
// CHECK: scf.for %[[K:.*]] = %[[N]] to %[[M]] step %[[S]]
// CHECK: %[[DISTANCE:.*]] = arith.subi %[[M]], %[[K]] : i64
// CHECK: %[[LEFT:.*]] = arith.subi %[[DISTANCE]], %c1
// CHECK: %[[SHARE:.*]] = arith.divui %[[LEFT]], %c2
// CHECK: %[[MORE:.*]] = arith.cmpi ule, %[[S]], %[[SHARE]] : i64
// CHECK: tilegpu.copy_async {{.*}} if %[[MORE]]
func.func @wide(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %y: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %z: !tile.ptr<f32> {tile.divisibility = 16 : i32},
    %n: i64, %m: i64, %s: i64) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %i = tile.range 0, 64 : tensor<64xi32>
  %r = tile.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %w = arith.constant dense<64> : tensor<64x1xi32>
  %rw = arith.muli %r, %w : tensor<64x1xi32>
  %rb = tile.broadcast %rw : tensor<64x1xi32> -> tensor<64x64xi32>
  %c = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cb = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %c64 = arith.constant 64 : i64
  %sum = scf.for %k = %n to %m step %s iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i64 {
    %at = arith.muli %k, %c64 : i64
    %xk = tile.addptr %x, %at : !tile.ptr<f16>, i64
    %xp = tile.splat %xk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %xq = tile.addptr %xp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %xq : tensor<64x64x!tile.ptr<f16>>
    %yk = tile.addptr %y, %at : !tile.ptr<f16>, i64
    %yp = tile.splat %yk : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %yq = tile.addptr %yp, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %b = tile.load %yq : tensor<64x64x!tile.ptr<f16>>
    %d = tile.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %zp = tile.splat %z : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %zq = tile.addptr %zp, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %zq, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}
