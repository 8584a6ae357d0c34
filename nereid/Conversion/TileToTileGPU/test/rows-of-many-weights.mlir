// A layer norm of 4 rows of 1024: whole in a warp, a row's weights would be
// eight instructions and 32 registers a thread. The warps share the rows.
// RUN: nereid-opt %s --split-input-file --tile-to-tilegpu="target=sm_90 warps=4" | FileCheck %s
// RUN: nereid-opt %s --split-input-file --tile-to-tilegpu="target=sm_90 warps=4 shared-rows=false" | FileCheck %s --check-prefix=WHOLE

// WHOLE-LABEL: func.func @rows
// WHOLE: tile.load {{.*}}tensor<4x1024x!tile.ptr<f32>, #tilegpu.layout<registers = {{.*}}, lanes = [4, 8, 16, 32, 64], warps = [1024, 2048]>>
// CHECK-LABEL: func.func @rows
// CHECK-NOT: convert_layout
// CHECK: tile.load {{.*}}tensor<4x1024x!tile.ptr<f32>, #tilegpu.layout<registers = [1, 2, 512, 1024, 2048], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>>
// CHECK: tile.load {{.*}}tensor<1024x!tile.ptr<f32>, #tilegpu.layout<registers = [1, 2, 512], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>>
// CHECK-NOT: convert_layout
// CHECK: return
func.func @rows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                %w: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                %mean: !tile.ptr<f32>,
                %y: !tile.ptr<f32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel} {
  %rows = tile.range 0, 4 : tensor<4xi32>
  %cols = tile.range 0, 1024 : tensor<1024xi32>
  %n = arith.constant dense<1024> : tensor<4xi32>
  %begin = arith.muli %rows, %n : tensor<4xi32>
  %b1 = tile.expand_dims %begin {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %b2 = tile.broadcast %b1 : tensor<4x1xi32> -> tensor<4x1024xi32>
  %c1 = tile.expand_dims %cols {axis = 0 : i32} : tensor<1024xi32> -> tensor<1x1024xi32>
  %c2 = tile.broadcast %c1 : tensor<1x1024xi32> -> tensor<4x1024xi32>
  %offsets = arith.addi %b2, %c2 : tensor<4x1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<4x1024x!tile.ptr<f32>>, tensor<4x1024xi32>
  %v = tile.load %xp : tensor<4x1024x!tile.ptr<f32>>
  %ws = tile.splat %w : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %wp = tile.addptr %ws, %cols : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %weights = tile.load %wp : tensor<1024x!tile.ptr<f32>>
  %sum = "tile.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<4x1024xf32>) -> tensor<4xf32>
  %ms = tile.splat %mean : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %mp = tile.addptr %ms, %rows : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  tile.store %mp, %sum : tensor<4x!tile.ptr<f32>>
  %w1 = tile.expand_dims %weights {axis = 0 : i32} : tensor<1024xf32> -> tensor<1x1024xf32>
  %w2 = tile.broadcast %w1 : tensor<1x1024xf32> -> tensor<4x1024xf32>
  %r = arith.mulf %v, %w2 : tensor<4x1024xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<4x1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offsets : tensor<4x1024x!tile.ptr<f32>>, tensor<4x1024xi32>
  tile.store %yp, %r : tensor<4x1024x!tile.ptr<f32>>
  return
}

// -----

// 32 registers of weights a thread would be more than its 16 elements of rows.
// CHECK-LABEL: func.func @rows_of_two_weights
// CHECK-NOT: convert_layout
// CHECK: tile.load {{.*}}tensor<4x512x!tile.ptr<f32>, #tilegpu.layout<registers = [1, 2, 512, 1024], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>>
// CHECK: return
func.func @rows_of_two_weights(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                %w: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                %mean: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                %y: !tile.ptr<f32> {tile.divisibility = 16 : i32})
    attributes {tile.kernel} {
  %rows = tile.range 0, 4 : tensor<4xi32>
  %cols = tile.range 0, 512 : tensor<512xi32>
  %n = arith.constant dense<512> : tensor<4xi32>
  %begin = arith.muli %rows, %n : tensor<4xi32>
  %b1 = tile.expand_dims %begin {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %b2 = tile.broadcast %b1 : tensor<4x1xi32> -> tensor<4x512xi32>
  %c1 = tile.expand_dims %cols {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
  %c2 = tile.broadcast %c1 : tensor<1x512xi32> -> tensor<4x512xi32>
  %offsets = arith.addi %b2, %c2 : tensor<4x512xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x512x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<4x512x!tile.ptr<f32>>, tensor<4x512xi32>
  %v = tile.load %xp : tensor<4x512x!tile.ptr<f32>>
  %ws = tile.splat %w : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %wp = tile.addptr %ws, %cols : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %weights = tile.load %wp : tensor<512x!tile.ptr<f32>>
  %sum = "tile.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }) : (tensor<4x512xf32>) -> tensor<4xf32>
  %ms = tile.splat %mean : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %mp = tile.addptr %ms, %rows : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  tile.store %mp, %sum : tensor<4x!tile.ptr<f32>>
  %w1 = tile.expand_dims %weights {axis = 0 : i32} : tensor<512xf32> -> tensor<1x512xf32>
  %w2 = tile.broadcast %w1 : tensor<1x512xf32> -> tensor<4x512xf32>
  %r = arith.mulf %v, %w2 : tensor<4x512xf32>
  %bs = tile.splat %mean : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %bp = tile.addptr %bs, %cols : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %biases = tile.load %bp : tensor<512x!tile.ptr<f32>>
  %bias1 = tile.expand_dims %biases {axis = 0 : i32} : tensor<512xf32> -> tensor<1x512xf32>
  %bias2 = tile.broadcast %bias1 : tensor<1x512xf32> -> tensor<4x512xf32>
  %z = arith.addf %r, %bias2 : tensor<4x512xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<4x512x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offsets : tensor<4x512x!tile.ptr<f32>>, tensor<4x512xi32>
  tile.store %yp, %z : tensor<4x512x!tile.ptr<f32>>
  return
}

// -----

// In bf16 two weights of a row of 1024 are 32 registers, as many as the thread
// has elements of rows.
// CHECK-LABEL: func.func @rows_of_as_many_weights
// CHECK: tile.load {{.*}}tensor<4x1024x!tile.ptr<bf16>, #tilegpu.layout<registers = [1, 2, 4, 1024, 2048], lanes = [8, 16, 32, 64, 128], warps = [256, 512]>>
// CHECK-NOT: convert_layout
// CHECK: return
func.func @rows_of_as_many_weights(%x: !tile.ptr<bf16> {tile.divisibility = 16 : i32},
                                   %w: !tile.ptr<bf16> {tile.divisibility = 16 : i32},
                                   %b: !tile.ptr<bf16> {tile.divisibility = 16 : i32})
    attributes {tile.kernel} {
  %rows = tile.range 0, 4 : tensor<4xi32>
  %cols = tile.range 0, 1024 : tensor<1024xi32>
  %n = arith.constant dense<1024> : tensor<4xi32>
  %begin = arith.muli %rows, %n : tensor<4xi32>
  %o1 = tile.expand_dims %begin {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %o2 = tile.broadcast %o1 : tensor<4x1xi32> -> tensor<4x1024xi32>
  %c1 = tile.expand_dims %cols {axis = 0 : i32} : tensor<1024xi32> -> tensor<1x1024xi32>
  %c2 = tile.broadcast %c1 : tensor<1x1024xi32> -> tensor<4x1024xi32>
  %o = arith.addi %o2, %c2 : tensor<4x1024xi32>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<4x1024x!tile.ptr<bf16>>
  %xp = tile.addptr %xs, %o : tensor<4x1024x!tile.ptr<bf16>>, tensor<4x1024xi32>
  %v = tile.load %xp : tensor<4x1024x!tile.ptr<bf16>>
  %top = "tile.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%l: bf16, %r: bf16):
    %m = arith.maximumf %l, %r : bf16
    tile.yield %m : bf16
  }) : (tensor<4x1024xbf16>) -> tensor<4xbf16>
  %t1 = tile.expand_dims %top {axis = 1 : i32} : tensor<4xbf16> -> tensor<4x1xbf16>
  %t2 = tile.broadcast %t1 : tensor<4x1xbf16> -> tensor<4x1024xbf16>
  %ws = tile.splat %w : !tile.ptr<bf16> -> tensor<1024x!tile.ptr<bf16>>
  %wp = tile.addptr %ws, %cols : tensor<1024x!tile.ptr<bf16>>, tensor<1024xi32>
  %weights = tile.load %wp : tensor<1024x!tile.ptr<bf16>>
  %w1 = tile.expand_dims %weights {axis = 0 : i32} : tensor<1024xbf16> -> tensor<1x1024xbf16>
  %w2 = tile.broadcast %w1 : tensor<1x1024xbf16> -> tensor<4x1024xbf16>
  %bs = tile.splat %b : !tile.ptr<bf16> -> tensor<1024x!tile.ptr<bf16>>
  %bp = tile.addptr %bs, %cols : tensor<1024x!tile.ptr<bf16>>, tensor<1024xi32>
  %biases = tile.load %bp : tensor<1024x!tile.ptr<bf16>>
  %b1 = tile.expand_dims %biases {axis = 0 : i32} : tensor<1024xbf16> -> tensor<1x1024xbf16>
  %b2 = tile.broadcast %b1 : tensor<1x1024xbf16> -> tensor<4x1024xbf16>
  %d = arith.subf %v, %t2 : tensor<4x1024xbf16>
  %e = arith.mulf %d, %w2 : tensor<4x1024xbf16>
  %f = arith.addf %e, %b2 : tensor<4x1024xbf16>
  tile.store %xp, %f : tensor<4x1024x!tile.ptr<bf16>>
  return
}
