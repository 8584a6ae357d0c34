// What the memory family refuses, and how it says so.
// RUN: nereid-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a pointee of a number type other than i1, or a pointer, got 'i1'}}
func.func @pointer_to_bool(%p: !tile.ptr<i1>) {
  return
}

// -----

func.func @addptr_shape(%p: tensor<4x!tile.ptr<f32>>, %o: tensor<5xi32>) {
  // expected-error @+1 {{'tile.addptr' op expected an offset in the shape of the pointer}}
  %q = tile.addptr %p, %o : tensor<4x!tile.ptr<f32>>, tensor<5xi32>
  return
}

// -----

func.func @narrow_address(%i: i32) {
  // expected-error @+1 {{'tile.int_to_ptr' op expected 64-bit integers, got 'i32'}}
  %p = tile.int_to_ptr %i : i32 -> !tile.ptr<f32>
  return
}

// -----

func.func @address_to_narrow(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{'tile.ptr_to_int' op expected 64-bit integers, got 'i16'}}
  %i = tile.ptr_to_int %p : !tile.ptr<f32> -> i16
  return
}

// -----

func.func @mask_shape(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<5xi1>) {
  // expected-error @+1 {{mask is i1 in the shape of ptr}}
  %x = "tile.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x!tile.ptr<f32>>, tensor<5xi1>) -> tensor<4xf32>
  return
}

// -----

func.func @other_without_mask(%p: tensor<4x!tile.ptr<f32>>, %o: tensor<4xf32>) {
  // expected-error @+1 {{'tile.load' op has 'other' without a mask}}
  %x = "tile.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<4x!tile.ptr<f32>>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @loaded_type(%p: tensor<4x!tile.ptr<f32>>) {
  // expected-error @+1 {{result has the pointee's type and the pointer's shape}}
  %x = "tile.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x!tile.ptr<f32>>) -> tensor<4xf16>
  return
}

// -----

func.func @stored_type(%p: tensor<4x!tile.ptr<f32>>, %x: tensor<4xi32>) {
  // expected-error @+1 {{value has the pointee's type and the pointer's shape}}
  "tile.store"(%p, %x) : (tensor<4x!tile.ptr<f32>>, tensor<4xi32>) -> ()
  return
}

// -----

func.func @float_kind(%p: !tile.ptr<i32>, %x: i32) {
  // expected-error @+1 {{'tile.atomic_rmw' op expected float elements for 'fadd', got 'i32'}}
  %a = tile.atomic_rmw fadd, acq_rel, gpu, %p, %x : !tile.ptr<i32>
  return
}

// -----

func.func @integer_kind(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error @+1 {{'tile.atomic_rmw' op expected integer elements for 'umax', got 'f32'}}
  %a = tile.atomic_rmw umax, acq_rel, gpu, %p, %x : !tile.ptr<f32>
  return
}

// -----

func.func @narrow_cas(%p: !tile.ptr<i8>, %x: i8) {
  // expected-error @+1 {{'tile.atomic_cas' op expected elements of 16, 32 or 64 bits, got 'i8'}}
  %a = tile.atomic_cas acq_rel, gpu, %p, %x, %x : !tile.ptr<i8>
  return
}
