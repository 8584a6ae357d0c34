// Floats become integers of every width by one saturating instruction; NaN is
// taken care of where the instruction does not give 0 for it.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=1" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @conversions
// CHECK: nv.float_to_int rzi %{{.*}} : f32 to si8 in i16
// CHECK: nv.float_to_int rzi %{{.*}} : f32 to ui16 in i16
// CHECK: nv.float_to_int rzi %{{.*}} : f32 to si32 in i32
// CHECK-NOT: arith.cmpf
// CHECK: arith.cmpf ord
// CHECK: %[[U64:.*]] = arith.select %{{.*}} : f32
// CHECK: nv.float_to_int rzi %[[U64]] : f32 to ui64 in i64
// CHECK: nv.float_to_int rzi %{{.*}} : f64 to si32 in i32
// CHECK: arith.cmpf ord
// CHECK: arith.select %{{.*}} : i32
// CHECK-NOT: arith.fpto
func.func @conversions(%x8: !tile.ptr<i8>, %x16: !tile.ptr<i16>, %x32: !tile.ptr<i32>, %x64: !tile.ptr<i64>, %a: f32, %d: f64) attributes {tile.kernel} {
  %s8 = arith.fptosi %a : f32 to i8
  tile.store %x8, %s8 : !tile.ptr<i8>
  %u16 = arith.fptoui %a : f32 to i16
  tile.store %x16, %u16 : !tile.ptr<i16>
  %s32 = arith.fptosi %a : f32 to i32
  tile.store %x32, %s32 : !tile.ptr<i32>
  %u64 = arith.fptoui %a : f32 to i64
  tile.store %x64, %u64 : !tile.ptr<i64>
  %sd = arith.fptosi %d : f64 to i32
  tile.store %x32, %sd : !tile.ptr<i32>
  return
}
