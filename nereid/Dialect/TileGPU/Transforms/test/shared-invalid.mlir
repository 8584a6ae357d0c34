// RUN: nereid-opt %s --split-input-file --verify-diagnostics --tilegpu-allocate-shared

!buffer = !tilegpu.buffer<1 x [32] x f32, offsets = [1, 2, 4, 8, 16]>
func.func @never_freed() attributes {tilegpu.target = "sm_90", tilegpu.warps = 1 : i32} {
  // expected-error @+1 {{expects one tilegpu.free in its block}}
  %0 = tilegpu.alloc : !buffer
  return
}

// -----

!buffer = !tilegpu.buffer<1 x [32] x f32, offsets = [1, 2, 4, 8, 16]>
func.func @unaligned() {
  // expected-error @+1 {{at 512; expected a multiple of 1024}}
  %0 = tilegpu.alloc at 512 : !buffer
  tilegpu.free %0 : !buffer
  return
}

// -----

// expected-error @+1 {{'tilegpu.scratch' is no #tilegpu.scratch}}
func.func @no_scratch() attributes {tilegpu.scratch = 3 : i32} {
  return
}

// -----

// expected-error @+1 {{'tilegpu.shared_bytes' is no number of bytes (i32)}}
func.func @no_bytes() attributes {tilegpu.shared_bytes = "many"} {
  return
}

// -----

// expected-error @+1 {{scratch at 8; expected a multiple of 128}}
func.func @odd_place() attributes {tilegpu.scratch = #tilegpu.scratch<offsets = [8], warps = all>} {
  return
}

// -----

// expected-error @+1 {{a barrier before piece 1 of 1}}
func.func @no_piece() attributes {tilegpu.scratch = #tilegpu.scratch<offsets = [0], warps = all, behind_barrier = [1]>} {
  return
}

// -----

// expected-error @+1 {{barriers before pieces in no ascending order}}
func.func @order() attributes {tilegpu.scratch = #tilegpu.scratch<offsets = [0, 128], warps = all, behind_barrier = [1, 0]>} {
  return
}
