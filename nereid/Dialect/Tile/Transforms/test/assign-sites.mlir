// Calls of the runtime are numbered in the order of the text.
// RUN: nereid-opt %s --tile-assign-sites | FileCheck %s

// CHECK-LABEL: func.func @sites
func.func @sites(%c: i1, %x: f32, %p: !tile.ptr<f32>) {
  // CHECK: tile.print {{.*}}tile.site = 0 : i32
  tile.print "x: " (%x) {dtype = "fp32"} : f32
  scf.if %c {
    // CHECK: tile.assert {{.*}}tile.site = 1 : i32
    tile.assert %c, "true" : i1
  }
  // CHECK: tile.check_bounds {{.*}}tile.site = 2 : i32
  tile.check_bounds "load" %p : !tile.ptr<f32>
  // CHECK: tile.check_nan {{.*}}tile.site = 3 : i32
  tile.check_nan "store" %x : f32
  return
}
