// Branches of elements stay branches; assembly has its elements packed.
// RUN: nereid-opt %s --split-input-file --tile-to-tilegpu="target=sm_90 warps=4" --tilegpu-allocate-shared --tilegpu-insert-barriers --tilegpu-to-llvm | FileCheck %s

// 256 elements of 128 threads: two runs of the region, each with its branch.
// CHECK-LABEL: llvm.func @map
// CHECK-COUNT-2: scf.if
// CHECK-NOT: scf.if
func.func @map(%p: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.range 0, 256 : tensor<256xi32>
  %r = "tile.map"(%i) ({
  ^bb0(%a: i32):
    %zero = arith.constant 7 : i32
    %c = arith.cmpi sgt, %a, %zero : i32
    %s = scf.if %c -> i32 {
      %q = arith.divsi %a, %zero : i32
      scf.yield %q : i32
    } else {
      scf.yield %a : i32
    }
    tile.yield %s : i32
  }) : (tensor<256xi32>) -> tensor<256xi32>
  %b = tile.splat %p : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>>
  %q = tile.addptr %b, %i : tensor<256x!tile.ptr<i32>>, tensor<256xi32>
  tile.store %q, %r : tensor<256x!tile.ptr<i32>>
  return
}

// -----

// What a thread reads of the clock may differ: the first one tells the others.
// CHECK-LABEL: llvm.func @machine
// CHECK: nvvm.griddepcontrol wait
// CHECK: nvvm.read.ptx.sreg.globaltimer
// CHECK: nv.store shared
// CHECK: nv.load shared
// CHECK: nv.user_assembly "mov.u32 $0, %smid;", "=r"(
// CHECK: nvvm.griddepcontrol launch_dependents
func.func @machine(%p: !tile.ptr<i64>, %o: !tile.ptr<i32>) attributes {tile.kernel} {
  tile.grid_dependency wait
  %t = tile.global_timer
  tile.store %p, %t : !tile.ptr<i64>
  %s = tile.inline_asm "mov.u32 $0, %smid;", "=r" pack 1 () : () -> i32
  tile.store %o, %s : !tile.ptr<i32>
  tile.grid_dependency launch
  return
}

// -----

// A branch for each of a thread's registers, and no more.
// CHECK-LABEL: llvm.func @many
// CHECK-COUNT-32: scf.if
func.func @many(%p: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.range 0, 4096 : tensor<4096xi32>
  %b = tile.splat %p : !tile.ptr<i32> -> tensor<4096x!tile.ptr<i32>>
  %q = tile.addptr %b, %i : tensor<4096x!tile.ptr<i32>>, tensor<4096xi32>
  %x = tile.load %q : tensor<4096x!tile.ptr<i32>>
  %r = "tile.map"(%x) ({
  ^bb0(%a: i32):
    %seven = arith.constant 7 : i32
    %c = arith.cmpi sgt, %a, %seven : i32
    %s = scf.if %c -> i32 {
      %d = arith.divsi %a, %seven : i32
      scf.yield %d : i32
    } else {
      scf.yield %a : i32
    }
    tile.yield %s : i32
  }) : (tensor<4096xi32>) -> tensor<4096xi32>
  tile.store %q, %r : tensor<4096x!tile.ptr<i32>>
  return
}
