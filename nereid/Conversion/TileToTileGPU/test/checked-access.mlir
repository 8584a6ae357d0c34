// A check of pointers has the layout of the access after it, which then goes
// only where the check found nothing: vectors of eight here, not the default's
// four.
// RUN: nereid-opt %s --tile-to-tilegpu="target=sm_90a warps=4" | FileCheck %s

// CHECK-LABEL: func.func @copy
// CHECK: %[[FROM:.*]] = tile.addptr {{.*}} : tensor<1024x!tile.ptr<f16>, [[L:#tilegpu.layout<registers = \[1, 2, 4\].*>]]>, tensor<1024xi32, [[L]]>
// CHECK: tile.check_bounds "load" %[[FROM]]
// CHECK: tile.load %[[FROM]]
func.func @copy(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %ps = tile.splat %x : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %p = tile.addptr %ps, %i : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  %qs = tile.splat %y : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %q = tile.addptr %qs, %i : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  tile.check_bounds "load" %p {parameter = 0 : i32} : tensor<1024x!tile.ptr<f16>>
  %v = tile.load %p : tensor<1024x!tile.ptr<f16>>
  tile.store %q, %v : tensor<1024x!tile.ptr<f16>>
  return
}
