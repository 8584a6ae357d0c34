// Where buffers and scratch lie: apart where both hold something, and apart
// where no barrier separates them and it is cheap.
// RUN: nereid-opt %s --split-input-file --tilegpu-allocate-shared | FileCheck %s
// RUN: nereid-opt %s --split-input-file --tilegpu-allocate-shared=shared-limit=20480 | FileCheck %s --check-prefix=SMALL

#a = #tilegpu.layout<registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>
#b = #tilegpu.layout<registers = [128, 256, 512], lanes = [1, 2, 4, 8, 16], warps = [32, 64]>

// A trip follows a trip: no barrier lies between the read of the first and the
// write of the second. The third may go where the first was, whose readers have
// met at the barrier of the second.
// CHECK-LABEL: func.func @trips
// CHECK-SAME: tilegpu.shared_bytes = 8192 : i32
// CHECK: convert_layout {{.*}}offsets = [0], warps = all
// CHECK: convert_layout {{.*}}offsets = [4096], warps = all
// CHECK: convert_layout {{.*}}offsets = [0], warps = all
func.func @trips(%x: tensor<1024xf32, #a>) attributes {tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  %0 = tilegpu.convert_layout %x : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
  %1 = tilegpu.convert_layout %0 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
  %2 = tilegpu.convert_layout %1 : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
  return
}

// -----

#a = #tilegpu.layout<registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>
#b = #tilegpu.layout<registers = [128, 256, 512], lanes = [1, 2, 4, 8, 16], warps = [32, 64]>

// The last trip of an iteration and the first of the next are neighbours too.
// CHECK-LABEL: func.func @around
// CHECK: scf.for
// CHECK: convert_layout {{.*}}offsets = [0], warps
// CHECK: convert_layout {{.*}}offsets = [4096], warps
// CHECK: convert_layout {{.*}}offsets = [8192], warps
func.func @around(%x: tensor<1024xf32, #a>, %n: i32) attributes {tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tilegpu.convert_layout %x : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
    %1 = tilegpu.convert_layout %0 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
    %2 = tilegpu.convert_layout %1 : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
  }
  return
}

// -----

#a = #tilegpu.layout<registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>
#b = #tilegpu.layout<registers = [128, 256, 512], lanes = [1, 2, 4, 8, 16], warps = [32, 64]>
!buffer = !tilegpu.buffer<2 x [1024] x f32, offsets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>

// A buffer keeps what lives with it away. Another takes the lowest place that
// it may, also where a trip went before it; and a place is used again.
// CHECK-LABEL: func.func @buffers
// CHECK-SAME: tilegpu.shared_bytes = 24576 : i32
// CHECK: alloc at 0
// CHECK: convert_layout {{.*}}offsets = [8192], warps
// CHECK: alloc at 8192
// CHECK: convert_layout {{.*}}offsets = [16384], warps
// CHECK: convert_layout {{.*}}offsets = [20480], warps
// CHECK: free
// CHECK: free
// CHECK: alloc at 0
// Where there is no more, the two trips share a place.
// SMALL-LABEL: func.func @buffers
// SMALL-SAME: tilegpu.shared_bytes = 20480 : i32
// SMALL: alloc at 8192
// SMALL: convert_layout {{.*}}offsets = [16384], warps
// SMALL: convert_layout {{.*}}offsets = [16384], warps
func.func @buffers(%x: tensor<1024xf32, #a>) attributes {tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  %p = tilegpu.alloc : !buffer
  %0 = tilegpu.convert_layout %x : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
  %q = tilegpu.alloc : !buffer
  %1 = tilegpu.convert_layout %x : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
  %2 = tilegpu.convert_layout %x : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
  tilegpu.free %q : !buffer
  tilegpu.free %p : !buffer
  %r = tilegpu.alloc : !buffer
  tilegpu.free %r : !buffer
  return
}
