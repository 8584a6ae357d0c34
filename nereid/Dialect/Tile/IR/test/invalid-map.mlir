// What the user's own functions refuse, and how they say so.
// RUN: nereid-opt %s --split-input-file --verify-diagnostics

func.func @shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'tile.map' op expected sources and results of one shape, got [4] and [5]}}
  %s = "tile.map"(%x, %y) ({
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.map' op expected arguments ('f32'), got ('f16')}}
  %s = "tile.map"(%x) ({
  ^bb0(%a: f16):
    tile.yield %a : f16
  }) : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @yields(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.map' op expected the region to yield ('i32')}}
  %s = "tile.map"(%x) ({
  ^bb0(%a: f32):
    tile.yield %a : f32
  }) : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @effects(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.map' op expected no effect on memory, got 'tile.barrier'}}
  %s = "tile.map"(%x) ({
  ^bb0(%a: f32):
    tile.barrier
    tile.yield %a : f32
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @assembly(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'tile.inline_asm' op expected operands and results of one shape, got [5] and [4]}}
  %s = tile.inline_asm "", "=r,r,r" pack 1 (%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @nothing(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.inline_asm' op expected at least one result}}
  tile.inline_asm "", "r" pack 1 (%x) : (tensor<4xf32>) -> ()
  return
}
