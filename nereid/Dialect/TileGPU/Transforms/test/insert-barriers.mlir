// Barriers stand where accesses of different threads conflict, and nowhere else.
// RUN: nereid-opt %s --split-input-file --tilegpu-allocate-shared --tilegpu-insert-barriers | FileCheck %s
// What they write can be read again.
// RUN: nereid-opt %s --split-input-file --tilegpu-allocate-shared --tilegpu-insert-barriers | nereid-opt --split-input-file | FileCheck %s

#a = #tilegpu.layout<registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>
#b = #tilegpu.layout<registers = [128, 256, 512], lanes = [1, 2, 4, 8, 16], warps = [32, 64]>

// One trip an iteration: the next must not write what is still read.
// CHECK-LABEL: func.func @one
// CHECK-NOT: tilegpu.barrier
// CHECK: scf.for
// CHECK-NEXT: convert_layout {{.*}}offsets = [0], warps = all
// CHECK-NEXT: tilegpu.barrier all
// CHECK-NEXT: }
// CHECK-NOT: tilegpu.barrier
func.func @one(%x: tensor<1024xf32, #a>, %n: i32) attributes {tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tilegpu.convert_layout %x : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
  }
  return
}

// -----

#a = #tilegpu.layout<registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>
#b = #tilegpu.layout<registers = [128, 256, 512], lanes = [1, 2, 4, 8, 16], warps = [32, 64]>

// Two trips at two places: each one's barrier protects the other.
// CHECK-LABEL: func.func @two
// CHECK-NOT: tilegpu.barrier
// CHECK-NOT: behind_barrier
// CHECK: return
func.func @two(%x: tensor<1024xf32, #a>, %n: i32) attributes {tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tilegpu.convert_layout %x : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
    %1 = tilegpu.convert_layout %0 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
  }
  return
}

// -----

#c = #tilegpu.layout<registers = [1, 2, 4, 8192], lanes = [8, 16, 32, 64, 128], warps = [256, 512, 1024, 2048, 4096]>
#d = #tilegpu.layout<registers = [1024, 2048, 4096, 8192], lanes = [1, 2, 4, 8, 16], warps = [32, 64, 128, 256, 512]>

// Too large to lie apart: they share a place, and the second waits.
// CHECK-LABEL: func.func @large
// CHECK: convert_layout {{.*}}offsets = [0], warps
// CHECK: convert_layout {{.*}}offsets = [0], warps = all, behind_barrier = [0]>
func.func @large(%x: tensor<16384xf16, #c>) attributes {tilegpu.target = "sm_90", tilegpu.warps = 32 : i32} {
  %0 = tilegpu.convert_layout %x : tensor<16384xf16, #c> -> tensor<16384xf16, #d>
  %1 = tilegpu.convert_layout %0 : tensor<16384xf16, #d> -> tensor<16384xf16, #c>
  return
}

// -----

#e = #tilegpu.layout<registers = [], lanes = [1, 2, 4, 8, 16], warps = [0, 0]>

// What one thread stores and others load, once in front of the loop; the loads
// of the loop need nothing among themselves.
// CHECK-LABEL: func.func @in_front
// CHECK: tile.store
// CHECK-NEXT: tilegpu.barrier all
// CHECK-NEXT: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @in_front(%p: tensor<32x!tile.ptr<f32>, #e>, %v: tensor<32xf32, #e>, %n: i32) attributes {tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tile.store %p, %v : tensor<32x!tile.ptr<f32>, #e>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tile.load %p : tensor<32x!tile.ptr<f32>, #e>
  }
  return
}

// -----

#e = #tilegpu.layout<registers = [], lanes = [1, 2, 4, 8, 16], warps = [0, 0]>

// A branch: only the way that loads meets a barrier; the one after both stands
// for the store of the other way.
// CHECK-LABEL: func.func @branch
// CHECK: tile.store
// CHECK-NEXT: scf.if
// CHECK-NEXT: tilegpu.barrier all
// CHECK-NEXT: tile.load
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.barrier all
// CHECK-NEXT: tile.load
func.func @branch(%p: tensor<32x!tile.ptr<f32>, #e>, %v: tensor<32xf32, #e>, %c: i1) attributes {tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  tile.store %p, %v : tensor<32x!tile.ptr<f32>, #e>
  scf.if %c {
    %0 = tile.load %p : tensor<32x!tile.ptr<f32>, #e>
  }
  %1 = tile.load %p : tensor<32x!tile.ptr<f32>, #e>
  return
}

// -----

#e = #tilegpu.layout<registers = [], lanes = [1, 2, 4, 8, 16], warps = [0, 0]>

// The two regions of a while are one iteration.
// CHECK-LABEL: func.func @loop_while
// CHECK: scf.while
// CHECK-NEXT: tile.load
// CHECK-NEXT: scf.condition
// CHECK: do
// CHECK-NEXT: tilegpu.barrier all
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier all
// CHECK-NEXT: scf.yield
func.func @loop_while(%p: tensor<32x!tile.ptr<f32>, #e>, %v: tensor<32xf32, #e>, %c: i1) attributes {tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  scf.while : () -> () {
    %0 = tile.load %p : tensor<32x!tile.ptr<f32>, #e>
    scf.condition(%c)
  } do {
    tile.store %p, %v : tensor<32x!tile.ptr<f32>, #e>
    scf.yield
  }
  return
}

// -----

// What an atomic releases may be read by the next load of another thread, which
// waits; what comes before the atomic needs no second barrier.
// CHECK-LABEL: func.func @release
// CHECK: tile.store
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: tilegpu.barrier all
// CHECK-NEXT: tile.load
func.func @release(%p: !tile.ptr<i32>, %v: i32) attributes {tilegpu.target = "sm_90", tilegpu.warps = 4 : i32} {
  tile.store %p, %v : !tile.ptr<i32>
  %0 = tile.atomic_rmw add, release, gpu, %p, %v : !tile.ptr<i32>
  %1 = tile.load %p : !tile.ptr<i32>
  return
}
