// RUN: nereid-opt %s -split-input-file -verify-diagnostics

llvm.func @no_arrivals(%s: i32) {
  // expected-error @+1 {{expects 1 to 1048575 arrivals, got 0}}
  nv.mbarrier_init %s, 0
  llvm.return
}

// -----

llvm.func @no_coordinates(%s: i32, %m: i64) {
  // expected-error @+1 {{expects 1 to 5 coordinates, got 0}}
  nv.tma_load %s, %m[] signals %s
  llvm.return
}

// -----

llvm.func @six_coordinates(%s: i32, %m: i64) {
  // expected-error @+1 {{expects 1 to 5 coordinates, got 6}}
  nv.tma_store %m[%s, %s, %s, %s, %s, %s], %s
  llvm.return
}
