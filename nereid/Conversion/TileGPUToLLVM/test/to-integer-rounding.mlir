// A rounding is part of a conversion to 64 bits; ptxas makes it part of others.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90 warps=1" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @roundings
// CHECK: %[[NEAREST:.*]] = arith.select %{{.*}} : f32
// CHECK: nv.float_to_int rni %[[NEAREST]] : f32 to si64
// CHECK: nv.float_to_int rmi %{{.*}} : f32 to si64
// CHECK: nv.float_to_int rpi %{{.*}} : f64 to ui64
// CHECK: nv.float_to_int rzi %{{.*}} : f32 to si64
// CHECK: nv.float_to_int rzi %{{.*}} : f32 to si32
func.func @roundings(%x32: !tile.ptr<i32>, %x64: !tile.ptr<i64>, %a: f32, %d: f64) attributes {tile.kernel} {
  %nearest = math.roundeven %a : f32
  %i0 = arith.fptosi %nearest : f32 to i64
  tile.store %x64, %i0 : !tile.ptr<i64>
  %floor = math.floor %a : f32
  %i1 = arith.fptosi %floor : f32 to i64
  tile.store %x64, %i1 : !tile.ptr<i64>
  %ceil = math.ceil %d : f64
  %i2 = arith.fptoui %ceil : f64 to i64
  tile.store %x64, %i2 : !tile.ptr<i64>
  %trunc = math.trunc %a : f32
  %i3 = arith.fptosi %trunc : f32 to i64
  tile.store %x64, %i3 : !tile.ptr<i64>
  %i4 = arith.fptosi %nearest : f32 to i32
  tile.store %x32, %i4 : !tile.ptr<i32>
  return
}
