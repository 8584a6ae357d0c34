// RUN: nereid-opt %s --split-input-file --pass-pipeline='builtin.module(tile-to-tilegpu{target=sm_90 warps=4},func.func(tilegpu-prefetch-next-tile))' | FileCheck %s
// A target without bulk prefetches.
// RUN: nereid-opt %s --split-input-file --tilegpu-pipeline="target=toy64 warps=4" | FileCheck %s --check-prefix=TOY
// TOY-NOT: tilegpu.prefetch

// A row of 2 KiB: program id + 16 KiB * multiprocessors / 2 KiB is asked for,
// after the program's own load, if it exists and does not start with this one.
// Weights are asked for by program 0, before anything else.
// CHECK-LABEL: func.func @row
// CHECK: %[[P:.*]] = tile.program_id 0
// CHECK: %[[ZERO:.*]] = arith.constant 0
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %[[ZERO]]
// CHECK: %[[ALL:.*]] = arith.constant 2048
// CHECK: %[[W:.*]] = tile.addptr %arg2, %{{.*}} : !tile.ptr<bf16>, i32
// CHECK: tilegpu.prefetch %[[W]], %[[ALL]] if %[[FIRST]]
// CHECK: tile.load
// CHECK: %[[N:.*]] = tilegpu.multiprocessors
// CHECK: %[[IN_FLIGHT:.*]] = arith.muli %[[N]], %c16384_i32
// CHECK: %[[DISTANCE:.*]] = arith.divui %[[IN_FLIGHT]], %c2048_i32
// CHECK: %[[LATER:.*]] = arith.addi %{{.*}}, %[[DISTANCE]]
// CHECK: %[[GRID:.*]] = tile.num_programs 0
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[LATER]], %[[GRID]]
// CHECK: %[[TOGETHER:.*]] = arith.muli %[[N]], %c16_i32
// CHECK: %[[IS_LATER:.*]] = arith.cmpi uge, %[[LATER]], %[[TOGETHER]]
// CHECK: %[[IF:.*]] = arith.andi %[[EXISTS]], %[[IS_LATER]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[LATER]], %arg3
// CHECK: %[[ROW:.*]] = tile.addptr %arg1, %[[OFFSET]]
// CHECK: %[[START:.*]] = tile.addptr %[[ROW]], %{{.*}} : !tile.ptr<bf16>, i32
// CHECK: tilegpu.prefetch %[[START]], %{{.*}} if %[[IF]]
// CHECK-NOT: prefetch
func.func @row(%y: !tile.ptr<bf16> {tile.divisibility = 16 : i32}, %x: !tile.ptr<bf16> {tile.divisibility = 16 : i32},
               %w: !tile.ptr<bf16> {tile.divisibility = 16 : i32}, %stride: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %p = tile.program_id 0
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %o = arith.muli %p, %stride : i32
  %xp = tile.addptr %x, %o : !tile.ptr<bf16>, i32
  %xs = tile.splat %xp : !tile.ptr<bf16> -> tensor<1024x!tile.ptr<bf16>>
  %xq = tile.addptr %xs, %i : tensor<1024x!tile.ptr<bf16>>, tensor<1024xi32>
  %v = tile.load %xq : tensor<1024x!tile.ptr<bf16>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: bf16, %c: bf16):
    %m = arith.maximumf %a, %c : bf16
    tile.yield %m : bf16
  }) : (tensor<1024xbf16>) -> bf16
  %ws = tile.splat %w : !tile.ptr<bf16> -> tensor<1024x!tile.ptr<bf16>>
  %wq = tile.addptr %ws, %i : tensor<1024x!tile.ptr<bf16>>, tensor<1024xi32>
  %u = tile.load %wq : tensor<1024x!tile.ptr<bf16>>
  %ss = tile.splat %s : bf16 -> tensor<1024xbf16>
  %r = arith.addf %ss, %u : tensor<1024xbf16>
  %yp = tile.addptr %y, %o : !tile.ptr<bf16>, i32
  %ys = tile.splat %yp : !tile.ptr<bf16> -> tensor<1024x!tile.ptr<bf16>>
  %yq = tile.addptr %ys, %i : tensor<1024x!tile.ptr<bf16>>, tensor<1024xi32>
  tile.store %yq, %r : tensor<1024x!tile.ptr<bf16>>
  return
}

// -----

// Of a masked row, what the mask leaves: bytes of min(max(n - 0, 0), 1024)
// elements. A mask of whole rows is part of the condition.
// CHECK-LABEL: func.func @masked
// CHECK: tile.load
// CHECK: %[[IF:.*]] = arith.andi
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %{{.*}}, %arg4
// CHECK: %[[BOTH:.*]] = arith.andi %[[IF]], %[[SOME]]
// CHECK-DAG: %[[N:.*]] = arith.extsi %arg3 : i32 to i64
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %{{.*}} : i64
// CHECK: %[[LOW:.*]] = arith.maxsi %[[LEFT]], %{{.*}}
// CHECK: %[[CUT:.*]] = arith.minsi %c1024_i64, %[[LOW]]
// CHECK: %[[COUNT:.*]] = arith.trunci %[[CUT]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[COUNT]], %c4_i32
// CHECK: tilegpu.prefetch %{{.*}}, %[[BYTES]] if %[[BOTH]]
func.func @masked(%y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                  %stride: i32 {tile.divisibility = 16 : i32}, %n: i32, %rows: i32) attributes {tile.kernel} {
  %p = tile.program_id 0
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %o = arith.muli %p, %stride : i32
  %xp = tile.addptr %x, %o : !tile.ptr<f32>, i32
  %xs = tile.splat %xp : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xq = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %inside = arith.cmpi slt, %i, %ns : tensor<1024xi32>
  %exists = arith.cmpi slt, %p, %rows : i32
  %es = tile.splat %exists : i1 -> tensor<1024xi1>
  %mask = arith.andi %inside, %es : tensor<1024xi1>
  %v = tile.load %xq, %mask : tensor<1024x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %c: f32):
    %m = arith.addf %a, %c : f32
    tile.yield %m : f32
  }) : (tensor<1024xf32>) -> f32
  %ss = tile.splat %s : f32 -> tensor<1024xf32>
  tile.store %xq, %ss, %mask : tensor<1024x!tile.ptr<f32>>
  return
}

// -----

// No thread waits for the whole of a block.
// CHECK-LABEL: func.func @elementwise
// CHECK-NOT: prefetch
func.func @elementwise(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %p = tile.program_id 0
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %c = arith.constant 1024 : i32
  %o = arith.muli %p, %c : i32
  %xp = tile.addptr %x, %o : !tile.ptr<f32>, i32
  %xs = tile.splat %xp : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xq = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xq : tensor<1024x!tile.ptr<f32>>
  %r = arith.addf %v, %v : tensor<1024xf32>
  tile.store %xq, %r : tensor<1024x!tile.ptr<f32>>
  return
}

// -----

// Rows are only read.
// CHECK-LABEL: func.func @sums
// CHECK-NOT: prefetch
func.func @sums(%y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %p = tile.program_id 0
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %c = arith.constant 1024 : i32
  %o = arith.muli %p, %c : i32
  %xp = tile.addptr %x, %o : !tile.ptr<f32>, i32
  %xs = tile.splat %xp : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xq = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xq : tensor<1024x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  }) : (tensor<1024xf32>) -> f32
  %yp = tile.addptr %y, %p : !tile.ptr<f32>, i32
  tile.store %yp, %s : !tile.ptr<f32>
  return
}

// -----

// The address of the row comes from memory, which a later program may find
// changed.
// CHECK-LABEL: func.func @gathered
// CHECK-NOT: prefetch
func.func @gathered(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %index: !tile.ptr<i32>) attributes {tile.kernel} {
  %p = tile.program_id 0
  %ip = tile.addptr %index, %p : !tile.ptr<i32>, i32
  %which = tile.load %ip : !tile.ptr<i32>
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %c = arith.constant 1024 : i32
  %o = arith.muli %which, %c : i32
  %xp = tile.addptr %x, %o : !tile.ptr<f32>, i32
  %xs = tile.splat %xp : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xq = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xq : tensor<1024x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  }) : (tensor<1024xf32>) -> f32
  %ss = tile.splat %s : f32 -> tensor<1024xf32>
  tile.store %xq, %ss : tensor<1024x!tile.ptr<f32>>
  return
}

// -----

// Every row may begin anywhere: nothing is known to divide the stride.
// CHECK-LABEL: func.func @unaligned
// CHECK-NOT: prefetch
func.func @unaligned(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %stride: i32) attributes {tile.kernel} {
  %p = tile.program_id 0
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %o = arith.muli %p, %stride : i32
  %xp = tile.addptr %x, %o : !tile.ptr<f32>, i32
  %xs = tile.splat %xp : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xq = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xq : tensor<1024x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  }) : (tensor<1024xf32>) -> f32
  %ss = tile.splat %s : f32 -> tensor<1024xf32>
  tile.store %xq, %ss : tensor<1024x!tile.ptr<f32>>
  return
}

// -----

// Long rows: at least half a program for each multiprocessor.
// CHECK-LABEL: func.func @half
// CHECK: arith.muli %{{.*}}, %c16384_i32
// CHECK: arith.divui %{{.*}}, %c32768_i32
// CHECK: arith.constant 65536
// CHECK: tilegpu.prefetch
func.func @half(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %p = tile.program_id 0
  %i = tile.range 0, 16384 : tensor<16384xi32>
  %c = arith.constant 16384 : i32
  %o = arith.muli %p, %c : i32
  %xp = tile.addptr %x, %o : !tile.ptr<f32>, i32
  %xs = tile.splat %xp : !tile.ptr<f32> -> tensor<16384x!tile.ptr<f32>>
  %xq = tile.addptr %xs, %i : tensor<16384x!tile.ptr<f32>>, tensor<16384xi32>
  %v = tile.load %xq : tensor<16384x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  }) : (tensor<16384xf32>) -> f32
  %ss = tile.splat %s : f32 -> tensor<16384xf32>
  tile.store %xq, %ss : tensor<16384x!tile.ptr<f32>>
  return
}

// -----

// 128 KiB a program keep the memory busy.
// CHECK-LABEL: func.func @long_row
// CHECK-NOT: prefetch
func.func @long_row(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %p = tile.program_id 0
  %i = tile.range 0, 32768 : tensor<32768xi32>
  %c = arith.constant 32768 : i32
  %o = arith.muli %p, %c : i32
  %xp = tile.addptr %x, %o : !tile.ptr<f32>, i32
  %xs = tile.splat %xp : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %xq = tile.addptr %xs, %i : tensor<32768x!tile.ptr<f32>>, tensor<32768xi32>
  %v = tile.load %xq : tensor<32768x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  }) : (tensor<32768xf32>) -> f32
  %ss = tile.splat %s : f32 -> tensor<32768xf32>
  tile.store %xq, %ss : tensor<32768x!tile.ptr<f32>>
  return
}

// -----

// Under checks a wrong address is reported, not prefetched.
// CHECK-LABEL: func.func @checked
// CHECK-NOT: prefetch
func.func @checked(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "x"}) attributes {tile.kernel} {
  %p = tile.program_id 0
  %i = tile.range 0, 1024 : tensor<1024xi32>
  %c = arith.constant 1024 : i32
  %o = arith.muli %p, %c : i32
  %xp = tile.addptr %x, %o : !tile.ptr<f32>, i32
  %xs = tile.splat %xp : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xq = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.check_bounds "load" %xq : tensor<1024x!tile.ptr<f32>>
  %v = tile.load %xq : tensor<1024x!tile.ptr<f32>>
  %s = "tile.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  }) : (tensor<1024xf32>) -> f32
  %ss = tile.splat %s : f32 -> tensor<1024xf32>
  tile.store %xq, %ss : tensor<1024x!tile.ptr<f32>>
  return
}
