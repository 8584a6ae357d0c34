// RUN: nereid-opt %s --verify-diagnostics --tilegpu-insert-barriers

!buffer = !tilegpu.buffer<1 x [32] x f32, offsets = [1, 2, 4, 8, 16]>
func.func @no_place() attributes {tilegpu.target = "sm_90", tilegpu.warps = 1 : i32} {
  // expected-error @+1 {{has no place in shared memory; expected tilegpu-allocate-shared to have run}}
  %0 = tilegpu.alloc : !buffer
  tilegpu.free %0 : !buffer
  return
}
