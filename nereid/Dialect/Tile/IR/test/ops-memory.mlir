// The memory family reads back what it prints, in both forms.
// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --mlir-print-op-generic | nereid-opt | FileCheck %s

// CHECK-LABEL: func.func @pointers
func.func @pointers(%p: !tile.ptr<f32>, %i: i64, %o: i8) {
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : !tile.ptr<f32>, i8
  %q = tile.addptr %p, %o : !tile.ptr<f32>, i8
  // CHECK: tile.int_to_ptr %{{.*}} : i64 -> !tile.ptr<f8E5M2>
  %r = tile.int_to_ptr %i : i64 -> !tile.ptr<f8E5M2>
  // CHECK: tile.ptr_to_int %{{.*}} : !tile.ptr<f32> -> i64
  %j = tile.ptr_to_int %q : !tile.ptr<f32> -> i64
  // CHECK: tile.ptr_cast %{{.*}} : !tile.ptr<f8E5M2> -> !tile.ptr<!tile.ptr<i16>>
  %s = tile.ptr_cast %r : !tile.ptr<f8E5M2> -> !tile.ptr<!tile.ptr<i16>>
  return
}

// CHECK-LABEL: func.func @accesses
func.func @accesses(%p: tensor<8x!tile.ptr<f16>>, %m: tensor<8xi1>, %o: tensor<8xf16>, %q: !tile.ptr<i64>) {
  // CHECK: tile.load %{{[a-z0-9]+}} : tensor<8x!tile.ptr<f16>>
  %a = tile.load %p : tensor<8x!tile.ptr<f16>>
  // CHECK: tile.load %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {isVolatile} : tensor<8x!tile.ptr<f16>>
  %b = tile.load %p, %m {isVolatile} : tensor<8x!tile.ptr<f16>>
  // CHECK: tile.load %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {cache = 2 : i32, evict = 1 : i32} : tensor<8x!tile.ptr<f16>>
  %c = tile.load %p, %m, %o {cache = 2 : i32, evict = 1 : i32} : tensor<8x!tile.ptr<f16>>
  // CHECK: tile.load %{{[a-z0-9]+}} : !tile.ptr<i64>
  %d = tile.load %q : !tile.ptr<i64>
  // CHECK: tile.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<8x!tile.ptr<f16>>
  tile.store %p, %c, %m : tensor<8x!tile.ptr<f16>>
  // CHECK: tile.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {evict = 2 : i32} : !tile.ptr<i64>
  tile.store %q, %d {evict = 2 : i32} : !tile.ptr<i64>
  return
}

// CHECK-LABEL: func.func @atomics
func.func @atomics(%p: tensor<8x!tile.ptr<i32>>, %x: tensor<8xi32>, %m: tensor<8xi1>, %q: !tile.ptr<f32>, %f: f32) {
  // CHECK: tile.atomic_rmw umax, relaxed, cta, %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x!tile.ptr<i32>>
  %a = tile.atomic_rmw umax, relaxed, cta, %p, %x, %m : tensor<8x!tile.ptr<i32>>
  // CHECK: tile.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}} : !tile.ptr<f32>
  %b = tile.atomic_rmw fadd, acq_rel, gpu, %q, %f : !tile.ptr<f32>
  // CHECK: tile.atomic_cas release, sys, %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x!tile.ptr<i32>>
  %c = tile.atomic_cas release, sys, %p, %x, %a : tensor<8x!tile.ptr<i32>>
  return
}

// CHECK-LABEL: func.func @conversions
func.func @conversions(%x: tensor<4xf32>, %s: f8E4M3FN) {
  // CHECK: tile.convert_float %{{.*}} : tensor<4xf32> -> tensor<4xf8E5M2>
  %a = tile.convert_float %x : tensor<4xf32> -> tensor<4xf8E5M2>
  // CHECK: tile.convert_float %{{.*}} {rounding = 1 : i32} : tensor<4xf32> -> tensor<4xbf16>
  %b = tile.convert_float %x {rounding = 1 : i32} : tensor<4xf32> -> tensor<4xbf16>
  // CHECK: tile.convert_float %{{.*}} : f8E4M3FN -> f64
  %c = tile.convert_float %s : f8E4M3FN -> f64
  return
}
