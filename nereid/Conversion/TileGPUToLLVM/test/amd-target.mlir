// The same tiles for AMD's processors: waves of 64 and of 32 lanes, other
// instructions, the same scratch and barriers.
// RUN: nereid-opt %s --split-input-file --gpu-pipeline="target=gfx942 warps=4" | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: nereid-opt %s --split-input-file --gpu-pipeline="target=gfx1100 warps=4" | FileCheck %s --check-prefixes=CHECK,RDNA

// CHECK-LABEL: llvm.func @sum
// CDNA-SAME: rocdl.flat_work_group_size = "256,256", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 256, 1, 1>
// RDNA-SAME: rocdl.flat_work_group_size = "128,128", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 128, 1, 1>
// CHECK-SAME: tilegpu.shared_bytes = 16 : i32
// CHECK: rocdl.workitem.id.x
// CHECK: amd.load
// CDNA: rocdl.update.dpp {{.*}} with 177, 15, 15, true
// CDNA: rocdl.update.dpp {{.*}} with 78, 15, 15, true
// CDNA: rocdl.update.dpp {{.*}} with 321, 15, 15, true
// CDNA: rocdl.update.dpp {{.*}} with 27, 15, 15, true
// CDNA: rocdl.update.dpp {{.*}} with 296, 15, 15, true
// CDNA: rocdl.ds_swizzle
// CDNA: rocdl.ds_bpermute
// RDNA: rocdl.update.dpp {{.*}} with 353, 15, 15, true
// RDNA: rocdl.update.dpp {{.*}} with 354, 15, 15, true
// RDNA: rocdl.update.dpp {{.*}} with 356, 15, 15, true
// RDNA: rocdl.update.dpp {{.*}} with 360, 15, 15, true
// RDNA: rocdl.permlanex16
// CHECK: amd.store lds
// CHECK: amd.lds_barrier
// CHECK: amd.load lds
// CHECK-NOT: nv.
func.func @sum(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.range 0, 256 : tensor<256xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %q = tile.addptr %p, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %v = tile.load %q : tensor<256x!tile.ptr<f32>>
  %m = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<256xf32>) -> f32
  tile.store %y, %m : !tile.ptr<f32>
  return
}

// -----

// A loop of compare-and-swap goes around until the last lane of the wave is done.
// CHECK-LABEL: llvm.func @greatest
// CHECK: amd.load global {{.*}} if {{.*}} {order = #amd<order relaxed>, scope = #amd<scope agent>}
// CHECK: amd.compare_and_swap {{.*}} acq_rel agent : i32
// CDNA: rocdl.ballot {{.*}} : i64
// RDNA: rocdl.ballot {{.*}} : i32
func.func @greatest(%x: !tile.ptr<f32>, %v: f32) attributes {tile.kernel} {
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %i = tile.range 0, 32 : tensor<32xi32>
  %q = tile.addptr %p, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %s = tile.splat %v : f32 -> tensor<32xf32>
  %old = tile.atomic_rmw fmax, acq_rel, gpu, %q, %s : tensor<32x!tile.ptr<f32>>
  return
}
