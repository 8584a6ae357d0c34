// What the shape family refuses, and how it says so.
// RUN: nereid-opt %s --split-input-file --verify-diagnostics

func.func @range_backwards() {
  // expected-error @+1 {{'tile.range' op expected end (3) above start (3)}}
  %r = "tile.range"() <{start = 3 : i32, end = 3 : i32}> : () -> tensor<1xi32>
  return
}

// -----

func.func @range_length() {
  // expected-error @+1 {{'tile.range' op expected a result of shape [5], got [4]}}
  %r = tile.range 3, 8 : tensor<4xi32>
  return
}

// -----

func.func @splat_element(%x: f32) {
  // expected-error @+1 {{'tile.splat' op expected result elements of type 'f32', got 'f16'}}
  %s = tile.splat %x : f32 -> tensor<4xf16>
  return
}

// -----

func.func @expand_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.expand_dims' op expected 0 <= axis < 2, got 2}}
  %e = tile.expand_dims %x {axis = 2 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @expand_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.expand_dims' op expected a result of shape [1, 4], got [4, 1]}}
  %e = tile.expand_dims %x {axis = 0 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @broadcast_rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.broadcast' op expected a result of rank 1, got 2}}
  %b = tile.broadcast %x : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'tile.broadcast' op dimension 1 of size 2 cannot become 6}}
  %b = tile.broadcast %x : tensor<4x2xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @reshape_count(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'tile.reshape' op expected 8 elements, got 9}}
  %b = tile.reshape %x : tensor<4x2xf32> -> tensor<9xf32>
  return
}

// -----

func.func @transpose_order(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'tile.transpose' op order [0, 0] is no permutation of the 2 dimensions}}
  %b = tile.transpose %x {order = array<i32: 0, 0>} : tensor<4x2xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @split_last(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tile.split' op expected a source whose last dimension is 2, got 'tensor<2x4xf32>'}}
  %a, %b = tile.split %x : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @join_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.join' op expected a result of shape [4, 2], got [2, 4]}}
  %a = tile.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @cat_rank(%x: tensor<4xf32>, %y: tensor<4x1xf32>) {
  // expected-error @+1 {{'tile.cat' op expected operands of one rank, got 1 and 2}}
  %a = tile.cat %x, %y {axis = 0 : i32} : tensor<4xf32>, tensor<4x1xf32> -> tensor<8xf32>
  return
}

// -----

func.func @cat_other_dimension(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error @+1 {{'tile.cat' op dimension 1 differs: 3 and 2}}
  %a = tile.cat %x, %y {axis = 0 : i32} : tensor<4x3xf32>, tensor<4x2xf32> -> tensor<8x3xf32>
  return
}

// -----

func.func @gather_rank(%x: tensor<4x3xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tile.gather' op expected source and index of one rank, got 2 and 1}}
  %a = tile.gather %x[%i] {axis = 0 : i32} : tensor<4x3xf32>, tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @gather_other_dimension(%x: tensor<4x3xf32>, %i: tensor<9x2xi32>) {
  // expected-error @+1 {{'tile.gather' op dimension 1 differs: 3 and 2}}
  %a = tile.gather %x[%i] {axis = 0 : i32} : tensor<4x3xf32>, tensor<9x2xi32> -> tensor<9x2xf32>
  return
}

// -----

func.func @slice_rank(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'tile.slice' op expected an offset, a stride and a size of the result for each of the 2 dimensions, got 1, 2 and 2}}
  %a = tile.slice %x {offsets = array<i32: 0>, strides = array<i32: 1, 1>} : tensor<4x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_outside(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'tile.slice' op expected elements inside of dimension 1 of size 3, got 2 from 1 on by steps of 2}}
  %a = tile.slice %x {offsets = array<i32: 0, 1>, strides = array<i32: 1, 2>} : tensor<4x3xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @slice_in_front(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.slice' op expected elements inside of dimension 0 of size 4, got 2 from -1 on by steps of 1}}
  %a = tile.slice %x {offsets = array<i32: -1>, strides = array<i32: 1>} : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_of_other_elements(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.slice' op expected result elements of type 'f32', got 'f16'}}
  %a = tile.slice %x {offsets = array<i32: 1>, strides = array<i32: 1>} : tensor<4xf32> -> tensor<2xf16>
  return
}
