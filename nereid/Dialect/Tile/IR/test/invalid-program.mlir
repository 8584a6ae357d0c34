// What the other families refuse, and how they say so.
// RUN: nereid-opt %s --split-input-file --verify-diagnostics

func.func @axis() {
  // expected-error @+1 {{'tile.program_id' op attribute 'axis' failed to satisfy constraint}}
  %p = tile.program_id 3
  return
}

// -----

func.func @hint_changes_type(%x: i32) {
  // expected-error @+1 {{failed to verify that all of {source, result} have same type}}
  %h = "tile.hint"(%x) <{divisibility = array<i64: 4>}> : (i32) -> i64
  return
}

// -----

func.func @mask_of_check(%p: tensor<4x!tile.ptr<f32>>, %m: i1) {
  // expected-error @+1 {{mask is i1 in the shape of ptr}}
  "tile.check_bounds"(%p, %m) <{what = "load"}> : (tensor<4x!tile.ptr<f32>>, i1) -> ()
  return
}

// -----

func.func @nan_of_integers(%x: tensor<4xi32>) {
  // expected-error @+1 {{'value' must be f8E4M3FN type or}}
  tile.check_nan "store" %x : tensor<4xi32>
  return
}

// -----

func.func @yield_at_large(%x: f32) {
  // expected-error @+1 {{'tile.yield' op expects parent op to be one of 'tile.reduce, tile.scan, tile.map'}}
  tile.yield %x : f32
}
