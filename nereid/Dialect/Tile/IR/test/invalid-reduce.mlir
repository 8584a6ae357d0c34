// What the reduction family refuses, and how it says so.
// RUN: nereid-opt %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op expected 0 <= axis < 1, got 1}}
  %s = "tile.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }) : (tensor<4xf32>) -> f32
  return
}

// -----

func.func @shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'tile.reduce' op expected sources of one shape, got [4] and [5]}}
  %s:2 = "tile.reduce"(%x, %y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }) : (tensor<4xf32>, tensor<5xf32>) -> (f32, f32)
  return
}

// -----

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op expected combine arguments ('f32', 'f32'), got ('f32', 'f16')}}
  %s = "tile.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f16):
    tile.yield %a : f32
  }) : (tensor<4xf32>) -> f32
  return
}

// -----

func.func @yields(%x: tensor<4xf32>, %i: i32) {
  // expected-error @+1 {{'tile.reduce' op expected the region to yield ('f32')}}
  %s = "tile.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tile.yield %i : i32
  }) : (tensor<4xf32>) -> f32
  return
}

// -----

func.func @reduced_type(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'tile.reduce' op expected a result of type 'tensor<6xf32>', got 'tensor<4xf32>'}}
  %s = "tile.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }) : (tensor<4x6xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scanned_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.scan' op expected results of the sources' types}}
  %s = "tile.scan"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @inner_extent(%a: tensor<4x5xf32>, %b: tensor<6x3xf32>, %c: tensor<4x3xf32>) {
  // expected-error @+1 {{'tile.dot' op expected K of 'lhs' (5) to equal K of 'rhs' (6)}}
  %d = tile.dot %a, %b, %c : tensor<4x5xf32>, tensor<6x3xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @outer_extents(%a: tensor<4x5xf32>, %b: tensor<5x3xf32>, %c: tensor<3x4xf32>) {
  // expected-error @+1 {{'tile.dot' op expected 'c' of 4x3, got 3x4}}
  %d = tile.dot %a, %b, %c : tensor<4x5xf32>, tensor<5x3xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @ranks(%a: tensor<5xf32>, %b: tensor<5x3xf32>, %c: tensor<1x3xf32>) {
  // expected-error @+1 {{'tile.dot' op expected operands of one rank, 2 or 3, got 1, 2 and 2}}
  %d = tile.dot %a, %b, %c : tensor<5xf32>, tensor<5x3xf32>, tensor<1x3xf32>
  return
}

// -----

func.func @batches(%a: tensor<2x4x5xf32>, %b: tensor<3x5x3xf32>, %c: tensor<2x4x3xf32>) {
  // expected-error @+1 {{'tile.dot' op expected one batch size, got 2, 3 and 2}}
  %d = tile.dot %a, %b, %c : tensor<2x4x5xf32>, tensor<3x5x3xf32>, tensor<2x4x3xf32>
  return
}

// -----

func.func @mixed(%a: tensor<4x5xf16>, %b: tensor<5x3xbf16>, %c: tensor<4x3xf32>) {
  // expected-error @+1 {{'tile.dot' op expected operands of one element type, got 'f16' and 'bf16'}}
  %d = tile.dot %a, %b, %c : tensor<4x5xf16>, tensor<5x3xbf16>, tensor<4x3xf32>
  return
}

// -----

func.func @accumulator(%a: tensor<4x5xbf16>, %b: tensor<5x3xbf16>, %c: tensor<4x3xf16>) {
  // expected-error @+1 {{'tile.dot' op operands of type 'bf16' cannot be accumulated in 'f16'}}
  %d = tile.dot %a, %b, %c : tensor<4x5xbf16>, tensor<5x3xbf16>, tensor<4x3xf16>
  return
}
